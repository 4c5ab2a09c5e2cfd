"""Checks that the coder never sees: they decide, and nothing of them reaches it, whatever it is told."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from agent_fox.testing.worlds import issue_files, rows, run_cli
from tests.evidence.waiver_world import Person, person
from tests.stories.scene import NOT_PROVEN, PROVEN, decisions, run, verdicts
from tests.stories.test_checks_in_a_run import CONFIG, RIGHT, evidence, world

SECRET = """from cart import total


def test_of_the_hidden_kind():
    '01-REQ-1.1'
    assert total([17, 25]) == 42
"""
FAKED = "def total(prices):\n    return 3 if prices == [1, 2] else len(prices)\n"
NAME = "tests/test_kept_from_coders.py"


def hidden(root: Path, text: str = SECRET) -> Path:
    folder = root.parent / "hidden"
    (folder / NAME).parent.mkdir(parents=True)
    (folder / NAME).write_text(text)
    return folder


def configured(folder: Path) -> dict[str, str]:
    python, agent = json.dumps(sys.executable), json.dumps(str(folder.parent / "agent.py"))
    return {".agent-fox/config.toml": CONFIG.format(python=python, agent=agent) + f'[verify]\nhidden = "{folder}"\n'}


def everything(root: Path) -> str:
    """Whatever a coder, an issue's reader or somebody with the logs could have seen."""
    logs = [path for path in (root / ".agent-fox" / "logs").rglob("*") if path.is_file()]
    told = [*logs, *issue_files(root)]
    texts = [path.read_text(errors="replace") for path in told]
    said = rows(
        root, "SELECT evidence, note, coalesce(first_error, ''), coalesce(command, '') FROM verification_results"
    )
    return "\n".join([*texts, *map(str, said)])


