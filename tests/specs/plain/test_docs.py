"""docs/plain.md: what it shows is read as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent_fox.core.spec import Spec
from agent_fox.specs.files import TextFile
from agent_fox.specs.plain import toml_form
from agent_fox.specs.plain.dialect import MARK, example
from agent_fox.specs.plain.normal_form import normal_form, read_normal_form
from agent_fox.specs.planner import plan_of
from agent_fox.specs.reader import read_specs

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "plain.md").read_text(encoding="utf-8")


def shown(language: str, fence: str = "```") -> list[str]:
    return re.findall(rf"^{fence}{language}\n(.*?)^{fence}$", PAGE, re.MULTILINE | re.DOTALL)


def planned(folder: Path, name: str, text: str) -> Spec:
    (folder / name).write_text(text, encoding="utf-8")
    plan = plan_of(*read_specs(folder, folder))
    assert plan.problems == ()
    return plan.specs[0]


def test_the_page_shows_what_init_writes() -> None:
    assert shown("markdown", "````") == [example(".md")]
    assert shown("toml") == [example(".toml")]


@pytest.mark.parametrize(("name", "text"), [("example.md", example(".md")), ("example.toml", example(".toml"))])
def test_both_examples_say_the_same_and_plan_without_a_word(tmp_path: Path, name: str, text: str) -> None:
    spec = planned(tmp_path, name, text)
    assert spec.expected == ("1.1", "1.2", "1.E1")
    assert [(group.title, group.writes_tests_only, group.requirements) for group in spec.groups] == [
        ("Write failing tests", True, ("1.1", "1.2", "1.E1")),
        ("Greet people", False, ("1.1", "1.2", "1.E1")),
    ]
    assert [task.title for task in spec.groups[1].subtasks] == ["Greet each name", "Refuse to greet nobody"]
    assert spec.test_commands == {"all_tests": "python -m pytest -q"}


def test_the_normal_form_that_is_shown_is_one() -> None:
    (text,) = [text for text in shown("markdown") if text.startswith(MARK)]
    specs, problems = read_normal_form(TextFile("a.md", text), {})
    assert problems == ()
    assert normal_form(specs) == text


def test_the_page_names_every_key_of_a_table() -> None:
    rows = re.findall(r"^\| (the file|`\w+`(?:, `\w+`)*) \| (`.*`) \|$", PAGE, re.MULTILINE)
    named = {table.split(",")[0].strip("`"): sorted(keys.replace("`", "").split(", ")) for table, keys in rows}
    assert len(named) == 6
    for table, keys in named.items():
        assert keys == toml_form.keys_at(() if table == "the file" else (table,)), table
