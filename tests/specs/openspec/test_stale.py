"""Deltas about requirements that a capability does not have."""

from __future__ import annotations

from pathlib import Path

from tests.specs.openspec.worlds import ADDED, LOGIN, change, read, told, write

BASELINE = "# auth Specification\n\n## Purpose\nx\n\n## Requirements\n\n" + LOGIN


def stale(root: Path, delta: str) -> list[tuple[str, str]]:
    write(root, {"openspec/specs/auth/spec.md": BASELINE})
    found = told(read(change(root, auth=delta), root)[1])
    return [(where, what) for where, what in found if "does not have" in what]


def test_what_is_there_may_be_modified_removed_and_renamed(tmp_path: Path) -> None:
    assert stale(tmp_path, ADDED.replace("ADDED", "MODIFIED").replace("Login", "login")) == []


def test_a_reference_to_nothing_is_said_with_the_nearest_title(tmp_path: Path) -> None:
    ((where, what),) = stale(tmp_path, ADDED.replace("ADDED", "MODIFIED").replace("Login", "Log in"))
    assert where == "spec.md:3"
    assert what == 'modifies "Log in", which openspec/specs/auth/spec.md does not have. Did you mean "Login"?'


def test_removals_and_renamings_of_nothing_are_said(tmp_path: Path) -> None:
    text = "## REMOVED Requirements\n### Requirement: Zzz\n## RENAMED Requirements\n- FROM: Qqq\n- TO: Rrr\n"
    assert [what.split(",")[0] for _, what in stale(tmp_path, text)] == ['takes back "Zzz"', 'renames "Qqq"']


def test_a_requirement_may_be_modified_under_its_new_name(tmp_path: Path) -> None:
    text = "## RENAMED Requirements\n- FROM: Login\n- TO: Sign in\n## MODIFIED Requirements\n### Requirement: Sign in\n"
    assert stale(tmp_path, text) == []


def test_without_the_capability_s_file_nothing_is_stale(tmp_path: Path) -> None:
    spec, problems = read(change(tmp_path, auth=ADDED.replace("ADDED", "MODIFIED")), tmp_path)
    assert (spec.expected, problems) == (("1.1",), ())
