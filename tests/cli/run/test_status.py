"""What `status` shows, and that it only looks."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from agent_fox.cli.run.status import at_a_glance
from agent_fox.config import VerifySettings, load
from agent_fox.core.ledger.evidence import OF_CHECKS
from agent_fox.engine.record.environment import facts
from agent_fox.testing.worlds import Req, World, environment, run_cli
from tests.cli.conftest import Finished
from tests.cli.program import start

SECTIONS = ("needs you", "specs", "also", "money", "next")


def test_a_person_sees_specs_counts_cost_blocks_and_issues(finished: Finished) -> None:
    told = finished.tell("status")
    lines = [" ".join(line.split()) for line in told.splitlines()]
    assert lines[0].startswith(
        "NOT PROVEN 1 requirement fails, 1 passed before the code changed, 1 not read yet; 1 spec"
    )
    assert lines[1:3] == [
        "run 1: ended, exit code 2: not proven: 02_top, 03_dep; $2.50 spent, $2.50 assumed",
        "how it is known: 3 judged",
    ]  # fmt: skip
    assert [line for line in lines if line in SECTIONS] == [*SECTIONS]
    assert "✗ 02_top:2 stopped after 2 attempts: the same requirements kept failing; 03_dep waits for it;" in told
    assert any(line.startswith("FAIL 02-REQ-1.1 WHEN its proof is read") for line in lines)
    assert "issue: .agent-fox/issues/0001-" in told
    assert any(line.startswith("✓ 01_calc 3 of 3 proven 3 judged; on ") for line in lines)
    assert "✗ 02_top 0 of 2 not proven 1 fails; 1 passed, but code has changed since" in lines
    assert "✗ 03_dep 0 of 1 waits for 02_top:2 1 not read yet" in lines
    assert told.endswith(
        "next\n  agent-fox explain 02_top:2   see why 02-REQ-1.1 stopped\n  agent-fox reset 02_top:2     "
        "give it new attempts\n"
    )


def test_what_is_only_for_an_audit_is_shown_where_all_is(finished: Finished) -> None:
    told = finished.tell("status", "--all")
    for line in ("nodes: 2 blocked, 5 completed", "01_calc: judged: 01-REQ-1.1, 01-REQ-2.1, 01-REQ-2.E1", "; ledger: "):
        assert line in told
        assert line not in finished.tell("status")
    assert " ".join(told.split()).count("outdated 02-REQ-1.2 WHEN its proof is read") == 1


def test_the_exit_code_tells_what_is_proven_where_it_is_asked_to(finished: Finished) -> None:
    told = run_cli(finished.root, "status", "--exit-code")
    assert (told.returncode, told.stdout) == (2, finished.tell("status"))
    assert run_cli(finished.root, "status", "--exit-code", "--json").returncode == 2


def test_the_document_has_the_numbers_of_the_runs_own_summary(finished: Finished) -> None:
    told = json.loads(finished.tell("status", "--json"))
    assert told["requirements"] == {"proven": 3, "not_proven": 3, "waived": 0}
    assert f"{told['sessions']} sessions, {told['retries']} retries, 1 reread" in finished.done.stdout
    assert (told["running"], told["is_alive"]) == ([], False)


def test_it_changes_nothing(finished: Finished) -> None:
    files = sorted((finished.root / ".agent-fox").rglob("*"))
    before = {path: path.stat().st_mtime_ns for path in files if path.suffix == ".db"}
    finished.tell("status")
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_without_a_state_it_says_what_makes_one(tmp_path: Path) -> None:
    done = start(World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "w"), "status")
    assert done.returncode == 1
    assert "there is no state yet" in done.stderr


def test_it_loads_neither_the_settings_nor_the_live_screen(finished: Finished) -> None:
    code = (
        "import sys; from agent_fox.cli.main import run; run(['status']); "
        "print([m for m in ('pydantic', 'rich', 'agent_fox.config') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=finished.root, env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_setting_that_is_wrong_does_not_hide_the_status(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "w")
    assert run_cli(root, "run").returncode == 0
    (root / ".agent-fox" / "config.toml").write_text("[retyr]\nattempts = 2\n")
    done = run_cli(root, "status", "--exit-code")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "PROVEN  1 of 1 proven")


PASSED = "1 passed in another environment"
OFF = '\n[verify]\nsandbox = "off"\n'
NETWORK = "\n[verify]\nnetwork = true\n"


@pytest.fixture(scope="module")
def proven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path_factory.mktemp("proven"))
    assert run_cli(root, "run").returncode == 0
    return root


@pytest.mark.parametrize(
    ("more", "variables", "is_proven"),
    [
        ("", {}, True),
        ('\n[verify]\nsandbox = "auto"\nnetwork = false\ntimeout = 30\n', {}, True),
        ("", {"AGENT_FOX__VERIFY__TIMEOUT": "30"}, True),
        (NETWORK, {}, False),
        ("", {"AGENT_FOX__VERIFY__NETWORK": "true"}, False),
        ("", {"AGENT_FOX__verify__commands": '["true"]'}, False),
        (NETWORK, {"AGENT_FOX__VERIFY__NETWORK": "false"}, True),
    ],
)
def test_the_status_and_the_chain_say_the_same_of_another_environment(
    proven: Path, more: str, variables: dict[str, str], is_proven: bool
) -> None:
    """Also where a variable undoes what the file says, or neither names a part of the environment."""
    settings = proven / ".agent-fox" / "config.toml"
    before = settings.read_text()
    settings.write_text(before + more)
    try:
        told, shown = (
            json.loads(run_cli(proven, *words, "--json", timeout=120, data=None, **variables).stdout)
            for words in (("status",), ("ledger", "show", "01-REQ-1.1"))
        )
        text = run_cli(proven, "status", timeout=120, data=None, **variables).stdout
    finally:
        settings.write_text(before)
    (spec,) = told["specs"]
    assert (shown["is_proven_now"], spec["is_proven"], told["requirements"]["proven"]) == (is_proven,) * 2 + (
        int(is_proven),
    )
    assert (told["elsewhere"] == [], spec["elsewhere"] == [], PASSED not in text) == (is_proven,) * 3
    assert all(why in str(shown["proofs"]) for why in told["elsewhere"])
    ended = " ".join(text.split())
    assert ("exit code 2; it ended with exit code 0, everything in scope is proven" in ended) is not is_proven


def test_what_changed_is_said_by_its_name(proven: Path) -> None:
    settings = proven / ".agent-fox" / "config.toml"
    before = settings.read_text()
    was = facts(VerifySettings())["sandbox"]
    settings.write_text(before + OFF)
    try:
        told = run_cli(proven, "status").stdout
        settings.write_text(before + OFF + '[evidence]\nenvironment = "show"\n')
        let = run_cli(proven, "status").stdout
        settings.write_text(before + OFF + "nonsense = 1\n")
        untold = run_cli(proven, "status").stdout
    finally:
        settings.write_text(before)
    if was == "no":
        pytest.skip("no sandbox here: switching it off changes nothing")
    assert "0 of 1 proven" in told
    assert "another environment (sandbox was yes and is no): not proven now" in told
    assert "1 of 1 proven" in let
    assert '`[evidence] environment = "show"`' in let
    assert "0 of 1 proven" in untold
    assert "what the environment is now is not known" in untold


@pytest.mark.parametrize(
    "text",
    [
        "",
        '[verify]\nsandbox = "off"',
        '[verify]\nsandbox = "require"\nnetwork = true',
        '[verify]\ncommands = ["make test", "make \u00e9"]\nreports = ["*.xml"]\nprofile = "python"',
        "[verify]\ncommands = []\nreports = []\nmemory_mib = 77\nkeep_days = 1",
    ],
)
def test_a_glance_names_the_environment_as_the_settings_do(tmp_path: Path, text: str) -> None:
    (tmp_path / ".agent-fox").mkdir()
    (tmp_path / ".agent-fox" / "config.toml").write_text(text)
    assert at_a_glance(tomllib.loads(text), {}) == facts(load(tmp_path, {}).verify)


def test_settings_that_nobody_made_are_what_a_glance_takes_them_for() -> None:
    assert VerifySettings().model_dump(mode="json", include=set(OF_CHECKS)) == OF_CHECKS


@pytest.mark.parametrize("table", [{"verify": 7}, {}])
def test_what_a_glance_cannot_tell_it_does_not_guess(table: dict[str, object]) -> None:
    assert at_a_glance(table, {"AGENT_FOX__verify__NETWORK": "true"}) == {}
