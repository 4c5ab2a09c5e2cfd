"""The guides of docs/contributing.md are right word by word."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from agent_fox.testing.worlds import SOURCE
from tests.cli.program import start

GUIDE = (SOURCE / "docs" / "contributing.md").read_text(encoding="utf-8")
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def test_a_log_format_of_another_package_is_read_after_the_steps_of_the_guide(tmp_path: Path) -> None:
    """They run in a copy; pip installs into a folder beside it, and asks no index."""
    steps, expected = re.findall(r"```(?:sh|text)\n(.*?)```", GUIDE.split("### A log format")[1], re.DOTALL)[:2]
    shutil.copytree(SOURCE / "examples" / "plugins", tmp_path / "repo" / "examples" / "plugins")
    subprocess.run(["git", "init", "-q", tmp_path / "repo"], check=True)
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    target = tmp_path / "target"
    installed = {"PATH": programs, "PIP_TARGET": f"{target}", "PYTHONPATH": f"{target}{os.pathsep}{SOURCE}"}
    steps = steps.replace("pip install", "pip install --quiet")
    done = subprocess.run(
        ["sh", "-euc", steps],
        cwd=tmp_path / "repo",
        env={**os.environ, **OFFLINE, **installed},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.returncode) == (expected, 0), done.stderr


def test_a_format_of_lines_needs_a_file_and_no_code(tmp_path: Path) -> None:
    steps, expected = re.findall(r"```(?:sh|text)\n(.*?)```", GUIDE.split("### A format of lines")[1], re.DOTALL)[:2]
    *making, command = steps.strip().splitlines()
    subprocess.run(["sh", "-euc", "\n".join(making)], cwd=tmp_path, check=True)
    done = start(tmp_path, *command.split()[1:])
    assert (done.stdout, done.stderr, done.returncode) == (expected, "", 0)


def test_every_hook_has_a_template_that_the_guide_names() -> None:
    hooks = re.findall(r"^def (agent_fox_\w+)", (SOURCE / "agent_fox" / "plugins.py").read_text(), re.MULTILINE)
    rows = dict(re.findall(r"^\| `(agent_fox_\w+)` \| \[(examples/[\w/]+)\]", GUIDE, re.MULTILINE))
    assert set(rows) == set(hooks)
    for hook, folder in rows.items():
        modules = [path.read_text() for path in (SOURCE / folder).rglob("*.py")]
        assert any(f"@hookimpl\ndef {hook}(" in text for text in modules), hook


def test_every_file_that_the_guide_names_is_there() -> None:
    places = re.findall(r"`((?:agent_fox|tests|tools|examples|fixtures)/[\w/.]+)`", GUIDE)
    assert [place for place in places if not (SOURCE / place).exists()] == []
