"""The one step that may use a network: fetching dependencies, apart from every command that is judged. Starts nothing.

A token for it is scoped and short-lived; the platform gives its value to the process alone. Here is only the name of
the variable it goes into.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.request import Prepared, Refused, Unavailable, Why
from agent_fox.verifier.profiles.model import NetworkProfile, Profile
from agent_fox.verifier.profiles.programs import Search, find_all
from agent_fox.verifier.profiles.templates import fill, value_names
from agent_fox.verifier.projects.detect import detect
from agent_fox.verifier.projects.facts import facts_of
from agent_fox.verifier.projects.manifests import Manifests
from agent_fox.verifier.projects.systems import Place

if TYPE_CHECKING:
    from agent_fox.verifier.projects.systems import Detection


@dataclass(frozen=True, slots=True)
class ResolveStep:
    """A command that fetches dependencies. It is given a network, and the variable with the token where one is named.

    display: argv without paths of this machine. seconds: its time limit. parser: whose log it is.
    """

    argv: tuple[str, ...]
    token_environment_name: str | None
    cwd: Path
    display: tuple[str, ...]
    seconds: float
    parser: str
    notes: tuple[str, ...] = ()


def resolve_step(
    profile: Profile, root: Path, *, detection: Detection | None = None, search: str | None = None
) -> ResolveStep | Unavailable:
    """How this project's dependencies are fetched, or why they cannot be.

    Raises Refused where the profile's policy allows no network.
    """
    if profile.policy.network is not NetworkProfile.PACKAGE_READONLY:
        raise Refused(
            "network_denied", f"fetching dependencies needs the network profile {NetworkProfile.PACKAGE_READONLY}"
        )
    manifests = Manifests(root)
    systems = (detection or detect(root)).systems
    system = next((each for each in systems if each.kind is profile.build_system), None)
    if system is None:
        return Unavailable(f"no {profile.build_system} project was found, by its manifests", Why.NO_PROJECT)
    place = Place(system, system.root)
    step = profile.resolve
    if step is None or not set(step.when) <= facts_of(manifests, place).traits:
        return Unavailable(f"the profile {profile.id} has no resolving step for this project", Why.NO_COMMAND)
    path = search if search is not None else os.environ.get("PATH", os.defpath)
    folder = manifests.root / system.root
    located = find_all(profile.programs, value_names(step.argv), Search(folder, manifests.root, path))
    programs = {name: program for name, program in located.items() if program}
    if len(programs) < len(located):
        return Unavailable("the program that fetches dependencies was not found", Why.NO_PROGRAM)
    return ResolveStep(
        argv=fill(step.argv, {name: program.path for name, program in programs.items()}, {}),
        token_environment_name=step.token_environment,
        cwd=folder,
        display=fill(step.argv, {name: program.shown for name, program in programs.items()}, {}),
        seconds=step.seconds,
        parser=step.parser,
        notes=tuple(step.notes),
    )


def as_prepared(step: ResolveStep, token: str) -> Prepared:
    """The step as a command that has a network, and the token in the variable that its tool reads."""
    variable = step.token_environment_name
    return Prepared(
        step.argv,
        step.cwd,
        step.display,
        step.parser,
        seconds=step.seconds,
        environment={variable: token} if variable and token else {},
        network=True,
        notes=step.notes,
    )
