"""The chain of evidence of a requirement, on a screen and as JSON. Nothing is read here, nothing judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import click

from agent_fox.cli.opening import before_waiving
from agent_fox.cli.place import here
from agent_fox.cli.screen import plain, print_json, title
from agent_fox.core.values import to_document, to_object
from agent_fox.core.verdicts.answer import scope_of
from agent_fox.core.words import counted

if TYPE_CHECKING:
    from agent_fox.evidence.chain import Chain, Proof, ReviewLine, Step, WaiverLine

WAIVE = "agent-fox waive "
SHORT = 12
SHOWN_FILES = 6
RECENT = 5  # records and steps shown without --all
SAID_LINES = 3

_T = TypeVar("_T")


def tell_chains(chains: Sequence[Chain], *, is_whole: bool, as_json: bool) -> None:
    """The chain of a requirement, or of each of its criteria, on standard output."""
    if as_json:
        print_json(chain_document(chains))
    else:
        text = "\n\n".join("\n".join(chain_lines(chain, is_whole=is_whole)) for chain in chains)
        click.echo(text)
        keys = before_waiving(here()) if WAIVE in text else ()
        if keys:
            click.echo(f"nobody is trusted to sign waivers here yet; first: {'; '.join(keys)}")


def chain_document(chains: Sequence[Chain]) -> dict[str, object]:
    """One JSON document: the chain, or where the name stands for several criteria, the chain of each."""
    if len(chains) == 1:
        return {**to_object(chains[0])}
    return {"spec": chains[0].spec, "requirements": to_document(chains)}


def chain_lines(chain: Chain, *, is_whole: bool) -> Iterator[str]:
    """The answers to: proven by what, by whom, on which commit, in which environment, may I check it myself?"""
    gate = chain.promotion.overall
    stands = "proven, and it counts now" if chain.is_proven_now else f"not proven now: {why_not(chain)}"
    stands += f" · {chain.how}" if chain.how else ""
    yield f"{title(f'{chain.spec}/{chain.requirement}')}  {gate or 'not in the plan'} · {plain(stands)}"
    yield f"  {plain(chain.text)}"
    yield from _proofs(chain, is_whole=is_whole)
    yield from _steps(chain.steps, is_whole=is_whole)
    lines = [f"→ {move.finish} ({' or '.join(move.roles)}): {move.why}" for move in chain.promotion.blocked]
    yield from _section("what would change it", lines)
    if chain.promotion.is_enough is None:
        yield "  whether its waiver counts was not checked here"
    elif not chain.promotion.is_enough:
        yield f"  asked for: {chain.promotion.required} ([policy] required_state)"
    rules = (
        f"{rule.kind} {rule.address}{f' ({rule.doubt})' if rule.doubt else ''}: {rule.text}" for rule in chain.bound
    )
    yield from _section("specifications linked to it", [*rules])
    yield from _section("waivers", [line for waiver in chain.waivers for line in _waiver(waiver)])
    yield from _section("final reviews", [_review(review) for review in _last(chain.reviews, is_whole=is_whole)])
    yield from _section("check it yourself", [f"$ {command}" for command in chain.check])
    yield f"ledger: {chain.head.position} records, head {chain.head.head}"


def why_not(chain: Chain) -> str:
    current = chain.current
    if chain.disbelieved:
        return f"not believed: {chain.disbelieved}"
    if current is None:
        return "no verdict stands"
    if current.status != "PASS":
        return f"its verdict is {current.status}"
    return "; ".join(current.why_stale) or "its spec is escalated"


def _section(name: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield title(name)
        yield from (f"  {plain(line)}" for line in lines)


def _last(found: Sequence[_T], *, is_whole: bool) -> Sequence[_T]:
    return found if is_whole else found[-RECENT:]


def _proofs(chain: Chain, *, is_whole: bool) -> Iterator[str]:
    shown = _last(chain.proofs, is_whole=is_whole)
    hidden = chain.left_out + len(chain.proofs) - len(shown)
    judges = {row.session: row for row in chain.judges}
    yield title("evidence") + (f" (the last {len(shown)} of {len(shown) + hidden})" if hidden else "")
    for row in shown:
        judge = judges.get(row.session) if row.session is not None else None
        models = f" {', '.join(judge.models)}" if judge and judge.models else ""
        yield from _proof(row, f"{judge.backend}{models}" if judge else "")
        if is_whole or row.is_current:
            yield from (plain(f"          {line}") for line in trial_lines(row.trials, is_whole=is_whole))
    if not shown:
        yield "  nothing was recorded about it"


def _proof(one: Proof, judge: str) -> Iterator[str]:
    mark = "●" if one.is_current else " "
    by = f" by {one.ticket}" if one.ticket else ""
    who = f" ({plain(judge)})" if judge else ""
    counts = "" if one.why_stale else ", counts now"
    how = f" ({plain(one.how)})" if one.how else ""
    yield f"{mark} {one.status:<7} {one.id[:SHORT]}  {one.kind}{how}{plain(by)}{who}, {one.at[:19]}{counts}"
    on = f"commit {one.commit[:SHORT]}, tree {one.tree[:SHORT]}" if one.commit else "no commit"
    yield plain(f"          on {on}, environment {one.environment or '?'}, verifier {one.verifier or '?'}")
    if one.about and not one.is_current and one.kind == "check":
        yield plain(f"          about {one.about}")
    if one.restores:
        yield f"          read before (verdict {one.restores}): the branch went back to that tree"
    if one.why_stale:
        yield plain(f"          does not count: {'; '.join(one.why_stale)}")
    if one.limitation:
        yield plain(f"          limitation: {one.limitation}")
    if one.is_untouched:
        yield "          read on an older tree: nothing that it rests on has changed since"
    if one.is_current:
        yield from (plain(f"          {line}") for line in scope_lines(one.rests_on))
        lines = [line for line in one.said.splitlines() if line.strip()][:SAID_LINES]
        yield from (plain(f"          {line}") for line in lines)
    if one.command:
        yield plain(f"          $ {one.command}")


def scope_lines(rests_on: object) -> Iterator[str]:
    """What of the tree a PASS rests on, in a line; nothing where that was not recorded."""
    scope = scope_of(rests_on)
    if scope is None:
        return
    if scope.whole:
        yield f"rests on the whole tree: {scope.whole}"
        return
    more = f", and {counted(len(scope.folders), 'folder')} that it lists" if scope.folders else ""
    shown = ", ".join(scope.files[:SHOWN_FILES]) + (", ..." if len(scope.files) > SHOWN_FILES else "")
    yield f"rests on {counted(len(scope.files), 'file')}{more}: {shown}"


def trial_lines(trials: object, *, is_whole: bool) -> Iterator[str]:
    """What was broken and which test noticed; with `is_whole` all that was tried. Nothing where nothing is recorded."""
    if not isinstance(trials, dict):
        return
    rows = trials.get("tried")
    tried = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    source = "from an earlier reading of the same contents" if trials.get("is_recalled") else ""
    base = f"base {str(trials.get('base'))[:SHORT]}" if trials.get("base") else "no base"
    count = "" if source else f"{trials.get('runs')} runs for its spec"
    yield f"tried: {trials.get('word')}; {', '.join(filter(None, (base, count, source)))}"
    killed = [row for row in tried if row.get("effect") == "killed" and row.get("line")]
    yield from (f"  {_tried(row)}" for row in (tried if is_whole else killed[:1]))
    if is_whole and trials.get("left_out"):
        yield f"  and {trials['left_out']} more, which were not kept"


def _tried(row: Mapping[str, object]) -> str:
    place = f"{row.get('file')}:{row['line']}" if row.get("line") else str(row.get("file") or "")
    what = " ".join(filter(None, (place, str(row.get("what") or ""))))
    test = f" by {row['test']}" if row.get("test") else ""
    return f"{row.get('how')}{f' {what}' if what else ''}: {row.get('effect')}{test}"


def _steps(steps: Sequence[Step], *, is_whole: bool) -> Iterator[str]:
    shown = _last(steps, is_whole=is_whole)
    yield title("gate") + (f" (the last {len(shown)} of {len(steps)} changes)" if len(shown) < len(steps) else "")
    for step in shown:
        by = f"decision {step.decision}" if step.decision is not None else ""
        waiver = f"waiver {step.waiver[:SHORT]}" if step.waiver else ""
        shows = ", ".join(filter(None, (by, waiver, f"record {step.record[:SHORT]}")))
        yield plain(
            f"  {step.at[:19]}  {step.start or 'begins again'} → {step.finish} by {step.role}: {step.reason} ({shows})"
        )
    if not shown:
        yield "  proposed since it was planned"


def _waiver(one: WaiverLine) -> Iterator[str]:
    state = f"does not count: {one.why_not}" if one.why_not else "in force"
    yield f"{one.id[:SHORT]} by {one.signer} until {one.expires_at[:19]}: {state}"
    yield f"  {one.reason}"


def _review(one: ReviewLine) -> str:
    note = f": {one.note}" if one.note else ""
    return f"{one.at[:19]}  {one.decision} by {one.ticket} on {one.commit[:SHORT]}{note}"
