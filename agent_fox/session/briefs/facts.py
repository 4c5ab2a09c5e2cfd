"""The facts of a brief as values, free of secrets. How they look is in `briefs`, which they are in the engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar, cast

from agent_fox.core.ids import digest_of
from agent_fox.core.markdown import printable
from agent_fox.core.values import Json, dataclass, to_document, to_object
from agent_fox.system.redaction.masking import redact

if TYPE_CHECKING:
    from agent_fox.core.ids import Archetype, Mode
    from agent_fox.core.retry.cut_off import CutOff as Work
    from agent_fox.core.retry.replay import Replay
    from agent_fox.core.spec import Criterion
    from agent_fox.system.git_diff import Lines

FORBIDDEN = (
    "weakening, deleting, skipping or special-casing tests so that they pass",
    "changing the spec: its files are dropped when the work lands, except ticked boxes",
    "claiming what you have not run",
)

DIGEST_DIGITS = 16
T = TypeVar("T")


class Since(StrEnum):
    """How long a requirement has been failing."""

    FIRST = "failing"
    STILL = "still failing"
    NEWLY = "newly failing"


@dataclass(frozen=True, slots=True)
class Failure:
    """One requirement that failed: its text, what was seen, and the command that shows it again.

    `owner`: why it is taken for this group's work, and whose it may be instead; empty where that is known.
    """

    id: str
    text: str
    evidence: str = ""
    command: str = ""
    standing: Since = Since.FIRST
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Tried:
    """One earlier attempt: what its session said it did, and what came of it."""

    attempt: int
    summary: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Work that could not be merged: the files in conflict, and the commit subjects of the two sides.

    `branch` is what the integration branch got meanwhile, `work` what the coder had made.
    """

    files: tuple[str, ...]
    branch: tuple[str, ...] = ()
    work: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AskedExpectation:
    """A committed test that was changed, with both its versions, about which a final review is asked by itself."""

    requirement: str
    text: str
    test: str
    reason: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class CutOff:
    """What this coder's last session, which was cut off, had done, and by which files.

    `is_laid_out`: the workspace starts from it; `why_not` says why it does not although the settings ask for it. Else
    `file` is the path of the difference as Markdown.
    """

    work: Work
    files: tuple[Lines, ...] = ()
    is_laid_out: bool = False
    file: str = ""
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """What a final review is about: the difference between two commits, in the files that the spec's work touched.

    `diff` may be cut; `questions` are those of checklists that a reviewer must answer; to each of `expectations` it
    says whether it agrees.
    """

    base: str
    commit: str
    files: tuple[str, ...] = ()
    diff: str = ""
    questions: tuple[str, ...] = ()
    expectations: tuple[AskedExpectation, ...] = ()


@dataclass(frozen=True, slots=True)
class Binding:
    """Something that must hold beside the text of requirements: an adopted object of the specification library.

    `requirements` are the ids that pass only if it holds. `checked` says what a program checks, as (name, value) in
    the words of specifications.toml. `doubt` says why nothing that a check shows may count.
    """

    address: str
    kind: str
    text: str
    requirements: tuple[str, ...] = ()
    checked: tuple[tuple[str, str], ...] = ()
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class StaysGreen:
    """A test that failed once, and holds now: `address` is its requirement's, `command` the command line that runs it
    among others, `counterexample` its minimal input, where a tool found one; `why` says how it came to be remembered.
    """

    address: str
    test: str
    command: str
    counterexample: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class BriefFacts:
    """Everything a session is told. `reason` is why its last try ended without a result, such as `exit 7`.

    `tasks` is the group's text in the spec, `documents` are paths in the workspace worth reading, `commands` the
    spec's test commands as (label, command line). `changed` are the files that the last attempt changed. `expected`
    and `unclear` are for verifiers: the ids to judge, and those that an earlier reading left open. With a `conflict`,
    that is the whole task of the session. `change` is for a final review, `bound` for coders, `replay` for one whose
    last work is known to have broken at some step. `is_short`: an earlier
    session did not fit into its model's context, so that the Markdown form says the least; the JSON form has it all.
    """

    node: str
    spec: str
    archetype: Archetype
    attempt: int
    title: str = ""
    mode: Mode | None = None
    reading: int = 1
    tasks: str = ""
    requirements: tuple[Criterion, ...] = ()
    failing: tuple[Failure, ...] = ()
    fixed: tuple[str, ...] = ()
    must_stay_green: tuple[str, ...] = ()
    tried: tuple[Tried, ...] = ()
    changed: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = FORBIDDEN
    reason: str = ""
    conflict: Conflict | None = None
    documents: tuple[str, ...] = ()
    commands: tuple[tuple[str, str], ...] = ()
    expected: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()
    change: Change | None = None
    bound: tuple[Binding, ...] = ()
    cut_off: CutOff | None = None
    replay: Replay | None = None
    is_short: bool = False
    remembered: tuple[StaysGreen, ...] = ()
    not_named: int = 0


