"""Commands about a run: start it, watch it, ask what it came to."""
