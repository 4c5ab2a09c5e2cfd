"""Kiro's specs: requirements.md (or bugfix.md), design.md and tasks.md of one folder. Other dialects are not read here."""
