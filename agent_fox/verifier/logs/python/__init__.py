"""Logs of pytest and unittest."""
