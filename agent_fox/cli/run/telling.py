"""Sessions and decisions in words, the same in `explain` and while a run goes on. Prints nothing, decides nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.retry.progress import Progress
from agent_fox.core.verdicts.verdict import Word
from agent_fox.core.words import counted, listed

if TYPE_CHECKING:
    from agent_fox.engine.record.stopping import Saved
    from agent_fox.store.history import Agent, PastSession, Ruling


def money(dollars: float | None) -> str:
    return "cost unknown" if dollars is None else f"${dollars:.2f}"


def about_session(session: PastSession, archetype: str, *, is_whole: bool) -> list[str]:
    """One session: which attempt it was, how it ended, what it said. With `is_whole` also by which agent, on which
    commits."""
    is_coder = archetype == Archetype.CODER
    ticket = f"attempt {session.attempt}" + ("" if is_coder or session.reading == 1 else f", reading {session.reading}")
    rung = f" (rung {session.rung})" if session.rung and is_whole else ""
    on = f" on {session.pinned[:12]}" if session.pinned and is_whole else ""
    return [
        f"{ticket}{rung}{on}: {_end(session, is_coder=is_coder, is_whole=is_whole)}",
        *_who(session, is_whole=is_whole),
        *_lost(session),
        *_noted(session),
        *(f"  {cut_off.in_words}" for cut_off in session.cut_offs),
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


def _who(session: PastSession, *, is_whole: bool) -> Iterator[str]:
    """Which program and model worked, where they told it, and what they tried that they must not."""
    for agent in session.agents:
        if is_whole and (agent.version or agent.model):
            words = (f"{agent.backend} {agent.version}".strip(), agent.model, _turns(agent))
            yield f"  by {', '.join(filter(None, words))}"
        yield from (f"  forbidden: {attempt}" for attempt in agent.forbidden)


def _turns(agent: Agent) -> str:
    cost = f", cost {agent.cost_source}" if agent.cost_source else ""
    return f"{agent.turns} turns{cost}" if agent.turns else ""


def _end(session: PastSession, *, is_coder: bool, is_whole: bool) -> str:
    if session.status in {"running", "waiting"}:
        return session.status
    took = f"{session.seconds:.1f} s, " if session.seconds is not None else ""
    verb = "landed" if is_coder else "the branch went back to the best attempt"
    landed = f"; {verb}" if session.landed else ""
    landed += f" as {session.landed[:12]}" if session.landed and is_whole else ""
    what = session.reason or session.summary or session.end
    return f"{what} ({took}{money(session.cost_usd)}){landed}"


def _verdicts(session: PastSession) -> Iterator[str]:
    words = [(word, session.ids(word)) for word in (Word.FAIL, Word.UNKNOWN)]
    parts = [f"{word} {listed(ids)}" for word, ids in words if ids] + [f"{len(session.ids(Word.PASS))} PASS"]
    if session.verdicts:
        yield f"  {'; '.join(parts)}"
    if session.changed:
        yield f"  changed: {', '.join(f'{row.requirement} {row.was} → {row.word}' for row in session.changed)}"


DONE = {
    "Accept": "it passed", "Land": "its work landed", "Reread": "asked again, and no coder is charged",
    "Block": "stopped", "Retry": "tried again", "Reopen": "verified again", "Reset": "reset by a person",
    "Ignore": "changes nothing",
}  # fmt: skip
"""What a decision did, in words; those that send coders back name them."""
TRENDS = {
    Progress.PROGRESS: "improving", Progress.REPEAT: "the same failures again",
    Progress.OSCILLATION: "going in circles", Progress.REGRESSION: "getting worse", Progress.CHANGED: "other failures",
}  # fmt: skip


def about_ruling(ruling: Ruling, seen_from: str, *, is_whole: bool) -> list[str]:
    """One decision, as seen from a node: its name, and what it did. With `is_whole` its row of the decision table."""
    row = f" (row {ruling.row})" if ruling.row and is_whole else ""
    by = f", decided about {ruling.about}" if ruling.about != seen_from else ""
    trend = f" ({TRENDS[Progress(ruling.progress)]})" if ruling.progress in TRENDS and ruling.failing else ""
    facts = "".join(f"; {fact}" for fact in _facts(ruling))
    line = f"{ruling.kind}{row}: {done_words(ruling, seen_from)}{trend}{by}{facts}"
    return [line, *(weighed_arms(ruling) if is_whole else ())]


def weighed_arms(ruling: Ruling) -> Iterator[str]:
    """All that could have been tried next, where the choice was by worth."""
    for node, choice in ruling.arms.items():
        yield f"  weighed for {node}, with {money(choice.stake_usd)} at stake:"
        yield from (f"    {arm.in_words}; expected {arm.expected_usd:+.2f} dollars" for arm in choice.arms)


def done_words(ruling: Ruling, seen_from: str) -> str:
    """`sent back to coder 03_split:2`, `stopped: attempts spent`."""
    if ruling.kind in {"Recode", "SendBack"} and ruling.blamed:
        return f"sent back to coder{'s' if len(ruling.blamed) > 1 else ''} {', '.join(ruling.blamed)}"
    if ruling.kind == "Block" and ruling.about != seen_from and seen_from not in ruling.blamed:
        return f"waits for {ruling.about}, which stopped: {ruling.cause}"
    words = DONE.get(ruling.kind, ruling.kind)
    return f"{words}: {ruling.cause}" if ruling.cause else words


def _facts(ruling: Ruling) -> Iterator[str]:
    if ruling.failing:
        yield f"fails {listed(ruling.failing)}"
    if ruling.unknown:
        yield f"no clear verdict on {listed(ruling.unknown)}"
    yield from ruling.reasons
    if ruling.note and not ruling.failing and not ruling.unknown:
        yield ruling.note


def about_saved(saved: Saved, spec_name: str) -> Iterator[str]:
    """What a stop for want of progress saved, and what had been spent by then."""
    yield from (
        f"{coder.node}: {coder.left} of {counted(coder.total, 'attempt')} left unspent" for coder in saved.coders
    )
    untold = f" ({saved.untold} reported no cost)" if saved.untold else ""
    yield f"the {counted(saved.sessions, 'session')} of {spec_name} so far cost {money(saved.cost_usd)}{untold}"
