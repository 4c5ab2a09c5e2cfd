"""Builds that write beside their sources leave a person's checkout as it was. Real compilers, real make and CMake."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent_fox.system.sandbox.bubblewrap import SandboxMode
from agent_fox.verifier.ground.request import Request
from agent_fox.verifier.ground.results import Status, Tool
from agent_fox.verifier.source.build_copy import BuildCopy
from tests.verifier.made_projects import committed, git, verifier, write

UNIT_TESTS = Request(Tool.UNIT_TESTS)
MAKEFILE = """\
all: libadd.so check_add
add.o: add.c
\tcc -c -fPIC -o $@ $<
libadd.so: add.o
\tcc -shared -o $@ $<
\tar rcs libadd.a add.o
check_add: check_add.c add.o
\tcc -o $@ $^
test: check_add
\t./check_add
"""
CMAKE = """\
cmake_minimum_required(VERSION 3.10)
project(add C)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_SOURCE_DIR}/lib)
add_library(add SHARED add.c)
add_executable(check_add check_add.c add.c)
enable_testing()
add_test(NAME check_add COMMAND check_add)
"""
SOURCES = {
    "add.c": "int add(int a, int b) { return a + b; }\n",
    "check_add.c": "int add(int, int);\nint main(void) { return add(1, 2) != 3; }\n",
}
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not on this machine")
needs_cmake = pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not on this machine")


def files(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if ".git" not in path.parts}


@pytest.mark.parametrize("sandbox", [SandboxMode.AUTO, SandboxMode.OFF])
@pytest.mark.parametrize(
    ("profile", "manifest"),
    [
        pytest.param("c-make", {"Makefile": MAKEFILE}, marks=needs_make),
        pytest.param("c-cmake", {"CMakeLists.txt": CMAKE}, marks=needs_cmake),
    ],
)
def test_a_build_leaves_nothing_in_the_checkout(
    tmp_path: Path, profile: str, manifest: dict[str, str], sandbox: SandboxMode
) -> None:
    root = tmp_path / "project"
    committed(root, SOURCES | manifest)
    tools = verifier(root, profile, sandbox=sandbox)
    assert tools.run(Request(Tool.COMPILE)).status is Status.PASSED
    assert tools.run(UNIT_TESTS).status is Status.PASSED
    write(root, {"add.c": "int add(int a, int b) { return a - b; }\n"})
    failed = tools.run(UNIT_TESTS)
    assert failed.status is Status.FAILED
    assert str(tmp_path) not in str(failed)
    assert files(root) == set(SOURCES | manifest)


@needs_make
def test_a_build_sees_the_path_of_the_checkout_in_the_sandbox_and_git_below_it(tmp_path: Path) -> None:
    root = tmp_path / "project"
    lines = f"all:\n\ttest $(CURDIR) = {root}\ntest: all\n\tgit rev-parse HEAD\n"
    committed(root, {"Makefile": lines, "a.c": ""})
    assert verifier(root, "c-make", sandbox=SandboxMode.REQUIRE).run(UNIT_TESTS).status is Status.PASSED


@needs_make
def test_a_build_that_writes_over_a_source_is_still_told(tmp_path: Path) -> None:
    root = tmp_path / "project"
    committed(root, {"Makefile": "all:\n\techo >> a.c\n", "a.c": "int a;\n"})
    result = verifier(root, "c-make").run(Request(Tool.COMPILE))
    assert (result.status, result.changed_sources) == (Status.FAILED, ("a.c",))
    assert (root / "a.c").read_text() == "int a;\n"


def test_a_copy_follows_its_checkout_and_keeps_what_was_built(tmp_path: Path) -> None:
    root = write(tmp_path / "project", {"a.c": "1", "old/b.c": "2", "kind": "file"})
    (root / "link").symlink_to("a.c")
    copy = BuildCopy()
    copy.refresh(root)
    write(copy.folder, {"a.o": "built", "a.c": "spoiled"})
    shutil.rmtree(root / "old")
    (root / "kind").unlink()
    write(root, {"kind/c.c": "3"})
    copy.refresh(root)
    assert files(copy.folder) == {"a.c", "a.o", "link", "kind", "kind/c.c"}
    assert ((copy.folder / "a.c").read_text(), (copy.folder / "link").readlink()) == ("1", Path("a.c"))


def test_a_copy_knows_what_git_tracks_and_runs_no_hook_of_it(tmp_path: Path) -> None:
    root = tmp_path / "project"
    commit = committed(root, {"a.c": "1"})
    copy = BuildCopy()
    copy.refresh(root)
    assert git(copy.folder, "rev-parse", "HEAD") == commit
    assert git(copy.folder, "status", "--porcelain") == ""
    assert not (copy.folder / ".git/hooks").exists()


BENCH = "#![feature(test)]\nextern crate test;\n#[bench]\nfn b(b: &mut test::Bencher) { b.iter(|| 1) }\n"


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not on this machine")
def test_a_bench_that_needs_a_nightly_compiler_fails_neither_compile_nor_tests(tmp_path: Path) -> None:
    root = tmp_path / "project"
    manifest = '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n'
    library = "pub fn one() -> i32 { 1 }\n#[test]\nfn is_one() { assert_eq!(one(), 1) }\n"
    committed(root, {"Cargo.toml": manifest, "src/lib.rs": library, "benches/speed.rs": BENCH})
    tools = verifier(root, "rust-cargo")
    assert [tools.run(Request(tool)).status for tool in (Tool.COMPILE, Tool.UNIT_TESTS)] == [Status.PASSED] * 2
    write(root, {"tests/broken.rs": 'fn f() -> i32 { "" }\n'})
    assert tools.run(Request(Tool.COMPILE)).failures[0].file == "tests/broken.rs"
