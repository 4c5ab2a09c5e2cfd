"""Several judges of one commit: one report from theirs. A missing judge is UNKNOWN, never outvoted into a PASS."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from agent_fox.core.verdict import Report, Verdict, Word


@dataclass(frozen=True, slots=True)
class Opinion:
    """One judge's report. `name` says who judged."""

    name: str
    report: Report


def confer(opinions: Sequence[Opinion], expected: Iterable[str]) -> Report:
    """One report of all judges: PASS only where every judge says so, FAIL where any does, else UNKNOWN.

    The first judge's FAIL speaks for the others, so judges that run tests stand first. One opinion is itself.
    """
    if len(opinions) == 1:
        return opinions[0].report
    verdicts = {part: _together(part, opinions) for part in expected}
    notes = tuple(f"{o.name}: {note}" for o in opinions for note in o.report.notes)
    summary = "; ".join(f"{o.name}: {o.report.summary}" for o in opinions if o.report.summary)
    is_readable = any(opinion.report.is_readable for opinion in opinions)
    return Report(verdicts, "", summary, notes, is_readable)


def _together(part: str, opinions: Sequence[Opinion]) -> Verdict:
    said = [(opinion.name, opinion.report.verdicts.get(part)) for opinion in opinions]
    fails = [(name, verdict) for name, verdict in said if verdict is not None and verdict.word is Word.FAIL]
    if fails:
        name, verdict = fails[0]
        return replace(verdict, note=_noted(verdict, f"judged by {name}"))
    passes = [verdict for _, verdict in said if verdict is not None and verdict.word is Word.PASS]
    words = ", ".join(f"{name} says {verdict.said or verdict.word if verdict else 'nothing'}" for name, verdict in said)
    if len(passes) == len(said):
        return replace(passes[0], note=_noted(passes[0], words))
    return Verdict(part, Word.UNKNOWN, note=words)


def _noted(verdict: Verdict, note: str) -> str:
    return f"{verdict.note}; {note}" if verdict.note else note
