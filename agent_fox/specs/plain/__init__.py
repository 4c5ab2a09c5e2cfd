"""Specs that are one file, in Markdown or TOML, and the normal form of all specs. Folders are not read here."""
