"""Values and rules, pure: no I/O, no clock, no randomness, no pydantic, no SQL."""
