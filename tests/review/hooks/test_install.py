"""The hook in the settings of Claude Code and codex: put in, found, taken out; nothing of the person's is touched."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from agent_fox.review.hooks.install import (
    BEGIN,
    END,
    MARK,
    SERVER,
    Place,
    Program,
    Scope,
    changes,
    hook_command,
    installed,
)
from agent_fox.review.settings_files import InstallTrouble, write

ARGV = [sys.executable, "-m", "agent_fox"]
ALL = (Program.CLAUDE, Program.CODEX)
SCOPES = pytest.mark.parametrize("scope", list(Scope))

SETTINGS = """{
    "permissions": {"allow": ["Bash(ls:*)"]},
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "say 'fertig ✓'"}]}]
    },
    "model": "opus"
}
"""
KILLED = f"{sys.executable} -c 'import os; os.kill(os.getpid(), 9)'"
CONFIG = """# my settings
model = "gpt-5.5"   # the best one

[mcp_servers.mine]
command = "mine"
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "project").mkdir()
    return Place.of(tmp_path / "project", {"HOME": str(tmp_path / "home")})


def install(place: Place, scope: Scope = Scope.PROJECT, programs: tuple[Program, ...] = ALL) -> list[Path]:
    """What was written."""
    found = changes(programs, scope, place, ARGV)
    write(found)
    return [change.path for change in found if change.is_needed]


