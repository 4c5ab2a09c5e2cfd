from __future__ import annotations

import pytest

from agent_fox.verifier.ground.results import Parsed, TestSummary
from tests.verifier.logs.samples import Samples, kinds, messages, places

SAMPLES = Samples("gcc", "c_build", "/workspace/c")
sample = SAMPLES.sample
text = SAMPLES.text


def test_gcc_errors_have_places_and_notes_are_none() -> None:
    parsed = sample("gcc")
    assert places(parsed)[:3] == ["m.c:2:10", "n.c:2:51", "n.c:4:28"]
    assert parsed.warnings[0].code == "-Wincompatible-pointer-types"


def test_a_warning_made_an_error_keeps_its_name() -> None:
    codes = {failure.code for failure in sample("gcc").failures}
    assert {"-Werror=unused-variable", "-Werror=return-type"} <= codes


def test_clangs_summaries_are_no_failures() -> None:
    parsed = sample("clang")
    assert places(parsed)[:2] == ["m.c:2:10", "inc.h:1:34"]
    assert not [said for said in messages(parsed) if "generated" in said or "linker command" in said]


@pytest.mark.parametrize("name", ["compile_de_DE", "compile_fr_FR"])
def test_gcc_speaks_other_languages(name: str) -> None:
    parsed = sample(name)
    assert places(parsed)[:6] == ["n.c:2:51", "n.c:4:28", "m.c:2:10", "l.c", "l.c", "dup.c"]
    assert {warning.line for warning in parsed.warnings} == {1, 2, 3, 4}


def test_an_error_within_a_system_header_is_told_where_the_project_used_it() -> None:
    assert places(sample("templates"))[-1] == "t.cpp:6:57"


def test_a_missing_symbol_is_one_failure_with_its_name() -> None:
    symbols = [(failure.file, failure.symbol) for failure in sample("gcc").failures if failure.symbol]
    assert symbols == [("dup.c", "main"), ("l.c", "undefined_fn"), ("l.c", "gv")]


def test_lld_names_the_line_that_uses_a_symbol() -> None:
    parsed = text(
        "ld.lld: error: undefined symbol: gone",
        ">>> referenced by main.c:3 (src/main.c:3)",
        ">>>               /tmp/main.o:(main)",
        "clang: error: linker command failed with exit code 1 (use -v to see invocation)",
    )
    assert (places(parsed), parsed.failures[0].symbol) == (["src/main.c:3"], "gone")


def test_the_linkers_source_gets_the_folder_that_the_build_named() -> None:
    parsed = text(
        "[ 50%] Building C object CMakeFiles/app.dir/src/net/io.c.o",
        "/usr/bin/ld: CMakeFiles/app.dir/src/net/io.c.o: in function `main':",
        "io.c:(.text+0xa): undefined reference to `gone'",
        "collect2: error: ld returned 1 exit status",
    )
    assert places(parsed) == ["src/net/io.c"]


@pytest.mark.parametrize("name", ["mkr", "mkr_de"])
def test_a_path_is_meant_from_the_folder_that_make_entered(name: str) -> None:
    assert places(sample(name, "/workspace/cm")) == ["mkr/sub/x.c:1:22"]


def test_makes_own_errors() -> None:
    parsed = sample("make", "/workspace/cm")
    assert [(failure.kind.value, failure.message) for failure in parsed.failures] == [
        ("compile_error", "No rule to make target 'nosuch.c', needed by 'b'."),
        ("environment_failure", "nosuchcmd: not found"),
        ("compile_error", "No rule to make target 'nox'."),
        ("compile_error", "missing separator."),
        ("environment_failure", "No targets specified and no makefile found."),
    ]


def test_a_recipe_that_failed_without_a_word_is_told_by_its_line() -> None:
    assert places(sample("make_a", "/workspace/cm")) == ["mk/Makefile:3"]


def test_cmake_errors_have_a_place_and_a_kind() -> None:
    parsed = sample("cmake", "/workspace/cm/p1")
    assert [failure.kind.value for failure in parsed.failures] == [
        "dependency_resolution_failure",
        "compile_error",
        "compile_error",
        "environment_failure",
    ]
    assert places(parsed)[:3] == ["CMakeLists.txt:3", "sub.cmake:2", "CMakeLists.txt:1"]
    assert messages(parsed)[1] == "boom"
    assert messages(Parsed(parsed.warnings)) == ["careful here", "old"]


def test_an_error_of_make_and_of_ninja_is_one() -> None:
    assert places(sample("cmbuild", "/workspace/cm")) == ["p3/src/bad.c:1:23"]


def test_ctest_counts_and_names_its_tests() -> None:
    parsed = sample("ctest", "/workspace/cm")
    assert parsed.summary == TestSummary(tests=6, passed=1, failures=4, skipped=1)
    assert [(failure.test_name, failure.kind.value) for failure in parsed.failures] == [
        ("fails", "test_failure"),
        ("crashes", "test_failure"),
        ("nf", "environment_failure"),
        ("slow", "timeout"),
    ]


def test_a_failed_assertion_has_its_place() -> None:
    parsed = text("t: test/t.c:5: main: Assertion `add(1, 2) == 4' failed.", "make: *** [Makefile:5: test] Aborted")
    assert (kinds(parsed), places(parsed)) == ({"test_failure"}, ["test/t.c:5"])


def test_windows_paths_and_msvc() -> None:
    parsed = text(
        r"C:\work\src\a.c:3:5: error: expected ';'",
        r"C:\work\src\b.c(7,2): error C2065: 'x': undeclared identifier",
        root=r"C:\work",
    )
    assert places(parsed) == ["src/a.c:3:5", "src/b.c:7:2"]
    assert parsed.failures[1].code == "C2065"


def test_a_time_or_an_address_is_no_error() -> None:
    parsed = text("12:30:01: error: this is a log", "server at localhost:8080: ok", "  x.c:1:2: error: quoted")
    assert places(parsed) == []
