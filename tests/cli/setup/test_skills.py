"""What `init` installs for agents in a chat, and that it tells them nothing that is not so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent_fox.cli.main import COMMANDS
from agent_fox.cli.setup.skills import BEGIN, END, packaged, with_snippet
from tests.cli.program import repository, start

SKILL = ".claude/skills/agent-fox/SKILL.md"


@pytest.mark.parametrize("name", ["SKILL.md", "AGENTS.md"])
def test_every_command_that_is_named_exists(name: str) -> None:
    named = set(re.findall(r"`agent-fox ([a-z-]+)", packaged(name)))
    assert {"plan", "run", "verify", "explain"} <= named
    assert named <= COMMANDS.keys()


@pytest.mark.parametrize("name", ["SKILL.md", "AGENTS.md"])
def test_the_workflow_stands_in_its_order(name: str) -> None:
    text = packaged(name)
    steps = [text.index(word) for word in ("Explain", "Register", "Implement", "Verify", "Report done only after")]
    assert steps == sorted(steps)
    assert "confirms" in text


def test_the_skill_says_who_it_is_for() -> None:
    _, front, _ = packaged("SKILL.md").split("---\n", 2)
    assert "name: agent-fox\n" in front
    assert len(front.partition("description: ")[2]) < 1024


def test_both_are_installed_and_brought_up_to_date(tmp_path: Path) -> None:
    root = repository(tmp_path)
    (root / "AGENTS.md").write_text("# Ours\n\nUse tabs.\n")
    ended = start(root, "init", "--skill", "claude", "--skill", "agents-md")
    assert ended.returncode == 0
    assert (root / SKILL).read_text() == packaged("SKILL.md")
    text = (root / "AGENTS.md").read_text()
    assert text.startswith("# Ours\n\nUse tabs.\n\n" + BEGIN)
    (root / "AGENTS.md").write_text(text.replace("Implement it", "Guess it") + "\nAnd more of ours.\n")
    assert "wrote AGENTS.md" in start(root, "init", "--skill", "agents-md").stdout
    assert (root / "AGENTS.md").read_text() == text + "\nAnd more of ours.\n"
    assert "kept  AGENTS.md" in start(root, "init", "--skill", "agents-md").stdout


@pytest.mark.parametrize("text", [BEGIN, END, f"{END}\n{BEGIN}", f"{BEGIN}{BEGIN}{END}"])
def test_half_a_mark_is_refused_and_nothing_is_lost(tmp_path: Path, text: str) -> None:
    root = repository(tmp_path)
    (root / "AGENTS.md").write_text(text)
    ended = start(root, "init", "--skill", "agents-md")
    assert ended.returncode == 1
    assert "once each" in ended.stderr
    assert (root / "AGENTS.md").read_text() == text


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    root = repository(tmp_path)
    (root / "AGENTS.md").symlink_to("/etc/hostname")
    ended = start(root, "init", "--skill", "agents-md")
    assert (ended.returncode, "is a link" in ended.stderr) == (1, True)


def test_a_second_time_changes_nothing() -> None:
    assert with_snippet(with_snippet("a\n")) == with_snippet("a\n")
