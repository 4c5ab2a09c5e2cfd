"""What is published beside the wheel: the plugins, the documentation site, and the rules by which a release is judged.

`make release` itself takes many minutes and a package index; it is run by hand, and docs/release.md has its table.
"""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path

import pytest

from agent_fox.cli.setup.skills import packaged
from agent_fox.testing.worlds import SOURCE
from tools.release import DOORS, FREE, Release, Unknown, Wrong, ended, first_session_of
from tools.site import led

PLUGIN = SOURCE / "plugins" / "agent-fox"
PROJECT = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]


def test_the_plugin_teaches_what_init_installs() -> None:
    assert (PLUGIN / "skills/agent-fox/SKILL.md").read_text() == packaged("SKILL.md")
    assert (PLUGIN / "AGENTS.md").read_text() == packaged("AGENTS.md")


@pytest.mark.parametrize("name", [".claude-plugin/plugin.json", ".codex-plugin/plugin.json", "gemini-extension.json"])
def test_each_manifest_is_of_this_version(name: str) -> None:
    manifest = json.loads((PLUGIN / name).read_text())
    assert (manifest["name"], manifest["version"]) == (PROJECT["name"], PROJECT["version"])


def test_all_three_programs_get_the_same_servers() -> None:
    servers = json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"]
    assert json.loads((PLUGIN / "gemini-extension.json").read_text())["mcpServers"] == servers
    assert [entry["args"][1] for entry in servers.values()] == ["verifier", "review"]


@pytest.mark.parametrize(("is_ours", "code"), [(False, 0), (True, 2)])
def test_the_plugins_hook_holds_nothing_but_projects_of_ours(tmp_path: Path, is_ours: bool, code: int) -> None:
    """Without the program: a project without .agent-fox is let go, one that has it is held, and told why."""
    inside = tmp_path / "project" / "deeper"
    inside.mkdir(parents=True)
    if is_ours:
        (tmp_path / "project" / ".agent-fox").mkdir()
    environ = {"PATH": "/usr/bin:/bin", "CLAUDE_PROJECT_DIR": "."}
    hook = ("sh", PLUGIN / "hooks" / "stop.sh")
    ended = subprocess.run(hook, cwd=inside, env=environ, capture_output=True, text=True, timeout=20, check=False)
    assert (ended.returncode, "not on the PATH" in ended.stderr) == (code, is_ours)


def test_every_extra_is_tried() -> None:
    assert DOORS.keys() == PROJECT["optional-dependencies"].keys() - {"dev", "testing"}


def test_the_first_session_is_the_readmes() -> None:
    script = first_session_of((SOURCE / "README.md").read_text())
    assert script.startswith("cp -r examples/first greet")
    assert "agent-fox run\n" in script
    with pytest.raises(Wrong, match="no commands"):
        first_session_of("# Nothing\n")


@pytest.mark.parametrize(
    ("licence", "is_free"),
    [
        ("MIT License", True),
        ("BSD-3-Clause", True),
        ("Apache Software License; BSD License", True),
        ("MPL-2.0", True),
        ("GNU General Public License v3 (GPLv3)", False),
        ("UNKNOWN", False),
    ],
)
def test_which_licences_need_no_second_look(licence: str, is_free: bool) -> None:
    assert bool(FREE.search(licence)) is is_free


def test_what_cannot_be_tried_is_no_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def absent() -> str:
        raise Unknown("no Python 3.14 here")

    def broken() -> str:
        raise Wrong("two builds differ")

    release = Release(tmp_path, "0")
    release.check("fine", lambda: "as it should be")
    assert ended(release.rows, tmp_path) == 0
    release.check("python", absent)
    assert ended(release.rows, tmp_path) == 2
    release.check("build", broken)
    assert ended(release.rows, tmp_path) == 1
    assert capsys.readouterr().out.endswith("1 of 3 hold; wrong: build; not known: python\n")


def test_links_that_leave_the_documents_lead_to_the_repository() -> None:
    page = "[a](glossary.md#b) [core](../agent_fox/core/words.py) [gone](nowhere.md) ![p](../README.md) [x](https://x)"
    with_url = led(page, SOURCE / "docs", "https://host/us")
    assert with_url == page.replace("../agent_fox", "https://host/us/blob/main/agent_fox")
    assert led(page, SOURCE / "docs", None) == page.replace("[core](../agent_fox/core/words.py)", "core")
