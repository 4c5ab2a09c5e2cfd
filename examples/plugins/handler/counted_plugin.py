"""Reviews are counted: an event is recorded about each, in its transaction, and the built-in handler decides."""

from __future__ import annotations

from collections.abc import Sequence

from agent_fox.core.ids import Archetype
from agent_fox.engine.record.docket import Docket, Handled
from agent_fox.engine.running.results import EndedSession, ResultHandler, Reviewers
from agent_fox.plugins import hookimpl
from agent_fox.store.records import record_event


class CountedReviews:
    archetype = Archetype.REVIEWER

    def handle_session(self, docket: Docket, ended: EndedSession) -> Handled:
        (count,) = docket.db.execute("SELECT count(*) + 1 FROM events WHERE kind = 'review counted'").fetchone()
        data = {"ticket": str(ended.ticket), "count": count}
        record_event(docket.db, docket.at, docket.run_id, "review counted", data=data)
        return Reviewers().handle_session(docket, ended)


@hookimpl
def agent_fox_result_handlers() -> Sequence[ResultHandler]:
    return [CountedReviews()]
