"""Changes and capabilities as specs, with what can't be read of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_fox.core.plan.blame import ownership
from agent_fox.core.spec import Severity
from agent_fox.specs.places import find_places
from agent_fox.specs.planner import plan_of
from agent_fox.specs.reader import read_specs
from tests.specs.openspec.worlds import ADDED, LOGIN, change, read, read_change, told, write
from tests.specs.worlds import built_in

TASKS = "## 1. Build\n- [ ] 1.1 a\n## 2. Check\n- [ ] 2.1 b\n"


def test_a_change_is_a_spec(tmp_path: Path) -> None:
    spec, problems = read_change(tmp_path, proposal="# Change: Log in\n", tasks=TASKS, design="# D\n", auth=ADDED)
    assert (spec.name, spec.dialect, spec.path) == ("add-login", "openspec", "openspec/changes/add-login")
    assert (spec.title, spec.is_baseline, spec.expected) == ("Log in", False, ("1.1",))
    assert list(spec.documents) == ["proposal.md", "tasks.md", "design.md", "specs/auth/spec.md"]
    assert spec.place("1") == "openspec/changes/add-login/specs/auth/spec.md:3"
    assert ownership(spec).of("1.1") == (2,)
    assert problems == ()


def test_capabilities_are_read_in_the_order_of_their_names_however_deep(tmp_path: Path) -> None:
    folder = change(tmp_path, proposal="# x\n")
    for name in ("specs/mail/out/spec.md", "specs/auth/spec.md", "specs/zoo.md"):
        write(folder, {name: ADDED})
    write(folder, {"specs/auth/notes.md": "# Notes\n", "specs/README.md": "# Read\n"})
    spec, problems = read(folder, tmp_path)
    assert [r.title for r in spec.requirements] == ["auth: Login", "mail/out: Login", "zoo: Login"]
    assert problems == ()


def test_a_delta_may_stand_beside_the_proposal(tmp_path: Path) -> None:
    folder = change(tmp_path, proposal="# x\n")
    write(folder, {"spec.md": ADDED})
    assert read(folder, tmp_path)[0].expected == ("1.1",)


def test_a_capability_says_what_is_there(tmp_path: Path) -> None:
    write(
        tmp_path, {"openspec/specs/auth/spec.md": f"# auth Specification\n\n## Purpose\nx\n\n## Requirements\n{LOGIN}"}
    )
    spec, problems = read(tmp_path / "openspec/specs/auth", tmp_path)
    assert (spec.name, spec.title, spec.is_baseline, spec.groups, spec.expected) == ("auth", "auth", True, (), ("1.1",))
    assert problems == ()


def test_capabilities_in_a_folder_that_groups_them_have_its_name_too(tmp_path: Path) -> None:
    for name in ("web/auth", "app/auth"):
        write(tmp_path, {f"openspec/specs/{name}/spec.md": f"## Requirements\n{LOGIN}"})
    specs, problems = read_specs(find_places(tmp_path), tmp_path)
    assert [spec.name for spec in specs] == ["app.auth", "web.auth"]
    assert problems == ()


def test_a_proposal_alone_is_half_a_spec(tmp_path: Path) -> None:
    spec, problems = read_change(tmp_path, proposal="## Why\nx\n")
    assert (spec.requirements, spec.groups, problems) == ((), (), ())
    assert len(plan_of([spec]).problems) == 2


def test_changes_are_planned_and_capabilities_and_archives_are_not(tmp_path: Path) -> None:
    write(tmp_path, {"openspec/specs/auth/spec.md": f"## Requirements\n{LOGIN}"})
    change(tmp_path, "archive/2025-01-01-old", proposal="# x\n", tasks=TASKS)
    change(tmp_path, "add-mail", proposal="# x\n\nDepends on: add-login\n", tasks=TASKS, mail=ADDED)
    change(tmp_path, proposal="# x\n", tasks=TASKS, auth=ADDED)
    plan = plan_of(*read_specs(find_places(tmp_path), tmp_path))
    assert [(spec.name, spec.is_baseline) for spec in plan.specs] == [
        ("add-login", False),
        ("add-mail", False),
        ("auth", True),
    ]
    assert "add-mail:1" in {edge.target for edge in plan.edges if edge.source == "add-login:2"}


@pytest.mark.parametrize("name", ["tasks.md", "specs/auth/spec.md"])
def test_what_a_plan_needs_and_can_not_be_read_leaves_no_spec(tmp_path: Path, name: str) -> None:
    folder = change(tmp_path, proposal="# x\n", tasks=TASKS, auth=ADDED)
    (folder / name).write_bytes(b"\xff\xfe\0")
    spec, problems = built_in("openspec").read(folder, tmp_path)
    assert spec is None
    assert [(p.severity, p.where, p.spec) for p in problems] == [
        (Severity.ERROR, f"openspec/changes/add-login/{name}", "add-login")
    ]


def test_a_link_to_nowhere_is_an_error(tmp_path: Path) -> None:
    folder = change(tmp_path, proposal="# x\n", tasks=TASKS)
    (folder / "specs/auth").mkdir(parents=True)
    (folder / "specs/auth/spec.md").symlink_to("nowhere.md")
    assert built_in("openspec").read(folder, tmp_path)[0] is None


def test_a_folder_in_the_place_of_a_delta_is_an_error(tmp_path: Path) -> None:
    folder = change(tmp_path, proposal="# x\n", tasks=TASKS)
    (folder / "specs/auth/spec.md").mkdir(parents=True)
    spec, problems = built_in("openspec").read(folder, tmp_path)
    assert (spec, [p.where.rpartition("/")[2] for p in problems]) == (None, ["spec.md"])


def test_a_link_round_in_a_circle_is_not_followed(tmp_path: Path) -> None:
    folder = change(tmp_path, proposal="# x\n", auth=ADDED)
    (folder / "specs/auth/again").symlink_to(folder / "specs", target_is_directory=True)
    assert read(folder, tmp_path)[0].expected == ("1.1",)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_of_deltas_without_permission_is_an_error(tmp_path: Path) -> None:
    folder = change(tmp_path, proposal="# x\n", tasks=TASKS, auth=ADDED)
    (folder / "specs").chmod(0)
    spec, problems = built_in("openspec").read(folder, tmp_path)
    (folder / "specs").chmod(0o755)
    assert (spec, [p.severity for p in problems]) == (None, [Severity.ERROR])


def test_marks_of_a_merge_are_errors_wherever_they_stand(tmp_path: Path) -> None:
    mark = "<<<<<<< HEAD\n"
    _, problems = read_change(tmp_path, proposal="# x\n" + mark, tasks=TASKS + mark, auth=ADDED + mark)
    assert [where for where, _ in told(problems, Severity.ERROR)] == ["spec.md:9", "proposal.md:2", "tasks.md:5"]


def test_line_ends_tabs_and_a_byte_order_mark_change_nothing(tmp_path: Path) -> None:
    tasks = "## 1. Build\n- [ ] 1.1 a\n\t- detail\n- [ ] 1.2 b\n"
    plain, _ = read_change(tmp_path / "a", tasks=tasks, auth=ADDED)
    odd, problems = read_change(
        tmp_path / "b", tasks="\ufeff" + tasks.replace("\n", "\r\n"), auth="\ufeff" + ADDED.replace("\n", "\r\n")
    )
    assert (odd, problems) == (plain, ())
