"""The Test Commands section."""

from __future__ import annotations

from agent_fox.specs.common.beside import read_commands
from tests.specs.worlds import markdown


def test_a_list_of_commands_gets_the_usual_labels() -> None:
    text = (
        "## Test Commands\n\n- Spec tests: `pytest -q\n  tests/a`\n- **All tests:** `pytest`\n"
        "- Linter: `ruff check`\n- Type check: `mypy`\n"
    )
    assert read_commands(markdown(text)) == {
        "spec_tests": "pytest -q tests/a",
        "all_tests": "pytest",
        "linter": "ruff check",
        "Type check": "mypy",
    }


def test_a_table_may_hold_the_commands_on_either_side() -> None:
    assert read_commands(
        markdown("## Test Commands\n\n| What | Command |\n|---|---|\n| All tests | `make test` |\n")
    ) == {"all_tests": "make test"}
    assert read_commands(
        markdown("## Test Commands\n\n| Command | Purpose |\n|---|---|\n| `make test` | Run all |\n")
    ) == {"Run all": "make test"}


def test_a_code_block_names_commands_by_the_comment_above() -> None:
    text = "## Test Commands\n\n```bash\n# All tests\ngo test ./...\n\nmake lint\n```\n"
    assert read_commands(markdown(text)) == {"all_tests": "go test ./...", "make lint": "make lint"}


def test_commands_elsewhere_are_not_test_commands() -> None:
    assert read_commands(markdown("## Notes\n\n- Spec tests: `pytest`\n")) == {}
