"""What is remembered of a session that was cut off, in a person's words."""

from __future__ import annotations

from dataclasses import replace

from agent_fox.core.retry.cut_off import CutOff

BASE, COMMIT = "b" * 40, "c" * 40
KEPT = CutOff(7, 2, "failed: exit 3", "2026-12-08", BASE, COMMIT, "refs/agent-fox/cut-off/a/2", 1, 3, 1)
SHOWN = "git diff bbbbbbbbbbbb cccccccccccc"


def test_it_says_how_much_is_kept_where_until_when_and_how_it_is_seen() -> None:
    kept = f"what it had done (1 file, +3 -1 lines) is kept as refs/agent-fox/cut-off/a/2 until 2026-12-08: {SHOWN}"
    assert (KEPT.command, KEPT.in_words) == (SHOWN, kept)
    assert replace(KEPT, left_out=("big.bin (too large)",)).in_words == f"{kept}; not kept: big.bin (too large)"


def test_where_nothing_could_be_kept_it_says_what_was_not() -> None:
    assert replace(KEPT, commit="", ref="", left_out=("a (too large)", "b")).in_words == "not kept: a (too large); b"
