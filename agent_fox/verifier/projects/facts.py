"""What a project uses at one place. Reads manifests again, as they may have changed since detection."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agent_fox.verifier.projects.facts_javascript import javascript_facts
from agent_fox.verifier.projects.facts_jvm import gradle_facts, maven_facts
from agent_fox.verifier.projects.facts_native import c_facts, cargo_facts, go_facts
from agent_fox.verifier.projects.facts_python import python_facts
from agent_fox.verifier.projects.systems import SystemKind

if TYPE_CHECKING:
    from agent_fox.verifier.projects.found import Facts, Place
    from agent_fox.verifier.projects.manifests import Manifests

_READERS: dict[SystemKind, Callable[[Manifests, Place], Facts]] = {
    SystemKind.MAVEN: maven_facts,
    SystemKind.GRADLE: gradle_facts,
    SystemKind.NPM: javascript_facts,
    SystemKind.PNPM: javascript_facts,
    SystemKind.YARN: javascript_facts,
    SystemKind.PYTHON: python_facts,
    SystemKind.GO: go_facts,
    SystemKind.CARGO: cargo_facts,
    SystemKind.CMAKE: c_facts,
    SystemKind.MAKE: c_facts,
}


def facts_of(manifests: Manifests, place: Place) -> Facts:
    """What the project uses at this place."""
    return _READERS[place.system.kind](manifests, place)
