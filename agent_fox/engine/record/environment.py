"""What a verdict counts for besides its tree and its text: where it was made, and by which judge, as settings say.

Only what a person decides is named here, or the machine: a program that updates itself is no other environment.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.ledger.evidence import OF_CHECKS, environment_hash, environment_parts
from agent_fox.core.values import dataclass
from agent_fox.session.built_in.registry import LIBRARY
from agent_fox.system.sandbox.bubblewrap import SandboxMode, why_missing
from agent_fox.verifier.judging.hidden_files import digest_of as digest_of_hidden

if TYPE_CHECKING:
    from pathlib import Path

    from agent_fox.config import AgentSettings, Settings, VerifySettings
    from agent_fox.core.formal.specification import Specification

DIGITS = 8
JUDGING = 1
"""Raised with every change of how a verdict comes about: what was proven before is then read again."""


@dataclass(frozen=True, slots=True)
class Standpoint:
    """`environment` is a hash of 16 hex digits, `verifier` readable: `1 checks`, `1 claude:opus, checks`."""

    environment: str
    verifier: str


def standpoint(settings: Settings, agent: AgentSettings, workers: str = "", container: str = "") -> Standpoint:
    """Where and by whom a session of this agent would judge now. `workers`: the class of workers on other hosts that
    would do it, empty for this machine. `container`: what its commands are kept apart by there, in one line.
    """
    return Standpoint(
        environment_hash(facts(settings.verify, workers, container)), f"{JUDGING} {', '.join(judges(agent))}"
    )


def facts(verify: VerifySettings, workers: str = "", container: str = "") -> dict[str, str]:
    """What the environment is named by. A class of workers is one of its own: what stands there is not known here. An
    image is, by its digest.
    """
    chosen = verify.model_dump(mode="json", include=set(OF_CHECKS))
    is_open = not container and (SandboxMode(verify.sandbox) is SandboxMode.OFF or bool(why_missing()))
    own = environment_parts(sys.platform, os.uname().machine, sys.version_info[:2], chosen, is_open=is_open)
    return own | {name: text for name, text in (("workers", workers), ("container", container)) if text}


def judges(agent: AgentSettings) -> list[str]:
    models = agent.model if isinstance(agent.model, dict) else dict.fromkeys(agent.backends, agent.model)
    return [f"{backend}:{model}" if (model := models.get(backend)) else backend for backend in agent.backends]


def digest(objects: Iterable[Specification]) -> str:
    """The name of what binds a spec beside its requirements: another set is another verifier. Empty for none."""
    versions = sorted(f"{item.address}@{item.version}{' ?' if item.doubt else ''}" for item in objects if item.has_lane)
    return digest_of(json.dumps(versions), digits=DIGITS) if versions else ""


def with_hidden(verifier: str, folder: Path | None) -> str:
    """The name of a verifier that runs these hidden checks, too: others are another verifier."""
    if folder is None:
        return verifier
    return f"{verifier}, hidden {digest_of_hidden(folder)[:DIGITS] or 'none'}"


def with_bound(verifier: str, objects: Iterable[Specification]) -> str:
    """The name of a verifier that has these to check, too."""
    digits = digest(objects)
    return f"{verifier}, {LIBRARY} {digits}" if digits else verifier
