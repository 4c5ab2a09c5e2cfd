"""The table of backends says what each of them is called, before it is loaded."""

from __future__ import annotations

import pytest

from agent_fox.session.agents.registry import NAMES
from agent_fox.session.backends import Backend
from agent_fox.session.built_in.registry import BACKENDS, Backends


def test_every_backend_of_the_table_can_be_loaded_and_is_called_so() -> None:
    assert {name: BACKENDS[name].name for name in BACKENDS} == {name: name for name in BACKENDS}
    assert all(isinstance(BACKENDS[name], Backend) for name in BACKENDS)
    assert set(BACKENDS) == {"command", "scripted", "checks", "library", "memory", *NAMES}
    assert len(BACKENDS) == len(set(BACKENDS))


def test_an_unknown_name_is_no_backend() -> None:
    assert BACKENDS.get("gardener") is None
    with pytest.raises(KeyError):
        BACKENDS["gardener"]


def test_others_stand_beside_the_built_in_ones_or_in_their_places() -> None:
    own = BACKENDS["scripted"]
    more = Backends({"command": own, "gardener": own})
    assert (more["command"], more["gardener"], more["checks"]) == (own, own, BACKENDS["checks"])
    assert sorted(more) == sorted({*BACKENDS, "gardener"})
    assert len(more) == len(BACKENDS) + 1
