"""What once failed is remembered: read before the verifier, named in briefs, joined to its issue. Git, pytest and the
judges are real; the coder is a script.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from agent_fox.testing.worlds import rows, run_cli
from tests.stories.scene import PROVEN, decisions, run
from tests.stories.test_checks_in_a_run import world

REQUIREMENTS = (
    "### Requirement 1: Sum\n1. [01-REQ-1.1] WHEN given prices, `total` SHALL return their sum.\n"
    "2. [01-REQ-1.2] WHEN given prices, `most` SHALL return the highest.\n"
)
TASKS = (
    "## Test Commands\n- Spec tests: `{python} -m pytest -q tests`\n\n## Tasks\n- [ ] 1. Write cart.py\n"
    "  - [ ] 1.1 Sum\n    - _Requirements: 01-REQ-1.1, 01-REQ-1.2_\n"
)
MOST = 'from cart import most\n\n\ndef test_most():\n    """01-REQ-1.2"""\n    assert most([1, 5]) == 5\n'
SUM, WRONG_SUM = "def total(prices):\n    return sum(prices)\n", "def total(prices):\n    return 7\n"
HIGHEST, WRONG_HIGHEST = "def most(prices):\n    return max(prices)\n", "def most(prices):\n    return 6\n"
ITEMS = "SELECT requirement_id, test, born FROM memory_items ORDER BY at, requirement_id"
MOVES = (
    "SELECT i.requirement_id, m.step, m.status FROM memory_moves m JOIN memory_items i ON i.id = m.item ORDER BY m.id"
)


def two(root: Path, *works: str) -> Path:
    """A spec of two requirements, and a coder that writes these works in turn."""
    spec = ".agent-fox/specs/01_cart"
    files = {
        "tests/test_most.py": MOST, f"{spec}/requirements.md": REQUIREMENTS,
        f"{spec}/tasks.md": TASKS.format(python=sys.executable),
    }  # fmt: skip
    steps = {str(number): {"cart.py": text} for number, text in enumerate(works, 1)}
    made = world(root, steps, files)
    config = made / ".agent-fox/config.toml"
    config.write_text(config.read_text() + "[retry]\nattempts = 6\nkeep_best = false\n")
    return made


BROKEN = [SUM + WRONG_HIGHEST, WRONG_SUM + HIGHEST, SUM + WRONG_HIGHEST, SUM + HIGHEST]
"""What each attempt leaves: it repairs one requirement and breaks the other."""


def test_what_was_repaired_is_read_first_and_a_regression_of_it_is_told_as_one(tmp_path: Path) -> None:
    root = two(tmp_path / "repo", *BROKEN)
    run(root, ends=PROVEN)
    assert decisions(root, "01_cart:2") == ["Recode", "Recode", "Recode", "Accept"]
    sums, highest = ("01-REQ-1.1", "tests/test_cart.py::test_total"), ("01-REQ-1.2", "tests/test_most.py::test_most")
    assert rows(root, ITEMS) == [(*sums, "regression"), (*highest, "repair")]
    assert rows(root, MOVES) == [
        (sums[0], "born", "regression detected"), (highest[0], "born", "fixed"),
        (sums[0], "passed", "fixed"), (highest[0], "failed", "regression detected"),
        (highest[0], "passed", "fixed"), (sums[0], "passed", "fixed"),
    ]  # fmt: skip
    told = rows(
        root, "SELECT requirement_id, evidence FROM verification_results WHERE disposition = 'regression detected'"
    )
    ((part, evidence),) = told
    assert part == "01-REQ-1.2"
    for words in (f"regression detected: {highest[1]}", "changed since by 01_cart:1, attempt 3 in cart.py", "6 == 5"):
        assert words in str(evidence)
    judges = rows(root, "SELECT backend FROM sessions WHERE archetype = 'verifier' ORDER BY id")
    assert judges == [("checks",), ("checks",), ("memory, checks",), ("memory, checks",)]


def test_each_move_has_its_record_and_no_other_hand_can_write_one(tmp_path: Path) -> None:
    root = two(tmp_path / "repo", *BROKEN)
    run(root, ends=PROVEN)
    moves = rows(root, "SELECT 'memory:' || id, step FROM memory_moves ORDER BY id")
    assert rows(root, "SELECT identity, status FROM ledger WHERE kind = 'memory' ORDER BY position") == moves
    assert run_cli(root, "ledger", "verify").returncode == 0
    assert run_cli(root, "ledger", "rebuild").returncode == 0


def test_a_brief_names_what_failed_before_and_holds_now(tmp_path: Path) -> None:
    root = two(tmp_path / "repo", *BROKEN)
    run(root, ends=PROVEN)
    (brief,) = (root / ".agent-fox/logs").glob("01_cart-1.4.*.brief.md")
    assert "## Failed before, must stay green" in brief.read_text()
    assert "01_cart/01-REQ-1.1: `tests/test_cart.py::test_total`" in brief.read_text()


def test_without_a_pre_reading_items_are_kept_and_the_verifier_reads_alone(tmp_path: Path) -> None:
    root = two(tmp_path / "repo", *BROKEN)
    config = root / ".agent-fox/config.toml"
    config.write_text(config.read_text() + "[memory]\npre_reading = false\n")
    run(root, ends=PROVEN)
    assert rows(root, "SELECT DISTINCT backend FROM sessions WHERE archetype = 'verifier'") == [("checks",)]
    assert ("01-REQ-1.2", "failed", "regression detected") in rows(root, MOVES)


def test_a_changed_text_ends_the_items_of_its_old_version(tmp_path: Path) -> None:
    root = two(tmp_path / "repo", *BROKEN, SUM + HIGHEST + "# one\n")
    run(root, ends=PROVEN)
    file = root / ".agent-fox/specs/01_cart/requirements.md"
    file.write_text(file.read_text().replace("the highest", "the highest one"))
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qam", "text"], cwd=root, check=True)
    run(root, ends=PROVEN)
    ends = rows(root, "SELECT i.requirement_id, m.note FROM memory_moves m JOIN memory_items i ON i.id = m.item "
                "WHERE m.step = 'withdrawn'")  # fmt: skip
    assert ends == [("01-REQ-1.2", "the requirement's text changed")]
