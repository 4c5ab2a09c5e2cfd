"""Which ids of a spec are other specs' too, so that a test must say which spec it means. Nothing is decided here."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.store import plan as stored
from agent_fox.verifier.ground.order import CheckOrder, order_of

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.spec import Spec

_NAMES_ITS_SPEC = regex(r"\d+-REQ-", re.IGNORECASE)


def order_among(db: Database, spec: Spec) -> CheckOrder:
    """What a spec asks to be checked, with what the state knows of the other specs."""
    return order_beside(spec, stored.ids_of_others(db, spec.name))


def order_beside(spec: Spec, others: Mapping[str, Collection[str]]) -> CheckOrder:
    """The same, where other specs, by name, have these ids; one without any has had ids that nobody knows."""
    entries = {entry for trace in spec.traceability for entry in trace.tests_specified}
    ids = {*spec.expected, *(requirement.id for requirement in spec.requirements)}
    ids = {id for id in ids | {id.rpartition(".")[0] for id in ids} if id and not _NAMES_ITS_SPEC.match(id)}
    shared = {id for id in ids if any(id in theirs or not theirs for theirs in others.values())}
    shared |= {entry for entry in entries if others and " " in entry}
    return replace(order_of(spec), others=tuple(sorted(others)), shared=tuple(sorted(shared)))
