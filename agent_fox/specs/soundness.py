"""What a spec of any dialect must hold before nodes and verdicts are named by it. Reading and planning are not here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from agent_fox.core.regex import regex
from agent_fox.core.spec import Problem, Severity, Spec
from agent_fox.specs.files import error

_LONGEST_NAME = 160
"""Bytes: log files are called by node ids, and a file's name ends at 255."""
_GREATEST_NUMBER = 999_999_999
# A colon divides the parts of a node's id; the others are read as lines of a commit message, or steer a terminal.
_NOT_IN_A_NAME = regex("[:/\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def soundly_named(specs: Iterable[Spec]) -> tuple[tuple[Spec, ...], tuple[Problem, ...]]:
    """The specs by whose names nodes can be called, and what is wrong with the other names."""
    kept: list[Spec] = []
    problems: list[Problem] = []
    for spec in specs:
        if what := _about_name(spec.name):
            name = _NOT_IN_A_NAME.sub("-", spec.name)[:_LONGEST_NAME].strip(". ") or "-"
            problems.append(error(spec.path, f"{what}. Rename it", spec=name))
        else:
            kept.append(spec)
    return tuple(kept), tuple(problems)


def unsound(specs: Iterable[Spec], known: Iterable[Problem]) -> Iterator[Problem]:
    """Why nothing can be planned by the numbers of a spec; `known` problems report doubled ones already."""
    reported = {problem.spec for problem in known if problem.severity is Severity.ERROR and " twice" in problem.what}
    for spec in specs:
        doubled = _doubled(spec) if spec.name not in reported else iter(())
        yield from (replace(problem, spec=spec.name) for problem in doubled)
        for group in spec.groups:
            if not 0 <= group.number <= _GREATEST_NUMBER:
                what = "a group can't have this number. Number groups from 1 on"
                yield error(spec.place(f"group {group.number}"), what, spec=spec.name)


def _about_name(name: str) -> str:
    if not name.strip() or name in (".", ".."):
        return f"{name!r} is no name for a spec"
    if _NOT_IN_A_NAME.search(name):
        return f"{name[:_LONGEST_NAME]!r} can't name a spec: a colon, a slash or a control character is in it"
    size = len(name.encode("utf-8"))
    return f"a spec's name has at most {_LONGEST_NAME} bytes, this one has {size}" if size > _LONGEST_NAME else ""


def _doubled(spec: Spec) -> Iterator[Problem]:
    """Of two parts with one id only one would be proven. A requirement may be called as its one part is."""
    ids = Counter(
        requirement.id
        for requirement in spec.requirements
        if [part.id for part in (*requirement.criteria, *requirement.edge_cases)] != [requirement.id]
    )
    parts = Counter(part.id for each in spec.requirements for part in (*each.criteria, *each.edge_cases))
    for identifier, times in (ids + parts).items():
        if times > 1:
            what = f"{identifier} is declared twice: a verdict on it would say nothing. Give one of them another id"
            yield error(spec.place(identifier), what)
    for number, times in Counter(group.number for group in spec.groups).items():
        if times > 1:
            what = f"group {number} stands twice. Give one of them another number"
            yield error(spec.place(f"group {number}"), what)
