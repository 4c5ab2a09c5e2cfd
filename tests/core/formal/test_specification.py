"""The library's rules: versions, what binds what, and who may make something count."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from agent_fox.core.formal.specification import (
    Author,
    Change,
    Check,
    Checklist,
    ChosenTests,
    Current,
    Entry,
    FunctionContract,
    NotAllowed,
    PropertyTests,
    Specification,
    SpecKind,
    State,
    TheoremStatement,
    TraceFormula,
    Who,
    allowed,
    current_of,
    read_author,
    synced,
)
from agent_fox.core.spec import text_version

SPEC, PERSON, AGENT = Author(Who.SPEC, "04_gateway"), Author(Who.PERSON, "alice"), Author(Who.AGENT, "04_gateway:2 l-1")
ONE = Specification(
    "04_gateway/closed", SpecKind.ASSERTION, "It closes.", ("04_gateway/04-REQ-1.1",), ChosenTests(("t.py::test_x",))
)
FREE = replace(ONE, address="library/closed")


def entry(number: int, state: State, author: Author = SPEC, one: Specification = ONE) -> Entry:
    return Entry(number, one, one.version, state, author, "2030-01-01T00:00:00Z")


def test_white_space_makes_no_other_version_and_every_word_does() -> None:
    assert replace(ONE, text="It  closes.\n").version == ONE.version
    others = (
        replace(ONE, text="It opens."),
        replace(ONE, check=ChosenTests(("t.py::test_y",))),
        replace(ONE, requirements=("04_gateway/04-REQ-1.2",)),
        replace(ONE, kind=SpecKind.PROPERTY, check=PropertyTests(("t.py::test_x",))),
    )
    assert len({ONE.version, *(one.version for one in others)}) == 5
    assert replace(ONE, address="04_gateway/other", doubt="nobody signed").version == ONE.version


def test_a_version_never_changes_for_the_same_words_check_and_links() -> None:
    links = ("04_gateway/04-REQ-1.2", "04_gateway/04-REQ-1.1")
    assert replace(ONE, text="It  schließt.", requirements=links).version == "1ed5d0149523a7a3"
    assert replace(ONE, text="It schließt.", requirements=links[::-1]).version == "1ed5d0149523a7a3"


def test_a_requirement_has_the_version_of_its_text() -> None:
    requirement = Specification("04_gateway/04-REQ-1.1", SpecKind.REQUIREMENT, "WHEN idle, it SHALL close.")
    assert requirement.version == text_version("WHEN idle, it SHALL close.")
    assert not requirement.has_lane


def test_only_contracts_and_theorems_are_formal_and_only_checklists_have_no_lane() -> None:
    checks: dict[SpecKind, Check] = {
        SpecKind.ASSERTION: ChosenTests(command="make test"),
        SpecKind.PROPERTY: PropertyTests(("t.py",)),
        SpecKind.TEMPORAL: TraceFormula("true"),
        SpecKind.CONTRACT: FunctionContract("m:f", "() -> int", ("True",)),
        SpecKind.THEOREM: TheoremStatement("true"),
        SpecKind.CHECKLIST: Checklist(("is it clear?",)),
    }
    made = [Specification("a/b", kind, "x", (), check) for kind, check in checks.items()]
    assert [one.kind for one in made if one.is_formal] == [SpecKind.CONTRACT, SpecKind.THEOREM]
    assert [one.kind for one in made if not one.has_lane] == [SpecKind.CHECKLIST]


def test_it_binds_what_it_names_and_all_of_a_spec_where_it_says_so() -> None:
    assert [part for part in ("04-REQ-1.1", "04-REQ-1.2") if ONE.binds("04_gateway", part)] == ["04-REQ-1.1"]
    assert not ONE.binds("05_other", "04-REQ-1.1")
    whole = replace(ONE, requirements=("04_gateway/all",))
    assert whole.binds("04_gateway", "04-REQ-9.9")
    assert not whole.binds("05_other", "04-REQ-9.9")
    assert (ONE.is_about("04_gateway"), ONE.is_about("04")) == (True, False)
    assert replace(ONE, requirements=("04_gateway/locks/1.1",)).is_about("04_gateway")


def test_a_proposal_never_takes_the_place_of_what_was_adopted() -> None:
    other = replace(ONE, text="It closes at once.")
    adopted, proposed = entry(1, State.ADOPTED), entry(2, State.PROPOSED, AGENT, other)
    assert current_of([adopted, proposed]) == Current(adopted, proposed, proposed)
    taken = entry(3, State.ADOPTED, PERSON, other)
    assert current_of([adopted, proposed, taken]) == Current(taken, None, taken)
    assert current_of([proposed, entry(3, State.ADOPTED)]) == Current(
        entry(3, State.ADOPTED), proposed, entry(3, State.ADOPTED)
    )


def test_what_is_withdrawn_does_not_count_in_the_version_that_was_named() -> None:
    other = replace(ONE, text="It closes at once.")
    adopted, proposed = entry(1, State.ADOPTED), entry(2, State.PROPOSED, AGENT, other)
    gone = entry(3, State.WITHDRAWN)
    assert current_of([adopted, proposed, gone]) == Current(None, proposed, gone)
    refused = entry(3, State.WITHDRAWN, PERSON, other)
    assert current_of([adopted, proposed, refused]) == Current(adopted, None, refused)


EVERYONE = {
    "its own spec": SPEC,
    "another spec": Author(Who.SPEC, "05_other"),
    "a person who signed": PERSON,
    "a person who did not": PERSON,
    "an agent": AGENT,
}
MAY = {
    (State.PROPOSED, name): True for name in EVERYONE
} | {
    (state, name): name in ("its own spec", "a person who signed")
    for state, name in itertools.product((State.ADOPTED, State.WITHDRAWN), EVERYONE)
}  # fmt: skip


@pytest.mark.parametrize(("state", "name"), list(MAY))
def test_anybody_proposes_and_only_spec_and_person_decide(state: State, name: str) -> None:
    change = Change(ONE, state, EVERYONE[name], envelope="{}" if name == "a person who signed" else "")
    if MAY[state, name]:
        assert allowed(Current(), change) is change
    else:
        with pytest.raises(NotAllowed, match="04_gateway/closed"):
            allowed(Current(), change)


def test_a_spec_speaks_for_everything_below_its_name() -> None:
    change = Change(replace(ONE, address="04_gateway/locks/closed"), State.ADOPTED, SPEC)
    assert allowed(Current(), change) is change


def test_a_spec_has_no_word_on_the_library_of_persons() -> None:
    with pytest.raises(NotAllowed, match="not of the spec"):
        allowed(Current(), Change(FREE, State.ADOPTED, SPEC))


def test_a_person_does_not_overrule_a_spec_in_silence() -> None:
    now = current_of([entry(1, State.ADOPTED, SPEC)])
    with pytest.raises(NotAllowed, match=r"specifications\.toml"):
        allowed(now, Change(ONE, State.WITHDRAWN, PERSON, envelope="{}"))


def test_a_spec_adopts_what_is_new_or_changed_and_withdraws_what_is_gone() -> None:
    kept, gone = entry(1, State.ADOPTED), entry(2, State.ADOPTED, one=replace(ONE, address="04_gateway/gone"))
    foreign = entry(3, State.ADOPTED, PERSON, replace(ONE, address="04_gateway/of-a-person"))
    new, changed = replace(ONE, address="04_gateway/new"), replace(ONE, text="It shuts.")
    assert synced([kept, gone, foreign], [ONE, new], SPEC) == [
        Change(gone.specification, State.WITHDRAWN, SPEC, "no longer in the spec"),
        Change(new, State.ADOPTED, SPEC),
    ]
    assert synced([kept], [changed], SPEC) == [Change(changed, State.ADOPTED, SPEC)]
    assert synced([kept, entry(4, State.WITHDRAWN)], [ONE], SPEC) == [Change(ONE, State.ADOPTED, SPEC)]
    assert synced([kept], [ONE], SPEC) == []


def test_authors_are_read_as_they_are_written() -> None:
    for author in EVERYONE.values():
        assert read_author(str(author)) == author
