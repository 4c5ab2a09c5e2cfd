"""The backend `command` with `sandbox = "require"`: in the sandbox like any agent, or not at all."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.ids import Archetype
from agent_fox.session.order import EndKind, SessionEnd, StopSignal
from agent_fox.session.session_lifecycle import run_session
from agent_fox.system.sandbox.bubblewrap import why_missing
from tests.session.world import agent, make_order, never_told, sh, shell, write

needs_sandbox = pytest.mark.skipif(bool(why_missing()), reason=f"no sandbox here: {why_missing()}")


def run(repo: Path, script: str, archetype: Archetype = Archetype.CODER) -> SessionEnd:
    asked = replace(shell(script), sandbox="require")
    return run_session(make_order(repo, agent=asked, archetype=archetype), never_told, StopSignal())


@needs_sandbox
def test_it_works_in_its_workspace_and_says_what_it_did(repo: Path) -> None:
    end = run(repo, 'echo x > new.txt; echo \'{"summary": "made new.txt", "cost_usd": 0.5}\' > "$AGENT_FOX_RESULT"')
    assert end.kind is EndKind.ENDED, end.reason
    assert end.work is not None
    assert sh(repo, "git", "show", f"{end.work.commit}:new.txt") == "x"
    assert (end.summary, end.cost_usd) == ("made new.txt", 0.5)


@needs_sandbox
@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_an_interpreter_of_an_environment_may_be_named_by_its_path(repo: Path, is_elsewhere: bool) -> None:
    program = sys.executable
    if is_elsewhere:
        program = str(repo.parent / "env/bin/python")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(repo.parent / "env")], check=True)
    script = repo.parent / "agent.py"
    script.write_text("import json, sys\nopen('new.txt', 'w').write(sys.prefix)\n")
    order = make_order(repo, agent=replace(agent(program, str(script)), sandbox="require"))
    end = run_session(order, never_told, StopSignal())
    assert end.kind is EndKind.ENDED, end.reason
    assert end.work is not None
    assert sh(repo, "git", "show", f"{end.work.commit}:new.txt") == str(Path(program).parents[1])


@needs_sandbox
def test_it_reads_its_brief_and_nothing_of_the_persons_home(repo: Path) -> None:
    write(repo.parent, {"secret.txt": "mine\n"})
    end = run(
        repo, f'cat "$AGENT_FOX_BRIEF" > brief.txt; cat {repo.parent}/secret.txt > got.txt || true; echo "$HOME" > home'
    )
    assert end.work is not None
    assert sh(repo, "git", "show", f"{end.work.commit}:brief.txt") == "# Do it"
    assert sh(repo, "git", "show", f"{end.work.commit}:got.txt") == ""
    assert "/agent/home" in sh(repo, "git", "show", f"{end.work.commit}:home")


@needs_sandbox
def test_it_can_write_nowhere_else(repo: Path) -> None:
    run(repo, f"echo x > {repo}/planted; echo x > {repo}/.git/objects/planted || exit 3")
    assert not (repo / "planted").exists()
    assert not (repo / ".git/objects/planted").exists()


@needs_sandbox
def test_who_reads_may_not_write_its_workspace(repo: Path) -> None:
    end = run(repo, "echo x > src/app.py || exit 3", Archetype.REVIEWER)
    assert (end.kind, end.exit_status) == (EndKind.FAILED, 3)


@needs_sandbox
def test_a_result_that_is_a_link_is_none(repo: Path) -> None:
    end = run(repo, 'ln -s /etc/passwd "$AGENT_FOX_RESULT"')
    assert end.summary == ""
    assert "no result file; cost unknown" in end.notes


def test_without_a_sandbox_it_is_refused_before_a_run_starts(tmp_path: Path) -> None:
    code = (
        "from agent_fox.session.agent import Agent; from agent_fox.session.built_in.command import CommandBackend; "
        "from pathlib import Path; "
        "print(CommandBackend().missing(Agent(command=('/bin/sh',), sandbox='require'), Path('.')))"
    )
    without = {"PATH": str(tmp_path), "PYTHONPATH": str(Path(__file__).resolve().parents[3])}
    done = subprocess.run([sys.executable, "-c", code], env=without, capture_output=True, text=True, check=True)
    assert "backend 'command': sandbox = \"require\", but bubblewrap is not installed" in done.stdout