def test_a_hard_coded_answer_is_found_and_the_coder_is_told_the_criterion_alone(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    folder = hidden(root)
    world(root, {"1": {"cart.py": FAKED}, "2": {"cart.py": RIGHT}}, configured(folder))
    run(root, ends=PROVEN)
    assert decisions(root, "01_cart:2") == ["Recode", "Accept"]
    assert verdicts(root) == {"01-REQ-1.1": "PASS"}
    failed = rows(root, "SELECT evidence FROM verification_results WHERE verdict = 'FAIL'")
    assert [str(one[0]).splitlines()[0] for one in failed] == [
        "a hidden check of 01-REQ-1.1: what it asserts does not hold"
    ]
    for word in ("[17, 25]", "== 42", "kept_from_coders", "of_the_hidden_kind"):
        assert word not in everything(root).replace(str(folder), "")
    assert "hidden checks sha256:" in str(rows(root, "SELECT note FROM verification_results WHERE verdict = 'PASS'"))


def writer(seen: Path) -> str:
    """An agent that notes what it sees, and writes a check."""
    return (
        "import os, pathlib\n"
        "found = [os.path.join(at, one) for at, _, all in os.walk('.') for one in all if '.git/' not in at + '/']\n"
        f"pathlib.Path({str(seen)!r}).write_text('\\n'.join(found))\n"
        "pathlib.Path('tests').mkdir(exist_ok=True)\n"
        f"pathlib.Path({NAME!r}).write_text({SECRET!r})\n"
    )


def test_an_agent_writes_them_from_the_specs_alone_and_a_person_accepts_them(tmp_path: Path) -> None:
    alice, root, folder = person(tmp_path / "people"), tmp_path / "repo", tmp_path / "hidden"
    world(root, {"1": {"cart.py": FAKED}}, configured(folder))
    (tmp_path / "agent.py").write_text(writer(tmp_path / "seen"))
    done = alice.cli(root, "hidden", "write", "--agent", "command")
    assert (done.returncode, NAME in done.stdout) == (0, True), done
    seen = (tmp_path / "seen").read_text().splitlines()
    assert [path for path in seen if "specs/01_cart" not in path] == []
    listed = json.loads(alice.cli(root, "hidden", "list", "--json").stdout)
    assert (listed["files"], listed["proposed"], listed["digest"]) == ([], [NAME], "")

    run_cli(root, "plan")
    accepted = alice.cli(root, "hidden", "accept", *alice.signing)
    assert (accepted.returncode, "were read by alice" in accepted.stdout) == (0, True), accepted
    assert json.loads(alice.cli(root, "hidden", "list", "--json").stdout)["files"] == [NAME]
    signed = "SELECT json_extract(content, '$.body.signer') FROM ledger WHERE kind = 'waiver'"
    assert rows(root, signed) == [("alice",)]
    assert alice.cli(root, "ledger", "verify").returncode == 0


READER = """\
import json, pathlib
seen = pathlib.Path({name!r}).read_text()
assert 'total([17, 25])' in seen
print({said!r})
"""


def read_world(tmp_path: Path, reader: str, said: object) -> tuple[Person, Path]:
    """A world in which a coder's model has written a check, and a reviewer with the model `reader` says this of it."""
    alice, root, folder = person(tmp_path / "people"), tmp_path / "repo", tmp_path / "hidden"
    files = configured(folder)
    command = json.dumps([sys.executable, str(tmp_path / "reader.py")])
    files[".agent-fox/config.toml"] += f'[agents.reviewer]\ncommand = {command}\nmodel = "{reader}"\n'
    files[".agent-fox/config.toml"] = files[".agent-fox/config.toml"].replace(
        "[agents.coder]\n", '[agents.coder]\nmodel = "claude-9"\n'
    )
    world(root, {"1": {"cart.py": FAKED}}, files)
    (tmp_path / "agent.py").write_text(writer(tmp_path / "seen"))
    (tmp_path / "reader.py").write_text(READER.format(name=NAME, said=json.dumps(said)))
    done = alice.cli(root, "hidden", "write", "--agent", "command")
    assert done.returncode == 0, done
    run_cli(root, "plan")
    return alice, root


ROW = {"file": NAME, "requirement": "01-REQ-1.1", "answer": "yes"}


def test_an_agent_of_another_vendor_reads_them_and_both_names_are_recorded(tmp_path: Path) -> None:
    alice, root = read_world(tmp_path, "gpt-9", {"checks": [ROW]})
    done = alice.cli(root, "hidden", "accept", "--agent", "command")
    assert (done.returncode, "read by command gpt-9 (OpenAI), written by command claude-9" in done.stdout) == (
        0,
        True,
    ), done
    assert json.loads(alice.cli(root, "hidden", "list", "--json").stdout)["files"] == [NAME]
    sql = (
        "SELECT status, json_extract(content, '$.body.writer.model'), json_extract(content, '$.body.reader.model') "
        "FROM ledger WHERE kind = 'hidden' ORDER BY position"
    )
    assert rows(root, sql) == [("proposed", "claude-9", None), ("accepted", "claude-9", "gpt-9")]
    assert alice.cli(root, "ledger", "verify").returncode == 0


@pytest.mark.parametrize(
    ("reader", "said", "why"),
    [
        ("claude-3", {"checks": [ROW]}, "is of the same vendor"),
        ("house-model", {"checks": [ROW]}, "who made the model of command house-model"),
        ("gpt-9", {"checks": [{**ROW, "answer": "it asks for more"}]}, "not accepted: "),
        ("gpt-9", "fine", "no complete answer was found"),
    ],
)
def test_what_another_agent_does_not_accept_in_so_many_words_does_not_count(
    tmp_path: Path, reader: str, said: object, why: str
) -> None:
    alice, root = read_world(tmp_path, reader, said)
    done = alice.cli(root, "hidden", "accept", "--agent", "command")
    assert (done.returncode, why in done.stderr) == (1, True), done
    assert json.loads(alice.cli(root, "hidden", "list", "--json").stdout)["files"] == []


def test_checks_that_do_not_fail_before_there_is_any_work_are_not_accepted(tmp_path: Path) -> None:
    alice, root, folder = person(tmp_path / "people"), tmp_path / "repo", tmp_path / "hidden"
    world(root, {"1": {"cart.py": RIGHT}}, {**configured(folder), "cart.py": RIGHT})
    (folder / ".proposed" / "tests").mkdir(parents=True)
    (folder / ".proposed" / NAME).write_text(SECRET)
    done = alice.cli(root, "hidden", "accept", *alice.signing)
    assert (done.returncode, "these pass on HEAD already: 01_cart/01-REQ-1.1" in done.stderr) == (1, True), done
    assert (folder / ".proposed" / NAME).exists()


def test_hidden_checks_in_the_repository_are_an_error_and_none_at_all_prove_nothing(tmp_path: Path) -> None:
    root = world(tmp_path / "repo", {"1": {"cart.py": RIGHT}}, configured(tmp_path / "repo" / "hidden"))
    done = run_cli(root, "run")
    assert (done.returncode, "name a folder outside of it" in done.stderr) == (1, True)
    settings = configured(tmp_path / "nowhere")[".agent-fox/config.toml"]
    (root / ".agent-fox" / "config.toml").write_text(settings)
    run(root, ends=NOT_PROVEN)
    assert "the folder of hidden checks is not there" in evidence(root, "01-REQ-1.1")
    told = json.loads(run_cli(root, "doctor", "--json").stdout)["checks"]
    assert [one["state"] for one in told if one["name"] == "hidden checks"] == ["missing"]
