"""Recorded outputs, decided about without running anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.testing.worlds import run_cli


def report(**words: str) -> str:
    ids = {"a": "01-REQ-1.1", "b": "01-REQ-1.2"}
    rows = [
        {"requirement_id": ids[name], "verdict": word, "evidence": f"{word} {name}"} for name, word in words.items()
    ]
    return json.dumps({"verdicts": rows})


def write(folder: Path, *outputs: tuple[int, str], name: str = "01_s") -> str:
    attempts = [{"attempt": attempt, "verifier_output": text} for attempt, text in outputs]
    stream = {"spec_name": name, "expected": ["01-REQ-1.1", "01-REQ-1.2"], "attempts": attempts}
    (folder / "streams.jsonl").write_text(json.dumps(stream) + "\n")
    return "streams.jsonl"


RETRIED = ((1, "no idea"), (1, report(a="PASS", b="FAIL")), (2, report(a="PASS", b="PASS")))


def test_a_person_reads_each_decision_with_its_attempt_and_reading(tmp_path: Path) -> None:
    done = run_cli(tmp_path, "replay", write(tmp_path, *RETRIED))
    assert [" ".join(line.split()) for line in done.stdout.splitlines()] == [
        "01_s: verified; 2 attempt(s), 3 reading(s)",
        "1.1 Reread unknown: 01-REQ-1.1, 01-REQ-1.2",
        "1.2 Recode fail: 01-REQ-1.2",
        "2.1 Accept",
    ]


def test_json_is_a_line_for_each_line(tmp_path: Path) -> None:
    file = write(tmp_path, *RETRIED)
    done = run_cli(tmp_path, "replay", file, "--json")
    (told,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert [d["decision"] for d in told["decisions"]] == ["Reread", "Recode", "Accept"]
    assert (told["end"], told["attempts_used"], told["readings_used"]) == ("verified", 2, 3)


def test_a_dash_is_standard_input(tmp_path: Path) -> None:
    text = (tmp_path / write(tmp_path, *RETRIED)).read_text()
    assert run_cli(tmp_path, "replay", "-", data=text).stdout == run_cli(tmp_path, "replay", "streams.jsonl").stdout


@pytest.mark.parametrize("text", ["[retry]\nattempts = 1\n", "attempts = 1\n"])
def test_another_policy_decides_otherwise(tmp_path: Path, text: str) -> None:
    (tmp_path / "policy.toml").write_text(text)
    done = run_cli(tmp_path, "replay", write(tmp_path, *RETRIED), "--policy", "policy.toml")
    assert "1.2  Block: attempts spent" in done.stdout
    assert "escalated" in done.stdout


RUNGS = '[[agents.coder.rungs]]\nmodel = "large"\n[[agents.coder.rungs]]\nmodel = "larger"\n'
REPEATED = tuple((attempt, report(a="PASS", b="FAIL")) for attempt in (1, 2, 3, 4))


@pytest.mark.parametrize(("switch", "rungs"), [("second", [1, 2, 2]), ("repeat", [0, 1, 2, 2])])
def test_with_the_rungs_of_a_policy_each_decision_tells_the_rung(tmp_path: Path, switch: str, rungs: list[int]) -> None:
    (tmp_path / "policy.toml").write_text(f'[retry]\nattempts = 9\nswitch = "{switch}"\n{RUNGS}')
    file = write(tmp_path, *REPEATED[: len(rungs)])
    told = json.loads(run_cli(tmp_path, "replay", file, "--policy", "policy.toml", "--json").stdout)
    assert [d["rung"] for d in told["decisions"]] == rungs
    assert told["decisions"][-1]["cause"] == "no progress"
    shown = run_cli(tmp_path, "replay", file, "--policy", "policy.toml").stdout
    assert "Recode, rung 1" in shown


def test_by_worth_whoever_failed_least_is_next_by_the_numbers_that_ship(tmp_path: Path) -> None:
    text = f'[retry]\nattempts = 9\npolicy = "arms"\nstop_without_progress = false\n{RUNGS}'
    (tmp_path / "policy.toml").write_text(text)
    file = write(tmp_path, *REPEATED[:4])
    told = json.loads(run_cli(tmp_path, "replay", file, "--policy", "policy.toml", "--json").stdout)
    assert [d["rung"] for d in told["decisions"]] == [1, 2, 2, 0]


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("[retry]\nattemps = 1\n", "policy.toml: attemps: "),
        ("[retry]\nattempts = 0\n", "policy.toml: attempts: "),
        ("attempts = [", "policy.toml: "),
        ('[retry]\nswitch = "third"\n', "policy.toml: switch: "),
        ("[[agents.coder.rungs]]\nmodle = 'x'\n", "policy.toml: agents.coder.rungs.0.modle: "),
        (None, "policy.toml: No such file or directory"),
    ],
)
def test_a_policy_that_cannot_be_used_is_one_clear_line(tmp_path: Path, policy: str | None, said: str) -> None:
    if policy is not None:
        (tmp_path / "policy.toml").write_text(policy)
    done = run_cli(tmp_path, "replay", write(tmp_path, *RETRIED), "--policy", "policy.toml")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"agent-fox: {said}")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("not json\n", "streams.jsonl:1: "),
        ('\n{"spec_name": "s"}\n', "streams.jsonl:2: expected: "),
        (None, "streams.jsonl: No such file or directory"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_clear_line(tmp_path: Path, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / "streams.jsonl").write_text(text)
    done = run_cli(tmp_path, "replay", "streams.jsonl")
    assert done.returncode == 1
    assert done.stderr.startswith(f"agent-fox: {said}")
    assert len(done.stderr.splitlines()) == 1
