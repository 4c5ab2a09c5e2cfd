"""Rules about files, settings and lines."""