def uninstall(place: Place, scope: Scope = Scope.PROJECT) -> None:
    write(changes(ALL, scope, place, ARGV, is_out=True))


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def files(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*")) if path.is_file()}


# --- what stands there then ---


def test_a_project_gets_the_hook_the_server_and_the_consent_to_it(place: Place) -> None:
    install(place)
    command = hook_command(ARGV, place.state)
    entry = {"type": "command", "command": command, "timeout": 120}
    assert json.loads((place.project / ".claude/settings.local.json").read_text()) == {
        "hooks": {"Stop": [{"hooks": [entry]}]},
        "enabledMcpjsonServers": [SERVER],
    }
    server = {"command": sys.executable, "args": ["-m", "agent_fox", "mcp", "review"]}
    assert json.loads((place.project / ".mcp.json").read_text()) == {"mcpServers": {SERVER: server}}
    assert json.loads((place.project / ".codex/hooks.json").read_text()) == {"hooks": {"Stop": [{"hooks": [entry]}]}}
    config = tomllib.loads((place.project / ".codex/config.toml").read_text())
    named = [*server["args"], "--project", str(place.project)]
    assert config == {"mcp_servers": {SERVER: {**server, "args": named, "tool_timeout_sec": 900}}}


def test_a_user_gets_the_hook_without_a_state_and_his_own_file_of_claude_stays(place: Place, tmp_path: Path) -> None:
    install(place, Scope.USER)
    assert sorted(files(tmp_path)) == [
        "home/.claude/settings.json",
        "home/.codex/config.toml",
        "home/.codex/hooks.json",
    ]
    assert "--state" not in (place.claude_home / "settings.json").read_text()


def test_a_users_folders_are_where_the_programs_look_for_them(tmp_path: Path) -> None:
    environ = {"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x"}
    place = Place.of(tmp_path, environ)
    assert (place.claude_home, place.codex_home) == (Path("/c"), Path("/x"))


@pytest.mark.parametrize(
    ("program", "status"),
    [("/nowhere/agent-fox", 2), ("true", 0), ("false", 2), (KILLED, 2)],
    ids=["is gone", "lets go", "fails", "is killed"],
)
def test_the_command_blocks_whatever_becomes_of_the_program(program: str, status: int) -> None:
    command = hook_command(shlex.split(program), None)
    assert subprocess.run(["sh", "-c", command], capture_output=True, check=False).returncode == status


# --- what is a person's own ---


@SCOPES
def test_what_is_installed_twice_is_there_once_and_taken_out_leaves_everything_as_it_was(
    place: Place, tmp_path: Path, scope: Scope
) -> None:
    claude = (
        place.project / ".claude/settings.local.json" if scope is Scope.PROJECT else place.claude_home / "settings.json"
    )
    codex = place.project / ".codex" if scope is Scope.PROJECT else place.codex_home
    put(claude, json.dumps(json.loads(SETTINGS), indent=4, ensure_ascii=False) + "\n")
    put(codex / "hooks.json", json.dumps({"hooks": {"Stop": [{"hooks": []}]}, "x": 1}, indent=1))
    put(codex / "config.toml", CONFIG)
    put(place.project / ".mcp.json", '{\n\t"mcpServers": {\n\t\t"mine": {\n\t\t\t"command": "mine"\n\t\t}\n\t}\n}\n')
    before = files(tmp_path)
    assert install(place, scope)
    once = files(tmp_path)
    assert install(place, scope) == []
    assert files(tmp_path) == once
    uninstall(place, scope)
    assert files(tmp_path) == before
    uninstall(place, scope)
    assert files(tmp_path) == before


def test_everything_of_the_persons_stays_in_its_order_and_its_form(place: Place) -> None:
    path = put(place.project / ".claude/settings.local.json", SETTINGS)
    install(place, programs=(Program.CLAUDE,))
    text = path.read_text()
    found = json.loads(text)
    assert list(found) == ["permissions", "hooks", "model", "enabledMcpjsonServers"]
    assert [len(group["hooks"]) for group in found["hooks"]["Stop"]] == [1, 1]
    assert found["hooks"]["Stop"][0] == json.loads(SETTINGS)["hooks"]["Stop"][0]
    assert found["hooks"]["PreToolUse"] == json.loads(SETTINGS)["hooks"]["PreToolUse"]
    assert "fertig ✓" in text
    assert text.startswith('{\n    "permissions"')
    assert text.endswith("}\n")


def test_not_a_character_of_a_toml_file_is_touched_beside_our_table(place: Place) -> None:
    path = put(place.project / ".codex/config.toml", CONFIG)
    install(place, programs=(Program.CODEX,))
    assert path.read_text().startswith(CONFIG)
    assert set(tomllib.loads(path.read_text())["mcp_servers"]) == {"mine", SERVER}


def test_a_hook_of_an_older_installation_is_brought_up_to_date_and_not_doubled(place: Place) -> None:
    write(changes(ALL, Scope.PROJECT, place, ["/old/agent-fox"]))
    assert len(install(place)) == 4
    for path in (".claude/settings.local.json", ".codex/hooks.json"):
        (group,) = json.loads((place.project / path).read_text())["hooks"]["Stop"]
        assert [entry["command"] for entry in group["hooks"]] == [hook_command(ARGV, place.state)]
    assert (place.project / ".codex/config.toml").read_text().count(BEGIN) == 1


def test_arguments_that_a_person_gave_our_server_are_kept(place: Place) -> None:
    install(place, programs=(Program.CLAUDE,))
    path = place.project / ".mcp.json"
    changed = json.loads(path.read_text())
    changed["mcpServers"][SERVER]["args"] += ["--repo", "/other"]
    path.write_text(json.dumps(changed))
    assert install(place, programs=(Program.CLAUDE,)) == []


def test_a_hook_that_a_person_wrote_himself_is_his(place: Place) -> None:
    own = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "agent-fox hook stop"}]}]}}
    path = put(place.project / ".claude/settings.local.json", json.dumps(own))
    uninstall(place)
    assert json.loads(path.read_text()) == own


def test_lines_of_another_system_keep_their_ends_and_a_file_its_rights(place: Place) -> None:
    path = put(place.project / ".mcp.json", "")
    path.write_bytes(b'{\r\n  "a": 1\r\n}\r\n')
    path.chmod(0o640)
    install(place, programs=(Program.CLAUDE,))
    assert path.read_bytes().count(b"\r\n") == path.read_bytes().count(b"\n")
    assert path.stat().st_mode & 0o777 == 0o640


# --- refused ---

