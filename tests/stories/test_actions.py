"""The two actions as a runner starts them: their scripts, with the variables that a job has, before our fake GitHub."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from agent_fox.core.regex import regex
from agent_fox.testing.worlds import NEVER, Req, World
from tests.stories.github_scene import TOKEN, GitHubScene, github
from tests.stories.scene import NOT_PROVEN, PROVEN

ROOT = Path(__file__).parents[2]
ACTIONS = ROOT / "actions"
SCRIPTS = Path(sys.executable).parent
SPEC = "05_memory"
PINNED = regex(r"[\w-]+/[\w/-]+@[0-9a-f]{40}")
KEY = "ab" * 32


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[GitHubScene]:
    with github(tmp_path) as opened:
        yield opened


def repository(hub: GitHubScene, right_at: int = 1) -> Path:
    return World({SPEC: [Req("05-REQ-1.1", 1, right_at=right_at)]}, settings="[retry]\nattempts = 1\n").build(
        hub.folder / "w"
    )


def run(hub: GitHubScene, root: Path, **variables: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """One step of a job, and what it wrote into its outputs."""
    output, summary = hub.folder / "output", hub.folder / "summary.md"
    output.unlink(missing_ok=True)
    environ = {
        "PATH": f"{SCRIPTS}:{os.environ['PATH']}", "CI": "true", "GITHUB_OUTPUT": str(output),
        "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_API_URL": hub.url, "GITHUB_REPOSITORY": "octo/project",
        "RUN_RESULTS": "outputs/agent-fox", "RUN_LOGIN": "fox-bot", **hub.environ, **variables,
    }  # fmt: skip
    environ.pop("AGENT_FOX_GITHUB_TOKEN")
    done = subprocess.run(
        ["bash", str(ACTIONS / "run" / "run.sh")],
        cwd=root,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = (line.partition("=") for line in output.read_text().splitlines())
    return done, {name: value for name, _, value in lines}


ON_A_PULL_REQUEST = {
    "RUN_TRACKER": "github", "RUN_COMMENT": "true", "RUN_PULL": "1", "RUN_TOKEN": TOKEN, "AGENT_FOX_TRACKER_KEY": KEY,
}  # fmt: skip


def test_what_is_proven_has_a_report_evidence_and_a_summary(hub: GitHubScene) -> None:
    root = repository(hub)
    done, outputs = run(hub, root, RUN_OPTIONS="--parallel 1")
    assert (done.returncode, outputs) == (0, {"exit-code": str(PROVEN), "proven": "true"}), done
    results = root / "outputs" / "agent-fox"
    assert "<html" in (results / "report.html").read_text()
    assert len((results / "evidence.jsonl").read_text().splitlines()) > 1
    assert "PROVEN" in (hub.folder / "summary.md").read_text()
    assert hub.fake.exchanges == []


def test_what_is_not_proven_ends_with_its_code_after_everything_was_written(hub: GitHubScene) -> None:
    root = repository(hub, NEVER)
    done, outputs = run(hub, root)
    assert (done.returncode, outputs) == (0, {"exit-code": str(NOT_PROVEN), "proven": "false"})
    assert (root / "outputs" / "agent-fox" / "report.html").exists()


def test_a_pull_request_has_one_comment_however_often_a_fresh_job_runs(hub: GitHubScene) -> None:
    pull = hub.fake.person().opens_pull("A change", "Mine.")
    for number in range(2):
        shutil.rmtree(hub.folder / "w", ignore_errors=True)
        (hub.folder / "home").rename(hub.folder / f"home{number}") if (hub.folder / "home").exists() else None
        run(hub, repository(hub, NEVER), **ON_A_PULL_REQUEST)
    [comment] = pull.comments
    assert "**NOT PROVEN**: 1 requirement fails; 0 of 1 proven." in comment.body
    assert len(hub.fake.issues) == 1
    assert pull.face.body == "Mine."


def test_without_a_pull_request_nothing_is_commented(hub: GitHubScene) -> None:
    run(hub, repository(hub), **{**ON_A_PULL_REQUEST, "RUN_PULL": ""})
    assert [exchange.request.path for exchange in hub.fake.exchanges if exchange.request.is_write] == []


def test_without_a_key_it_is_said_that_the_next_run_does_not_know_this_one(hub: GitHubScene) -> None:
    done, _ = run(hub, repository(hub), RUN_TRACKER="github", RUN_TOKEN=TOKEN)
    assert "::warning::agent-fox run: no `tracker-key`" in done.stdout


def test_words_that_somebody_chose_are_no_part_of_a_script(hub: GitHubScene) -> None:
    owned = hub.folder / "owned"
    hostile = f"$(touch {owned}) `touch {owned}` ; touch {owned}"
    _, outputs = run(hub, repository(hub), RUN_OPTIONS=hostile, RUN_PULL=hostile, RUN_COMMENT="true")
    assert not owned.exists()
    assert outputs["proven"] == "false"


@pytest.mark.parametrize("name", ["run", "gate"])
def test_an_action_hands_its_inputs_on_through_the_environment_alone(name: str) -> None:
    action = yaml.safe_load((ACTIONS / name / "action.yml").read_text())
    steps, inputs = action["runs"]["steps"], set(action["inputs"])
    used = set(re.findall(r"inputs\.([\w-]+)", str(steps)))
    assert used == inputs
    assert [step["run"] for step in steps if "${{" in step.get("run", "")] == []
    assert [step["uses"] for step in steps if "uses" in step and not PINNED.fullmatch(step["uses"])] == []
    ids = {step["id"] for step in steps if "id" in step}
    assert set(re.findall(r"steps\.(\w+)\.", str(action["outputs"]))) <= ids
    assert all(text["description"] for text in (*action["inputs"].values(), *action["outputs"].values()))


def test_the_workflow_of_the_guide_names_inputs_and_permissions_that_there_are() -> None:
    guide = (ROOT / "docs" / "github-work.md").read_text(encoding="utf-8")
    [workflow] = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)]
    steps = [step for job in workflow["jobs"].values() for step in job["steps"] if "/actions/" in step["uses"]]
    names = [re.fullmatch(r"OWNER/agent-fox/actions/(\w+)@TAG", step["uses"]) for step in steps]
    assert [name[1] for name in names if name] == ["run", "gate"]
    for step, name in zip(steps, names, strict=True):
        assert name is not None
        known = yaml.safe_load((ACTIONS / name[1] / "action.yml").read_text())["inputs"]
        assert set(step["with"]) <= set(known)
    assert workflow["permissions"] == {"contents": "read", "issues": "write", "pull-requests": "write"}


def test_every_script_that_an_action_starts_is_there_and_can_be_started() -> None:
    for name in ("run", "gate"):
        for script in re.findall(r"\$GITHUB_ACTION_PATH/([\w./]+)", (ACTIONS / name / "action.yml").read_text()):
            file = (ACTIONS / name / script).resolve()
            assert os.access(file, os.X_OK), file
            assert subprocess.run(["bash", "-n", str(file)], check=False).returncode == 0


def test_what_is_on_the_path_is_not_installed_again(tmp_path: Path) -> None:
    environ = {"PATH": f"{SCRIPTS}:{os.environ['PATH']}", "RUNNER_TEMP": str(tmp_path)}
    done = subprocess.run(["bash", str(ACTIONS / "install.sh")], env=environ, check=False, timeout=60)
    assert (done.returncode, list(tmp_path.iterdir())) == (0, [])


def test_it_is_installed_from_the_checkout_of_the_action_itself(tmp_path: Path) -> None:
    """pip's part is played by a program that notes what it is asked for: the index is not asked."""
    bin = tmp_path / "bin"
    bin.mkdir()
    python = bin / "python3"
    python.write_text(
        '#!/bin/sh\ncase "$2 $3" in\n"-m venv") mkdir -p "$4/bin" && cp "$0" "$4/bin/python" ;;\n'
        f'"-m pip") echo "$@" >{tmp_path}/asked ;;\nesac\n'
    )
    python.chmod(0o755)
    added = tmp_path / "added"
    environ = {"PATH": f"{bin}:/usr/bin:/bin", "RUNNER_TEMP": str(tmp_path / "temp"), "GITHUB_PATH": str(added)}
    subprocess.run(["bash", str(ACTIONS / "install.sh")], env=environ, check=True, timeout=60)
    assert (tmp_path / "asked").read_text().split()[-1] == str(ROOT)
    assert added.read_text().strip() == str(tmp_path / "temp" / "agent-fox" / "bin")
