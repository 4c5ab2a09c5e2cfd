"""Which descriptions a task can be reviewed by."""

from __future__ import annotations

import pytest

from agent_fox.review.description import LONGEST, what_is_missing

SEED = """\
## Add OAuth Login
### Requirements
- Login page with Google OAuth button
- /auth/callback route handling token exchange
### Acceptance Criteria
- User can click "Sign in with Google" and complete the flow
### Files Expected
- src/routes/auth.ts (new)
"""

GOOD = {
    "the seed's own example": SEED,
    "a list under Acceptance Criteria": "# Title\n\n## Acceptance criteria\n- exits cleanly",
    "a list under a bold heading": "Title\n**Requirements**\n* logs out",
    "a list under a line with a colon": "Do it\nAcceptance:\n1. logs out",
    "done when": "Title\n## Done when\n- tests pass",
    "checkboxes without a heading": "Title\nsome text\n- [ ] logs out",
    "numbered lines that say something": "Title\nintro\n1) the button opens the login page",
    "a heading in capitals": "Title\n## ACCEPTANCE CRITERIA\n- logs out",
    "a script without spaces": "標題\n說明\n- 使用者可以登出",
}
BAD = {
    "empty": "",
    "blank": " \n\t\n",
    "a one-liner": "fix the login bug",
    "a one-liner with a box": "- [ ] fix the login bug",
    "two lines": "fix the login bug\n- [ ] it works again",
    "prose only": "Please fix the login.\nIt is broken.\nThank you very much indeed.",
    "a heading without a list": "# Title\n## Acceptance Criteria\nIt should work well.",
    "items of one word": "# Title\n## Acceptance Criteria\n- TBD\n- todo",
    "short items under another heading": "# Title\n## Files\n- a.py\n- b.py",
    "an empty list": "# Title\n## Acceptance Criteria\n-\n- \n",
    "the heading has ended": "# Title\n## Acceptance Criteria\n## Files\n- a.py b.py",
}


@pytest.mark.parametrize("name", sorted(GOOD))
def test_a_description_with_criteria_is_accepted(name: str) -> None:
    assert what_is_missing(GOOD[name]) == ""


@pytest.mark.parametrize("name", sorted(BAD))
def test_a_description_without_criteria_is_refused_with_what_to_write(name: str) -> None:
    said = what_is_missing(BAD[name])
    assert "Acceptance Criteria" in said
    assert "\n" not in said


def test_a_description_that_is_too_long_is_refused_and_never_cut() -> None:
    assert "register several tasks" in what_is_missing(SEED + "x" * LONGEST)


def test_a_line_that_is_made_to_be_slow_to_read_is_judged_like_any_other() -> None:
    """With a pattern that tries every way there is, this takes longer than anybody waits."""
    assert what_is_missing("a\nb\n" + " " * 16_000 + ": " * 7_990 + "x")
