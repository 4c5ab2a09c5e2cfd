"""Keys, signed statements, and whose signatures count."""
