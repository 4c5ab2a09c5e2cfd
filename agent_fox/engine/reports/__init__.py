"""Texts about specs that people read: the report of each, and the comment on its source issue."""
