"""mini-swe-agent: its command line, the agent class it is started with, its events."""
