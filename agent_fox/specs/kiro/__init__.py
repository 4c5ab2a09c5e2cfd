"""Kiro's specs: requirements.md or bugfix.md, design.md, tasks.md of a folder. Other dialects are not read here."""
