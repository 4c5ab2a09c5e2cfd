"""What columns can hold, whatever comes."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.store import outbox, sessions
from agent_fox.store.records import record_event
from agent_fox.store.values import storable, to_json
from tests.store.world import CODER, add_nodes, add_session, decide, state

HALF = "caf\udce9 \ud83d"


@pytest.mark.parametrize("value", [None, 1, 2.5, True, "plain", "naïve ☕ 🦊", "nul \0 inside"])
def test_ordinary_values_are_stored_as_they_are(value: object) -> None:
    assert storable(value) == value


def test_text_that_no_column_can_hold_is_stored_with_marks_in_its_place(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        add_nodes(db, CODER)
        run = sessions.start_run(db, "now", "c0ffee")
        session = add_session(db, run)
        sessions.set_session(db, session, {"summary": HALF})
        sessions.end_run(db, run, "now", "ended", 0, HALF, None)
        record_event(db, "now", run, "odd", data={HALF: HALF})
        number = outbox.put(db, decide(db, CODER), "file", "print", "s", {"body": HALF}, "now")
        outbox.set_outbox(db, number, "held", "now", HALF)
        (held,) = outbox.held(db)
        assert sessions.session_by_id(db, session).summary == "caf? ?"
        assert (held.note, held.payload) == ("caf? ?", {"body": "caf? ?"})


def test_the_same_facts_give_the_same_text() -> None:
    assert to_json({"b": [1, None], "a": "ü"}) == to_json({"a": "ü", "b": (1, None)}) == '{"a":"ü","b":[1,null]}'
