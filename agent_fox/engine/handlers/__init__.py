"""The end of a session, an archetype a file: what is recorded and decided, in the caller's transaction."""
