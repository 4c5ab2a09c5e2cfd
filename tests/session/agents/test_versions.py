"""Which version of a program is there. Real processes: small scripts, and the real command lines where they are."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from agent_fox.session.agents.command_line import Facts
from agent_fox.session.agents.registry import NAMES, command_line
from agent_fox.session.agents.task import Provider
from agent_fox.session.agents.versions import Probe, probe, problem_of
from agent_fox.testing.worlds import wait_until
from tests.agents.programs import VARIABLE, program

FACTS = Facts(
    name="toy",
    program="toy",
    least=(1, 10, 2),
    install="npm install --global toy",
    keys={Provider.ANTHROPIC: ()},
)


def toy(folder: Path, body: str) -> str:
    path = folder / "toy"
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("body", "version"),
    [
        ("echo 2.1.330 '(Claude Code)'", "2.1.330"),
        ("echo codex-cli 0.169.0", "0.169.0"),
        ("echo WARNING: no 9 aliases under /tmp/x-1.2.3 >&2; echo codex-cli 0.169.0", "0.169.0"),
        ("echo v3.4", "3.4"),
        ("echo 1.12.0-beta.1+5", "1.12.0"),
        ("echo toy 5.6.7 >&2", "5.6.7"),
        ("echo This is mini-swe-agent version 2.4.6.; echo No such option >&2; exit 2", "2.4.6"),
    ],
)
def test_a_version_is_found_in_what_programs_say(tmp_path: Path, body: str, version: str) -> None:
    assert probe(toy(tmp_path, body)) == Probe(version)


@pytest.mark.parametrize("version", ["1.10.2", "1.10.3", "1.11", "2.0.0"])
def test_a_version_that_is_new_enough_is_no_problem(tmp_path: Path, version: str) -> None:
    assert problem_of(FACTS, toy(tmp_path, f"echo {version}")) is None


@pytest.mark.parametrize("version", ["1.9.9", "1.10.1", "0.99"])
def test_one_that_is_too_old_is_told_with_what_is_needed_and_how_to_get_it(tmp_path: Path, version: str) -> None:
    found = toy(tmp_path, f"echo {version}")
    assert problem_of(FACTS, found) == (
        f"toy {version} ({found}) is too old: 1.10.2 or newer is needed; update it: npm install --global toy"
    )


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("true", "told no version (exit 0, it said nothing)"),
        ("echo hello there", "told no version (exit 0, it said: hello there)"),
        ("echo Node.js v18.0.0 >&2; exit 1", "told no version (exit 1, it said: Node.js v18.0.0)"),
        ("kill -9 $$", "told no version (exit -9, it said nothing)"),
    ],
)
def test_one_that_tells_no_version_is_quoted(tmp_path: Path, body: str, words: str) -> None:
    found = toy(tmp_path, body)
    assert problem_of(FACTS, found) == f"`{found} --version` {words}; install it: npm install --global toy"


def test_one_that_is_not_there_is_told_with_how_to_install_it(tmp_path: Path) -> None:
    missing, plain, broken = str(tmp_path / "none"), tmp_path / "plain", tmp_path / "broken"
    plain.write_text("echo 1.2.3")
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    install = "; install it: npm install --global toy"
    assert problem_of(FACTS, missing) == f"{missing} is not installed: there is no such file{install}"
    assert problem_of(FACTS, "no-such-toy") == f"no-such-toy is not installed: it is not on PATH{install}"
    assert problem_of(FACTS, str(plain)) == f"{plain} is not executable{install}"
    assert problem_of(FACTS, str(broken)) == f"{broken} cannot be run: No such file or directory{install}"


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("sleep 60", "did not end within 1 s"),
        ("sleep 60 & wait", "did not end within 1 s"),
        ("exec 1>&- 2>&-; sleep 60", "did not end within 1 s"),
        ("yes", "printed more than 65,536 bytes"),
    ],
)
def test_one_that_does_not_end_is_ended_with_all_that_it_started(tmp_path: Path, body: str, problem: str) -> None:
    began = time.monotonic()
    found = toy(tmp_path, f"echo $$ > {tmp_path}/pid; {body}")
    assert probe(found, 1.0) == Probe(problem=f"`{found} --version` {problem}; try it by hand")
    assert time.monotonic() - began < 20
    group = int((tmp_path / "pid").read_text())
    wait_until(lambda: not _is_there(group), "all that it started was gone")


def _is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_one_that_leaves_a_child_behind_is_answered_at_once(tmp_path: Path) -> None:
    began = time.monotonic()
    assert probe(toy(tmp_path, "sleep 60 & echo 1.2.3")) == Probe("1.2.3")
    assert time.monotonic() - began < 20


def test_it_is_asked_once_until_its_file_changes(tmp_path: Path) -> None:
    counted = f"echo x >> {tmp_path}/count"
    found = toy(tmp_path, f"{counted}; echo 1.2.3")
    assert [probe(found), probe(found)] == [Probe("1.2.3")] * 2
    assert (tmp_path / "count").read_text() == "x\n"
    toy(tmp_path, f"{counted}; echo 1.2.4 now")
    assert probe(found) == Probe("1.2.4")
    assert (tmp_path / "count").read_text() == "x\nx\n"


def test_a_failure_is_not_remembered(tmp_path: Path) -> None:
    found = toy(tmp_path, f"test -e {tmp_path}/ready && echo 1.2.3")
    assert probe(found).version == ""
    (tmp_path / "ready").touch()
    assert probe(found) == Probe("1.2.3")


def test_asking_leaves_a_persons_home_as_it_is_and_hands_out_no_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    found = toy(tmp_path, f'env > {tmp_path}/seen; echo x > "$HOME/written"; echo 1.2.3')
    assert probe(found) == Probe("1.2.3")
    assert not (tmp_path / "person").exists()
    assert "a-key" not in (tmp_path / "seen").read_text()


@pytest.mark.agents
@pytest.mark.parametrize("name", [name for name in NAMES if command_line(name).facts.program])
def test_the_real_programs_tell_a_version_that_is_new_enough(name: str) -> None:
    facts = command_line(name).facts
    found = program(facts.program)
    if found is None:
        pytest.skip(f"{facts.program} is not below the folder that {VARIABLE} names")
    assert problem_of(facts, str(found)) is None
    assert probe(str(found)).numbers >= facts.least
