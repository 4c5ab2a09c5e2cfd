"""`.agent-fox/owners.toml`: whose work a person says that requirements are, beside what is assumed without a word.

What a line means is in `core/plan/corrections.py`. Source of the form: `docs/ownership.md`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.config import OWNERS, ConfigError
from agent_fox.core.markdown import printable
from agent_fox.core.plan.blame import Ground, Owned, ownership
from agent_fox.core.plan.corrections import corrected, unknown_specs, words_for
from agent_fox.core.spec import Problem, Severity
from agent_fox.system.files import replace_file
from agent_fox.system.toml_tables import TableError, read_table

if TYPE_CHECKING:
    from agent_fox.core.spec import Spec

Corrections = Mapping[str, Mapping[str, object]]

_HEAD = """\
# Whose work a requirement is, where its spec does not say it. Written by `agent-fox plan --owners`; docs/ownership.md.
#
# A line without # is a person's word, and wins over everything else. A line behind # says what is assumed now: to
# correct it, take the # away and name another group. Lines without # are kept when this file is written again;
# all others are written anew.
"""


def with_corrections(
    specs: Iterable[Spec], root: Path, others: Iterable[str] | None
) -> tuple[tuple[Spec, ...], tuple[Problem, ...]]:
    """The specs with the corrections of the file, and what is wrong with it. Without a file nothing changes.

    `others`: specs that could not be read; None where these are not all there are, so that no table is one too many.
    """
    read = tuple(specs)
    if not (root / OWNERS).is_file():
        return read, ()
    try:
        corrections = corrections_in(root)
    except ConfigError as error:
        return read, (Problem(Severity.ERROR, str(OWNERS), str(error).removeprefix(f"{OWNERS}: ")),)
    pairs = [
        corrected(spec, corrections[spec.name], str(OWNERS)) if spec.name in corrections else (spec, ())
        for spec in read
    ]
    known = [spec.name for spec in read]
    unknown = () if others is None else unknown_specs(corrections, [*known, *others], str(OWNERS))
    return tuple(spec for spec, _ in pairs), (*(problem for _, wrong in pairs for problem in wrong), *unknown)


def corrections_in(root: Path) -> Corrections:
    """The tables of the file. Raises ConfigError for one that cannot be read."""
    try:
        tables = read_table(root / OWNERS, shown=OWNERS)
    except TableError as error:
        raise ConfigError(str(error)) from error
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise ConfigError(f"{OWNERS}: {name} = ... stands in no table: write [SPEC] above the lines of a spec")
    return {str(name): table for name, table in tables.items() if isinstance(table, dict)}


def write_owners(specs: Iterable[Spec], root: Path) -> None:
    """Write who is assumed to own what the specs do not name, and keep every correction. Raises ConfigError."""
    corrections = corrections_in(root) if (root / OWNERS).is_file() else {}
    read = {spec.name: spec for spec in specs}
    names = [*(name for name, spec in read.items() if spec.is_planned and spec.groups), *corrections]
    blocks = [block_of(name, read.get(name), corrections.get(name, {})) for name in dict.fromkeys(names)]
    (root / OWNERS).parent.mkdir(exist_ok=True)
    replace_file(root / OWNERS, "\n".join([_HEAD, *(block for block in blocks if block)]))


def block_of(name: str, spec: Spec | None, corrections: Mapping[str, object]) -> str:
    """The table of one spec; empty where its source names every owner."""
    lines = [*lines_of(spec, corrections)] if spec else []
    expected = spec.expected if spec else ()
    left = [f"{_quoted(id)} = {_value(value)}" for id, value in corrections.items() if id not in expected]
    return "\n".join([f"[{_quoted(name)}]", *lines, *left, ""]) if lines or left else ""


def lines_of(spec: Spec, corrections: Mapping[str, object]) -> Iterator[str]:
    titles = {group.number: words_for(group) for group in spec.groups}
    owned = ownership(spec)
    for id, owner in owned.grounds.items():
        if id in corrections:
            yield f"{_quoted(id)} = {_value(corrections[id])}"
        elif owner.ground in (Ground.GUESSED, Ground.NOBODY):
            groups = [titles[number] for number in owner.groups or owned.fallback]
            yield f"# {_quoted(id)} = {_value(groups[0])} # {remark(owner, titles)}"


def remark(owned: Owned, titles: Mapping[int, str]) -> str:
    next_best = owned.guess.runner_up if owned.guess else None
    runner_up = f"; next comes {titles[next_best]}" if next_best is not None else ""
    word = "guessed" if owned.is_guess else "nobody found"
    return printable(" ".join(f"{word}: {owned.why}{runner_up}".split()))


def _value(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_value(each) for each in value)}]"
    return _quoted(value) if isinstance(value, str) else str(value)


def _quoted(text: str) -> str:
    return json.dumps(printable(text), ensure_ascii=False)
