"""The stop signal."""

from __future__ import annotations

from agent_fox.session.order import StopSignal


def test_a_stop_reaches_all_who_listen_then_and_later() -> None:
    stop, heard = StopSignal(), list[str]()
    with stop.calling(lambda: heard.append("gone")):
        pass
    with stop.calling(lambda: heard.append("first")):
        assert not stop.is_set()
        stop.set()
        assert heard == ["first"]
    with stop.calling(lambda: heard.append("late")):
        assert heard == ["first", "late"]
    assert stop.is_set()
