"""The world behind small functions: processes, git, redaction, clock and ids. Knows nothing of plans or
verdicts.
"""
