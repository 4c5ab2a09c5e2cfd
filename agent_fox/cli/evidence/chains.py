"""The chains of evidence that a person means by a requirement's name, held against what stands in this repository."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.config import Settings, load
from agent_fox.engine.launching.current import now_of
from agent_fox.evidence import witness
from agent_fox.evidence.about import parts_named
from agent_fox.evidence.chain import Chain, chain_of
from agent_fox.evidence.waivers import grounds_of
from agent_fox.system import clock, git

if TYPE_CHECKING:
    from sqlite_utils import Database


def chains_named(db: Database, root: Path, name: str) -> tuple[Chain, ...]:
    """Of the requirement with this id, or of each of its criteria. Raises UnknownRequirement."""
    parts = parts_named(db, name)
    settings = load(root, os.environ)
    grounds, tree = grounds_of(root, settings, os.environ), tip_tree(root, settings)
    at, why = clock.now(), witness.why_unbelieved(db, witness.path_of(os.environ, root))
    return tuple(
        chain_of(db, part, now_of(db, settings, part.spec_name, tree), at, grounds, disbelieved=why) for part in parts
    )


def tip_tree(root: Path, settings: Settings) -> str | None:
    """The tree of the integration branch now; None where there is no such branch."""
    tip = git.commit_of(root, settings.git.integration_branch)
    return git.tree_of(root, tip) if tip else None
