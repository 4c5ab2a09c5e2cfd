"""Which ids of a spec are other specs' too, so that a test must say which spec it means. Nothing is decided here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.regex import regex

if TYPE_CHECKING:
    from agent_fox.core.spec import Spec
    from agent_fox.verifier.ground import order
else:
    order = late_module("agent_fox.verifier.ground.order")

_NAMES_ITS_SPEC = regex(r"\d+-REQ-", re.IGNORECASE)


class KnownIds:
    """The ids that each spec has or had, by its name; one without any has had ids that nobody knows.

    Made once for a plan: what is asked of it costs no more where there are more specs.
    """

    def __init__(self, by_spec: Mapping[str, frozenset[str]]) -> None:
        self._by_spec, self.names = by_spec, tuple(sorted(by_spec))
        self._holders = Counter(id for ids in by_spec.values() for id in ids)
        self._unread = sum(not ids for ids in by_spec.values())

    def shared(self, spec_name: str, ids: Iterable[str]) -> set[str]:
        """Those of `ids` that another spec has or had, or may have had."""
        own = self._by_spec.get(spec_name)
        if self._unread > (own is not None and not own):
            return set(ids)
        return {id for id in ids if self._holders[id] > (own is not None and id in own)}


def order_among(spec: Spec, known: KnownIds) -> order.CheckOrder:
    """What a spec asks to be checked, with what is known of the other specs."""
    entries = {entry for trace in spec.traceability for entry in trace.tests_specified}
    ids = {*spec.expected, *(requirement.id for requirement in spec.requirements)}
    ids = {id for id in ids | {id.rpartition(".")[0] for id in ids} if id and not _NAMES_ITS_SPEC.match(id)}
    others = tuple(name for name in known.names if name != spec.name)
    shared = known.shared(spec.name, ids) | {entry for entry in entries if others and " " in entry}
    return replace(order.order_of(spec), others=others, shared=tuple(sorted(shared)))
