from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from agent_fox.session.agents.runner.scanning import forbidden

ALLOWED = (PurePosixPath("/w/workspace"), PurePosixPath("/w/agent/home"))


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"file_path": "/etc/passwd"}, "a path outside of its workspace: /etc/passwd"),
        ({"filePath": "/w/workspace/../../x"}, "a path outside of its workspace: /w/workspace/../../x"),
        ({"path": "/w/workspace-2/x"}, "a path outside of its workspace: /w/workspace-2/x"),
        ({"command": "git -C . push --force"}, "a push"),
        ({"command": "git push"}, "a push"),
        ({"cmd": ["bash", "-lc", "cd a; git push origin HEAD"]}, "a push"),
        ({"command": "make; sudo rm -rf /"}, "becoming another user"),
        ({"command": "cat ~/.ssh/id_ed25519"}, "credentials"),
        ({"command": "cat $HOME/.aws/credentials"}, "credentials"),
        ({"command": "cat /proc/1234/environ"}, "another process's memory or environment"),
        ({"command": "sqlite3 .agent-fox/state.db"}, "the plan's state"),
    ],
)
def test_what_must_not_be_tried_is_named(arguments: dict[str, object], what: str) -> None:
    assert forbidden(arguments, ALLOWED) == what


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"file_path": "src/a.py"},
        {"file_path": "/w/workspace/src/a.py"},
        {"file_path": 3},
        {"command": "git commit -m 'push the button' && git log"},
        {"command": "echo pseudo; cat docs/sudo.md"},
        {"command": "cat /proc/self/status"},
        {"command": None, "cmd": [1, 2]},
    ],
)
def test_honest_calls_are_not(arguments: dict[str, object]) -> None:
    assert forbidden(arguments, ALLOWED) == ""
