"""OpenSpec's changes and capabilities: proposal, deltas and tasks of one folder. Other dialects are not read here."""