KEPT = frozenset(
    {
        *("node", "spec", "id", "requirement", "fixed", "must_stay_green", "expected", "unclear", "forbidden"),
        *("address", "kind", "base", "commit", "ref", "file", "before", "after", "onset"),
    }
)
"""Fields that hold names of the plan, of git and of ours, in which nothing is masked."""


def without_secrets(facts: BriefFacts, secrets: Iterable[str] = ()) -> BriefFacts:
    """The same facts with every text masked: what looks like a secret, and each of `secrets`."""
    known = tuple(secrets)
    return _masked(facts, lambda text: redact(text, known) if text else text)


def _masked(value: T, masked: Callable[[str], str]) -> T:
    """The same value, with each text within it masked, but those of the fields in KEPT."""
    changed: object = value
    match value:
        case str() if not isinstance(value, StrEnum):
            changed = masked(value)
        case tuple():
            changed = tuple(_masked(each, masked) for each in value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            names = (field.name for field in fields(value) if field.name not in KEPT)
            changed = replace(value, **{name: _masked(getattr(value, name), masked) for name in names})
    return cast("T", changed)


def brief_json(facts: BriefFacts) -> dict[str, object]:
    """The brief as a JSON document; every key is always there, but `change`, `bound`, `cut_off`, `replay`, `is_short`,
    `remembered`, `not_named` (how many more items are remembered) and the `owner` of a failure only where there is one.

    Keep the keys stable: agents read them.
    """
    sometimes = {
        "change": _change_json(facts.change) if facts.change else None,
        "bound": [_binding_json(each) for each in facts.bound],
        "cut_off": _cut_off_json(facts.cut_off) if facts.cut_off else None,
        "replay": to_object(facts.replay, text=printable) if facts.replay else None,
        "is_short": facts.is_short,
        "remembered": to_document(facts.remembered, printable),
        "not_named": facts.not_named,
    }
    return {
        **{name: value for name, value in sometimes.items() if value},
        **to_object(facts, only=SHOWN, text=printable),
        "failing": [
            to_object(each, without=() if each.owner else ("owner",), text=printable) for each in facts.failing
        ],
        "commands": [{"label": printable(label), "command": printable(line)} for label, line in facts.commands],
        **to_object(facts, only=("expected", "unclear"), text=printable),
    }


SHOWN = (
    "node", "spec", "archetype", "mode", "attempt", "reading", "title", "tasks", "requirements", "failing", "fixed",
    "must_stay_green", "tried", "changed", "forbidden", "reason", "conflict", "documents",
)  # fmt: skip


def digest(facts: BriefFacts) -> str:
    """A short hash of all facts, also of what the Markdown form has no room for: other facts, another digest."""
    text = json.dumps(brief_json(facts), sort_keys=True)
    return digest_of(text, digits=DIGEST_DIGITS)


def _change_json(change: Change) -> dict[str, Json]:
    shown = to_object(change, text=printable)
    asked = shown.pop("expectations")
    return {**({"expectations": asked} if asked else {}), **shown}


def _cut_off_json(cut_off: CutOff) -> dict[str, Json]:
    work = cut_off.work
    return {
        **to_object(work, only=("attempt", "why", "base", "commit", "ref"), text=printable),
        "command": work.command if work.commit else "",
        **to_object(work, only=("added", "removed"), text=printable),
        "files": [to_object(each, only=("path", "added", "removed"), text=printable) for each in cut_off.files],
        "left_out": to_document(work.left_out, printable),
        **to_object(cut_off, only=("is_laid_out", "file", "why_not"), text=printable),
    }


def _binding_json(binding: Binding) -> dict[str, Json]:
    checked: list[Json] = [{"name": name, "value": printable(value)} for name, value in binding.checked]
    return {**to_object(binding, text=printable), "checked": checked}
