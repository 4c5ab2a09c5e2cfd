"""What work may try through the caches of build tools: no command finds there what code of the work has written.

Real Go in the real sandbox; the person's commit, and the work of a coder above it.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agent_fox.system.sandbox.bubblewrap import SandboxMode, why_missing
from agent_fox.testing.worlds import new_repository
from agent_fox.verifier.judging.checks import CheckReport, run_checks
from agent_fox.verifier.running.build_caches import FILES
from agent_fox.verifier.suites.builds import TOOLS
from agent_fox.verifier.suites.calls import Call
from tests.verifier.made_projects import git, write
from tests.verifier.workspace import order, words

pytestmark = [
    pytest.mark.skipif(shutil.which("go") is None, reason="needs go"),
    pytest.mark.skipif(bool(why_missing()), reason=why_missing() or "has a sandbox"),
]

ONE = "04-REQ-1.1"
GO = {"Spec tests": "go test ./..."}
TWICE = ("go test ./...", "go test ./...")
MODULE = "module shop\n\ngo 1.19\n"
SHOP = "package shop\n\nfunc Total() int { return 3 }\n"
TEST = """package shop

import "testing"

func Test_04_REQ_1_1(t *testing.T) {
	if Total() != 3 {
		t.Fatal("not three")
	}
}
"""
HARM = """package shop

import (
	"os"
	"path/filepath"
)

func init() {
	cache := os.Getenv("GOCACHE")
	HARM
}
"""
POISON = """filepath.Walk(cache, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			os.Chmod(path, 0o644)
			os.WriteFile(path, make([]byte, info.Size()), 0o644)
		}
		return nil
	})
	os.WriteFile(filepath.Join(cache, "poison"), nil, 0o644)"""
REMOVE = "os.RemoveAll(cache); os.WriteFile(cache, nil, 0); _ = filepath.Separator"
LINKS = """os.RemoveAll(filepath.Join(cache, "00"))
	os.Symlink("/etc", filepath.Join(cache, "00"))
	os.Chmod(cache, 0)"""
REACH = """for _, pattern := range []string{"KEPT", "KEPT/*", filepath.Join(cache, "../../*")} {
		found, _ := filepath.Glob(pattern)
		for _, path := range found {
			if path != filepath.Dir(cache) {
				panic("reached " + path)
			}
		}
	}
	if os.MkdirAll("KEPT/planted", 0o755) == nil {
		if os.WriteFile("KEPT/planted/poison", nil, 0o644) == nil {
			println("written where nobody looks")
		}
	}"""


class World:
    """The person's repository, and a folder for what is kept between readings."""

    def __init__(self, folder: Path, **files: str) -> None:
        self.folder, self.kept, self.root = folder, folder / "caches/_runs", folder / "repo"
        self.root.mkdir()
        new_repository(self.root)
        write(self.root, {"go.mod": MODULE, "shop.go": SHOP, "shop_test.go": TEST, **files})
        git(self.root, "add", "-A")
        git(self.root, "commit", "-qm", "as the person committed it")
        self.base = git(self.root, "rev-parse", "HEAD").strip()
        self.readings = 0

    def read(self, files: Mapping[str, str], **settings: Any) -> CheckReport:  # noqa: ANN401 - fields of the order
        """What `checks` says of the commit with these files changed, in a checkout of its own."""
        self.readings += 1
        work = self.folder / f"work-{self.readings}"
        git(self.root, "clone", "-q", "--shared", str(self.root), str(work))
        write(work, files)
        wanted: dict[str, Any] = {
            "commands": GO, "sandbox": SandboxMode.REQUIRE, "caches_folder": str(self.kept), "environment": {},
            "repository": str(self.root), "base_commit": self.base, "timeout": 300.0, "readable": (str(self.root),),
        }  # fmt: skip
        return run_checks(order(work, ONE, **{**wanted, **settings}))

    def layers(self) -> list[Path]:
        return sorted(self.kept.iterdir()) if self.kept.is_dir() else []

    def poisoned(self) -> list[Path]:
        return sorted(path for path in self.kept.rglob("*") if path.name in ("poison", "planted"))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_reading_keeps_what_was_compiled_of_the_base_and_the_next_says_what_its_own_work_does(world: World) -> None:
    assert words(world.read({})) == {ONE: "PASS"}
    (layer,) = world.layers()
    content = {path: path.read_bytes() for path in (layer / FILES).rglob("*") if path.is_file()}
    assert content
    assert words(world.read({"shop.go": SHOP.replace("3", "4")})) == {ONE: "FAIL"}
    assert words(world.read({})) == {ONE: "PASS"}
    assert world.layers() == [layer]
    assert {path: path.read_bytes() for path in (layer / FILES).rglob("*") if path.is_file()} == content


