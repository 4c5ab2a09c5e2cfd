"""Logs of the runners of JavaScript tests, and TAP."""
