"""Whatever stands in the files of a spec, reading it neither raises nor takes long."""

from __future__ import annotations

import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_fox.core.graph import Plan
from agent_fox.specs.files import MAX_FILE_BYTES
from agent_fox.specs.plan_json import plan_document
from tests.specs.worlds import planned

PIECES = st.sampled_from(
    [
        "- [ ] 1. A",
        "  - [x] 1.1 B",
        "# ",
        "### Requirement 1: T",
        "[01-REQ-1.1] ",
        "01-REQ-1.E1",
        "| Spec | From Group | To Group |\n|---|---|---|\n",
        "| 01_a | 1 | 1 |",
        "```",
        "<!--",
        "-->",
        "_Requirements: all_",
        "1.1-1.9",
        "\n",
        "\n\n",
        "  ",
        "\t",
        "**",
        "`",
        "through ",
        "**SUPERSEDED** by x",
        "## Test Commands",
        "- Spec tests: `a`",
        "---",
        "~~",
        "\r\n",
        "1. ",
        "\u2013",
        "\x85",
        "9" * 5000,
    ]
)
TEXT = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=30).map("".join))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                [
                    "id",
                    "requirements",
                    "task_groups",
                    "subtasks",
                    "dependencies",
                    "acceptance_criteria",
                    "state",
                    "title",
                ]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


def plan_of_files(files: dict[str, bytes]) -> Plan:
    """One spec with these files, and a good one beside it."""
    with TemporaryDirectory() as place:
        specs = Path(place) / "specs"
        for folder, name, content in [("01_a", n, c) for n, c in files.items()] + [
            ("02_b", "tasks.md", b"- [ ] 1. A\n")
        ]:
            (specs / folder).mkdir(parents=True, exist_ok=True)
            (specs / folder / name).write_bytes(content)
        return planned(specs)


def assert_whole(plan: Plan) -> None:
    assert plan.specs[-1].name == "02_b"
    assert all(
        edge.source in {n.id for n in plan.nodes} and edge.target in {n.id for n in plan.nodes} for edge in plan.edges
    )
    json.dumps(plan_document(plan))


@settings(max_examples=150, deadline=None)
@given(tasks=TEXT, requirements=TEXT, prd=TEXT)
@example(tasks="", requirements="", prd="-|\n-")
def test_any_markdown_is_read(tasks: str, requirements: str, prd: str) -> None:
    texts = {"tasks.md": tasks, "requirements.md": requirements, "prd.md": prd}
    assert_whole(plan_of_files({name: text.encode("utf-8", "surrogatepass") for name, text in texts.items()}))


@settings(max_examples=100, deadline=None)
@given(tasks=JSON, requirements=JSON)
def test_any_json_is_read(tasks: object, requirements: object) -> None:
    texts = {"tasks.json": tasks, "requirements.json": requirements}
    assert_whole(plan_of_files({name: json.dumps(value).encode() for name, value in texts.items()}))


@settings(max_examples=50, deadline=None)
@given(content=st.binary(max_size=200))
def test_any_bytes_are_read(content: bytes) -> None:
    assert_whole(plan_of_files({"tasks.md": content, "requirements.json": content}))


@pytest.mark.parametrize(
    "piece",
    [
        "<!--",
        "<!-- -->",
        "`",
        "```\n",
        " ",
        "REQ-",
        "- [ ] 1. A\n",
        "1. [01-REQ-1.1] a\n",
        "_Requirements: 1.1-",
        "|",
        "| a |\n",
        "([",
        "9",
        "1.",
        "\n",
        "### Requirement 1: T\n",
        "**Write failing ",
        "through ",
        "[-] ",
        "* ",
        "# ",
    ],
)
def test_a_large_file_of_one_piece_takes_no_ages(piece: str) -> None:
    size = MAX_FILE_BYTES // 16
    content = ("- [ ] 1. A\n  - _Requirements: " + piece * (size // len(piece))).encode()
    begun = time.process_time()
    plan_of_files({"tasks.md": content, "requirements.md": content, "prd.md": content})
    assert time.process_time() - begun < 20
