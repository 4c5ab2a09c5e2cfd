"""Is the engine there that hands sessions to workers, and who serves what? Its version, and those of the workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from agent_fox.cli.setup.health import Check, State
from agent_fox.cli.version import installed
from agent_fox.cluster.engine import SCHEME, EngineError, engine_of, remote_of
from agent_fox.core.ids import Archetype
from agent_fox.core.late import late_module
from agent_fox.core.markdown import one_line
from agent_fox.core.words import counted, listed

if TYPE_CHECKING:
    from agent_fox.cluster import looking, remotes
    from agent_fox.config import ClusterSettings, Settings
else:
    looking = late_module("agent_fox.cluster.looking")
    remotes = late_module("agent_fox.cluster.remotes")

LONGEST_IDENTITY = 200
"""Characters."""

OLDEST_SERVER = (1, 32)
"""The first server in which an activity without a workflow is generally available."""


def engine(address: str, settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    if not address.startswith(f"{SCHEME}://"):
        yield Check("engine", State.OK, f"{address} is a plugin's, which is not asked here")
        return
    try:
        place = engine_of(address, settings.cluster, environ)
    except EngineError as error:
        yield Check("engine", State.MISSING, str(error), "correct the address or [cluster]")
        return
    if find_spec("temporalio") is None:
        yield Check("engine", State.MISSING, f"{place.name} needs an extra", "pip install 'agent-fox[cluster]'")
        return
    tags = list(dict.fromkeys((*settings.places, *(archetype.value for archetype in Archetype))))
    seen = looking.look(place, tags)
    if seen.trouble:
        yield Check("engine", State.MISSING, seen.trouble, "start it, or correct the address or [cluster]")
        return
    yield server(place.name, seen.version)
    yield from (workers(tag, seen.workers[tag]) for tag in tags)
    if settings.cluster.remote:
        yield remote(settings.cluster)


def remote(settings: ClusterSettings) -> Check:
    """Whether the remote that carries histories answers, and what of launches stands there."""
    try:
        refs = remotes.left(remote_of(settings))
    except (EngineError, remotes.RemoteAway) as error:
        return Check("remote", State.MISSING, str(error), "correct [cluster] remote, or let git in there")
    return Check(
        "remote", State.OK,
        f"{settings.remote} answers; {counted(len(refs), 'reference')} of launches below {remotes.BELOW}",
    )  # fmt: skip


def server(name: str, version: str) -> Check:
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
    if numbers < OLDEST_SERVER:
        needed = ".".join(map(str, OLDEST_SERVER))
        return Check("engine", State.MISSING, f"{name} is of version {version}", f"install server {needed} or newer")
    return Check("engine", State.OK, f"{name}, server {version}")


def workers(tag: str, identities: tuple[str, ...]) -> Check:
    """Who serves a tag. A worker of another version refuses what this one sends."""
    own, identities = (
        f"agent-fox/{installed()} ",
        tuple(one_line(identity, LONGEST_IDENTITY) for identity in identities),
    )
    others = [identity for identity in identities if not identity.startswith(own)]
    if others:
        remedy = f"install {own.strip().replace('/', ' ')} there"
        return Check(f"workers of {tag}", State.MISSING, f"of another version: {listed(others)}", remedy)
    if not identities:
        remedy = f"agent-fox worker --engine ADDRESS --serve {tag}=1, if it is needed"
        return Check(f"workers of {tag}", State.WARNING, "none", remedy)
    return Check(f"workers of {tag}", State.OK, listed([identity.removeprefix(own) for identity in identities]))
