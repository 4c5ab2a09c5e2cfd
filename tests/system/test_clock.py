"""Time and ids."""

from __future__ import annotations

import re
from datetime import datetime

from agent_fox.system import clock


def test_now_is_iso_8601_in_utc_and_sorts_as_text() -> None:
    first, second = clock.now(), clock.now()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first)
    assert first <= second
    assert datetime.fromisoformat(first).tzinfo is not None


def test_ids_are_distinct_and_safe_in_file_and_ref_names() -> None:
    made = {clock.new_id() for _ in range(200)}
    assert len(made) == 200
    assert all(re.fullmatch(r"[0-9a-f]{20}", one) for one in made)


def test_the_monotonic_clock_never_goes_back() -> None:
    readings = [clock.monotonic() for _ in range(100)]
    assert readings == sorted(readings)
