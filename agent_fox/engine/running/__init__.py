"""The loop: what is ready is launched, what ended is decided, and a run ends as it may."""
