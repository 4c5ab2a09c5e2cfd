"""What the issue that a spec came from is told at the end of a run: how much of it is proven, and what is not.

One comment a run, written anew when the run goes on. Nothing else is done to that issue: it is a person's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from agent_fox.core.ids import digest_of
from agent_fox.core.markdown import code, one_line
from agent_fox.core.retry.filing import Says
from agent_fox.core.verdicts.known import grouped
from agent_fox.core.words import quote
from agent_fox.engine.reports.spec_findings import SpecFindings, findings_of
from agent_fox.store import outbox
from agent_fox.store.plan import load_spec
from agent_fox.store.records import begun_at, last_decisions
from agent_fox.trackers.protocol import EffectKind, Tracker

if TYPE_CHECKING:
    from agent_fox.engine.record.docket import Docket

Find = Callable[[str], SpecFindings | None]

SHOWN = 20
CHANGED = "passed before the code changed, and must be read again"
LONGEST_WAIVER = 1_000
NOT_ABOUT_PROOF = ("Land", "Retry", "Replan", "Reset")
"""Kinds of decision after which there is nothing new to tell: none of them is about what is proven."""


@runtime_checkable
class HasPlace(Protocol):
    """A tracker that knows what it writes to (`HOST/OWNER/NAME`), whether or not it can write there now."""

    @property
    def place(self) -> str: ...


def place_of(tracker: Tracker) -> str:
    """Empty where nobody knows it."""
    return tracker.place if isinstance(tracker, HasPlace) else ""


def comment_sources(tx: Docket, place: str, findings_now: Find | None = None) -> tuple[str, ...]:
    """Ask for one comment on each source issue in `place` (`HOST/OWNER/NAME`) whose spec this run has decided about.

    In the open transaction, at the end of the run. Safe to repeat; gives the ids of what was asked for now.
    `findings_now` tells how a spec stands on the branch as it is; else it is told as its last reading left it.
    """
    if not place:
        return ()
    decided = last_decisions(tx.db, tx.run_id, NOT_ABOUT_PROOF)
    find = findings_now or partial(findings_of, tx)
    put = (comment_source(tx, place, spec_name, decision, find) for spec_name, decision in decided)
    return tuple(effect for effect in put if effect)


def comment_source(tx: Docket, place: str, spec_name: str, decision_id: int, find: Find) -> str | None:
    """None where the spec names no issue there, has left the plan, or its issue was told this before."""
    source = load_spec(tx.db, spec_name).source
    findings = find(spec_name) if source is not None and source.is_in(place) else None
    if source is None or findings is None:
        return None
    target = f"{place.partition('/')[2]}#{source.number}"
    fingerprint = f"source:{target}"
    if outbox.was_put(tx.db, decision_id, EffectKind.COMMENT, fingerprint):
        return None
    payload = {
        "title": f"{spec_name}: how much of it is proven", "body": text_of(findings), "at": tx.at,
        "says": Says.PROGRESS.value, "target": target, "slot": slot_of(tx, spec_name),
    }  # fmt: skip
    return outbox.put(tx.db, decision_id, EffectKind.COMMENT, fingerprint, spec_name, payload, tx.at)


def slot_of(tx: Docket, spec_name: str) -> str:
    """One comment for a spec and a run. The time is in it: after the state was lost, run 1 is another run."""
    return digest_of("source", str(tx.run_id), begun_at(tx.db, tx.run_id), spec_name, digits=24)


def text_of(findings: SpecFindings) -> str:
    """What is proven in one line; then, where that is not all, what is not, and who decides what comes next."""
    if findings.is_proven:
        known = "\n".join(f"- {line}" for line in known_lines(findings))
        return (
            f"{proven_line(findings)}\n\n{known}\n\nThis issue is left as it is: closing it is a person's decision.\n"
        )
    every = (*open_lines(findings), *waiver_lines(findings), *known_lines(findings))
    listed = "\n".join(f"- {line}" for line in every)
    name = findings.account.name
    story = f"`agent-fox explain {quote(findings.verifier.node.id)}` tells the whole story."
    return f"{summary_line(findings)}\n\n{listed}\n\nVerification of {code(name)}: {standing(findings)}. {story}\n"


def proven_line(findings: SpecFindings) -> str:
    count, name = findings.account.expected, code(findings.account.name)
    if count == 1:
        return f"The one requirement of {name} is proven on commit {code(findings.commit)}."
    return f"All {count} requirements of {name} are proven on commit {code(findings.commit)}."


def summary_line(findings: SpecFindings) -> str:
    account, count = findings.account, len(findings.account.proven)
    is_settled = account.standing in ("verified", "waived")
    verb = ("is proven" if count == 1 else "are proven") if is_settled else "passed"
    on = f" on commit {code(findings.commit)}" if findings.commit else ""
    return f"Not fully proven: {count} of {account.expected} requirements of {code(account.name)} {verb}{on}."


def open_lines(findings: SpecFindings) -> Iterator[str]:
    """Every list of ids that are not proven, a line each."""
    account = findings.account
    kinds: tuple[tuple[Sequence[str], str, str], ...] = (
        (account.failing, "fails", "fail"),
        (account.unclear, "has no clear verdict", "have no clear verdict"),
        (account.stale, CHANGED, CHANGED),
        (account.unread, "was not read yet", "were not read yet"),
        (account.short, "passed, but not the review or the proof that is asked for",
         "passed, but not the review or the proof that is asked for"),
    )  # fmt: skip
    for ids, singular, several in kinds:
        if ids:
            yield f"{len(ids)} {singular if len(ids) == 1 else several}: {named(ids)}"


def known_lines(findings: SpecFindings) -> Iterator[str]:
    """How what is proven is known, a line for each word."""
    how = {part: findings.account.how.get(part, "") for part in findings.account.proven}
    yield from (f"{len(ids)} known as {word}: {named(ids)}" for word, ids in grouped(how).items())


def waiver_lines(findings: SpecFindings) -> Iterator[str]:
    count = len(findings.account.waived)
    if count:
        verb = "is" if count == 1 else "are"
        yield f"{count} {verb} waived, which proves nothing: {named(findings.account.waived)}"
        yield from (one_line(line, LONGEST_WAIVER) for line in findings.waivers)


def standing(findings: SpecFindings) -> str:
    words = {
        "escalated": "ended without proof, a person must act",
        "blocked": "held up, a person must act",
        "waived": "completed with waivers that a person signed",
        "waiver ended": "unproven again, since a waiver has ended",
        "verified": "done",
    }
    return words.get(findings.account.standing, "goes on when the run does")


def named(ids: Sequence[str]) -> str:
    shown = ", ".join(code(part) for part in ids[:SHOWN])
    return f"{shown} and {len(ids) - SHOWN} more" if len(ids) > SHOWN else shown
