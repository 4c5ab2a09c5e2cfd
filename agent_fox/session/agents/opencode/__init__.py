"""opencode: its command line, its files, its events."""
