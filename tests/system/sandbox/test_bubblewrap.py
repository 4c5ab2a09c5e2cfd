"""The sandbox: when it is used, what is said about it, and what a command sees inside. What it withstands is tested
with the runner.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_fox.system.sandbox.bubblewrap import SandboxMode, enclosed, in_words, is_used, why_missing
from agent_fox.system.sandbox.view import View, without_secrets

needs_sandbox = pytest.mark.skipif(bool(why_missing()), reason=why_missing() or "has a sandbox")

ASK = """
from agent_fox.system.sandbox.bubblewrap import SandboxMissing, SandboxMode, in_words, is_used
print(in_words(SandboxMode.AUTO, network=False))
try: is_used(SandboxMode.REQUIRE)
except SandboxMissing as error: print(error)
"""


def view(folder: Path) -> View:
    return View(root=folder, cwd=folder, private=folder, home=folder)


def run(argv: tuple[str, ...], seen: View) -> tuple[subprocess.CompletedProcess[str], bool]:
    with enclosed(argv, seen) as command:
        ended = subprocess.run(command.argv, pass_fds=command.descriptors, capture_output=True, text=True, timeout=20)
        return ended, command.is_command_started()


def asked_with(search_path: Path) -> list[str]:
    """What a fresh process with this PATH says about the sandbox."""
    root = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "PATH": str(search_path)}
    ended = subprocess.run([sys.executable, "-c", ASK], cwd=root, env=environment, capture_output=True, text=True)
    return ended.stdout.splitlines()


def test_without_bubblewrap_it_is_said_loudly_with_the_remedy_and_require_refuses(tmp_path: Path) -> None:
    words, refusal = asked_with(tmp_path)
    assert words.startswith("none: bubblewrap is not installed: install it (Debian: apt install bubblewrap);")
    assert "can read and change whatever the person who started it can" in words
    assert refusal.startswith("a sandbox is required, but bubblewrap is not installed")


def test_a_bubblewrap_that_cannot_do_its_work_is_as_none(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    words, refusal = asked_with(tmp_path)
    assert words.startswith("none: bubblewrap does not work here (are user namespaces allowed?): bwrap: No permissions")
    assert refusal.startswith("a sandbox is required, but bubblewrap does not work here")


def test_switched_off_is_said_too() -> None:
    assert not is_used(SandboxMode.OFF)
    assert in_words(SandboxMode.OFF, network=False).startswith("none: the sandbox is switched off;")


@needs_sandbox
def test_network_is_said_to_be_there_or_not() -> None:
    assert in_words(SandboxMode.REQUIRE, network=False).startswith("bubblewrap: no network,")
    assert in_words(SandboxMode.REQUIRE, network=True).startswith("bubblewrap: with network,")


@needs_sandbox
def test_a_command_that_never_ran_is_told_from_one_that_failed(tmp_path: Path) -> None:
    missing, is_missing_started = run(("no-such-command",), view(tmp_path))
    failed, is_failed_started = run(("sh", "-c", "exit 1"), view(tmp_path))
    assert (missing.returncode, is_missing_started) == (1, False)
    assert (failed.returncode, is_failed_started) == (1, True)


@needs_sandbox
def test_a_readable_folder_inside_a_writable_one_stays_as_it_is(tmp_path: Path) -> None:
    for name in ("root/tests", "root/src", "private"):
        (tmp_path / name).mkdir(parents=True)
    seen = View(
        tmp_path / "root", tmp_path / "root", tmp_path / "private", tmp_path, readable=(tmp_path / "root/tests",)
    )
    ended, _ = run(("sh", "-c", "echo x > src/a; echo x > tests/b"), seen)
    assert "Read-only file system" in ended.stderr
    assert [path.name for path in (tmp_path / "root").rglob("*") if path.is_file()] == ["a"]


@needs_sandbox
def test_it_has_one_host_and_one_user_of_its_own(tmp_path: Path) -> None:
    ended, _ = run(("sh", "-c", "hostname; getent hosts localhost; echo ~; wc -l < /etc/passwd"), view(tmp_path))
    host, address, home, users = ended.stdout.splitlines()
    assert host == "localhost"
    assert address.split() in (["127.0.0.1", "localhost"], ["::1", "localhost"])
    assert (home, users) == (os.environ["HOME"], "2")


def test_a_git_configuration_loses_its_tokens_and_nothing_else() -> None:
    config = (
        '[core]\n\tbare = false\n[http "https://github.com/"]\n\textraheader = AUTHORIZATION: basic abc\n'
        '[remote "origin"]\n\turl = https://x-access-token:abc@github.com/a/b.git\n\tfetch = +refs/*:refs/*\n'
        "[credential]\n\thelper = store\n"
    )
    assert without_secrets(config) == (
        '[core]\n\tbare = false\n[http "https://github.com/"]\n'
        '[remote "origin"]\n\turl = https://github.com/a/b.git\n\tfetch = +refs/*:refs/*\n'
        "[credential]\n"
    )
