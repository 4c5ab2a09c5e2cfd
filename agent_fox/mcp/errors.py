"""A call that is not carried out, as a value a client can show. Which calls those are is decided elsewhere."""

from __future__ import annotations


class CallRefused(ValueError):
    """`code` is for programs and stays the same; the text is for people and says what to do instead."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
