"""The table of filing: a cell for every sight and word, and what no cell may ever do."""

from __future__ import annotations

from itertools import product

import pytest

from agent_fox.core.retry.filing import TABLE, Act, Says, Seen, act


def test_there_is_a_cell_for_everything() -> None:
    assert set(TABLE) == set(Seen)
    assert {len(row) for row in TABLE.values()} == {len(Says)}
    assert [act(sight, says) for sight, says in product(Seen, Says)] == [cell for row in TABLE.values() for cell in row]


@pytest.mark.parametrize("says", list(Says))
@pytest.mark.parametrize("sight", [Seen.REFUSED, Seen.MOVED])
def test_a_persons_no_is_never_overruled(sight: Seen, says: Says) -> None:
    assert act(sight, says) is Act.NOTHING


def test_only_a_proof_closes_and_only_where_no_person_has_spoken() -> None:
    assert [(sight, says) for sight, says in product(Seen, Says) if act(sight, says) is Act.CLOSE] == [
        (Seen.OPEN, Says.PROOF)
    ]


def test_only_a_failure_files_or_opens_again() -> None:
    makes_open = {(sight, says) for sight, says in product(Seen, Says) if act(sight, says) in (Act.CREATE, Act.REOPEN)}
    assert {says for _, says in makes_open} == {Says.FAILING}


def test_an_issue_is_made_only_where_there_is_none_to_write_to() -> None:
    assert {sight for sight in Seen if act(sight, Says.FAILING) is Act.CREATE} == {Seen.NEVER, Seen.OLD, Seen.GONE}


def test_a_failure_is_told_unless_a_person_has_said_no() -> None:
    assert {sight for sight in Seen if act(sight, Says.FAILING) is Act.NOTHING} == {Seen.REFUSED, Seen.MOVED}


def test_an_open_issue_is_never_left_without_a_word() -> None:
    assert all(act(sight, says) is not Act.NOTHING for sight in (Seen.OPEN, Seen.SPOKEN) for says in Says)
