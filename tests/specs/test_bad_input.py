"""Whatever is wrong with a spec is said by name, and never hides the good one beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from agent_fox.core.graph import Plan
from agent_fox.core.spec import Problem, Severity, Spec
from agent_fox.specs.files import MAX_FILE_BYTES
from agent_fox.specs.places import SpecsMissing, find_places
from agent_fox.specs.planner import plan_of
from agent_fox.specs.reader import read_specs
from tests.specs.made.forms import FORMS, made_by, write
from tests.specs.made.telling import Made
from tests.specs.worlds import usual

EACH_FORM = pytest.mark.parametrize("form", FORMS)
SEEDS = (3, 8)
NOBODY = 65534
ROOT_OF_PACKAGE = Path(__file__).resolve().parents[2]

BROKEN = {
    "bytes that are no text": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
    "a NUL between good lines": b"# Title\n\x00\n- [ ] 1. A\n",
    "UTF-16": "\ufeff# Title\n".encode("utf-16-le"),
    "invalid UTF-8": b"# Title\n\n- caf\xe9\n",
    "half a character": "# 仕様".encode()[:-1],
}


def plan_in(root: Path) -> Plan:
    return plan_of(*read_specs(find_places(root), root))


def with_neighbour(made: Made, root: Path) -> Path:
    """The made spec and a good one, which stands in a place of its own."""
    write(made, root)
    return usual(root / ".specs", "99_good")


def is_good_beside(plan: Plan) -> bool:
    return any(spec.name == "99_good" and len(spec.groups) == 2 and spec.expected for spec in plan.specs)


def about(plan: Plan, path: str) -> list[Problem]:
    """The problems that name a file, with a line or without."""
    return [problem for problem in plan.problems if problem.where == path or problem.where.startswith(f"{path}:")]


def documents() -> Iterator[tuple[str, str]]:
    """Each document of each form. What a spec can do without need not be read."""
    for form in FORMS:
        for path in made_by(form, SEEDS[0]).files:
            if Path(path).name not in ("plan.md", "design.md"):
                yield form, Path(path).name


EACH_DOCUMENT = pytest.mark.parametrize(("form", "name"), list(dict.fromkeys(documents())))
IN_A_FOLDER = [(form, name) for form, name in dict.fromkeys(documents()) if not form.startswith("plain")]
EACH_IN_A_FOLDER = pytest.mark.parametrize(("form", "name"), IN_A_FOLDER)


def broken(form: str, name: str, content: bytes, root: Path) -> str:
    """Write a made spec, one document of which holds something else: its path. A plain file begins as before: only by
    that is it known."""
    made = made_by(form, SEEDS[0])
    with_neighbour(made, root)
    path = next(path for path in made.files if Path(path).name == name)
    (root / path).write_bytes(made.files[path] + content if made.dialect == "plain" else content)
    return path


@EACH_DOCUMENT
def test_a_document_that_is_no_text_is_named(form: str, name: str, tmp_path: Path) -> None:
    for kind, content in BROKEN.items():
        path = broken(form, name, content, tmp_path / kind)
        plan = plan_in(tmp_path / kind)
        assert about(plan, path), kind
        assert is_good_beside(plan), kind


@EACH_DOCUMENT
def test_marks_that_a_merge_left_are_an_error_that_names_their_line(form: str, name: str, tmp_path: Path) -> None:
    made = made_by(form, SEEDS[0])
    path = next(path for path in made.files if Path(path).name == name)
    lines = made.files[path].splitlines(keepends=True)
    marks = b"\n<<<<<<< HEAD\n- [ ] ours\n=======\n- [ ] theirs\n>>>>>>> theirs\n"
    broken(form, name, b"".join(lines) + marks, tmp_path)
    plan = plan_in(tmp_path)
    said = [problem for problem in about(plan, path) if "merge" in problem.what]
    assert said
    assert said[0].where.partition(":")[2].isdigit()
    assert said[0].severity is Severity.ERROR
    assert is_good_beside(plan)


@EACH_DOCUMENT
def test_a_document_of_50_megabytes_is_named_and_not_read(form: str, name: str, tmp_path: Path) -> None:
    path = broken(form, name, b"# Title\n", tmp_path)
    os.truncate(tmp_path / path, 50_000_000)
    plan = plan_in(tmp_path)
    assert any("50,000,000 bytes" in problem.what for problem in about(plan, path))
    assert is_good_beside(plan)


@EACH_DOCUMENT
def test_an_empty_document_hides_nothing(form: str, name: str, tmp_path: Path) -> None:
    broken(form, name, b"", tmp_path)
    assert is_good_beside(plan_in(tmp_path))


@EACH_IN_A_FOLDER
def test_a_pipe_a_device_or_a_circle_in_the_place_of_a_document_is_named(form: str, name: str, tmp_path: Path) -> None:
    for kind in ("pipe", "device", "circle"):
        path = broken(form, name, b"", tmp_path / kind)
        place = tmp_path / kind / path
        place.unlink()
        if kind == "pipe":
            os.mkfifo(place)
        else:
            place.symlink_to("/dev/zero" if kind == "device" else place)
        plan = plan_in(tmp_path / kind)
        assert about(plan, path), kind
        assert is_good_beside(plan), kind


@EACH_IN_A_FOLDER
def test_a_folder_in_the_place_of_a_document_is_named(form: str, name: str, tmp_path: Path) -> None:
    path = broken(form, name, b"", tmp_path)
    (tmp_path / path).unlink()
    (tmp_path / path).mkdir()
    plan = plan_in(tmp_path)
    assert about(plan, path)
    assert is_good_beside(plan)


def cuts(content: bytes) -> Iterator[bytes]:
    """The beginnings of a document: up to each line's end, and up to bytes in between."""
    ends = [place + 1 for place, byte in enumerate(content) if byte in b"\r\n"]
    yield from (content[:end] for end in sorted({*ends, *range(0, len(content), 61)}))


