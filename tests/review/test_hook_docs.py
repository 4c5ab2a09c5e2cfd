"""The page about the stop hook says what the hook says."""

from __future__ import annotations

from pathlib import Path

from agent_fox.review.hooks.install import SERVER
from agent_fox.review.hooks.state import WHY
from agent_fox.review.hooks.stop_hook import CATCH_UP_SECONDS
from agent_fox.review.tasks import Word

PAGE = (Path(__file__).parents[2] / "docs" / "hook.md").read_text(encoding="utf-8")


def test_every_word_of_an_open_task_has_a_reason() -> None:
    assert set(WHY) == set(Word) - {Word.UNKNOWN, Word.DAMAGED, Word.VERIFIED, Word.CLEARED}


def test_the_page_names_the_server_the_tools_and_the_wait() -> None:
    words = (SERVER, "todoWrite", "todoCompleteAndVerify", "three seconds", "nine blocks", "never gives up")
    assert [word for word in words if word not in PAGE] == []
    assert CATCH_UP_SECONDS == 3
