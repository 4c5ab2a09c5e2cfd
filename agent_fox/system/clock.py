"""Time and fresh ids: the only place that asks the world for either. What they are used for is not here."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module

if TYPE_CHECKING:
    import secrets
else:
    secrets = late_module("secrets")


def now() -> str:
    """The time of day as ISO 8601 in UTC with milliseconds, such as `2026-03-01T12:00:00.250Z`; sorts as
    text.
    """
    return _spelled(datetime.now(UTC))


def later(at: str, seconds: float) -> str:
    """The time `seconds` after `at`, in the form of `now`."""
    return _spelled(datetime.fromisoformat(at).astimezone(UTC) + timedelta(seconds=seconds))


def _spelled(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def monotonic() -> float:
    """Seconds on a clock that never goes back; only differences mean anything."""
    return time.monotonic()


def new_id() -> str:
    """Twenty hex digits that sort by the time they were made (milliseconds first); safe in file and ref
    names.
    """
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(4)}"
