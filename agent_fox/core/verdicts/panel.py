"""Several judges of one commit: one report from theirs. A missing judge is UNKNOWN, never outvoted into a PASS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.known import strongest
from agent_fox.core.verdicts.scope import joined
from agent_fox.core.verdicts.verdict import Report, Verdict, Word


@dataclass(frozen=True, slots=True)
class Opinion:
    """One judge's report. `name` says who judged.

    `is_partial`: it judges some requirements only, so that silence about another is no word on it.
    """

    name: str
    report: Report
    is_partial: bool = False

    def speaks_of(self, part: str) -> bool:
        """Whether its word on a requirement counts, be it silence. A judge that cannot be read was to speak of all."""
        return not (self.is_partial and self.report.is_readable) or part in self.report.verdicts


def confer(opinions: Sequence[Opinion], expected: Iterable[str]) -> Report:
    """One report of all judges: PASS only where every judge says so, FAIL where any does, else UNKNOWN.

    The first judge's FAIL speaks for the others, so judges that run tests stand first. One opinion is itself.
    """
    if len(opinions) == 1:
        return opinions[0].report
    verdicts = dict(_each(opinions, expected))
    notes = tuple(f"{o.name}: {note}" for o in opinions for note in o.report.notes)
    summary = "; ".join(f"{o.name}: {o.report.summary}" for o in opinions if o.report.summary)
    is_readable = any(opinion.report.is_readable for opinion in opinions if not opinion.is_partial)
    return Report(verdicts, "", summary, notes, is_readable)


def _each(opinions: Sequence[Opinion], expected: Iterable[str]) -> Iterator[tuple[str, Verdict]]:
    """What is said of each requirement; nothing where the only judge of it is silent, as if it judged alone."""
    for part in expected:
        speaking = [opinion for opinion in opinions if opinion.speaks_of(part)]
        if len(speaking) > 1:
            yield part, _together(part, speaking)
        elif speaking and part in speaking[0].report.verdicts:
            yield part, speaking[0].report.verdicts[part]


def _together(part: str, opinions: Sequence[Opinion]) -> Verdict:
    verdicts = [(opinion.name, opinion.report.verdicts.get(part)) for opinion in opinions]
    fails = [(name, verdict) for name, verdict in verdicts if verdict is not None and verdict.word is Word.FAIL]
    if fails:
        name, verdict = fails[0]
        return replace(verdict, note=_noted(verdict, f"judged by {name}"))
    passes = [verdict for _, verdict in verdicts if verdict is not None and verdict.word is Word.PASS]
    words = ", ".join(
        f"{name} says {verdict.said or verdict.word if verdict else 'nothing'}" for name, verdict in verdicts
    )
    if len(passes) == len(verdicts):
        how = strongest(verdict.how for verdict in passes)
        scopes = [verdict.rests_on for verdict in passes if verdict.rests_on is not None]
        rests_on = (
            joined(scopes) if len(scopes) == len(passes) else None
        )  # what a model or a lane rests on is not known
        return replace(passes[0], note=_noted(passes[0], words), how=how, rests_on=rests_on)
    unclear = [(name, verdict) for name, verdict in verdicts if verdict is not None and verdict.word is Word.UNKNOWN]
    why = "\n".join(f"{name}: {verdict.evidence}" for name, verdict in unclear if verdict.evidence)
    persons = next((verdict for _, verdict in unclear if verdict.needs_person), None)
    if persons is not None:
        return replace(persons, evidence=why, note=_noted(persons, words))
    return Verdict(part, Word.UNKNOWN, evidence=why, note=words)


def _noted(verdict: Verdict, note: str) -> str:
    return f"{verdict.note}; {note}" if verdict.note else note
