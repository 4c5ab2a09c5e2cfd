"""A retry that knows at which step the last attempt broke a requirement, in whole runs.

The agent's program is a script that speaks as Claude Code does; our runner, the sandbox, git and the tests that judge
are real. It obeys the prefix of its brief where there is one, and guesses where there is none.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agent_fox.testing.worlds import rows, run_cli
from tests.stories.scene import CEILING, PROVEN, configure, run

THINKING = 0.5
"""Seconds between two calls: a model takes longer, and the files of each step are looked at meanwhile."""

SPEC = ".agent-fox/specs/01_cart"
REQUIREMENTS = "### Requirement 1: Sum\n1. [01-REQ-1.1] WHEN given prices, `total` SHALL return their sum.\n"
TASKS = (
    "## Test Commands\n- Spec tests: `{python} -m pytest -q tests`\n\n## Tasks\n- [ ] 1. Write cart.py\n"
    "  - [ ] 1.1 Sum\n    - _Requirements: 01-REQ-1.1_\n"
)
TEST = 'from cart import total\n\n\ndef test_total():\n    """01-REQ-1.1"""\n    assert total([1, 2]) == 3\n'
SETTINGS = """\
[plan]
pre_review = false
audit_review = false
[agents.coder]
backend = "claude"
program = {program}
tools = false
stop_hook = false
[agents.verifier]
backend = "checks"
"""
PROGRAM = r"""#!{python}
import json, os, pathlib, sys, time

RIGHT = {{"prices.py": "def price(one):\n    return one\n",
          "cart.py": "from prices import price\n\n\ndef total(all):\n    return sum(map(price, all))\n"}}
TUNED = {{"prices.py": "def price(one):\n    return 2 * one\n", "cart.py": RIGHT["cart.py"] + "# tuned\n"}}


def say(**line):
    print(json.dumps(line), flush=True)


def call(number, tool, shown="", **arguments):
    block = {{"type": "tool_use", "id": f"c{{number}}", "name": tool, "input": arguments}}
    usage = {{"input_tokens": 1, "output_tokens": 1}}
    message = {{"id": f"m{{number}}", "model": "m", "usage": usage, "content": [block]}}
    say(type="assistant", message=message)
    if tool == "Write":
        pathlib.Path(arguments["file_path"]).write_text(arguments["content"])
    result = {{"type": "tool_result", "tool_use_id": f"c{{number}}", "content": shown or "done"}}
    say(type="user", message={{"content": [result]}})
    time.sleep({thinking})


def steps(attempt, brief):
    if attempt == 1:
        yield from ((RIGHT[path], path) for path in ("prices.py", "cart.py"))
        yield from ((TUNED[path], path) for path in ("prices.py", "cart.py"))
        return
    known = brief.get("replay")
    if known:
        files = () if known["is_laid_out"] else known["finding"]["files"]
        yield from ((RIGHT[path], path) for path in files)
    else:
        path = ["cart.py", "prices.py"][attempt - 2]
        yield RIGHT[path], path
    yield "a note\n", f"note_{{attempt}}.txt"


if "--version" in sys.argv:
    print("2.1.400 (Claude Code)")
    sys.exit(0)
sys.stdin.read()
brief = json.loads(pathlib.Path(os.environ["AGENT_FOX_BRIEF_JSON"]).read_text())
say(type="system", subtype="init", session_id="s", model="m", tools=[], mcp_servers=[])
call(0, "Read", file_path="tests/test_cart.py")
for number, (text, path) in enumerate(steps(int(os.environ["AGENT_FOX_ATTEMPT"]), brief), 1):
    call(number, "Write", file_path=os.path.abspath(path), content=text)
if os.environ["AGENT_FOX_ATTEMPT"] == "1":
    call(9, "Bash", "FAILED tests/test_cart.py::test_total - assert 6 == 3\n1 failed", command="pytest -q")
say(type="result", subtype="success", result="done", session_id="s", total_cost_usd=0.1, terminal_reason="completed")
"""


def world(root: Path, settings: str = "[retry]\nstop_without_progress = false\n") -> Path:
    program = root.parent / "claude"
    root.mkdir(parents=True)
    program.write_text(PROGRAM.format(python=sys.executable, thinking=THINKING))
    program.chmod(0o755)
    files = {
        "tests/test_cart.py": TEST,
        "pytest.ini": "[pytest]\npythonpath = .\n",
        f"{SPEC}/requirements.md": REQUIREMENTS,
        f"{SPEC}/tasks.md": TASKS.format(python=sys.executable),
        ".agent-fox/config.toml": SETTINGS.format(program=json.dumps(str(program))) + settings,
        ".gitignore": ".agent-fox/state.db*\n.agent-fox/logs/\n.agent-fox/issues/\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    who = ["-c", "user.name=t", "-c", "user.email=t@t"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-qm", "start"]):
        subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)
    return root


def attempts(root: Path) -> int:
    return int(str(rows(root, "SELECT max(attempt) FROM sessions WHERE archetype = 'coder'")[0][0]))


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout


KEY = {"ANTHROPIC_API_KEY": "none"}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world whose agent was told by the prefix."""
    root = world(tmp_path_factory.mktemp("told") / "repo")
    run(root, ends=PROVEN, **KEY)
    return root


def test_an_agent_that_obeys_the_prefix_repairs_in_one_try_what_takes_it_two_without(
    told: Path, tmp_path: Path
) -> None:
    blind = world(tmp_path / "repo", "[retry]\nstop_without_progress = false\nonset = false\n")
    run(blind, ends=PROVEN, **KEY)
    assert (attempts(blind), attempts(told)) == (3, 2)


