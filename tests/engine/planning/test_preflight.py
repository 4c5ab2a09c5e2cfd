"""What stops a run before it starts: the branch, the workspace's settings, names that nothing has."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.config import Settings
from agent_fox.engine.planning import preflight
from agent_fox.engine.planning.from_settings import own_state_folder
from agent_fox.testing.worlds import Req, World, git, issue_files, log, run_cli
from tests.stories.scene import CANNOT_GO_ON, PROVEN, REFUSED, coders, run

WORLD = World({"01_calc": [Req("01-REQ-1.1")]})


def refusal(root: Path, ends: int = REFUSED, *options: str, **variables: str) -> list[str]:
    """The lines on standard error of a run that does not start, and that changed nothing."""
    done = run(root, *options, ends=ends, **variables)
    assert (log(root), done.stdout, (root / ".agent-fox" / "state.db").exists()) == ([], "", False)
    return [line.removeprefix("agent-fox: ") for line in done.stderr.splitlines()]


def with_workspace(tmp_path: Path, text: str) -> Path:
    """A world with these lines in `[workspace]`; its workspaces are outside unless they say otherwise."""
    state = "" if "state" in text else f"state = {json.dumps(str(tmp_path / 'state'))}\n"
    return replace(WORLD, settings=f"[workspace]\n{state}{text}\n").build(tmp_path)


class TestBranch:
    def test_a_branch_named_like_its_parent_is_in_the_way(self, tmp_path: Path) -> None:
        root = WORLD.build(tmp_path)
        git(root, "branch", "agent-fox")
        (line,) = refusal(root)
        assert "agent-fox/integration cannot be made beside the branch agent-fox;" in line
        assert "git branch -m agent-fox NEW_NAME" in line
        assert "[git] integration_branch" in line
        run(root, ends=PROVEN, AGENT_FOX__GIT__INTEGRATION_BRANCH="proven")

    def test_a_branch_below_it_is_in_the_way(self, tmp_path: Path) -> None:
        root = WORLD.build(tmp_path)
        git(root, "branch", "proven/old")
        (line,) = refusal(root, AGENT_FOX__GIT__INTEGRATION_BRANCH="proven")
        assert "beside the branch proven/old" in line

    def test_a_sibling_is_not_in_the_way(self, tmp_path: Path) -> None:
        root = WORLD.build(tmp_path)
        git(root, "branch", "agent-fox/other")
        run(root, ends=PROVEN)

    def test_a_lock_that_stayed_is_told_and_the_run_goes_on_without_it(self, tmp_path: Path) -> None:
        root = WORLD.build(tmp_path)
        lock = root / ".git" / "refs" / "heads" / "agent-fox" / "integration.lock"
        lock.parent.mkdir(parents=True)
        lock.touch()
        (line,) = refusal(root, CANNOT_GO_ON)
        assert str(lock) in line
        lock.unlink()
        run(root, ends=PROVEN)


class TestWorkspace:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("copy = ['.env']", "[workspace] copy: '.env' names nothing"),
            ("link = ['node_modules']", "[workspace] link: 'node_modules' names nothing"),
            ("setup = ['no-such-tool x']", "[workspace] setup: 'no-such-tool' is not an executable"),
            ("setup = [['/no/such/tool']]", "[workspace] setup: '/no/such/tool' is not an executable"),
            ("setup = ['./prepare']", "[workspace] setup: './prepare' is not an executable"),
            ("setup = ['./README.md']", "[workspace] setup: './README.md' is not an executable"),
            ("setup = ['true', 'no-such-tool']", "[workspace] setup: 'no-such-tool' is not an executable"),
            ('setup = ["echo \'open"]', "cannot be split into words"),
        ],
    )
    def test_what_is_broken_is_named_before_anything_starts_and_by_doctor(
        self, tmp_path: Path, text: str, said: str
    ) -> None:
        root = with_workspace(tmp_path, text)
        (line,) = refusal(root)
        assert said in line
        assert said in run_cli(root, "doctor").stdout

    def test_all_that_is_broken_is_told_at_once(self, tmp_path: Path) -> None:
        root = with_workspace(tmp_path, "copy = ['.env', 'x*']\nsetup = ['no-such-tool']")
        assert len(refusal(root)) == 3

    def test_a_command_that_an_earlier_one_makes_is_left_to_the_run(self, tmp_path: Path) -> None:
        root = with_workspace(tmp_path, "setup = ['cp /bin/true tool', './tool']")
        run(root, ends=PROVEN)

    def test_a_committed_command_that_is_not_checked_out_is_there(self, tmp_path: Path) -> None:
        root = with_workspace(tmp_path, "setup = ['./prepare']")
        (root / "prepare").write_text("#!/bin/sh\n")
        (root / "prepare").chmod(0o755)
        git(root, "add", "prepare")
        git(root, "commit", "-qm", "prepare")
        (root / "prepare").unlink()
        run(root, ends=PROVEN)

    def test_the_path_of_the_agents_counts(self, tmp_path: Path) -> None:
        root = with_workspace(tmp_path, "setup = ['true']")
        lines = refusal(root, AGENT_FOX__AGENTS__CODER__ENVIRONMENT__PATH="/no/such/folder")
        assert lines[-1].startswith("[workspace] setup: 'true'")

    def test_a_setup_that_fails_pauses_the_run_at_once(self, tmp_path: Path) -> None:
        root = with_workspace(tmp_path, "setup = [['sh', '-c', 'echo half; test -e ../../../ready || exit 3']]")
        done = run(root, ends=CANNOT_GO_ON)
        assert "ended with exit status 3" in done.stdout
        assert "half" in done.stdout
        assert coders(root) == {}
        assert done.stdout.count("begins") == 1
        assert issue_files(root) == []


class TestState:
    def test_it_counts_from_the_root_of_the_repository(self, tmp_path: Path) -> None:
        assert own_state_folder(tmp_path / "repo", "../beside") == tmp_path / "beside"
        assert own_state_folder(tmp_path / "repo", "~/there") == Path("~/there").expanduser().resolve()

    @pytest.mark.parametrize("state", [".", "work", ".agent-fox/work", ".git/work"])
    def test_a_place_that_git_sees_is_refused(self, tmp_path: Path, state: str) -> None:
        root = with_workspace(tmp_path, f"state = '{state}'")
        (line,) = refusal(root)
        assert line.startswith(f"[workspace] state = '{state}': ")
        assert "inside the repository" in line

    def test_a_place_that_git_ignores_is_fine_from_wherever_the_run_is_started(self, tmp_path: Path) -> None:
        root = with_workspace(tmp_path, "state = '.agent-fox/work'")
        with (root / ".agent-fox" / ".gitignore").open("a") as ignored:
            ignored.write("work/\n")
        below = root / "below"
        below.mkdir()
        done = run_cli(below, "run")
        assert done.returncode == PROVEN, done
        assert (root / ".agent-fox" / "work").is_dir()
        assert list(below.iterdir()) == []

    def test_a_place_that_cannot_be_written_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        root = with_workspace(tmp_path / "w", f"state = '{tmp_path / 'file' / 'below'}'")
        (line,) = refusal(root)
        assert f"{tmp_path / 'file'} cannot be written" in line


def test_without_settings_one_line_says_what_to_do(tmp_path: Path) -> None:
    root = WORLD.build(tmp_path)
    (root / ".agent-fox" / "config.toml").unlink()
    (line,) = refusal(root)
    assert "run `agent-fox init`" in line


class TestNames:
    @pytest.mark.parametrize(
        ("table", "nearest"), [("specs.01_clac", "01_calc"), ('nodes."01_calc:9"', "01_calc:2"), ('nodes."07_x:1"', "")]
    )
    def test_settings_for_what_is_not_there_are_an_error_with_the_nearest_name(
        self, tmp_path: Path, table: str, nearest: str
    ) -> None:
        root = replace(WORLD, settings=f"[{table}]\nretry_predecessor = true\n").build(tmp_path)
        (line,) = refusal(root)
        assert line.startswith(f".agent-fox/config.toml: [{table}]: there is no such ")
        assert nearest in line
        plan = run_cli(root, "plan", "--json")
        found = [one for one in json.loads(plan.stdout)["problems"] if one["where"] == ".agent-fox/config.toml"]
        assert (plan.returncode, [one["severity"] for one in found]) == (1, ["error"])

    def test_leaving_broken_specs_out_does_not_help(self, tmp_path: Path) -> None:
        root = replace(WORLD, settings="[specs.01_clac]\nretry_predecessor = true\n").build(tmp_path)
        assert "01_clac" in refusal(root, REFUSED, "--skip-broken")[0]

    def test_settings_for_a_broken_spec_are_no_error(self, tmp_path: Path) -> None:
        settings = '[specs.02_b]\nretry_predecessor = true\n[nodes."02_b:1"]\nretry_predecessor = true\n'
        specs = {"01_a": [Req("01-REQ-1.1")], "02_b": [Req("02-REQ-1.1")]}
        root = World(specs, settings=settings).build(tmp_path)
        (root / ".agent-fox" / "specs" / "02_b" / "requirements.md").write_bytes(b"\xff\xfe\x00" * 9)
        done = run(root, "--skip-broken", ends=2)
        assert "there is no such" not in done.stdout + done.stderr


def test_reviews_that_are_required_need_a_reviewer(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}, settings="[agents.reviewer]\ncommand = []\n").build(tmp_path)
    (line,) = refusal(root, AGENT_FOX__POLICY__REQUIRED_STATE="reviewed")
    assert line.startswith("[agents.reviewer] ")


def test_nothing_is_reviewed_that_was_never_verified(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}, settings="[plan]\nverifier = false\n").build(tmp_path)
    lines = refusal(root, AGENT_FOX__POLICY__REQUIRED_STATE="reviewed")
    assert '[policy] required_state = "reviewed" needs verdicts first; set [plan] verifier = true' in lines


def test_proofs_that_are_required_need_the_provers(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = "z3 missing: pip install 'agent-fox[formal]'"
    monkeypatch.setattr("agent_fox.verifier.lanes.formal.why_missing", lambda: lacking)
    wanted = Settings.model_validate({"policy": {"required_state": "proved"}})
    (line,) = preflight.unreachable(wanted)
    assert line == "[policy] required_state = \"proved\", but z3 missing: pip install 'agent-fox[formal]'"


def test_a_format_of_lines_that_cannot_be_used_is_told_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("row = []\n")
    settings = Settings.model_validate({"verify": {"formats": ["mine.toml", "gone.toml"]}})
    damaged, gone = preflight.format_trouble(settings, tmp_path)
    assert damaged == f"[verify] formats: {tmp_path / 'mine.toml'}: tools is missing"
    assert gone.startswith(f"[verify] formats: {tmp_path / 'gone.toml'}: it cannot be read")
