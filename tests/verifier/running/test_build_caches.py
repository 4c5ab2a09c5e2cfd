"""Caches of build tools stay warm between verifications, and no test can write to the one that stays."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent_fox.verifier.ground.request import Request
from agent_fox.verifier.ground.results import Status, Tool
from agent_fox.verifier.profiles.loading import load_profile
from agent_fox.verifier.running import build_caches
from agent_fox.verifier.running.build_caches import cache_of, size_of
from tests.verifier.made_projects import committed, verifier

GO_TEST = """\
package a

import (
	"os"
	"testing"
)

func TestOne(t *testing.T) {
	os.WriteFile(os.Getenv("GOCACHE")+"/poison", nil, 0o644)
	if One() != 1 {
		t.Fatal("not one")
	}
}
"""


@pytest.mark.skipif(shutil.which("go") is None, reason="go is not on this machine")
def test_go_builds_into_the_cache_that_stays_and_its_tests_cannot_write_there(tmp_path: Path) -> None:
    root, caches = tmp_path / "project", tmp_path / "caches"
    files = {"go.mod": "module a\n\ngo 1.19\n", "a.go": "package a\n\nfunc One() int { return 1 }\n"}
    committed(root, files | {"a_test.go": GO_TEST})
    tools = verifier(root, "go", caches=caches)
    assert tools.run(Request(Tool.COMPILE)).status is Status.PASSED
    built = size_of(caches / "go/go-build")
    assert built > 0
    assert tools.run(Request(Tool.UNIT_TESTS)).status is Status.PASSED
    assert (size_of(caches / "go/go-build"), list(caches.rglob("poison"))) == (built, [])


@pytest.mark.skipif(shutil.which("go") is None, reason="go is not on this machine")
def test_tests_of_go_are_built_into_the_cache_before_they_run_and_are_not_run_for_that(tmp_path: Path) -> None:
    root, caches = tmp_path / "project", tmp_path / "caches"
    files = {"go.mod": "module a\n\ngo 1.19\n", "a.go": "package a\n\nfunc One() int { return 1 }\n"}
    committed(root, files | {"a_test.go": GO_TEST.replace("!= 1", "!= 2")})
    tools = verifier(root, "go", caches=caches)
    assert tools.run(Request(Tool.COMPILE)).status is Status.PASSED
    assert list(caches.rglob("poison")) == []
    (root / "a_test.go").write_text(GO_TEST.replace("One()", "One(1)"))
    assert [found.file for found in tools.run(Request(Tool.COMPILE)).failures] == ["a_test.go"]


def test_a_command_that_runs_tests_gets_a_copy_of_what_is_there(tmp_path: Path) -> None:
    profile, caches = load_profile("go"), tmp_path / "caches"
    kept = cache_of(caches, profile, None)
    assert kept is not None
    (Path(kept[1]["GOCACHE"]) / "entry").write_text("built")
    (tmp_path / "own").mkdir()
    copied = cache_of(caches, profile, tmp_path / "own")
    assert copied is not None
    place = Path(copied[1]["GOCACHE"])
    assert (place / "entry").read_text() == "built"
    assert place.is_relative_to(copied[0])
    assert not place.is_relative_to(caches / "go")


def test_a_profile_without_caches_gets_none_and_a_cache_that_grew_too_large_is_emptied(tmp_path: Path) -> None:
    assert cache_of(tmp_path, load_profile("python"), None) is None
    (tmp_path / "go/go-build").mkdir(parents=True)
    (tmp_path / "go/go-build/entry").write_bytes(b"x" * 100)
    with (tmp_path / "go/go-build/large").open("wb") as file:
        file.truncate(build_caches.LARGEST)
    cache_of(tmp_path, load_profile("go"), None)
    assert size_of(tmp_path) == 0
