"""The scripted agent: read with care, played for real."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.core.ids import Archetype
from agent_fox.session.built_in.registry import BACKENDS
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.session.order import Agent, EndKind, LaunchOrder, SessionEnd, StopSignal
from agent_fox.session.session_lifecycle import run_session
from agent_fox.system import git
from agent_fox.testing.scripted.agent import NO_STEP, NOT_FOUND
from agent_fox.testing.scripted.script import ScriptError, Step, read_script
from tests.session.world import make_order, make_repo, never_told, sh


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo")


def scripted(repo: Path, script: str, **changes: object) -> LaunchOrder:
    """An order that plays this script."""
    (repo.parent / "script.toml").write_text(script)
    agent = Agent(backend="scripted", script="../script.toml", timeout=60)
    return make_order(repo, agent=agent, **changes)


def run(order: LaunchOrder) -> SessionEnd:
    return run_session(order, never_told, StopSignal())


EDITS = """
[[step]]
node = "01_*:1"
actions = [
  {write = "deep/new.txt", text = "attempt {attempt} of {node}\\n"},
  {append = "README.md", text = "more\\n"},
  {replace = "src/app.py", old = "'one'", new = "'two'"},
  {delete = ".gitignore"},
  {delete = "not-there"},
  {run = ["{python}", "-c", "open('ran.txt', 'w').write('x')"]},
  {run = ["false"], allow_failure = true},
  {write = "tool", text = "#!/bin/sh\\n", executable = true},
  {sleep = 0.01},
]
cost_usd = 0.5
input_tokens = 10
output_tokens = 2
summary = "edited"
"""


def test_edits_and_commands_are_made_in_order_in_the_workspace(repo: Path) -> None:
    end = run(scripted(repo, EDITS, attempt=2))
    assert end.kind is EndKind.ENDED, end.reason
    assert end.work is not None
    assert (end.cost_usd, end.input_tokens, end.output_tokens, end.summary) == (0.5, 10, 2, "edited")
    shown = {
        path: git.show(repo, end.work.commit, path) for path in ("deep/new.txt", "README.md", "src/app.py", "ran.txt")
    }
    assert shown == {
        "deep/new.txt": b"attempt 2 of 01_app:1\n",
        "README.md": b"hello\nmore\n",
        "src/app.py": b"print('two')\n",
        "ran.txt": b"x",
    }
    assert git.show(repo, end.work.commit, ".gitignore") is None
    assert sh(repo, "git", "ls-tree", end.work.commit, "tool").startswith("100755")


@pytest.mark.parametrize(
    ("step", "status"),
    [
        ("exit = 7", 7),
        ('actions = [{replace = "README.md", old = "absent", new = "x"}]', NOT_FOUND),
        ('actions = [{run = ["sh", "-c", "exit 9"]}, {write = "README.md", text = "x"}]', 9),
        ('node = "other:*"', NO_STEP),
    ],
)
def test_a_step_fails_as_it_says_or_where_it_cannot_go_on(repo: Path, step: str, status: int) -> None:
    end = run(scripted(repo, f"[[step]]\n{step}\n"))
    assert (end.kind, end.exit_status) == (EndKind.FAILED, status)


@pytest.mark.parametrize("kind", ["authentication", "rate limit", "overload", "network", "disk full"])
def test_each_failure_of_the_world_can_be_played(repo: Path, kind: str) -> None:
    end = run(scripted(repo, f'[[step]]\nactions = [{{fail = "{kind}"}}]\n'))
    assert (end.kind, end.infrastructure) == (EndKind.INFRASTRUCTURE, Infrastructure(kind))


def test_a_report_is_printed_for_every_requirement_of_the_brief(repo: Path) -> None:
    brief = {"requirements": [{"id": "A-1"}, {"id": "A-2"}]}
    verdicts = '{verdicts = {"A-2" = "FAIL", "B" = "UNKNOWN", "*" = "PASS"}, evidence = "e"}'
    script = f'[[step]]\nactions = [{{print = "thinking"}}, {verdicts}]\n'
    end = run(scripted(repo, script, archetype=Archetype.VERIFIER, brief_json=brief))
    first, _, rest = end.output.partition("\n")
    rows = json.loads(rest)["verdicts"]
    assert first == "thinking"
    assert [(row["requirement_id"], row["verdict"], row["evidence"]) for row in rows] == [
        ("A-1", "PASS", "e"),
        ("A-2", "FAIL", "e"),
        ("B", "UNKNOWN", "e"),
    ]


def test_the_first_step_that_fits_is_played(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    steps = [
        {"node": "a:1", "attempt": 1, "summary": "first"},
        {"node": "a:*", "attempt": [2, 3], "reading": 2, "summary": "second"},
        {"node": "a:*", "summary": "rest"},
    ]
    path.write_text(json.dumps({"step": steps}))
    script = read_script(path, Step)
    asked = [("a:1", 1, 1), ("a:1", 2, 2), ("a:1", 2, 1), ("a:9", 3, 2), ("b:1", 1, 1)]
    fitting = [script.fitting(*session) for session in asked]
    assert [found[1].summary if found else None for found in fitting] == ["first", "second", "rest", "second", None]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[step]]\nnod = 'x'", r"step\.0\.nod: Extra inputs"),
        ("[[step]]\nactions = [{wirte = 'x', text = ''}]", r"step\.0\.actions\.0"),
        ("[[step]]\nactions = [{write = 'x'}]", r"step\.0\.actions\.0\.write\.text: Field required"),
        ("[[step]]\nattempt = 'first'", r"step\.0\.attempt"),
        ("not toml", "script .*script.toml: "),
    ],
)
def test_a_script_that_cannot_be_used_is_told_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "script.toml"
    path.write_text(text)
    with pytest.raises(ScriptError, match=said):
        read_script(path, Step)


def test_a_script_that_is_missing_is_told_before_the_run_and_is_infrastructure_in_it(repo: Path) -> None:
    backend, agent = BACKENDS["scripted"], Agent(backend="scripted", script="absent.toml")
    assert "absent.toml: No such file" in (backend.missing(agent, repo) or "")
    assert "has no script" in (backend.missing(Agent(backend="scripted"), repo) or "")
    end = run(make_order(repo, agent=agent))
    assert (end.kind, end.infrastructure) == (EndKind.INFRASTRUCTURE, Infrastructure.WORKSPACE)
