"""Gemini CLI: its command line, its files, its events."""
