"""The review's server: its tools, what may be said to it."""
