"""After a landing, what it cannot have touched is not read again. Real git, real pytest, the judge `checks`.

The coder is a script that stands for an agent.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agent_fox.system.sandbox.bubblewrap import why_missing
from agent_fox.testing.worlds import git, rows
from tests.stories.scene import NOT_PROVEN, PROVEN, decisions, run

pytestmark = pytest.mark.skipif(bool(why_missing()), reason=why_missing() or "has a sandbox")

CONFIG = """\
[plan]
pre_review = false
audit_review = false
[agents.coder]
command = [{python}, {agent}]
[agents.verifier]
backend = "checks"
{more}
"""
AGENT = """\
import json, os, pathlib
name = os.environ["AGENT_FOX_NODE"].partition(":")[0]
for path, text in json.loads(pathlib.Path({work}).read_text()).get(name, {{}}).items():
    place = pathlib.Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
"""


def world(
    root: Path, work: dict[str, dict[str, str]], files: dict[str, str], depends: str = "", more: str = ""
) -> Path:
    """A repository with a spec for each name in `work`, whose coder writes these files. All but the first wait for the
    one before it where `depends` says so."""
    (root.parent / "work.json").write_text(json.dumps(work))
    agent = root.parent / "agent.py"
    agent.write_text(AGENT.format(work=repr(str(root.parent / "work.json"))))
    config = CONFIG.format(python=json.dumps(sys.executable), agent=json.dumps(str(agent)), more=more)
    everything = {"pytest.ini": "[pytest]\npythonpath = .\n", ".agent-fox/config.toml": config, **files}
    everything[".gitignore"] = ".agent-fox/state.db*\n.agent-fox/logs/\n.agent-fox/issues/\n__pycache__/\n"
    names = list(work)
    for name, before in zip(names, [None, *names], strict=False):
        number = name[:2]
        folder = f".agent-fox/specs/{name}"
        waits = (
            f"## Dependencies\n| Spec | Relationship |\n|---|---|\n| {before} | after |\n" if depends and before else ""
        )
        everything[f"{folder}/requirements.md"] = f"### Requirement 1: It\n1. [{number}-REQ-1.1] It SHALL work.\n"
        everything[f"{folder}/prd.md"] = f"# {name}\n\n{waits}"
        everything[f"{folder}/tasks.md"] = (
            f"## Test Commands\n- Spec tests: `{sys.executable} -m pytest -q tests/test_{number}.py`\n\n## Tasks\n"
            f"- [ ] 1. Write it\n  - [ ] 1.1 It\n    - _Requirements: {number}-REQ-1.1_\n"
        )
    for name, text in everything.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    who = ["-c", "user.name=t", "-c", "user.email=t@t"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-qm", "start"]):
        subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)
    return root


def module(number: str, body: str = "return n + 1", head: str = "") -> dict[str, str]:
    return {
        f"shop/part_{number}.py": f"{head}def part(n):\n    {body}\n",
        f"tests/test_{number}.py": f"from shop.part_{number} import part\n\n\n"
        f"def test_{number}_REQ_1_1():\n    assert part(1) == 2\n",
    }


def fresh(root: Path) -> dict[str, int]:
    """How many files changed since each spec was read that was not read again."""
    found = rows(root, "SELECT address, json_extract(content, '$.body.changed') FROM ledger WHERE kind = 'fresh'")
    return {str(name): int(str(count)) for name, count in found}


def reopened(root: Path) -> list[str]:
    return sorted(str(name) for (name,) in rows(root, "SELECT spec_name FROM decisions WHERE kind = 'Reopen'"))


def test_two_specs_that_share_nothing_do_not_read_each_other_again(tmp_path: Path) -> None:
    root = world(tmp_path / "repo", {"01_a": module("01"), "02_b": module("02")}, {"shop/__init__.py": ""}, "chain")
    ended = run(root, ends=PROVEN)
    assert decisions(root, "01_a:2") == ["Accept"]
    assert fresh(root) == {"01_a": 2}
    assert len(set(rows(root, "SELECT verified_commit FROM plan_specs"))) == 2
    assert "01_a was not read again: of 2 files that changed since" in ended.stdout


def test_what_shares_a_file_is_read_again_and_it_is_said_which(tmp_path: Path) -> None:
    shares = module("01", "return n + STEP", "from shop.steps import STEP\n\n\n")
    work = {"01_a": shares, "02_b": {**module("02"), "shop/steps.py": "STEP = 1  # one\n"}}
    root = world(tmp_path / "repo", work, {"shop/__init__.py": "", "shop/steps.py": "STEP = 1\n"}, "chain")
    run(root, ends=PROVEN)
    assert decisions(root, "01_a:2") == ["Accept", "Reopen", "Accept"]
    ((facts,),) = rows(root, "SELECT facts FROM decisions WHERE kind = 'Reopen'")
    assert json.loads(str(facts))["touched"] == "shop/steps.py was changed: its tests execute, read or look for it"


def test_by_the_whole_tree_where_a_person_asks_for_that(tmp_path: Path) -> None:
    work = {"01_a": module("01"), "02_b": module("02")}
    more = '[evidence]\nfreshness = "tree"\n'
    root = world(tmp_path / "repo", work, {"shop/__init__.py": ""}, "chain", more)
    run(root, ends=PROVEN)
    assert (reopened(root), fresh(root)) == (["01_a"], {})


def test_what_a_scope_did_not_see_is_found_by_chance_and_the_scope_is_not_believed_again(tmp_path: Path) -> None:
    """A product that asks the system itself, past what is watched: its scope is too small."""
    asks = "import posix\n\n\ndef is_off():\n    try:\n        return bool(posix.stat('off.flag'))\n"
    head = f"{asks}    except OSError:\n        return False\n\n\n"
    work = {"01_a": module("01", "return n + 1 if not is_off() else 0", head), "02_b": {**module("02"), "off.flag": ""}}
    more = "[evidence]\nrerun_fraction = 1.0\n[retry]\nattempts = 1\n"
    root = world(tmp_path / "repo", work, {"shop/__init__.py": ""}, "chain", more)
    run(root, ends=NOT_PROVEN)
    assert decisions(root, "01_a:2") == ["Accept", "Reopen", "Block"]
    ((facts,),) = rows(root, "SELECT facts FROM decisions WHERE kind = 'Reopen'")
    assert json.loads(str(facts))["untouched"] is True


def test_of_twenty_specs_most_are_not_read_again(tmp_path: Path) -> None:
    """Five share a file that the last of them changes; the others share nothing."""
    numbers = [f"{number:02}" for number in range(1, 21)]
    work = {f"{number}_spec": module(number) for number in numbers}
    for number in numbers[:5]:
        work[f"{number}_spec"] = module(number, "return n + STEP", "from shop.steps import STEP\n\n\n")
    work["20_spec"]["shop/steps.py"] = "STEP = 1  # one\n"
    files = {"shop/__init__.py": "", "shop/steps.py": "STEP = 1\n"}
    root = world(tmp_path / "repo", work, files, "chain")
    run(root, ends=PROVEN)
    assert reopened(root) == [f"{number}_spec" for number in numbers[:5]]
    assert sorted(fresh(root)) == [f"{number}_spec" for number in numbers[5:19]]
    assert git(root, "rev-list", "--count", "agent-fox/integration")