@EACH_FORM
@pytest.mark.parametrize("seed", SEEDS)
def test_of_a_half_written_document_nothing_that_a_task_names_vanishes_in_silence(form: str, seed: int) -> None:
    made = made_by(form, seed)
    for path, content in made.files.items():
        if Path(path).name in ("plan.md", "design.md", "prd.md", "proposal.md"):
            continue
        with TemporaryDirectory() as place:
            root = Path(place)
            write(made, root)
            named = names_in(plan_in(root).specs[0]) if is_named_elsewhere(made, path) else set()
            for cut in cuts(content):
                (root / path).write_bytes(cut)
                assert is_told(plan_in_silence(root), named), f"{form} {seed}: {path} up to {cut[-60:]!r}"


def is_named_elsewhere(made: Made, path: str) -> bool:
    """Whether another document than this one says what the tasks are about."""
    return made.has_names and made.dialect != "plain" and not Path(path).name.startswith("tasks")


def plan_in_silence(root: Path) -> Plan | None:
    """The plan; None where it is said that there is no spec at all."""
    try:
        return plan_in(root)
    except SpecsMissing:
        return None


def is_told(plan: Plan | None, named: set[str]) -> bool:
    """A spec that lost something that its tasks name, or everything, has a word of it."""
    if plan is None or plan.problems:
        return True
    return all(spec.expected and names_in(spec) >= named for spec in plan.specs)


def names_in(spec: Spec) -> set[str]:
    return {name for group in spec.groups for name in group.requirements}


def test_two_dialects_in_one_folder_are_an_error_that_names_both(tmp_path: Path) -> None:
    folder = usual(tmp_path / ".specs", "03_two")
    (folder / "spec.md").write_text("# Feature Specification: Two\n\n- **FR-001**: THE system MUST work\n")
    usual(tmp_path / ".specs", "99_good")
    plan = plan_in(tmp_path)
    said = [problem for problem in about(plan, ".specs/03_two") if problem.severity is Severity.ERROR]
    assert any("agent-fox and spec-kit" in problem.what for problem in said)
    assert is_good_beside(plan)


def test_two_specs_of_one_name_are_an_error_that_names_both_places(tmp_path: Path) -> None:
    for place in (".agent-fox/specs", ".specs"):
        usual(tmp_path / place, "04_twin")
    usual(tmp_path / ".specs", "99_good")
    plan = plan_in(tmp_path)
    (said,) = about(plan, ".specs/04_twin")
    assert ".agent-fox/specs/04_twin" in said.what
    assert said.severity is Severity.ERROR
    assert [spec.name for spec in plan.specs] == ["04_twin", "99_good"]


@pytest.mark.parametrize(
    "name",
    ["05_a b", "05_仕様", "05_it's", '05_"q"', "05_-x", "05_.a", "05_*", "05_$(a)", "05_\u00e9", "05_\U0001f98a"],
)
def test_a_folder_may_be_called_almost_anything(name: str, tmp_path: Path) -> None:
    usual(tmp_path / ".specs", name)
    usual(tmp_path / ".specs", "99_good")
    plan = plan_in(tmp_path)
    assert [spec.name for spec in plan.specs] == [name, "99_good"]
    assert len({node.id for node in plan.nodes}) == len(plan.nodes)


