"""The password that clears tasks: set by a person, kept as a salted hash outside of the project, few tries."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.review.clearing import FILE, MOST_TRIES, ClearingOff, is_right, set_password

PASSWORD = "correct horse battery"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "config" / FILE
    set_password(found, PASSWORD)
    return found


def test_without_a_password_clearing_is_off(tmp_path: Path) -> None:
    with pytest.raises(ClearingOff, match="agent-fox review password"):
        is_right(tmp_path / FILE, "anything")


def test_the_password_is_right_and_another_is_not(file: Path) -> None:
    assert is_right(file, PASSWORD)
    assert not is_right(file, PASSWORD.upper())
    assert not is_right(file, "")


def test_the_file_holds_no_password_and_only_its_owner_may_read_it(file: Path) -> None:
    assert PASSWORD not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


def test_the_same_password_is_never_stored_the_same(file: Path) -> None:
    before = file.read_text()
    set_password(file, PASSWORD)
    assert file.read_text() != before


def test_wrong_passwords_lock_it_until_a_person_sets_it_anew(file: Path) -> None:
    assert [is_right(file, f"wrong number {number}") for number in range(MOST_TRIES)] == [False] * MOST_TRIES
    with pytest.raises(ClearingOff, match="locked"):
        is_right(file, PASSWORD)
    set_password(file, PASSWORD)
    assert is_right(file, PASSWORD)


def test_the_right_password_forgets_wrong_ones(file: Path) -> None:
    for _ in range(2):
        assert not any(is_right(file, "wrong") for _ in range(MOST_TRIES - 1))
        assert is_right(file, PASSWORD)


def test_a_file_that_others_may_read_is_not_trusted(file: Path) -> None:
    file.chmod(0o644)
    with pytest.raises(ClearingOff, match="chmod 600"):
        is_right(file, PASSWORD)


def test_a_link_is_not_trusted(file: Path, tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(file)
    with pytest.raises(ClearingOff):
        is_right(tmp_path / "link.json", PASSWORD)


@pytest.mark.parametrize("text", ["", "{", "{}", '{"salt": "00", "hash": "00", "cost": 2}', "null"])
def test_a_damaged_file_clears_nothing(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(ClearingOff, match="damaged"):
        is_right(file, PASSWORD)


@pytest.mark.parametrize("password", ["", "short", "x" * 2000])
def test_a_password_has_a_length(tmp_path: Path, password: str) -> None:
    with pytest.raises(ClearingOff, match="characters"):
        set_password(tmp_path / FILE, password)
