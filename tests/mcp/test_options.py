"""What a person decides when a verifier is served: options, variables, profiles to confirm, tokens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.cli.main import run
from agent_fox.mcp.catalogue import VERSION


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Python project without tests, in which the command is started; state goes beside it."""
    root = tmp_path / "project"
    (root / ".agent-fox").mkdir(parents=True)
    (root / "pyproject.toml").write_text('[project]\nname = "cart"\nversion = "1"\n')
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def console(capsys: pytest.CaptureFixture[str]) -> Console:
    return Console(capsys)


class Console:
    """The program within this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def shown(self, *options: str) -> str:
        """What `--json` prints; it must succeed."""
        code = run(["mcp", "verifier", "--json", *options])
        printed = self._capsys.readouterr()
        assert (code, printed.err) == (0, "")
        return printed.out

    def refused(self, *options: str) -> str:
        """The line that is said where it will not start."""
        assert run(["mcp", "verifier", *options]) == 1
        printed = self._capsys.readouterr()
        (line,) = printed.err.splitlines()
        assert printed.out == ""
        return line


def narrow(project: Path, table: str) -> None:
    (project / ".agent-fox" / "verifier.toml").write_text(f"{table}\n")


def test_the_platform_decides_by_variables_and_options_count_over_them(
    project: Path, tmp_path: Path, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert "--profile" in console.refused()
    monkeypatch.setenv("AGENT_FOX_VERIFIER_ROOT", str(project))
    assert json.loads(console.shown())["version"] == VERSION
    assert "no build system" in console.refused("--root", str(tmp_path / "empty"))


def test_the_formatter_is_offered_only_where_it_was_allowed(project: Path, console: Console) -> None:
    assert "run_format_apply" not in _tools(console.shown())
    assert "run_format_apply" in _tools(console.shown("--allow-format-apply"))


def test_a_narrowed_profile_is_shown_and_must_be_confirmed_again_when_it_changes(
    project: Path, console: Console
) -> None:
    narrow(project, 'without = ["run_lint"]\nmax_seconds = 60')
    said = console.refused()
    assert "run_lint" in said
    fingerprint = said.rpartition("--accept-profile ")[2]
    assert console.shown("--accept-profile", fingerprint)
    narrow(project, "max_seconds = 30")
    assert "--accept-profile" in console.refused("--accept-profile", fingerprint)


@pytest.mark.parametrize(
    "table", ["max_seconds = 1e9", "format_apply = true", 'exclude = ["src/**"]', "argv = []", "="]
)
def test_a_repository_cannot_widen_its_profile(project: Path, console: Console, table: str) -> None:
    narrow(project, table)
    assert "--accept-profile" not in console.refused()


def test_an_unknown_profile_is_named_with_the_nearest(project: Path, console: Console) -> None:
    assert "did you mean python?" in console.refused("--profile", "pythn")


@pytest.mark.parametrize("token", ["", "short", "with a space in it", "ä" * 20])
def test_http_needs_a_token_worth_the_name(
    project: Path, console: Console, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_FOX_VERIFIER_TOKEN", token)
    assert "token" in console.refused("--http", "--port", "0")


def test_a_token_file_that_others_may_read_is_refused(project: Path, console: Console) -> None:
    file = project.parent / "token"
    file.write_text("a-token-of-some-length\n")
    file.chmod(0o644)
    assert f"chmod 600 {file}" in console.refused("--http", "--port", "0", "--token-file", str(file))


def test_a_format_that_cannot_be_used_is_said_before_anything_is_served(
    project: Path, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    format_file = project.parent / "mine.toml"
    format_file.write_text("row = []\n")
    assert "mine.toml: tools is missing" in console.refused("--format", str(format_file))
    monkeypatch.setenv("AGENT_FOX_VERIFIER_FORMATS", str(format_file))
    assert "mine.toml: tools is missing" in console.refused()


def test_logs_are_kept_outside_of_the_workspace(project: Path, tmp_path: Path, console: Console) -> None:
    console.shown()
    assert [path.name for path in project.iterdir() if path.name not in ("pyproject.toml", ".agent-fox")] == []
    assert list((tmp_path / "state" / "agent-fox").glob("*/artifacts"))


def _tools(shown: str) -> list[str]:
    return [tool["name"] for tool in json.loads(shown)["tools"]]
