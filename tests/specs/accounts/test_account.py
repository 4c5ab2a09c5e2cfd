"""Every item of a document goes somewhere: an id, a part of one, a group, context, or it is told with its line."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_fox.core.spec import Problem, Severity, Spec
from agent_fox.specs.accounts.account import BOX, DocumentAccount, Entry, Fate, account_of, lines_named
from agent_fox.specs.reader import read_specs
from agent_fox.specs.unread import Known, counted, counted_documents, obliges
from tests.specs.made.forms import FORMS, made_by, write
from tests.specs.second_count import items

READING = Path(__file__).resolve().parents[3] / "fixtures" / "reading"
CASES = tomllib.loads((READING / "expected.toml").read_text("utf-8"))
SHARED = Path(__file__).resolve().parents[4] / "shared" / "data" / "specs"
PLACES = [path for path in SHARED.iterdir() if path.is_dir()] if SHARED.is_dir() else []
DIALECTS = Path(__file__).resolve().parents[3] / "fixtures" / "dialects"
IN_MARKDOWN = [form for form in FORMS if "json" not in form and "toml" not in form]


def accounted(place: Path, root: Path) -> tuple[list[tuple[Spec, list[Entry]]], tuple[Problem, ...]]:
    specs, problems = read_specs(place, root)
    return [(spec, list(account_of(spec, root, problems))) for spec in specs], problems


@pytest.mark.parametrize("case", CASES)
def test_each_line_of_a_hard_document_goes_where_a_person_would_put_it(case: str) -> None:
    found, problems = accounted(READING / case, READING)
    entries = {entry.where: entry for _, listed in found for entry in listed}
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    told = {where for spec, _ in found for where in lines_named(spec, problems)} | {one.where for one in problems}
    grave = {where for spec, _ in found for where in lines_named(spec, errors)} | {one.where for one in errors}
    wrong = {}
    for place, wanted in CASES[case].items():
        where = place if place.startswith(case) else f"{case}/{place}"
        if not is_so(wanted, entries.get(where), where in told, where in grave):
            wrong[place] = (wanted, entries.get(where))
    assert wrong == {}


@pytest.mark.parametrize("case", CASES)
def test_what_is_passed_over_quickly_is_left_over_nowhere(case: str) -> None:
    """The quick look of each reading finds the leftovers, and the demands that nothing holds, of the whole account."""
    specs, _ = read_specs(READING / case, READING)
    for spec in specs:
        for document in counted(spec, READING):
            account = DocumentAccount(Known(spec), document)
            whole, quick = list(account.entries), list(account.doubtful())
            assert [entry for entry in whole if entry.fate is Fate.LEFTOVER] == [
                entry for entry in quick if entry.fate is Fate.LEFTOVER
            ]
            unheard = [entry for entry in whole if entry.is_unheard and (entry.kind == BOX or obliges(entry.text))]
            assert [entry for entry in quick if entry.is_unheard] == [
                entry for entry in whole if entry.fate is Fate.LEFTOVER or entry in unheard
            ]


def is_so(wanted: str, entry: Entry | None, is_told: bool, is_error: bool) -> bool:
    """Whether what came of a line is what was wanted. A line that is no item of its own is part of the one above."""
    kind, _, name = wanted.partition(" ")
    fate, named = (entry.fate, entry.name) if entry is not None else (None, "")
    if kind in ("error", "leftover"):
        return is_error and (kind == "error" or fate is Fate.LEFTOVER)
    if kind in ("warning", "said", "named"):
        return is_told or (kind == "named" and fate in (Fate.ID, Fate.GROUP))
    if kind in ("task", "group"):
        return (fate, named) == (Fate.GROUP, wanted)
    if kind == "part":
        is_inside = named == name or named.startswith((f"{name}.", "group"))
        return entry is None or (fate in (Fate.PART, Fate.GROUP) and is_inside)
    if kind == "id":
        return (fate, named) == (Fate.ID, name)
    return (entry is None or fate is Fate.CONTEXT) and not is_told


def uncounted(place: Path, root: Path) -> Iterator[str]:
    """Where the two counts differ."""
    found, _ = accounted(place, root)
    seen: dict[str, set[tuple[int, str]]] = {}
    for spec, entries in found:
        for where in counted_documents(spec):
            seen.setdefault(where, set())
        for entry in entries:
            if entry.document in seen:
                seen[entry.document].add((entry.line, entry.kind))
    for where, there in seen.items():
        expected = items((root / where).read_text("utf-8"))
        yield from (f"- {where}:{line} {kind}" for line, kind in sorted(expected - there) if kind != " ")
        yield from (f"+ {where}:{line} {kind}" for line, kind in sorted(there - expected))


@pytest.mark.parametrize("place", PLACES, ids=[place.name for place in PLACES])
def test_a_count_that_knows_nothing_of_the_readers_finds_the_same_items_in_real_specs(place: Path) -> None:
    assert [*uncounted(place, SHARED)] == []


@given(form=st.sampled_from(IN_MARKDOWN), seed=st.integers(0, 1_000_000))
@settings(deadline=None, max_examples=60)
def test_the_two_counts_are_the_same_over_made_documents_of_every_dialect(form: str, seed: int) -> None:
    with TemporaryDirectory() as root:
        place = write(made_by(form, seed), Path(root)).parent
        assert [*uncounted(place, Path(root))] == []


@given(form=st.sampled_from(IN_MARKDOWN), seed=st.integers(0, 1_000_000))
@settings(deadline=None, max_examples=60)
def test_nothing_of_a_made_document_is_left_over_without_being_told(form: str, seed: int) -> None:
    with TemporaryDirectory() as root:
        found, problems = accounted(write(made_by(form, seed), Path(root)).parent, Path(root))
        left = [entry for _, entries in found for entry in entries if entry.fate is Fate.LEFTOVER]
        told = " ".join(f"{problem.where} {problem.what}" for problem in problems)
        assert [entry for entry in left if f"{entry.line}" not in told] == []


@pytest.mark.parametrize("place", PLACES, ids=[place.name for place in PLACES])
def test_nothing_of_real_specs_is_left_over_but_what_is_told_of_what_they_were_drawn_from(place: Path) -> None:
    found, problems = accounted(place, SHARED)
    kept = [entry for spec, entries in found if not spec.is_withdrawn for entry in entries]
    left = [entry for entry in kept if entry.fate is Fate.LEFTOVER]
    told = {where for spec, _ in found for where in lines_named(spec, problems)}
    assert [entry for entry in left if not entry.document.endswith("prd.md") or entry.where not in told] == []


def test_an_obligation_above_the_criteria_is_asked_by_no_verdict_and_left_over(tmp_path: Path) -> None:
    folder = tmp_path / "02_a"
    folder.mkdir()
    text = "### 02-REQ-1: T\n\nThe lock MUST be blue.\n\n1. [02-REQ-1.1] THE lock SHALL close.\n"
    (folder / "requirements.md").write_text(text)
    ((_, entries),), problems = accounted(tmp_path, tmp_path)
    assert [(entry.line, entry.fate, entry.is_grave) for entry in entries] == [
        (1, Fate.ID, False),
        (3, Fate.LEFTOVER, True),
        (5, Fate.ID, False),
    ]
    assert [problem.where for problem in problems if problem.severity is Severity.ERROR] == ["02_a/requirements.md:3"]


def test_what_stands_in_a_file_beside_another_spec_is_that_ones(tmp_path: Path) -> None:
    spec = "# Spec: `{0}`: T\n\n## Requirements\n\n- The {0} SHALL close.\n\n## Tasks\n\n- [ ] 1. Build {0}\n\n"
    (tmp_path / "two.md").write_text(spec.format("lock") + spec.format("bell"))
    found, _ = accounted(tmp_path, tmp_path)
    assert [[entry.name for entry in entries if entry.fate is not Fate.CONTEXT] for _, entries in found] == [
        ["1", "group 1"],
        ["1", "group 1"],
    ]


REQUIREMENTS = "### 02-REQ-1: T\n\n1. [02-REQ-1.1] THE lock SHALL close at dusk every day.\n"
DRAWN_FROM = """# Lock

