"""`agent-fox verify` on real checkouts, without any agent."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from agent_fox.engine.doors.verifying import base_of
from tests.cli.program import start
from tests.sarif_schema import problems
from tests.verifier.made_projects import CART, OWN_PATH, PYTHON, TEST_CART, committed, git, with_own_linter, write


def verify(checkout: Path, *options: str) -> CompletedProcess[str]:
    return start(checkout, "verify", *options, PATH=OWN_PATH, XDG_STATE_HOME=str(checkout.parent / "state"))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "cart"
    root.mkdir()
    committed(root, PYTHON)
    return root


def test_a_sound_checkout_passes_with_exit_0(checkout: Path) -> None:
    write(checkout, {"cart.py": CART + "\n# a comment\n"})
    done = verify(checkout)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    lines = done.stdout.splitlines()
    assert lines[0] == "plan ordinary (ordinary by cart.py), profile python"
    assert lines[-1] == "passed: 3 of 3 steps passed"
    assert any(line.startswith("  isolation: ") for line in lines)


def test_a_failing_test_is_shown_with_place_and_evidence_and_ends_with_2(checkout: Path) -> None:
    write(checkout, {"cart.py": CART.replace("sum(prices)", "sum(prices) + 1")})
    done = verify(checkout, "--baseline", "never")
    assert done.returncode == 2
    assert "tests/test_cart.py:5: assert 4 == 3 [tests/test_cart.py::test_total] (repairable)" in done.stdout
    assert str(checkout) not in done.stdout


def test_failures_are_written_as_sarif_at_file_and_line(checkout: Path, tmp_path: Path) -> None:
    write(checkout, {"cart.py": CART.replace("sum(prices)", "sum(prices) + 1")})
    done = verify(checkout, "--baseline", "never", "--sarif", str(tmp_path / "verify.sarif"))
    assert done.returncode == 2
    log = json.loads((tmp_path / "verify.sarif").read_text())
    assert problems(log) == []
    places = [result["locations"][0]["physicalLocation"] for result in log["runs"][0]["results"]]
    shown = [(place["artifactLocation"]["uri"], place["region"]["startLine"]) for place in places]
    assert ("tests/test_cart.py", 5) in shown
    assert {uri for uri, _ in shown} == {"tests/test_cart.py"}
    assert log["runs"][0]["invocations"][0]["executionSuccessful"] is True


def test_programs_get_the_whole_report_as_one_document(checkout: Path) -> None:
    write(checkout, {"cart.py": CART.replace("sum(prices)", "sum(prices) + 1 if prices else 0")})
    done = verify(checkout, "--json")
    report = json.loads(done.stdout)
    assert (report["status"], report["plan"], report["profileId"]) == ("failed", "ordinary", "python")
    assert [step["result"]["verifierTool"] for step in report["steps"]] == [
        "run_static_policy_checks",
        "run_compile",
        "run_unit_tests",
    ]
    assert [one["failure"]["testName"] for one in report["blockingFailures"]] == ["tests/test_cart.py::test_total"]
    assert [one["testName"] for one in report["baseline"]["new"]] == ["tests/test_cart.py::test_total"]
    assert report["steps"][2]["result"]["testSummary"]["scope"] == "full"


def test_a_weakened_test_fails_although_all_tests_pass(checkout: Path) -> None:
    weak = TEST_CART.replace("assert total([1, 2]) == 3", "assert total([1, 2])")
    write(checkout, {"tests/test_cart.py": weak})
    done = verify(checkout, "--baseline", "never")
    assert done.returncode == 2
    assert "✗ run_static_policy_checks" in done.stdout
    assert "✓ run_unit_tests" in done.stdout


def test_a_change_of_documents_runs_no_tests(checkout: Path) -> None:
    write(checkout, {"README.md": "# Cart\n"})
    done = verify(checkout, "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["plan"]) == (0, "documentation")
    assert [step["result"]["verifierTool"] for step in report["steps"]] == ["run_static_policy_checks"]


def test_a_pull_request_gets_a_verification_section(checkout: Path) -> None:
    write(checkout, {"cart.py": CART + "\n# a comment\n"})
    done = verify(checkout, "--markdown")
    assert done.stdout.startswith("## Verification\n\n**passed**, plan `ordinary`")
    assert "2 tests, 0 failures, 0 skipped" in done.stdout


def test_a_plan_of_ones_own_is_taken_from_the_settings(checkout: Path) -> None:
    settings = '[verify.plans.quick]\nrequired = ["run_compile"]\n'
    write(checkout, {".agent-fox/config.toml": settings, "cart.py": CART + "#\n"})
    report = json.loads(verify(checkout, "--plan", "quick", "--json").stdout)
    assert [step["result"]["verifierTool"] for step in report["steps"]] == ["run_compile"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--plan", "quik"), "there is no verification plan 'quik'"),
        (("--profile", "pyton"), "did you mean python?"),
        (("--base", "nowhere"), "'nowhere' names no commit here"),
    ],
)
def test_a_mistake_is_told_in_one_line(checkout: Path, options: tuple[str, ...], said: str) -> None:
    done = verify(checkout, *options)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_folder_without_a_project_is_told_what_is_looked_for(tmp_path: Path) -> None:
    done = start(tmp_path, "verify")
    assert done.returncode == 1
    assert "pyproject.toml" in done.stderr


def test_a_requirement_of_a_sandbox_holds(checkout: Path) -> None:
    done = verify(checkout, "--plan", "ordinary", "--sandbox", "require")
    assert done.returncode in (0, 2)
    if done.returncode == 2:
        assert "bubblewrap" in done.stdout


def test_a_change_is_compared_with_where_it_left_the_branch_that_the_remote_calls_its_own(checkout: Path) -> None:
    first = git(checkout, "rev-parse", "HEAD")
    old = git(checkout, "commit-tree", "-m", "old", "HEAD^{tree}")
    head = committed(checkout, {"cart.py": CART + "\n"}, "second")
    bases = dict[str, str]()

    def compared(name: str, **refs: str) -> None:
        for ref in git(checkout, "for-each-ref", "--format=%(refname)", "refs/remotes").splitlines():
            git(checkout, "update-ref", "-d", ref)
        for ref, commit in refs.items():
            git(checkout, "update-ref", f"refs/remotes/origin/{ref}", commit)
        bases[name] = base_of(checkout, None)

    git(checkout, "branch", "-m", "work")
    compared("without a remote")
    compared("its own branch is where we stand", HEAD=head, main=first)
    compared("its own branch is behind", HEAD=first, main=head)
    compared("no branch of its own", main=first, master=head)
    compared("nothing in common", HEAD=old, main=first)
    assert bases == {
        "without a remote": head,
        "its own branch is where we stand": head,
        "its own branch is behind": first,
        "no branch of its own": first,
        "nothing in common": first,
    }


def test_nothing_of_the_checkout_is_touched(checkout: Path) -> None:
    write(checkout, {"cart.py": CART + "#\n"})
    before = git(checkout, "status", "--porcelain=v1", "--untracked-files=all", "--ignored")
    verify(checkout, "--baseline", "always")
    after = git(checkout, "status", "--porcelain=v1", "--untracked-files=all", "--ignored").splitlines()
    assert [line for line in after if "__pycache__" not in line and ".pytest_cache" not in line] == before.splitlines()


def test_what_a_linter_prints_is_read_by_a_format_of_the_settings(checkout: Path) -> None:
    with_own_linter(checkout)
    settings = '[verify]\nformats = ["lint/mylint.toml"]\n\n[verify.plans.lint]\nrequired = ["run_lint"]\n'
    write(checkout, {".agent-fox/config.toml": settings})
    report = json.loads(verify(checkout, "--plan", "lint", "--baseline", "never", "--json").stdout)
    (blocking,) = report["blockingFailures"]
    found = {name: blocking["failure"][name] for name in ("kind", "file", "line", "code", "message")}
    assert found == {
        "kind": "lint_failure", "file": "cart.py", "line": 2, "code": "M7", "message": "a name is used twice"
    }  # fmt: skip
    assert report["steps"][0]["result"]["exitCode"] == 1


def test_a_format_that_cannot_be_used_is_named_with_its_row(checkout: Path) -> None:
    write(checkout, {".agent-fox/config.toml": '[verify]\nformats = ["mine.toml"]\n', "mine.toml": "row = []\n"})
    done = verify(checkout)
    assert (done.returncode, done.stdout) == (1, "")
    assert "mine.toml: tools is missing" in done.stderr
