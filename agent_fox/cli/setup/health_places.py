"""Are the places of `[places]` there, over ssh and in containers? What is missing, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_fox.cli.setup.health import Check, State
from agent_fox.cli.version import installed
from agent_fox.core.late import late_module
from agent_fox.system import programs

if TYPE_CHECKING:
    from agent_fox.cluster import ssh
    from agent_fox.config import PlaceSettings, Settings
    from agent_fox.system.sandbox import containers
else:
    ssh = late_module("agent_fox.cluster.ssh")
    containers = late_module("agent_fox.system.sandbox.containers")

ANSWER_SECONDS = 30.0


def places(settings: Settings) -> Iterator[Check]:
    for tag, place in settings.places.items():
        if place.ssh:
            yield over_ssh(tag, place)
        if place.image and not (place.ssh or settings.cluster.engine):
            yield image(tag, place)


def over_ssh(tag: str, place: PlaceSettings) -> Check:
    """Whether a session would be let in, and agent-fox there is of this version."""
    name = f"place {tag}"
    try:
        host, port = ssh.split(place.ssh)
        line = ssh.Line(host, port, tuple(place.command), 2.0, ANSWER_SECONDS)
        asked = programs.run(line.argv("--version"), ANSWER_SECONDS, is_apart=True)
    except (ssh.NoAddress, OSError) as error:
        return Check(name, State.MISSING, str(error), f"try `ssh {place.ssh}`")
    answer, complaint = (text.decode("utf-8", "replace").strip().splitlines() for text in (asked.out, asked.err))
    if asked.status:
        last_words = (complaint or answer or [f"exit {asked.status}"])[-1]
        return Check(
            name, State.MISSING, f"{place.ssh}: {last_words}", "let us in by key, and have agent-fox there (`command`)"
        )
    there = answer[-1].split()[-1] if answer else "nothing"
    if there != installed():
        return Check(
            name, State.MISSING, f"{place.ssh} has {there}, and this is {installed()}", "install the same there"
        )
    return Check(name, State.OK, f"{place.ssh}, agent-fox {there}")


def image(tag: str, place: PlaceSettings) -> Check:
    name, known = f"place {tag}", containers.found(place.program, place.image)
    if known.trouble:
        return Check(name, State.MISSING, known.trouble, known.remedy)
    what = f"{place.program} {place.image} ({known.digest[:19]})"
    if containers.is_of_root(place.program):
        remedy = "run as a person of your own, with podman or rootless docker"
        return Check(name, State.WARNING, f"{what}: containers are started by root", remedy)
    return Check(name, State.OK, f"{what}, rootless")