@pytest.mark.parametrize("name", ["05_a\nb", "05_a:b", "05_a\tb", "05_\u202eb", os.fsdecode(b"05_\xff")])
def test_a_folder_by_whose_name_no_node_can_be_called_is_an_error(name: str, tmp_path: Path) -> None:
    usual(tmp_path / ".specs", name)
    usual(tmp_path / ".specs", "99_good")
    plan = plan_in(tmp_path)
    assert [problem.severity for problem in about(plan, f".specs/{name}")] == [Severity.ERROR]
    assert is_good_beside(plan)


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    specs = tmp_path / ".specs"
    usual(specs, "99_good")
    (specs / "05_self").symlink_to(specs / "05_self")
    (specs / "06_up").symlink_to(specs)
    (specs / "99_good" / "07_down").symlink_to(specs)
    assert [spec.name for spec in plan_in(tmp_path).specs if spec.path.startswith(".specs/99")] == ["99_good"]


def test_a_link_to_nowhere_in_the_place_of_a_spec_is_passed_by(tmp_path: Path) -> None:
    usual(tmp_path / ".specs", "99_good")
    (tmp_path / ".specs" / "05_gone").symlink_to(tmp_path / "nowhere")
    assert is_good_beside(plan_in(tmp_path))


def test_empty_and_deep_folders_are_passed_by(tmp_path: Path) -> None:
    usual(tmp_path / ".specs", "99_good")
    (tmp_path / ".specs" / "05_empty").mkdir()
    (tmp_path / ".specs" / Path(*["deep"] * 200)).mkdir(parents=True)
    plan = plan_in(tmp_path)
    assert [spec.name for spec in plan.specs] == ["99_good"]
    assert [problem.where for problem in plan.problems] == [".specs/05_empty"]


AS_NOBODY = """
import os, sys
from pathlib import Path
from agent_fox.specs.places import find_places
from agent_fox.specs.reader import read_specs
root = Path(sys.argv[1])
read_specs(find_places(root), root)  # what Python loads late, it loads here
os.setgroups([]), os.setgid({nobody}), os.setuid({nobody})
specs, problems = read_specs(find_places(root), root)
print(*(spec.name for spec in specs), *(f"{{p.severity}} {{p.where}}" for p in problems), sep="\\n")
"""


def read_as_nobody(root: Path) -> list[str]:
    """What a person without any rights reads: the specs' names, then the problems."""
    command = [sys.executable, "-c", AS_NOBODY.format(nobody=NOBODY), str(root)]
    done = subprocess.run(command, cwd=ROOT_OF_PACKAGE, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("hidden", ["03_hidden", "03_hidden/tasks.md", "03_hidden/requirements.md"])
def test_what_may_not_be_read_is_an_error_that_names_it(hidden: str) -> None:
    with TemporaryDirectory() as place:
        root = Path(place)
        root.chmod(0o755)
        for name in ("03_hidden", "99_good"):
            usual(root / ".specs", name)
        (root / ".specs" / hidden).chmod(0)
        assert read_as_nobody(root) == ["99_good", f"error .specs/{hidden}"]


@pytest.mark.parametrize("count", [10_000])
def test_ten_thousand_boxes_are_ten_thousand_tasks(count: int, tmp_path: Path) -> None:
    folder = usual(tmp_path / ".specs", "05_many")
    lines = (f"  - [ ] 1.{n} Part\n    - _Requirements: 05-REQ-1.1_" for n in range(1, count + 1))
    (folder / "tasks.md").write_text("- [ ] 1. Much\n" + "\n".join(lines))
    (spec,) = plan_in(tmp_path).specs
    assert len(spec.groups[0].subtasks) == count


def test_a_table_of_five_thousand_rows_is_read_whole(tmp_path: Path) -> None:
    rows = [f"{n % 90 + 6:02}_other | {n} | 1" for n in range(1, 5_001)]
    usual(tmp_path / ".specs", "05_many", *rows)
    specs, _ = read_specs(tmp_path / ".specs", tmp_path)
    assert len(specs[0].dependencies) == 5_000


def test_the_limit_is_on_bytes_and_a_file_just_below_it_is_read(tmp_path: Path) -> None:
    folder = usual(tmp_path / ".specs", "05_large")
    tasks = b"- [ ] 1. A\n\n"
    (folder / "tasks.md").write_bytes(tasks + b"a" * (MAX_FILE_BYTES - len(tasks)))
    (spec,) = plan_in(tmp_path).specs
    assert [group.title for group in spec.groups] == ["A"]


def test_a_file_of_nothing_but_line_ends_is_named_and_not_read(tmp_path: Path) -> None:
    folder = usual(tmp_path / ".specs", "05_long")
    usual(tmp_path / ".specs", "99_good")
    (folder / "tasks.md").write_bytes(b"\n" * MAX_FILE_BYTES)
    plan = plan_in(tmp_path)
    assert any("8,388,608 lines" in problem.what for problem in about(plan, ".specs/05_long/tasks.md"))
    assert is_good_beside(plan)