BROKEN = {
    "cut": ('{"hooks": ', "line 1, column"),
    "comments": ('{\n // mine\n "a": 1}', "line 2, column"),
    "a list": ("[]", "not a JSON object"),
    "a key twice": ('{"hooks": {}, "hooks": {}}', "stands there twice"),
    "hooks that are none": ('{"hooks": []}', "hooks is no object"),
    "stop hooks that are none": ('{"hooks": {"Stop": {}}}', "hooks.Stop is no list"),
    "a number that is none": ('{"a": NaN}', "NaN"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_file_that_is_not_what_its_program_reads_is_refused_with_the_place_and_nothing_is_written(
    place: Place, tmp_path: Path, kind: str
) -> None:
    text, told = BROKEN[kind]
    put(place.project / ".codex/hooks.json", text)
    before = files(tmp_path)
    with pytest.raises(InstallTrouble, match=r"hooks\.json") as trouble:
        install(place)
    assert told in str(trouble.value)
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("model = ", "this is not TOML"),
        (f'[mcp_servers.{SERVER}]\ncommand = "x"\n', "is not ours"),
        ('mcp_servers = {mine = {command = "x"}}\n', "in one line"),
        (f"{BEGIN}\n", "once each"),
        (f"{END}\n{BEGIN}\n", "once each"),
    ],
)
def test_a_toml_file_that_cannot_take_our_table_is_refused(place: Place, text: str, told: str) -> None:
    path = put(place.project / ".codex/config.toml", text)
    with pytest.raises(InstallTrouble, match=told):
        install(place)
    assert path.read_text() == text


def test_another_server_of_the_same_name_is_refused(place: Place) -> None:
    put(place.project / ".mcp.json", json.dumps({"mcpServers": {SERVER: {"command": "evil", "args": []}}}))
    with pytest.raises(InstallTrouble, match="another server"):
        install(place)


@pytest.mark.parametrize("link", [".mcp.json", ".claude"])
def test_a_link_in_a_project_is_not_followed(place: Place, tmp_path: Path, link: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (place.project / link).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InstallTrouble, match="link"):
        install(place)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_users_settings_may_be_a_link_and_stay_one(place: Place, tmp_path: Path) -> None:
    kept = put(tmp_path / "dotfiles/settings.json", "{}")
    place.claude_home.mkdir(parents=True)
    (place.claude_home / "settings.json").symlink_to(kept)
    install(place, Scope.USER)
    assert (place.claude_home / "settings.json").is_symlink()
    assert MARK in kept.read_text()


def test_a_file_that_changes_meanwhile_is_not_overwritten(place: Place) -> None:
    found = changes((Program.CLAUDE,), Scope.PROJECT, place, ARGV)
    path = put(place.project / ".mcp.json", '{"mine": 1}')
    with pytest.raises(InstallTrouble, match="another program"):
        write(found)
    assert path.read_text() == '{"mine": 1}'


def test_nothing_temporary_is_left(place: Place) -> None:
    install(place)
    assert sorted(files(place.project)) == [
        ".claude/settings.local.json", ".codex/config.toml", ".codex/hooks.json", ".mcp.json",
    ]  # fmt: skip


# --- what is shown ---


def test_every_place_is_shown_with_what_keeps_it_from_working(place: Place) -> None:
    assert [(one.command, one.trouble) for one in installed(place)] == [("", "")] * 4
    install(place)
    assert [bool(one.command) for one in installed(place)] == [True, False, True, False]
    assert [one.trouble for one in installed(place)] == [""] * 4
    path = place.project / ".claude/settings.local.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "disableAllHooks": True}))
    write(changes((Program.CODEX,), Scope.PROJECT, place, ["/gone/agent-fox"]))
    put(place.codex_home / "hooks.json", "{")
    troubles = [one.trouble for one in installed(place)]
    assert "disableAllHooks" in troubles[0]
    assert "/gone/agent-fox is not there any more" in troubles[2]
    assert "this is not JSON" in troubles[3]
