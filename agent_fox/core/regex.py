"""Regular expressions of module level, compiled when they are first used; not what they match."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:  # the stop hook comes past here and has no time for `typing`
    from typing import AnyStr


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Like `re.compile`, but at the first use: no command compiles what it does not look for.

    The result serves wherever a pattern's own attributes and methods are called; the functions of `re` (`re.sub` and
    the like) do not take it. What is wrong with a pattern is raised at its first use, as `re.error`.
    """
    return Regex(pattern, flags)  # type: ignore[return-value] # it stands in for the pattern that it becomes


class Regex:
    """A pattern that is compiled when one of its attributes is first asked for; each attribute is kept from then on."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self.given_flags = flags
        self._compiled: re.Pattern[str] | re.Pattern[bytes] | None = None

    def __getattr__(self, name: str) -> object:
        """Called only for what is not kept yet. Raises re.error for an invalid pattern."""
        if name.startswith("__"):
            raise AttributeError(name)
        value: object = getattr(self.compile(), name)
        setattr(self, name, value)
        return value

    def compile(self) -> re.Pattern[str] | re.Pattern[bytes]:
        """The pattern itself, compiled once. Raises re.error."""
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, self.given_flags)
        return self._compiled

    def __eq__(self, other: object) -> bool:
        """Equal to the pattern that it becomes, as `match.re` gives it; `is` would tell them apart."""
        return self.compile() == other  # a pattern that is compared with a Regex asks this one in turn

    def __hash__(self) -> int:
        return hash(self.compile())

    def __repr__(self) -> str:
        return f"regex({self.pattern!r}, {self.given_flags})"
