"""Repairs: only those that leave the plan what it is, tried in a copy, and nothing is left to do afterwards."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.config import LintSettings
from agent_fox.specs.lint.fixing import EditRefused, Repairs, is_harmless, mirror, repairs, write_repaired
from agent_fox.specs.lint.values import Finding
from agent_fox.specs.lint.world import World
from agent_fox.specs.planner import plan_of
from agent_fox.specs.reader import read_specs
from tests.specs.lint.examples import EXAMPLES, FIXABLE
from tests.specs.lint.worlds import OTHER, REQUIREMENTS, ROWS, SPECS, TASKS, read, write

UPPER = {"01_sum/tasks.md": TASKS.replace("[ ] 1.1", "[X] 1.1")}
TASKS_FILE = "specs/01_sum/tasks.md"


def every(finding: Finding) -> bool:
    return True


def read_at(root: Path, places: Sequence[Path]) -> World:
    return World(root, plan_of(*read_specs(places, root)), LintSettings(), is_repository=True)


def tried(root: Path, *places: Path) -> Repairs:
    return repairs(root, places or [root / SPECS], read_at, every)


def put(root: Path, found: Repairs) -> None:
    for path, change in found.files.items():
        write_repaired(root, path, *change)


@pytest.mark.parametrize("rule", FIXABLE)
def test_a_repair_is_made_and_then_nothing_is_left_to_do(rule: str, tmp_path: Path) -> None:
    root = write(tmp_path, EXAMPLES[rule][0])
    found = tried(root)
    assert [finding.rule for finding in found.made] == [rule]
    assert found.refused == ()
    put(root, found)
    assert tried(root) == Repairs()


def test_nothing_is_written_while_repairs_are_tried(tmp_path: Path) -> None:
    root = write(tmp_path, UPPER)
    before = {path: path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}
    tried(root)
    assert {path: path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()} == before


def test_two_repairs_of_one_line_are_made_one_after_the_other(tmp_path: Path) -> None:
    line = "  - [X] 1.1 Write tests _Requirements: 1-req-1.1 , , 01-REQ-1.E1_"
    tasks = TASKS.replace("  - [ ] 1.1 Write tests of the sum\n    - _Requirements: 01-REQ-1.1, 01-REQ-1.E1_", line, 1)
    found = tried(write(tmp_path, {"01_sum/tasks.md": tasks}))
    assert {finding.rule for finding in found.made} == {"upper-case-box", "reference-spelling", "doubled-separator"}
    after = found.files[TASKS_FILE][1].decode()
    assert "  - [x] 1.1 Write tests _Requirements: 01-REQ-1.1, 01-REQ-1.E1_\n" in after


def test_line_ends_and_the_mark_of_a_real_file_stay(tmp_path: Path) -> None:
    text = "\ufeff" + UPPER["01_sum/tasks.md"].replace("\n", "\r\n")
    found = tried(write(tmp_path, {"01_sum/tasks.md": text}))
    assert found.files[TASKS_FILE][1] == text.replace("[X]", "[x]").encode()


def test_boxes_in_code_and_in_comments_are_samples(tmp_path: Path) -> None:
    tasks = TASKS + "\n```\n- [X] 9. Sample\n```\n\n<!--\n- [X] 8. Sample\n-->\n"
    assert tried(write(tmp_path, {"01_sum/tasks.md": tasks})) == Repairs()


def test_ids_in_code_and_ids_that_two_could_be_meant_by_stay(tmp_path: Path) -> None:
    tasks = TASKS + "    - `_Requirements: 1-req-1.1`\n"
    assert tried(write(tmp_path, {"01_sum/tasks.md": tasks})) == Repairs()


def test_a_number_is_replaced_only_in_the_column_of_the_spec(tmp_path: Path) -> None:
    files = {**EXAMPLES["dependency-by-number"][0], "01_sum/prd.md": ROWS + "| 2 | 2 | 2 | 2 \\| 2 |\n"}
    found = tried(write(tmp_path, files))
    assert found.files["specs/01_sum/prd.md"][1].decode().endswith("| 02_other | 2 | 2 | 2 \\| 2 |\n")


def test_a_fence_is_not_closed_over_text(tmp_path: Path) -> None:
    tasks = TASKS.replace("\n- [ ] 2.", "\n```sh\nmake\n\n- [ ] 2.")
    root = write(tmp_path, {"01_sum/tasks.md": tasks})
    assert tried(root) == Repairs()


def test_a_fence_that_would_change_a_requirement_is_not_closed(tmp_path: Path) -> None:
    """The words of a requirement decide what its verdict is about."""
    text = REQUIREMENTS + "   ```\n   show(a)\n"
    found = tried(write(tmp_path, {"01_sum/requirements.md": text}))
    assert found.files == {}


def test_a_change_of_what_is_to_be_proven_is_no_repair(tmp_path: Path) -> None:
    plan = read(write(tmp_path, {})).plan
    spec = plan.specs[0]
    other = replace(spec, requirements=(replace(spec.requirements[0], criteria=()),))
    assert is_harmless(plan, plan)
    assert not is_harmless(plan, replace(plan, specs=(other,)))
    assert not is_harmless(plan, replace(plan, nodes=plan.nodes[1:]))


def test_a_file_that_was_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    root = write(tmp_path, UPPER)
    found = tried(root)
    (root / TASKS_FILE).write_text("mine\n")
    with pytest.raises(EditRefused, match=r"tasks\.md was changed meanwhile, and is left as it is"):
        put(root, found)
    assert (root / TASKS_FILE).read_text() == "mine\n"
    assert [path.name for path in sorted((root / TASKS_FILE).parent.iterdir())] == ["requirements.md", "tasks.md"]


def test_a_link_that_leads_outside_is_never_followed(tmp_path: Path) -> None:
    root = write(tmp_path / "repository", UPPER)
    outside = tmp_path / "tasks.md"
    (root / TASKS_FILE).rename(outside)
    (root / TASKS_FILE).symlink_to(outside)
    assert tried(root).files == {}
    before = outside.read_bytes()
    with pytest.raises(EditRefused, match="leads outside of the repository"):
        write_repaired(root, TASKS_FILE, before, b"x")
    assert outside.read_bytes() == before


def test_a_link_inside_the_repository_stays_a_link(tmp_path: Path) -> None:
    root = write(tmp_path, UPPER)
    (root / TASKS_FILE).rename(root / "kept.md")
    (root / TASKS_FILE).symlink_to("../../kept.md")
    put(root, tried(root))
    assert (root / TASKS_FILE).is_symlink()
    assert "[X]" not in (root / "kept.md").read_text()


def test_the_mode_of_a_file_stays(tmp_path: Path) -> None:
    root = write(tmp_path, UPPER)
    (root / TASKS_FILE).chmod(0o640)
    put(root, tried(root))
    assert (root / TASKS_FILE).stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_of_a_file_stays(tmp_path: Path) -> None:
    root = write(tmp_path, UPPER)
    os.chown(root / TASKS_FILE, 4321, 4322)
    put(root, tried(root))
    kept = (root / TASKS_FILE).stat()
    assert (kept.st_uid, kept.st_gid) == (4321, 4322)


def test_a_name_of_many_bytes_is_none_too_long(tmp_path: Path) -> None:
    name = "仕様" * 40 + ".md"
    (tmp_path / name).write_text("a")
    write_repaired(tmp_path, name, b"a", b"b")
    assert (tmp_path / name).read_text() == "b"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    root = write(tmp_path, UPPER)
    (root / TASKS_FILE).chmod(0o444)
    with pytest.raises(EditRefused, match=r"tasks\.md can't be written"):
        put(root, tried(root))


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(EditRefused, match="is not there any more"):
        write_repaired(tmp_path, "a.md", b"", b"x")


def test_places_outside_of_the_repository_are_not_repaired(tmp_path: Path) -> None:
    root = write(tmp_path / "a", UPPER)
    assert tried(tmp_path / "b", root / SPECS) == Repairs()


def test_what_is_read_outside_of_the_repository_is_never_written_while_repairs_are_tried(tmp_path: Path) -> None:
    root, other = write(tmp_path / "a", UPPER), tmp_path / "b" / "02_other"
    shutil.copytree(root / SPECS / "01_sum", other)
    before = (other / "tasks.md").read_bytes()
    for place in (other.parent, root / ".." / "b"):
        found = tried(root, root / SPECS, place)
        assert (list(found.files), len(found.made)) == ([TASKS_FILE], 1)
        assert (other / "tasks.md").read_bytes() == before


@pytest.mark.parametrize("place", ["empty", "not-there"])
def test_a_place_that_holds_nothing_keeps_nobody_from_repairing_the_others(place: str, tmp_path: Path) -> None:
    root = write(tmp_path, UPPER)
    (root / "empty").mkdir()
    assert list(tried(root, root / SPECS, root / place).files) == [TASKS_FILE]


def test_specs_that_can_not_be_copied_are_left_alone(tmp_path: Path) -> None:
    root = write(tmp_path / "a", UPPER)
    (root / SPECS / "01_sum").rename(tmp_path / "01_sum")
    (root / SPECS / "01_sum").symlink_to(tmp_path / "01_sum")
    (root / SPECS / "README.md").write_text("# Specs\n")
    assert tried(root) == Repairs()


def test_a_folder_that_links_to_another_one_of_the_repository_is_repaired(tmp_path: Path) -> None:
    root = write(tmp_path, UPPER)
    (root / SPECS / "01_sum").rename(root / "01_real")
    (root / SPECS / "01_sum").symlink_to("../01_real")
    (root / SPECS / "00_again").symlink_to("01_sum")
    put(root, tried(root))
    assert "[X]" not in (root / "01_real" / "tasks.md").read_text()


def test_hidden_folders_and_those_of_packages_are_not_copied(tmp_path: Path) -> None:
    root = write(tmp_path / "a", {".venv/a.md": "a", "node_modules/a.md": "a", "archive/01_old/tasks.md": "a"})
    copied = mirror(root, [root], tmp_path / "b")
    assert sorted(copied) == [f"specs/{name}" for name in ("01_sum/requirements.md", "01_sum/tasks.md")] + [
        "specs/archive/01_old/tasks.md"
    ]


def test_a_repair_that_would_change_the_plan_keeps_no_other_from_being_made(tmp_path: Path) -> None:
    names = [f"{number:02}_sum" for number in range(1, 17)]
    files = {f"{name}/tasks.md": UPPER["01_sum/tasks.md"].replace("01-", f"{name[:2]}-") for name in names}
    files |= {f"{name}/requirements.md": REQUIREMENTS.replace("01-", f"{name[:2]}-") for name in names}
    files["05_sum/requirements.md"] += "   ```\n   show(a)\n"
    readings: list[Path] = []

    def counted(root: Path, places: Sequence[Path]) -> World:
        readings.append(root)
        return read_at(root, places)

    root = write(tmp_path, files)
    found = repairs(root, [root / SPECS], counted, every)
    assert (sorted(found.files), len(found.made)) == ([f"specs/{name}/tasks.md" for name in names], len(names))
    assert len(readings) < len(names)


def test_what_a_repair_leaves_behind_is_repaired_at_once(tmp_path: Path) -> None:
    rows = ROWS + "| 02 | 2 | 2 | a |\n| 02_other | 2 | 2 | a |\n"
    root = write(tmp_path, {**OTHER, "01_sum/prd.md": rows})
    found = repairs(root, [root / SPECS], read_at, lambda finding: finding.rule == "dependency-by-number")
    assert [finding.rule for finding in found.made] == ["dependency-by-number", "doubled-dependency"]
    put(root, found)
    assert tried(root) == Repairs()


def test_folders_that_link_in_a_circle_are_no_trouble(tmp_path: Path) -> None:
    root = write(tmp_path, UPPER)
    (root / SPECS / "01_sum" / "again").symlink_to("..")
    assert list(tried(root).files) == [TASKS_FILE]
