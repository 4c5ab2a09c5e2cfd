"""Hooks: the stop hook of a chat, the pre-push hook, and their place in other programs' settings."""
