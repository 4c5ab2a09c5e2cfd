"""That a run does not start, and why. What is checked beforehand is in `preflight`."""

from __future__ import annotations


class RunRefused(Exception):
    """The run does not start. Its text says what is wrong, where, and what to do; nothing has been changed."""


class RunStuck(RunRefused):
    """The run cannot start just now: something outside of it is in the way, which is no mistake of the settings."""
