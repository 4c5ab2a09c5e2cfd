"""Claude Code: its command line, its files, its events."""
