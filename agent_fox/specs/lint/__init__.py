"""The linter: rules about specs that were read, what they find, and the repairs that are certain. No command line."""