## Background

The old lock MUST have been loud.

## Requirements

- THE lock SHALL close at dusk every day.
- THE lock MUST be painted in a warm red.
- It may have a bell.

## Tasks

- [ ] Build the whole lock from brass
- [ ] Ask the neighbour about the old key
"""


def test_what_the_document_demands_that_requirements_were_drawn_from_stands_in_them_or_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "02_a"
    folder.mkdir()
    (folder / "requirements.md").write_text(REQUIREMENTS)
    (folder / "tasks.md").write_text("- [ ] 1. Build the whole lock from brass\n")
    (folder / "prd.md").write_text(DRAWN_FROM)
    ((_, entries),), problems = accounted(tmp_path, tmp_path)
    found = [(entry.line, entry.fate, entry.name) for entry in entries if entry.document.endswith("prd.md")]
    assert found == [
        (9, Fate.PART, "02-REQ-1.1"),
        (10, Fate.LEFTOVER, ""),
        (15, Fate.GROUP, "group 1"),
        (16, Fate.LEFTOVER, ""),
    ]
    assert [(problem.where, problem.severity, "lines 10 and 16" in problem.what) for problem in problems] == [
        ("02_a/prd.md:10", Severity.WARNING, True)
    ]


def test_what_a_json_document_demands_where_no_schema_looks_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "02_a"
    folder.mkdir()
    criterion = {"id": "02-REQ-1.1", "text": "THE lock SHALL close at dusk every day."}
    requirement = {"id": "02-REQ-1", "title": "Lock", "acceptance_criteria": [criterion]}
    document = {"requirements": [requirement], "constraints": ["THE lock MUST be painted in a warm red."]}
    (folder / "requirements.json").write_text(json.dumps(document, indent=1))
    (folder / "tasks.json").write_text('{"task_groups": [{"id": 1, "title": "Build"}]}')
    ((_, entries),), problems = accounted(tmp_path, tmp_path)
    assert [(entry.fate, entry.name) for entry in entries] == [(Fate.PART, "02-REQ-1.1"), (Fate.LEFTOVER, "")]
    assert [entry.where for entry in entries[1:]] == [p.where for p in problems if "demanded here" in p.what]


def test_how_many_lines_are_not_shown_is_no_line() -> None:
    """`lines 3, 5 and 12 more`: of a long list the first are named, and the others counted."""
    spec = Spec("01_bell", "agent-fox", "specs/01_bell", "Bell")
    said = Problem(Severity.WARNING, "t.md:3", "lines 3, 5 to 7 and 12 more. Also line 9 and 31", "01_bell")
    assert lines_named(spec, [said]) == {f"t.md:{number}" for number in (3, 5, 7, 9, 31)}
