"""Setting a repository up."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from agent_fox.cli.setup.init import config_text
from agent_fox.cli.setup.settings_tables import tables
from agent_fox.config import Settings, load
from tests.cli.program import repository, said, start


def test_the_file_it_writes_changes_no_default(tmp_path: Path) -> None:
    assert start(tmp_path, "init").returncode == 0
    assert load(tmp_path, {}) == Settings()


def test_the_defaults_it_shows_are_the_defaults() -> None:
    lines = (re.fullmatch(r"(?:# )?(\[.*|\w+ = \S.*)", line) for line in config_text({}).splitlines())
    shown = "\n".join(line[1] for line in lines if line)
    assert Settings.model_validate(tomllib.loads(shown)) == Settings()


def test_it_shows_every_setting() -> None:
    text = config_text({})
    assert all(f"# {row.key} = " in text for table in tables() if not table.inherits for row in table.rows)


def test_git_ignores_the_state_and_keeps_issues_and_settings(tmp_path: Path) -> None:
    start(repository(tmp_path), "init")
    ignored = (tmp_path / ".agent-fox" / ".gitignore").read_text().split()
    assert ignored == ["state.db*", "logs/", "crash.log", "run.lock", "report.html"]


def test_what_is_there_is_never_overwritten(tmp_path: Path) -> None:
    start(tmp_path, "init")
    (tmp_path / ".agent-fox" / "config.toml").write_text("[retry]\nattempts = 9\n")
    done = start(tmp_path, "init", "--json")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"root": str(tmp_path), "written": []})
    assert load(tmp_path, {}).retry.attempts == 9


def test_what_a_project_tells_agents_in_a_chat_is_offered_as_steering(tmp_path: Path) -> None:
    repository(tmp_path)
    (tmp_path / "CLAUDE.md").write_text("Use tabs.\n")
    assert "agent-fox init --steering CLAUDE.md" in start(tmp_path, "init").stdout
    done = start(tmp_path, "init", "--steering", "CLAUDE.md")
    assert "wrote .agent-fox/steering.md" in done.stdout
    assert "is not read" not in done.stdout
    assert (tmp_path / ".agent-fox" / "steering.md").read_text() == "Use tabs.\n"
    assert "GONE.md: it cannot be read" in start(tmp_path, "init", "--steering", "GONE.md").stderr


def test_it_sets_up_the_root_of_the_repository_from_any_folder_in_it(tmp_path: Path) -> None:
    repository(tmp_path)
    (tmp_path / "src").mkdir()
    start(tmp_path / "src", "init")
    assert (tmp_path / ".agent-fox" / "config.toml").is_file()


def test_an_agent_given_as_a_command_line_is_coder_and_reviewer(tmp_path: Path) -> None:
    argv = ["my-agent", "--prompt", 'say "hé" \\ 🦊', "--json"]
    assert start(tmp_path, "init", "--agent", "command", "--", *argv).returncode == 0
    agents = load(tmp_path, {}).agents
    assert (agents.coder.command, agents.reviewer.command) == (argv, argv)
    assert (agents.coder.backend, agents.verifier.backend) == ("command", "checks")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--agent", "command"], "the backend `command` needs a program"),
        (["my-agent"], "a program needs its backend"),
    ],
)
def test_half_an_agent_is_an_error(tmp_path: Path, arguments: list[str], words: str) -> None:
    done = start(tmp_path, "init", *arguments)
    assert done.returncode == 1
    assert words in said(done)
    assert not (tmp_path / ".agent-fox").exists()


def test_an_agent_is_not_forced_into_settings_that_are_there(tmp_path: Path) -> None:
    start(tmp_path, "init")
    config = tmp_path / ".agent-fox" / "config.toml"
    config.write_text(config.read_text() + "# mine\n")
    done = start(tmp_path, "init", "--agent", "command", "--", "my-agent")
    assert done.returncode == 1
    assert config.read_text().endswith("# mine\n")
    assert ".agent-fox/config.toml exists already" in said(done)


def test_settings_that_nobody_changed_take_an_agent_later(tmp_path: Path) -> None:
    start(tmp_path, "init", "--spec")
    done = start(tmp_path, "init", "--agent", "command", "--", "my-agent")
    assert done.returncode == 0
    assert 'command = ["my-agent"]' in (tmp_path / ".agent-fox" / "config.toml").read_text()


def test_a_file_where_the_folder_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / ".agent-fox").write_text("")
    done = start(tmp_path, "init")
    assert done.returncode == 1
    assert ".agent-fox" in said(done)


def test_an_agent_that_is_known_writes_reviews_and_judges_beside_the_checks(tmp_path: Path) -> None:
    assert start(tmp_path, "init", "--agent", "claude").returncode == 0
    agents = load(tmp_path, {}).agents
    assert (agents.coder.backends, agents.reviewer.backends) == (["claude"], ["claude"])
    assert agents.verifier.backends == ["checks", "claude"]


def test_an_agent_that_is_known_takes_no_program(tmp_path: Path) -> None:
    ended = start(tmp_path, "init", "--agent", "codex", "--", "codex", "--yolo")
    assert ended.returncode == 1
    assert "knows its program" in ended.stderr


def test_an_agent_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    ended = start(tmp_path, "init", "--agent", "nosuch")
    assert (ended.returncode, "(known: acp, checks, claude" in ended.stderr) == (1, True)
    assert not (tmp_path / ".agent-fox").exists()


@pytest.mark.parametrize(
    ("arguments", "written", "name"),
    [
        (["--spec"], "example.md", "example"),
        (["--spec", "lock"], "lock.md", "lock"),
        (["--spec", "lock.toml"], "lock.toml", "lock"),
        (["--spec", "--json"], "example.md", "example"),
    ],
)
def test_a_first_spec_plans_and_lints_without_a_word(
    tmp_path: Path, arguments: list[str], written: str, name: str
) -> None:
    done = start(repository(tmp_path), "init", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert f".agent-fox/specs/{written}" in done.stdout
    document = json.loads(start(tmp_path, "plan", "--json").stdout)
    assert ([spec["name"] for spec in document["specs"]], document["problems"]) == ([name], [])
    assert start(tmp_path, "lint", "--strict").returncode == 0


def test_it_says_what_to_do_with_the_first_spec(tmp_path: Path) -> None:
    last = start(tmp_path, "init", "--spec").stdout.splitlines()[-1]
    assert last.startswith("next: write what you want into .agent-fox/specs/example.md")


def test_specs_that_are_there_are_looked_at_and_not_asked_for(tmp_path: Path) -> None:
    (tmp_path / ".kiro" / "specs").mkdir(parents=True)
    assert start(tmp_path, "init").stdout.splitlines()[-1].startswith("next: run `agent-fox doctor`")


def test_a_spec_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    start(tmp_path, "init", "--spec", "lock")
    spec = tmp_path / ".agent-fox" / "specs" / "lock.md"
    spec.write_text("mine")
    for name in ("lock", "lock.md", "lock.toml"):
        done = start(tmp_path, "init", "--spec", name)
        assert done.returncode == 1
        assert ".agent-fox/specs/lock.md is there already" in said(done)
    assert spec.read_text() == "mine"


def test_a_name_that_a_spec_of_another_dialect_has_is_taken(tmp_path: Path) -> None:
    """Two specs of one name are an error of the plan."""
    (tmp_path / ".kiro" / "specs" / "lock").mkdir(parents=True)
    done = start(tmp_path, "init", "--spec", "lock.toml")
    assert (done.returncode, done.stdout) == (1, "")
    assert ".kiro/specs/lock is there already and stays as it is; name another: init --spec NAME" in said(done)
    assert not (tmp_path / ".agent-fox").exists()


@pytest.mark.parametrize("name", ["tasks", "spec.md", "README"])
def test_a_name_that_would_not_be_read_is_refused(tmp_path: Path, name: str) -> None:
    done = start(tmp_path, "init", "--spec", name)
    assert done.returncode == 1
    assert "is the name of another kind of file" in said(done)
    assert not (tmp_path / ".agent-fox").exists()


@pytest.mark.parametrize("name", ["../up", "a/b", ".hidden", "a.json", ""])
def test_a_name_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    done = start(tmp_path, "init", "--spec", name)
    assert done.returncode == 1
    assert "no name for a spec" in said(done)
    assert not (tmp_path / ".agent-fox").exists()


def test_an_agent_of_the_protocol_takes_its_command_and_judges_beside_the_checks(tmp_path: Path) -> None:
    assert start(tmp_path, "init", "--agent", "acp", "--", "goose", "acp").returncode == 0
    agents = load(tmp_path, {}).agents
    assert [agent.command for agent in (agents.coder, agents.reviewer, agents.verifier)] == [["goose", "acp"]] * 3
    assert (agents.coder.backends, agents.verifier.backends) == (["acp"], ["checks", "acp"])


def test_an_agent_of_the_protocol_without_a_command_is_refused(tmp_path: Path) -> None:
    ended = start(tmp_path, "init", "--agent", "acp")
    assert (ended.returncode, "init --agent acp -- PROGRAM" in ended.stderr) == (1, True)
