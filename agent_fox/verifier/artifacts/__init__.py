"""Logs, reports and results that are kept: by content, masked, scanned, indexed and pruned."""
