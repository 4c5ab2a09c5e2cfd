"""A plain TOML spec, and what is said of one that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.core.spec import Criterion, Dependency, Problem, Requirement, Severity, Spec, TaskState
from agent_fox.specs.plain.dialect import PlainDialect

WHOLE = """title = "Walls"
depends_on = ["doors", { spec = "gates", group = 2, before_group = 1, archived = true }]
requirements = [
  "A wall stands.",
  { title = "Paint", text = "It can be painted.", criteria = ["White.", { id = "P-2", text = "Black." }] },
]

[[groups]]
title = "Write failing tests"
requirements = ["1", "P-2"]

[[groups]]
title = "Build"
optional = true
tasks = [
  "Lay bricks",
  { title = "Paint", requirements = ["2.1"], state = "done", after = ["2.1"], details = ["twice"] },
]

[test_commands]
all_tests = "make test"
"""


def read(tmp_path: Path, text: str) -> tuple[Spec | None, tuple[Problem, ...]]:
    (tmp_path / "walls.toml").write_text(text, encoding="utf-8")
    assert PlainDialect().recognises(tmp_path / "walls.toml")
    return PlainDialect().read(tmp_path / "walls.toml", tmp_path)


def test_a_whole_file_is_a_whole_spec(tmp_path: Path) -> None:
    spec, problems = read(tmp_path, WHOLE)
    assert spec is not None
    assert (spec.name, spec.title, spec.dialect, problems) == ("walls", "Walls", "plain", ())
    criteria = (Criterion("2.1", "It can be painted.\nWhite."), Criterion("P-2", "It can be painted.\nBlack."))
    paint = Requirement("2", "Paint", "It can be painted.", criteria)
    assert spec.requirements == (Requirement("1", "A wall stands."), paint)
    assert spec.dependencies == (
        Dependency("doors", None, None, "walls.toml:2"),
        Dependency("gates", 2, 1, "walls.toml:2", is_archived=True),
    )
    tests, build = spec.groups
    assert (tests.requirements, tests.writes_tests_only) == (("1", "P-2"), True)
    assert (build.optional, build.subtasks[1].state, build.subtasks[1].after) == (True, TaskState.DONE, ("2.1",))
    assert build.text.splitlines()[:3] == ["- [ ] 2. Build", "  - [ ] 2.1 Lay bricks", "  - [x] 2.2 Paint"]
    assert spec.test_commands == {"all_tests": "make test"}
    assert spec.implied == {"1", "2", "2.1"}
    assert [spec.place(thing) for thing in ("1", "2.1", "group 2", "task 2.2")] == [
        "walls.toml:4",
        "walls.toml:5",
        "walls.toml:13",
        "walls.toml:17",
    ]


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ('requirements = ["x"]\n[[groups]]\ntitel = "T"\n', 3, "did you mean title"),
        ('groups = []\nrequirments = ["x"]\ntitle = "A"\n', 2, "did you mean requirements"),
        ('requirements = ["x"]\n\n[[groups]]\ntitle = 3\n', 4, "a text in quotes"),
        ('requirements = ["x"\n[[groups]]\n', 2, "not TOML"),
        ('requirements = ["x"]\n<<<<<<< a\n', 2, "merge"),
        ('requirements = ["x"]\n[[groups]]\n[[groups]]\ntitle = "A"\n', 2, "title: this key is missing"),
        (f"requirements = []\n{'1.' * 1000}1 = 2\n", 2, "so many parts"),
        (f"requirements = {'[' * 3000}\n", None, "not TOML"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, line: int | None, word: str) -> None:
    spec, problems = read(tmp_path, text)
    assert spec is None
    assert {(problem.severity, problem.spec) for problem in problems} == {(Severity.ERROR, "walls")}
    said = {(problem.where, word in problem.what) for problem in problems}
    assert ("walls.toml" if line is None else f"walls.toml:{line}", True) in said


def test_a_doubled_id_is_an_error_and_a_lost_reference_a_warning(tmp_path: Path) -> None:
    text = '[[requirements]]\nid = "A"\ntext = "x"\n[[requirements]]\nid = "A"\ntext = "y"\n'
    spec, problems = read(tmp_path, f'{text}[[groups]]\ntitle = "G"\nrequirements = ["Z-9"]\n')
    assert spec is not None
    assert [(problem.severity, problem.where) for problem in problems] == [
        (Severity.ERROR, "walls.toml:6"),
        (Severity.WARNING, "walls.toml:8"),
    ]


def test_places_are_found_in_lists_of_any_length(tmp_path: Path) -> None:
    count = 20_000
    rows = ",\n".join(f'{{ title = "need {n}", criteria = ["must {n}"] }}' for n in range(count))
    groups = "".join(f'[[groups]]\ntitle = "G{n}"\n' for n in range(count))
    spec, problems = read(tmp_path, f"requirements = [\n{rows}\n]\n{groups}")
    assert spec is not None
    assert problems == ()
    found = [spec.places[name] for name in ("1", "20000", "20000.1", "group 1", "group 20000")]
    assert found == [f"walls.toml:{line}" for line in (2, count + 1, count + 1, count + 4, 3 * count + 2)]


def test_counted_ids_pass_those_that_are_written_however_many(tmp_path: Path) -> None:
    count = 20_000
    written = ", ".join(f'{{ id = "{n}", text = "w" }}' for n in range(1, count + 1))
    counted = ", ".join('"c"' for _ in range(count))
    spec, problems = read(tmp_path, f"requirements = [{counted}, {written}]\n")
    assert spec is not None
    assert problems == ()
    assert [one.id for one in spec.requirements[:2]] == ["20001", "20002"]
    assert len({one.id for one in spec.requirements}) == 2 * count


def test_a_requirement_that_says_nothing_is_an_error(tmp_path: Path) -> None:
    spec, problems = read(tmp_path, 'requirements = ["", { title = "T" }]\n')
    assert spec is None
    assert [problem.what for problem in problems] == [
        "requirements[0]: a requirement says nothing: give it a title or a text"
    ]
