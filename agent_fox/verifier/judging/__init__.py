"""Verdicts by requirement for a run's judges: `checks` and `library`."""
