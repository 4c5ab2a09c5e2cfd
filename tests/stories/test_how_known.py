"""How each requirement is known is one word, the same in every place, and a person can ask for a better one.

The coder and the model that judges are scripts; code, git, pytest, signatures and the trials of the tests are real.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path

from agent_fox.core.verdicts.known import How
from agent_fox.engine.running.final_check import REPROVE
from agent_fox.testing.worlds import issue_files, rows
from tests.evidence.waiver_world import Person, person
from tests.stories.scene import NOT_PROVEN, PROVEN, REFUSED, decisions, ledger_is_whole

TESTS = '''\
import cart


def test_total():
    """01-REQ-1.1"""
    assert cart.total([1, 2]) == 3


def test_name():
    """01-REQ-1.2"""
    assert cart.name() == "cart"


def test_is_polite():
    """01-REQ-1.3"""
    assert (cart.name() == "polite", "it is")
'''
BEFORE = 'def name():\n    return "cart"\n'
AFTER = f"{BEFORE}\n\ndef total(prices):\n    return sum(prices)\n"
COMMANDS = "## Test Commands\n- Spec tests: `{python} -m pytest -q tests`\n\n"
TASKS = "## Tasks\n- [ ] 1. Build it\n  - [ ] 1.1 Do so\n    - _Requirements: {ids}_\n"
CART = """\
### Requirement 1: Cart
1. [01-REQ-1.1] WHEN given prices, `total` SHALL return their sum.
2. [01-REQ-1.2] THE cart SHALL have a name.
3. [01-REQ-1.3] THE cart SHALL be polite.
"""
SAID = "### Requirement 1: Text\n1. [02-REQ-1.1] THE text SHALL read well.\n"
MODEL = {
    "verdicts": [{"requirement_id": "02-REQ-1.1", "verdict": "PASS", "evidence": "I ran it", "how": "red without"}]
}
CONFIG = """\
[plan]
pre_review = false
audit_review = false
[retry]
readings = 1
[verify]
sandbox = "off"
counterfactual = "off"
[agents.coder]
command = [{python}, {coder}]
[agents.verifier]
backend = "checks"
[specs.02_text.agents.verifier]
backend = "command"
command = [{python}, {model}]
"""
ASKED = {"AGENT_FOX__VERIFY__COUNTERFACTUAL": "require"}


def world(folder: Path) -> Path:
    """One spec that tests prove, with a committed test that cannot fail, and one that a model alone judges."""
    root, python = folder / "repo", json.dumps(sys.executable)
    root.mkdir()
    (folder / "coder.py").write_text(
        "import os, pathlib\n"
        f"if os.environ['AGENT_FOX_SPEC'] == '01_cart': pathlib.Path('cart.py').write_text({AFTER!r})\n"
    )
    (folder / "model.py").write_text(f"print({json.dumps(MODEL)!r})\n")
    places = {
        "python": python,
        "coder": json.dumps(str(folder / "coder.py")),
        "model": json.dumps(str(folder / "model.py")),
    }
    files = {
        "cart.py": BEFORE,
        "tests/test_cart.py": TESTS,
        "pytest.ini": "[pytest]\npythonpath = .\naddopts = -p no:cacheprovider\n",
        ".gitignore": ".agent-fox/*\n!.agent-fox/specs\n!.agent-fox/config.toml\n__pycache__/\n",
        ".agent-fox/config.toml": CONFIG.format(**places),
        ".agent-fox/specs/01_cart/requirements.md": CART,
        ".agent-fox/specs/01_cart/tasks.md": COMMANDS.format(python=sys.executable)
        + TASKS.format(ids="01-REQ-1.1, 01-REQ-1.2, 01-REQ-1.3"),
        ".agent-fox/specs/02_text/requirements.md": SAID,
        ".agent-fox/specs/02_text/tasks.md": TASKS.format(ids="02-REQ-1.1"),
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    who = ["-c", "user.name=t", "-c", "user.email=t@t"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-qm", "start"]):
        subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)
    return root


def told(who: Person, root: Path, *words: str) -> str:
    done = who.cli(root, *words)
    assert done.returncode == 0, done
    return done.stdout


def in_view(root: Path) -> dict[str, str]:
    found = rows(root, "SELECT requirement_id, how FROM requirements_known WHERE how IS NOT NULL")
    return {str(part): str(how) for part, how in found}


def in_status(who: Person, root: Path) -> dict[str, str]:
    document = json.loads(told(who, root, "status", "--json"))
    return {part: how for spec in document["specs"] for part, how in spec["how"].items()}


def in_explain(who: Person, root: Path) -> dict[str, str]:
    """By node and by requirement: both must say the same."""
    found = {}
    for node in ("01_cart:2", "02_text:2"):
        for one in json.loads(told(who, root, "explain", node, "--json"))["evidence"]:
            chain = json.loads(told(who, root, "explain", one["requirement"], "--json"))
            assert chain["how"] == one["how"]
            found[one["requirement"]] = one["how"]
    return {part: how for part, how in found.items() if how}


def in_export(who: Person, root: Path) -> dict[str, str]:
    """The last verdict on each requirement as the statements of an export have it; a waiver by who signed it."""
    told(who, root, "keys", "new", "ledger", "--no-passphrase")
    told(who, root, "ledger", "export", str(who.home / "export.jsonl"), "--key", "ledger")
    found: dict[str, str] = {}
    for line in (who.home / "export.jsonl").read_text().splitlines():
        statement = statement_in(json.loads(line))
        predicate = statement["predicate"]
        assert isinstance(predicate, dict)
        if "requirement" in predicate:
            found[predicate["requirement"]["address"].partition("/")[2]] = predicate.get("how", "")
        content = predicate.get("ledger", {}).get("content", {})
        if content.get("kind") == "waiver" and content["result"]["status"] == "granted":
            found[content["spec_ref"]["address"].partition("/")[2]] = f"waived by {content['body']['signer']}"
    return found


def statement_in(envelope: dict[str, str]) -> dict[str, object]:
    found: dict[str, object] = json.loads(base64.b64decode(envelope["payload"]))
    return found


def test_the_word_is_the_same_everywhere_and_is_read_again_when_a_person_asks(tmp_path: Path) -> None:
    alice, root = person(tmp_path / "people"), world(tmp_path)
    alice.run(root, PROVEN)
    passed = dict.fromkeys(("01-REQ-1.1", "01-REQ-1.2", "01-REQ-1.3"), "tests passed") | {"02-REQ-1.1": "judged"}
    assert in_view(root) == in_status(alice, root) == passed
    assert alice.cli(root, "run", "--reprove").returncode == REFUSED, "nothing more would be shown"

    done = alice.cli(root, "run", "--reprove", **ASKED)
    assert done.returncode == NOT_PROVEN, done
    assert decisions(root, "01_cart:2") == ["Accept", "Reopen", "Block"]
    assert rows(root, f"SELECT node_id FROM decisions WHERE note = '{REPROVE}'") == [("01_cart:2",)]
    (issue,) = issue_files(root)
    assert "1 red without: 01-REQ-1.1" in issue.read_text()

    alice.waive(root, "01-REQ-1.3")
    done = alice.run(root, PROVEN, **ASKED)
    assert "1 waived; 1 red without, 1 already true, 1 waived by alice" in done.stdout
    assert "already true: 01-REQ-1.2" in done.stdout
    noticed = "killed by tests/test_cart.py::test_total"
    for words_of in (("explain", "01_cart:2"), ("explain", "01-REQ-1.1"), ("ledger", "show", "01-REQ-1.1")):
        shown = told(alice, root, *words_of)
        is_record = words_of[0] == "ledger"
        assert ("broken cart.py:" in shown, noticed in shown, "false twin" in shown) == (is_record, is_record, False)
        whole = told(alice, root, *words_of, "--all").replace(" 1 of 1 tests", "")
        assert ("broken cart.py:" in whole, noticed in whole, "false twin: failed" in whole) == (True, True, True), (
            whole
        )
    words = {
        "01-REQ-1.1": How.RED_WITHOUT, "01-REQ-1.2": How.ALREADY_TRUE, "01-REQ-1.3": "waived by alice",
        "02-REQ-1.1": How.JUDGED,
    }  # fmt: skip
    assert in_view(root) == in_status(alice, root) == in_explain(alice, root) == in_export(alice, root) == words
    report = (root / ".agent-fox" / "verification" / "01_cart" / "verification.md").read_text()
    for part in ("01-REQ-1.1", "01-REQ-1.2", "01-REQ-1.3"):
        assert f"| {words[part]} |" in next(line for line in report.splitlines() if line.startswith(f"| {part} |"))
    (closed,) = issue_files(root, "closed")
    assert "- 1 red without: 01-REQ-1.1" in closed.read_text()
    assert "- 1 waived by alice: 01-REQ-1.3" in closed.read_text()
    ledger_is_whole(root)
