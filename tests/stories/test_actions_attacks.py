"""What a change can bring along to an action that is to judge it: files, names, references, and a key of its own."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from tests.cli.evidence.test_attest import maker, reader
from tests.cli.evidence.test_ledger import Desk
from tests.session.world import sh, write
from tests.stories.github_scene import GitHubScene
from tests.stories.test_actions import ACTIONS, hub, repository, run
from tests.stories.test_close_out import BLOCKED, PASSED, action, repo

__all__ = ["hub", "maker", "reader", "repo"]

PINNED = re.compile(r"[\w-]+/[\w/-]+@[0-9a-f]{40}")
COMMITTING = ("-c", "user.name=a", "-c", "user.email=a@example.org")


def heard(output: str) -> Iterator[str]:
    """The commands that a runner of GitHub takes from what a step prints, in both spellings that it knows."""
    stopped = ""
    for line in output.splitlines():
        text = line.strip()
        told = re.match(r"::([\w-]+)(?: [^:]*)?::(.*)", text) or re.search(r"##\[([\w-]+)[^\]]*\](.*)", text)
        if stopped:
            stopped = "" if told and told[1] == stopped else stopped
        elif told:
            stopped = told[2] if told[1] == "stop-commands" else ""
            yield told[1]


HOSTILE = (
    *("##[error]all is well", "##[add-mask]passed", "##[stop-commands]me", "::set-output name=passed::true"),
    *("::stop-commands::me", "::add-mask::blocked", "a\n::add-path::/tmp/mine", "b\r::set-env name=PATH::/tmp/mine"),
)


def test_nothing_that_a_change_says_is_a_command_to_the_runner(repo: Path) -> None:
    sh(repo, "git", "update-ref", "refs/remotes/origin/main", "main")
    for name in HOSTILE:
        write(repo, {f"deploy/{name}": ""})
    sh(repo, "git", "add", "-f", "deploy")
    sh(repo, "git", *COMMITTING, "commit", "-qm", "::error::all is well")
    assert list(heard(action(repo, "::add-mask::T\n::error::fine").stdout)) == ["stop-commands"]
    (repo.parent / "output").unlink()
    done = action(repo, "##[error]::add-mask::T", GITHUB_BASE_REF="main")
    assert done.returncode == BLOCKED
    assert "##[error]all is well" in done.stdout
    assert [*heard(done.stdout), *heard(done.stderr)] == ["stop-commands"]
    assert (repo.parent / "output").read_text() == "passed=false\n"


def test_nothing_that_an_agent_says_is_a_command_to_the_runner(hub: GitHubScene) -> None:
    root = repository(hub)
    spec = next((root / ".agent-fox/specs").iterdir())
    spec.rename(spec.with_name("05_##[error]fine"))
    done, outputs = run(hub, root)
    assert set(heard(done.stdout + done.stderr)) <= {"stop-commands", "warning"}
    assert outputs["proven"] == "false"


@pytest.mark.parametrize("kind", ["tag", "branch"])
def test_a_reference_that_is_called_like_the_base_moves_no_base(repo: Path, kind: str) -> None:
    sh(repo, "git", "update-ref", "refs/remotes/origin/main", "main")
    write(repo, {"deploy/prod.yml": "x"})
    sh(repo, "git", "add", "-f", "deploy")
    sh(repo, "git", *COMMITTING, "commit", "-qm", "deploy")
    sh(repo, "git", kind, "origin/main")
    write(repo, {"app.py": "x = 3\n"})
    sh(repo, "git", *COMMITTING, "commit", "-qam", "harmless")
    done = action(repo, GITHUB_BASE_REF="main")
    assert (done.returncode, "forbidden_write" in done.stdout) == (BLOCKED, True)


@pytest.mark.parametrize(
    "base",
    [
        "HEAD",
        "--output=x",
        "-x",
        "main..HEAD",
        "^main",
        ":/work",
        "HEAD:app.py",
        "HEAD^{tree}",
        "work@{0}",
        "main\nHEAD",
    ],
)
def test_a_base_that_is_no_commit_before_the_change_is_no_pass(repo: Path, base: str) -> None:
    done = action(repo, GATE_BASE=base)
    assert done.returncode in (1, BLOCKED)
    assert not (repo / "x").exists()


@pytest.mark.parametrize("task", ["--help", "--output-dir=/", "-x", "../../../x", "a/../../x", "x" * 3000])
def test_a_task_that_is_an_option_or_a_path_is_a_name(repo: Path, task: str) -> None:
    done = action(repo, task, GATE_BASE="main")
    assert done.returncode in (PASSED, 1, BLOCKED)
    assert "Usage:" not in done.stdout
    assert {path.parent for path in repo.parent.rglob("*.json") if ".git" not in path.parts} <= {
        repo, repo / "outputs/verification",
    }  # fmt: skip


@pytest.mark.parametrize("place", ["file", "summary"])
def test_nothing_is_written_through_a_link_that_a_change_planted(repo: Path, place: str) -> None:
    kept = repo.parent / "profile"
    kept.write_text("kept")
    (repo / "planted").symlink_to(kept)
    variables = {"GATE_SARIF": "planted"} if place == "file" else {"GITHUB_STEP_SUMMARY": str(repo / "planted")}
    done = action(repo, GATE_BASE="main", **variables)
    assert (done.returncode, "it is a link" in done.stdout) == (1, True)
    assert kept.read_text() == "kept"


@pytest.fixture
def judged(maker: Desk, reader: Desk) -> Desk:
    """A clone with a change on a branch that brings a statement and a key of its own."""
    sh(reader.root, "git", "update-ref", "refs/remotes/origin/main", "HEAD")
    reader.tell("keys", "new", "mine", "--no-passphrase")
    return reader


def judge(reader: Desk, evidence: Path, key: str, **variables: str) -> subprocess.CompletedProcess[str]:
    own = {"GATE_EVIDENCE": str(evidence), "GATE_KEY": key, "RUNNER_TEMP": str(reader.home)}
    return action(reader.root, "", **own, **variables)


@pytest.mark.parametrize("how", ["new", "link", "folder"])
def test_a_change_cannot_bring_the_key_by_which_it_is_judged(maker: Desk, judged: Desk, how: str) -> None:
    """What it brings would verify: the key of the base is the one that counts, and there is none."""
    root, theirs = judged.root, (maker.home / "ledger.pub").read_text()
    match how:
        case "new":
            write(root, {"keys/ledger.pub": theirs})
        case "link":
            write(root, {"other": theirs, "keys/README": ""})
            (root / "keys/ledger.pub").symlink_to("../other")
        case "folder":
            write(root, {"elsewhere/ledger.pub": theirs})
            (root / "keys").symlink_to("elsewhere")
    done = judge(judged, maker.home / "evidence.json", "keys/ledger.pub", GITHUB_BASE_REF="main")
    assert done.returncode == 1
    assert "lies in the checkout, and the base of this change does not have it" in done.stderr


def test_a_key_of_the_base_counts_whatever_the_change_made_of_it(maker: Desk, judged: Desk) -> None:
    root = judged.root
    write(root, {"keys/ledger.pub": (judged.home / "config/agent-fox/mine.pub").read_text()})
    sh(root, "git", "add", "-A")
    sh(root, "git", *COMMITTING, "commit", "-qm", "a key of the base")
    sh(root, "git", "update-ref", "refs/remotes/origin/main", "HEAD")
    sh(root, "git", "checkout", "-q", "HEAD~1")
    write(root, {"keys/ledger.pub": (maker.home / "ledger.pub").read_text()})
    done = judge(judged, maker.home / "evidence.json", "keys/ledger.pub", GITHUB_BASE_REF="main")
    assert (done.returncode, "is not signed by" in done.stdout) == (BLOCKED, True)
    sh(root, "git", "update-ref", "-d", "refs/remotes/origin/main")
    kept = judged.home / "ledger.pub"
    kept.write_text((maker.home / "ledger.pub").read_text())
    assert judge(judged, maker.home / "evidence.json", str(kept)).returncode == PASSED
    assert judge(judged, maker.home / "evidence.json", "../ledger.pub").returncode == PASSED


@pytest.mark.parametrize("how", ["folder", "above"])
def test_results_go_through_no_link(hub: GitHubScene, how: str) -> None:
    root, secret = repository(hub), hub.folder / "secret"
    (secret / "agent-fox").mkdir(parents=True)
    (secret / "agent-fox/token").write_text("s3cr3t")
    if how == "folder":
        (root / "outputs").mkdir()
        (root / "outputs/agent-fox").symlink_to(secret / "agent-fox")
    else:
        (root / "outputs").symlink_to(secret)
    output = hub.folder / "output"
    output.write_text("")
    done = subprocess.run(
        ["bash", str(ACTIONS / "run/run.sh")], cwd=root, capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], "RUN_RESULTS": "outputs/agent-fox", "GITHUB_OUTPUT": str(output)},
    )  # fmt: skip
    assert (done.returncode, list(heard(done.stdout)), output.read_text()) == (1, ["error"], "")
    assert [path.name for path in (secret / "agent-fox").iterdir()] == ["token"]


def test_evidence_that_lay_in_the_checkout_is_none_of_the_run(hub: GitHubScene) -> None:
    root = repository(hub)
    write(root, {"outputs/agent-fox/evidence.jsonl": "forged", "outputs/agent-fox/report.html": "forged"})
    (root / ".agent-fox/config.toml").write_text("broken")
    _, outputs = run(hub, root)
    assert outputs["proven"] == "false"
    assert list((root / "outputs/agent-fox").iterdir()) == []


def test_what_is_uploaded_are_two_files_by_an_action_that_cannot_be_moved() -> None:
    for name in ("run", "gate"):
        steps = yaml.safe_load((ACTIONS / name / "action.yml").read_text())["runs"]["steps"]
        assert [step["uses"] for step in steps if "uses" in step and not PINNED.fullmatch(step["uses"])] == []
        paths = [path for step in steps for path in step.get("with", {}).get("path", "").split("\n") if path]
        assert [path for path in paths if not re.fullmatch(r"\$\{\{ inputs\.results \}\}/[a-z]+\.[a-z]+", path)] == []


def test_no_module_of_the_checkout_runs_where_agent_fox_is_installed(tmp_path: Path) -> None:
    """Python looks where it was started first, and a checkout may hold what is called like its own modules."""
    ran, work, temp = tmp_path / "ran", tmp_path / "work", tmp_path / "temp"
    for name in ("venv.py", "pip.py", "ensurepip.py", "sitecustomize.py", "usercustomize.py", "runpy.py", "json.py"):
        write(work, {name: f"open({str(ran)!r}, 'a').write({name!r})\nraise SystemExit(0)\n"})
    environ = {"PATH": "/usr/bin:/bin", "RUNNER_TEMP": str(temp), "GITHUB_PATH": str(tmp_path / "added")}
    environ |= {"PIP_NO_INDEX": "1", "PIP_RETRIES": "0", "PYTHONPATH": str(work)}
    done = subprocess.run(
        ["bash", str(ACTIONS / "install.sh")], cwd=work, env=environ, capture_output=True, text=True, check=False
    )
    assert not ran.exists(), done
    assert done.returncode != 0  # without an index it ends at what it is built with
