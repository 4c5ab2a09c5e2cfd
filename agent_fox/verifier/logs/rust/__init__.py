"""Logs of cargo, rustc and nextest."""
