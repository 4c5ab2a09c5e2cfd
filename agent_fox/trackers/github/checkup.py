"""One thing that a doctor looks at on GitHub, and how it is."""

from __future__ import annotations

from agent_fox.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: `ok` is None where it is unknown. `remedy` is empty where all is well."""

    name: str
    ok: bool | None
    detail: str
    remedy: str = ""


def fact(name: str, ok: bool | None, good: str, bad: str, remedy: str) -> Check:
    """What GitHub tells, or that it does not tell it."""
    if ok is None:
        return Check(name, None, "GitHub does not tell", "")
    return Check(name, True, good) if ok else Check(name, False, bad, remedy)
