"""The backends of this package that are no agents' programs: checks, library, memory, command."""
