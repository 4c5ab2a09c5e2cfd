"""Runs of tests: how a runner is asked for a report, what its report says, what each test claims."""
