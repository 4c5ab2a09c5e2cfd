"""The document that `plan --json` prints."""

from __future__ import annotations

import json
from pathlib import Path

from agent_fox.core.spec import text_version
from agent_fox.specs.plan_json import plan_document
from agent_fox.specs.planner import PlanShape
from tests.specs.worlds import planned, usual

TEXT = "THE part SHALL work."


def a_group(number: int, title: str) -> dict[str, object]:
    """A group with one open task, as the document has it."""
    task: dict[str, object] = {
        "number": f"{number}.1",
        "title": "Write them" if number == 1 else "Do it",
        "state": "open",
        "optional": False,
        "parallel": False,
        "after": [],
        "requirements": [],
    }
    return {
        "number": number,
        "title": title,
        "state": "open",
        "optional": False,
        "parallel": False,
        "checkpoint": False,
        "subtasks": [f"{number}.1"],
        "requirements": [],
        "tasks": [task],
    }


def test_the_whole_document(tmp_path: Path) -> None:
    usual(tmp_path / "specs", "01_a", "09_x | 2 | -")
    document = plan_document(planned(tmp_path / "specs", PlanShape(audit_review=False)))
    assert json.loads(json.dumps(document)) == {
        "specs": [
            {
                "name": "01_a",
                "dialect": "agent-fox",
                "path": "specs/01_a",
                "title": "PRD",
                "is_withdrawn": False,
                "is_baseline": False,
                "requirements": [
                    {
                        "id": "01-REQ-1",
                        "title": "Part",
                        "text": "",
                        "criteria": ["01-REQ-1.1"],
                        "edge_cases": [],
                        "details": [],
                        "parts": [
                            {"id": "01-REQ-1.1", "text": TEXT, "version": text_version(TEXT)},
                        ],
                    }
                ],
                "groups": [a_group(1, "Write failing tests"), a_group(2, "Build it")],
                "dependencies": [{"spec": "09_x", "from_group": 2, "to_group": None}],
                "implied": [],
                "withdrawn": [],
                "owners": {"01-REQ-1.1": []},
                "unowned": ["01-REQ-1.1"],
                "blamed_for_unowned": [2],
                "grounds": {
                    "01-REQ-1.1": {
                        "ground": "nobody",
                        "guess": False,
                        "why": "no task names it, and none shares enough with it",
                        "score": None,
                        "runner_up": None,
                    }
                },
                "test_commands": {},
            }
        ],
        "nodes": [
            {
                "id": "01_a:0:reviewer:pre-review",
                "spec_name": "01_a",
                "group": 0,
                "archetype": "reviewer",
                "mode": "pre-review",
            },
            {"id": "01_a:1", "spec_name": "01_a", "group": 1, "archetype": "coder", "mode": None},
            {"id": "01_a:2", "spec_name": "01_a", "group": 2, "archetype": "coder", "mode": None},
            {"id": "01_a:3", "spec_name": "01_a", "group": 3, "archetype": "verifier", "mode": None},
        ],
        "edges": [
            {"from": "01_a:0:reviewer:pre-review", "to": "01_a:1", "kind": "chain"},
            {"from": "01_a:1", "to": "01_a:2", "kind": "chain"},
            {"from": "01_a:2", "to": "01_a:3", "kind": "chain"},
        ],
        "problems": [
            {
                "severity": "error",
                "where": "specs/01_a/prd.md:7",
                "what": "depends on 09_x, which is not there. Add it, or correct the row",
            }
        ],
    }
