"""How long the page of a run is made, beside writing the same document as JSON, and how large it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial

from agent_fox.engine.account.run_document import RunDocument, cut
from agent_fox.web.page import MOST_TEXT, page
from bench.figures import Aim, Figure, best
from tests.web.models import of_size

MB = 1_000_000
MAIL = 3.0
"""Megabytes that the page of a hundred nodes may have."""
RATIO = 15.0
"""How many times as long as the document alone the page may take: it is cleaned, masked and put into templates."""


def measure(requirements: int, rounds: int) -> Iterator[Figure]:
    """A run of a hundred nodes, and one of so many requirements."""
    hundred, large = cut(of_size(25, 6, 3), MOST_TEXT), cut(of_size(max(requirements // 50, 1), 50, 1), MOST_TEXT)
    yield Figure("page of 100 nodes, size", len(page(hundred).encode()) / MB, 0, "", Aim(limit=MAIL), "MB")
    for name, document in (("100 nodes", hundred), (f"{len(large.requirements):,} requirements", large)):
        floor, took = best(rounds, partial(written, document), partial(page, document))
        yield Figure(f"page of {name}, made", took, floor, "its document as JSON", Aim(ratio=RATIO))


def written(document: RunDocument) -> str:
    """The document alone, as `report --json` prints it."""
    return json.dumps(document.document())
