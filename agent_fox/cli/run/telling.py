"""Sessions and decisions in words, the same in `explain` and while a run goes on. Prints nothing, decides nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.verdicts.verdict import Word
from agent_fox.core.words import counted, listed

if TYPE_CHECKING:
    from agent_fox.engine.record.stopping import Saved
    from agent_fox.store.history import Agent, PastSession, Ruling


def money(dollars: float | None) -> str:
    return "cost not told" if dollars is None else f"${dollars:.2f}"


def about_session(session: PastSession, archetype: str) -> list[str]:
    """One session: its ticket, how it ended, what it said."""
    is_coder = archetype == Archetype.CODER
    ticket = f"attempt {session.attempt}" + ("" if is_coder else f", reading {session.reading}")
    rung = f" (rung {session.rung})" if session.rung else ""
    on = f" on {session.pinned[:12]}" if session.pinned else ""
    kept = [f"  {cut_off.in_words}" for cut_off in session.cut_offs]
    return [
        f"{ticket}{rung}{on}: {_end(session, is_coder=is_coder)}",
        *_who(session),
        *_lost(session),
        *_noted(session),
        *kept,
        *_verdicts(session),
    ]


def _noted(session: PastSession) -> Iterator[str]:
    """What was noted about a session that is named by why it failed."""
    if session.reason and session.summary:
        yield f"  noted: {session.summary}"


def _lost(session: PastSession) -> Iterator[str]:
    """Launches that nobody is charged for, each reason once."""
    for reason in dict.fromkeys(session.lost):
        count = session.lost.count(reason)
        yield f"  launched again: {reason}{f' ({count} times)' if count > 1 else ''}"


def _who(session: PastSession) -> Iterator[str]:
    """Which program and model worked, where they told it, and what they tried that they must not."""
    for agent in session.agents:
        if agent.version or agent.model:
            words = (f"{agent.backend} {agent.version}".strip(), agent.model, _turns(agent))
            yield f"  by {', '.join(filter(None, words))}"
        yield from (f"  forbidden: {attempt}" for attempt in agent.forbidden)


def _turns(agent: Agent) -> str:
    cost = f", cost {agent.cost_source}" if agent.cost_source else ""
    return f"{agent.turns} turns{cost}" if agent.turns else ""


def _end(session: PastSession, *, is_coder: bool) -> str:
    if session.status in {"running", "waiting"}:
        return session.status
    took = f"{session.seconds:.1f} s, " if session.seconds is not None else ""
    verb = "landed as" if is_coder else "the branch went back to the best tree by"
    landed = f"; {verb} {session.landed[:12]}" if session.landed else ""
    what = session.reason or session.summary or session.end
    return f"{what} ({took}{money(session.cost_usd)}){landed}"


def _verdicts(session: PastSession) -> Iterator[str]:
    words = [(word, session.ids(word)) for word in (Word.FAIL, Word.UNKNOWN)]
    parts = [f"{len(session.ids(Word.PASS))} PASS"] + [f"{word} {listed(ids)}" for word, ids in words if ids]
    if session.verdicts:
        yield f"  said: {'; '.join(parts)}"
    if session.changed:
        yield f"  changed: {', '.join(f'{row.requirement} {row.was} → {row.word}' for row in session.changed)}"


def about_ruling(ruling: Ruling, seen_from: str) -> list[str]:
    """One decision, as seen from a node."""
    row = f" (row {ruling.row})" if ruling.row else ""
    by = "" if ruling.about == seen_from else f" by {ruling.about}"
    cause = f": {ruling.cause}" if ruling.cause else ""
    return [f"→ {ruling.kind}{cause}{row}{by}{''.join(f'; {part}' for part in _facts(ruling, seen_from))}"]


def _facts(ruling: Ruling, seen_from: str) -> Iterator[str]:
    if ruling.failing:
        yield f"failing {listed(ruling.failing)}"
    if ruling.unknown:
        yield f"unclear {listed(ruling.unknown)}"
    if ruling.kind in {"Recode", "SendBack"}:
        yield f"{', '.join(ruling.blamed)} again"
    if ruling.best:
        yield ruling.best
    if ruling.progress not in {"", "first"} and ruling.failing:
        yield f"compared with the last round: {ruling.progress}"
    if ruling.note and not ruling.failing and not ruling.unknown:
        yield ruling.note
    if ruling.about != seen_from and ruling.step:
        yield f"here: {ruling.step}"


def about_saved(saved: Saved, spec_name: str) -> Iterator[str]:
    """What a stop for want of progress saved, and what had been spent by then."""
    yield from (
        f"{coder.node}: {coder.left} of {counted(coder.total, 'attempt')} left unspent" for coder in saved.coders
    )
    untold = f" ({saved.untold} told no cost)" if saved.untold else ""
    yield f"the {counted(saved.sessions, 'session')} of {spec_name} so far cost {money(saved.cost_usd)}{untold}"
