"""What a task's description must hold to be reviewed by it: criteria that can be checked. Nothing is stored here."""

from __future__ import annotations

from collections.abc import Iterator

from agent_fox.core.regex import regex

LONGEST = 32_000
"""Characters. A longer description is refused, never cut: the reviewer has to see all of it."""

FEWEST_LINES = 3
WORDS_UNDER_A_HEADING = 2
WORDS_IN_A_BOX = 2
WORDS_IN_A_LINE = 5

HEADINGS = ("acceptance", "criteria", "requirement", "definition of done", "done when")

_ITEM = regex(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(?P<box>\[[ xX]\]\s+)?(?P<text>.*)")
_HEADING = regex(r"\s*(?:#{1,6}\s+(?P<marked>.*)|(?P<bold>\*\*.+\*\*|__.+__):?\s*|(?P<colon>[^-*+\d].*):\s*)\Z")
_WORD = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+")

ACCEPTED = (
    "write the description as Markdown with a list under a heading such as `## Acceptance Criteria` (a heading that "
    f"contains one of: {', '.join(HEADINGS)}), with checkboxes (`- [ ] ...`), or with list lines of at least "
    f"{WORDS_IN_A_LINE} words that each say one thing to check"
)


def what_is_missing(description: str) -> str:
    """Why work cannot be reviewed by this description, with what to do; empty where it can.

    Accepted are: an item of a list under a heading that contains one of HEADINGS, a checkbox, or a list line of
    WORDS_IN_A_LINE words. A letter of a script without spaces counts as a word.
    """
    lines = [line for line in map(str.strip, description[: LONGEST + 1].splitlines()) if line]
    if not lines:
        return f"the description is empty; {ACCEPTED}"
    if len(description) > LONGEST:
        return (
            f"the description has {len(description):,} characters, at most {LONGEST:,} are taken; "
            "keep what can be checked, or register several tasks"
        )
    if len(lines) < FEWEST_LINES:
        return f"the description is too short to review by ({len(lines)} of {FEWEST_LINES} lines); {ACCEPTED}"
    if not any(_can_be_checked(*item) for item in _items(lines)):
        return f"the description has no acceptance criteria that can be checked; {ACCEPTED}"
    return ""


def _items(lines: list[str]) -> Iterator[tuple[int, bool, bool]]:
    """For each item of a list: its words, whether it has a checkbox, whether it stands under a heading that counts."""
    is_under = False
    for line in lines:
        item = _ITEM.match(line)
        heading = _HEADING.match(line)
        if item:
            yield len(_WORD.findall(item["text"])), item["box"] is not None, is_under
        elif heading:
            is_under = any(word in line.lower() for word in HEADINGS)


def _can_be_checked(words: int, has_box: bool, is_under_heading: bool) -> bool:
    fewest = WORDS_UNDER_A_HEADING if is_under_heading else WORDS_IN_A_BOX if has_box else WORDS_IN_A_LINE
    return words >= fewest