def test_the_brief_names_the_step_and_the_edit_and_what_was_seen_and_not_acted_on(told: Path) -> None:
    (finding,) = (json.loads(str(text)) for (text,) in rows(told, "SELECT finding FROM onsets"))
    assert (finding["onset"], finding["step"], finding["files"]) == ("found", 3, ["prices.py"])
    assert finding["seen"] == "call 6 showed 'FAILED tests/test_cart.py::test_total - assert 6 == 3'"
    brief = next((told / ".agent-fox/logs").glob("*1.2.1.1.brief.md")).read_text()
    section = brief.partition("## Where the last attempt broke it")[2].partition("\n## ")[0]
    assert "Do not repeat this: tests/test_cart.py::test_total began to fail at step 3: Write prices.py" in section
    assert "+    return 2 * one" in section
    assert len(section.splitlines()) <= 30
    ref = rows(told, "SELECT ref FROM traces WHERE ref <> '' ORDER BY session_id LIMIT 1")[0][0]
    assert "return one" in git(told, "show", f"{ref}~2:prices.py")


def test_the_trace_shows_the_steps_and_hangs_each_reading_under_what_it_judged(told: Path) -> None:
    shown = run_cli(told, "trace", "01_cart:1", "--attempt", "1").stdout
    assert shown.splitlines()[:6] == [
        "01_cart:1  attempt 1 · 5 states, 1 verification, 6 calls",
        "  step 0       what the session began with",
        "  step 1       Write prices.py",
        "  step 2       Write cart.py",
        "✗ step 3       Write prices.py",
        "  step 4       Write cart.py",
    ]
    assert "tests/test_cart.py::test_total began to fail at step 3: Write prices.py" in shown
    tree = run_cli(told, "trace", "01_cart:1", "--attempt", "1", "--tree").stdout
    assert "    verification Bash pytest -q  ✗ FAILED tests/test_cart.py::test_total - assert 6 == 3" in tree
    coder = json.loads(run_cli(told, "trace", "01_cart:1", "--attempt", "1", "--json").stdout)
    judged = json.loads(run_cli(told, "trace", "01_cart:2", "--attempt", "1", "--json").stdout)
    (verdict,) = judged["nodes"]
    last = [node for node in coder["nodes"] if node["kind"] == "state change"][-1]
    assert (verdict["kind"], verdict["subject"], verdict["parent"]) == ("verification", "01-REQ-1.1 FAIL", last["id"])
    record = run_cli(told, "ledger", "show", verdict["evidence"], "--json")
    assert json.loads(record.stdout)["record"]["kind"] == "verdict", record.stdout


def test_a_node_without_a_trace_says_where_its_sessions_are(told: Path) -> None:
    refused = run_cli(told, "trace", "01_cart:1", "--attempt", "9")
    assert (refused.returncode, "no trace was recorded" in refused.stderr) == (1, True)


def test_a_person_lets_the_next_session_start_from_a_step(told: Path) -> None:
    wrong = run_cli(told, "replay-from", "01_cart:1", "9", "--attempt", "1")
    assert (wrong.returncode, "steps 0 to 4 of attempt 1 can be started from" in wrong.stderr) == (1, True)
    done = run_cli(told, "replay-from", "01_cart:1", "2", "--attempt", "1", "--reason", "tune it otherwise")
    assert done.stdout == "01_cart:1 starts again from the files after step 2 of attempt 1\nnext: agent-fox run\n"
    run(told, ends=PROVEN, **KEY)
    brief = next((told / ".agent-fox/logs").glob("*1.3.1.1.brief.md")).read_text()
    assert "A person chose to start from the files after step 2 of attempt 1, which had done:" in brief
    assert "tuned" not in git(told, "show", "agent-fox/integration:cart.py")
    assert git(told, "show", "agent-fox/integration:note_3.txt") == "a note\n"


def test_a_retry_starts_from_the_files_before_the_edit_where_the_settings_say_so(tmp_path: Path) -> None:
    root = world(tmp_path / "repo", '[retry]\nstop_without_progress = false\nstart = "before-onset"\n')
    run(root, ends=PROVEN, **KEY)
    assert attempts(root) == 2
    tip = "agent-fox/integration"
    assert git(root, "show", f"{tip}:prices.py") == "def price(one):\n    return one\n"
    assert git(root, "show", f"{tip}:note_2.txt") == "a note\n"
    assert "tuned" not in git(root, "show", f"{tip}:cart.py")  # it came after the edit that broke it
    brief = next((root / ".agent-fox/logs").glob("*1.2.1.1.brief.md")).read_text()
    assert "Your workspace starts from these files" in brief


def test_a_start_that_was_chosen_by_worth_holds_until_its_launch(tmp_path: Path) -> None:
    """Of starts worth the same the ladder's is chosen. The run stops before the launch, and the setting changes."""
    settings = '[retry]\nstop_without_progress = false\npolicy = "arms"\nstart = "before-onset"\n'
    root = world(tmp_path / "repo", f"[limits]\nsessions = 2\n{settings}")
    run(root, ends=CEILING, **KEY)
    (recode,) = rows(root, "SELECT json_extract(facts, '$.arms') FROM decisions WHERE kind = 'Recode'")
    (choice,) = json.loads(str(recode[0])).values()
    assert [arm["start"] for arm in choice["arms"]] == ["tip", "before-onset"]
    assert choice["arm"]["start"] == "before-onset"
    configure(root, "sessions = 2", "sessions = 20")
    configure(root, 'start = "before-onset"', 'start = "tip"')
    run(root, ends=PROVEN, **KEY)
    assert attempts(root) == 2
    brief = next((root / ".agent-fox/logs").glob("*1.2.1.1.brief.md")).read_text()
    assert "Your workspace starts from these files" in brief
