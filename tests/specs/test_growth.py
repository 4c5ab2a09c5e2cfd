"""Twice the text takes twice the steps to be read and accounted for, in every dialect that is written in Markdown.

Steps are calls, which are the same on every machine; what a pattern costs within one call is measured by
`python -m bench --only hostile-specs`.
"""

from __future__ import annotations

import cProfile
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.specs.accounts.account import account_of
from agent_fox.specs.reader import read_specs
from bench.spec_reading import HOSTILE
from tests.specs.made.forms import FORMS, made_by, write

IN_MARKDOWN = [form for form in FORMS if "json" not in form and "toml" not in form]
SMALL, LARGE = 6_000, 12_000
MOST, SPARE = 2.4, 400


def steps(form: str, text: str, root: Path) -> int:
    """The calls that it takes to read a made spec with a text behind each of its documents, and to account for it."""
    made = made_by(form, 1)
    files = {name: content + f"\n\n{text}".encode() for name, content in made.files.items()}
    place = write(replace(made, files=files), root).parent
    watched = cProfile.Profile()
    watched.runcall(read_and_account, place, root)
    return sum(called.callcount for called in watched.getstats())


def read_and_account(place: Path, root: Path) -> None:
    specs, problems = read_specs(place, root)
    for spec in specs:
        assert all(entry.line for entry in account_of(spec, root, problems))


@pytest.mark.parametrize("form", IN_MARKDOWN)
def test_twice_the_text_takes_twice_the_steps(form: str, tmp_path: Path) -> None:
    steps(form, "", tmp_path / "first")
    floor = steps(form, "", tmp_path / "floor")
    slow = {}
    for number, (name, piece) in enumerate(HOSTILE.items()):
        small, large = (
            steps(form, piece * (size // len(piece)), tmp_path / f"{number}-{size}") - floor for size in (SMALL, LARGE)
        )
        if large > MOST * max(small, SPARE):
            slow[name] = (small, large)
    assert slow == {}