@pytest.mark.parametrize("harm", [POISON, REMOVE, LINKS], ids=["poison", "remove", "links"])
def test_what_a_test_does_to_its_cache_no_other_command_and_no_later_reading_sees(world: World, harm: str) -> None:
    report = world.read({"harm.go": HARM.replace("HARM", harm)}, configured=TWICE)
    assert words(report) == {ONE: "PASS"}
    assert [(run.exit_code, "(cached)" in run.output) for run in report.runs] == [(0, False)] * 2
    assert world.poisoned() == []
    assert words(world.read({"shop.go": SHOP.replace("3", "4")})) == {ONE: "FAIL"}


def test_a_test_sees_and_writes_neither_what_is_kept_nor_what_other_commands_have(world: World) -> None:
    world.read({})
    before = world.layers()
    report = world.read({"harm.go": HARM.replace("HARM", REACH.replace("KEPT", str(world.kept)))}, configured=TWICE)
    assert words(report) == {ONE: "PASS"}, report.verdicts[0].evidence
    assert (world.layers(), world.poisoned()) == (before, [])


def test_code_of_the_base_is_compiled_for_the_layer_and_never_runs(tmp_path: Path) -> None:
    world = World(tmp_path, **{"harm_test.go": HARM.replace("HARM", POISON)})
    assert words(world.read({})) == {ONE: "PASS"}
    assert (len(world.layers()), world.poisoned()) == (1, [])


def test_work_with_other_dependencies_starts_cold_and_keeps_nothing(world: World) -> None:
    assert words(world.read({"go.mod": MODULE.replace("1.19", "1.18")})) == {ONE: "PASS"}
    assert world.layers() == []


@pytest.mark.parametrize(
    "settings",
    [{"sandbox": SandboxMode.OFF}, {"network": True}, {"caches_folder": ""}, {"base_commit": ""}],
    ids=lambda settings: next(iter(settings)),
)
def test_outside_of_a_sandbox_and_without_a_base_nothing_is_kept(world: World, settings: dict[str, Any]) -> None:
    assert words(world.read({}, **settings)) == {ONE: "PASS"}
    assert world.layers() == []


def test_readings_at_once_say_what_each_work_does_and_leave_one_layer(world: World) -> None:
    said: dict[str, dict[str, str]] = {}
    works = {"right": {}, "wrong": {"shop.go": SHOP.replace("3", "4")}}

    def reading(name: str) -> None:
        said[name] = words(world.read(works[name]))

    threads = [threading.Thread(target=reading, args=(name,)) for name in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == {"right": {ONE: "PASS"}, "wrong": {ONE: "FAIL"}}
    assert len(world.layers()) == 1


@pytest.mark.parametrize(
    ("given", "filling"),
    [
        ("go test ./...", ()),
        ("go test -race -tags=a,b ./...", ("-race", "-tags=a,b")),
        ("go test --race -mod=vendor ./a", ("--race", "-mod=vendor")),
        ("go test -exec=./run.sh -toolexec ./tool -vettool=./vet -overlay=o.json ./...", ()),
        ("go test -run=TestA -fuzz=F -c -o x -args -race=./x", ()),
        ("go test -tags=$(id) -mod=../x -tags -race ./...", ("-race",)),
    ],
)
def test_of_a_command_only_flags_that_name_no_program_go_to_the_filling_one(
    given: str, filling: tuple[str, ...]
) -> None:
    call = Call("go", tuple(given.split()), 0)
    assert TOOLS["go"].words(call) == ("test", "-exec=true", "-run=^$", *filling, "./...")
