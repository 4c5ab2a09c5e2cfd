"""Codex CLI: its command line, its files, its guard, its events."""
