"""A launch's order on its way to a worker: what of it is sent, what never is, and what the worker makes of it.

A key never leaves this machine, by its name or by its value. Folders of this machine are nothing to another: what an
order names of them is sent along, or stands in a folder of the worker's own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.cluster import packs, remotes
from agent_fox.cluster.packs import NOTHING, Unusable, archive, extract, files_below, pack, unpack
from agent_fox.core.ids import Archetype
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.session.order_document import UnreadableDocument, order_document, read_order
from agent_fox.system import git, git_objects
from agent_fox.system.redaction.masking import looks_secret, secret_values

if TYPE_CHECKING:
    from agent_fox.cluster.packs import Content
    from agent_fox.core.values import Json
    from agent_fox.session.order import LaunchOrder

WORDS = (".agent-fox/steering.md", ".agent-fox/prices.toml", ".agent-fox/prompts")
"""What of our folder a session reads in the person's repository."""

_ID = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")
SHORTEST_SECRET = 8
"""Characters from which a value is looked for: shorter ones are words like others."""

_SENT = regex(
    r"git/shallow|repo/\.agent-fox/(?:steering\.md|prices\.toml|prompts/.+)|hidden/.+|own/flaky\.json|traces/\d+\.jsonl"
)
"""Names of what a run sends, `repo/.agent-fox/prompts/coder.md`; never `repo/.git/config`."""

BRANCH = "main"


class KeyInOrder(Exception):
    """The order holds the value of a variable that is a key. Nothing was sent."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """What a worker gets. `base` holds the history up to the person's own commit, `head`; `delta` what it lacks of what
    the order names; `files` what sessions read beside it. `left_out` names variables that the worker has itself.
    """

    version: str
    order: Json
    head: str
    object_format: str
    who: git.Identity
    left_out: tuple[str, ...]
    base: Content
    delta: Content
    files: Content
    remote: str = ""
    """Where the history is instead, below the launch's own references; then `base` and `delta` are empty."""
    ids: tuple[str, ...] = ()
    """What of it the order names."""


def made(
    order: LaunchOrder, version: str, put: Callable[[bytes], Content], base: Callable[[str], Content],
    environ: Mapping[str, str], remote: str = "",
) -> Parcel:  # fmt: skip
    """Raises KeyInOrder, GitError; what `put` raises; with a remote, RemoteAway and Unusable."""
    head = git.head(order.repo) or order.pinned
    bare, left_out = without_keys(order)
    document = order_document(bare)
    refuse_keys(document, order, environ)
    wanted = [order.pinned, *(id for id in named_objects(order.repo, document) if id != order.pinned)]
    if remote:
        remotes.send(order.repo, remote, order.launch, remotes.SENT, [head, *wanted])
    return Parcel(
        version, document, head, git.object_format(order.repo), git.identity(order.repo), left_out,
        NOTHING if remote else base(head), NOTHING if remote else put(pack(order.repo, wanted, [head])),
        put(archive(sent_files(order))), remote, tuple(wanted) if remote else (),
    )  # fmt: skip


def without_keys(order: LaunchOrder) -> tuple[LaunchOrder, tuple[str, ...]]:
    """The order without variables that are keys by their names; the worker has them in its own environment."""
    environment = order.agent.environment
    secret = tuple(name for name in environment if looks_secret(name))
    kept = {name: text for name, text in environment.items() if name not in secret}
    agent = replace(order.agent, environment=kept, inherit=(*order.agent.inherit, *secret))
    return replace(order, agent=agent), secret


def refuse_keys(document: Json, order: LaunchOrder, environ: Mapping[str, str]) -> None:
    text = json.dumps(document, ensure_ascii=False)
    variables = {**environ, **order.agent.environment}
    for name, value in variables.items():
        if looks_secret(name) and len(value) >= SHORTEST_SECRET and json.dumps(value, ensure_ascii=False)[1:-1] in text:
            raise KeyInOrder(f"the order would hold the value of {name}; take it out of the settings or the spec")


def named_objects(repo: Path, document: Json) -> Iterator[str]:
    """Commits and trees of the repository that the order names anywhere: work to merge, states to search."""
    for id in dict.fromkeys(_ID.findall(json.dumps(document))):
        known = git.look(repo, id, allowed=(0, 128))
        if known is not None and known.kind in ("commit", "tree"):
            yield id


def sent_files(order: LaunchOrder) -> dict[str, Path]:
    """Steering, templates and prices; for a verifier the hidden checks, and what else its document names."""
    files = {"git/shallow": git.common_folder(order.repo) / "shallow"}
    for name in WORDS:
        path = order.repo / name
        files |= files_below(path, f"repo/{name}") if path.is_dir() else {f"repo/{name}": path}
    if order.archetype is Archetype.VERIFIER:
        hidden, flaky = str(order.document.get("hidden") or ""), str(order.document.get("flaky_file") or "")
        files |= files_below(Path(hidden), "hidden") if hidden else {}
        files |= {"own/flaky.json": Path(flaky)} if flaky else {}
        files |= {f"traces/{number}.jsonl": Path(path) for number, path in enumerate(traces_in(order.document))}
    return files


def traces_in(document: Mapping[str, object]) -> list[str]:
    """Files with the events of coders' sessions, which the library's lanes read."""
    match document.get("library"):
        case {"traces": list(traces)}:
            return [str(trace["path"]) for trace in traces]
    return []


@dataclass(frozen=True, slots=True)
class Bench:
    """Folders of one delivery at a worker: all below `folder`, but `lasting`, which all deliveries share."""

    folder: Path
    lasting: Path

    @property
    def repo(self) -> Path:
        return self.folder / "repo"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @property
    def artifacts(self) -> Path:
        return self.folder / "artifacts"

    @property
    def traces(self) -> Path:
        return self.folder / "traces"

    @property
    def hidden(self) -> Path:
        return self.folder / "hidden"

    @property
    def own(self) -> Path:
        return self.folder / "own"


def opened(parcel: Parcel, bench: Bench, delivery: int, get: Callable[[Content], bytes]) -> LaunchOrder:
    """The order as it stands at the worker, its repository made. Raises Unusable, GitError, OSError, as `get` does."""
    try:
        order = read_order(parcel.order)
    except UnreadableDocument as error:
        raise Unusable(f"the order cannot be read: {error}") from error
    if parcel.object_format not in ("sha1", "sha256"):
        raise Unusable(f"{parcel.object_format[:80]!r} is no format of objects")
    if odd := next((id for id in (parcel.head, order.pinned, *parcel.ids) if not packs.ID.fullmatch(id)), None):
        raise Unusable(f"{odd[:80]!r} is no id of an object")
    bench.folder.mkdir(parents=True, mode=0o700)
    make_repository(parcel, bench, get)
    places = {
        "git": bench.repo / ".git",
        "repo": bench.repo,
        "hidden": bench.hidden,
        "own": bench.own,
        "traces": bench.traces,
    }
    extract(get(parcel.files), places, _SENT, "run")
    check_out(bench.repo, parcel.head, order.pinned)
    return at_home(order, bench, delivery)


def make_repository(parcel: Parcel, bench: Bench, get: Callable[[Content], bytes]) -> None:
    inside = bench.repo / ".git"
    bench.repo.mkdir(mode=0o700)
    git_objects.lay_out(inside, bench.folder, parcel.object_format, BRANCH)
    with (inside / "config").open("a", encoding="utf-8") as file:
        file.write(f"[user]\n\tname = {json.dumps(parcel.who.name)}\n\temail = {json.dumps(parcel.who.email)}\n")
        file.write("[gc]\n\tauto = 0\n")
    if parcel.remote:
        launch = read_order(parcel.order).launch
        bring = partial(remotes.bring, bench.repo, parcel.remote, launch, remotes.SENT, strict=False)
        bring_base(bench, parcel.head, lambda: bring([parcel.head]))
        git.set_ref(bench.repo, f"refs/heads/{BRANCH}", parcel.head)  # what is here is not fetched again
        bring(parcel.ids)
        return
    bring_base(bench, parcel.base.sha256, lambda: unpack(bench.repo, get(parcel.base), "the history of the project"))
    unpack(bench.repo, get(parcel.delta), "the part of the history that the session begins with")


def bring_base(bench: Bench, name: str, bring: Callable[[], None]) -> None:
    """The history up to the person's commit: brought once to a worker, and linked into every repository after that."""
    if not packs.ID.fullmatch(name):
        raise Unusable(f"a history is named by its digest, and not {name[:80]!r}")
    kept, own = bench.lasting / name, bench.repo / ".git/objects/pack"
    if not kept.is_dir():
        bring()
        part = bench.lasting / f"{name}.{bench.folder.name}.part"
        part.mkdir(parents=True)
        link_all(own, part)
        if not kept.is_dir():
            part.rename(kept)
        return
    link_all(kept, own)


def link_all(source: Path, target: Path) -> None:
    for file in source.iterdir():
        (target / file.name).hardlink_to(file)


def check_out(repo: Path, head: str, pinned: str) -> None:
    """Put the person's commit where paths are counted from. Raises Unusable where something is missing."""
    for commit in (head, pinned):
        if git.commit_of(repo, commit) is None:
            raise Unusable(f"commit {commit[:12]} is not in what was sent")
    git.set_ref(repo, f"refs/heads/{BRANCH}", head)
    git.call(repo, "reset", "--quiet", "--hard", head, extra={"GIT_CONFIG_GLOBAL": "/dev/null"})


def at_home(order: LaunchOrder, bench: Bench, delivery: int) -> LaunchOrder:
    """The order with the worker's own folders in it. Each delivery is a launch of its own there."""
    launch = f"{order.launch}.d{delivery}"
    document = dict(order.document)
    if document:
        own = {
            "hidden": str(bench.hidden) if bench.hidden.is_dir() else "",
            "artifacts": str(bench.artifacts),
            "flaky_file": str(bench.own / "flaky.json"),
            "proofs_folder": str(bench.lasting / "proofs"),
            "caches_folder": str(bench.lasting / "caches") if document.get("caches_folder") else "",
        }
        document |= {name: value for name, value in own.items() if name in document}
        library = document.get("library")
        if isinstance(library, dict) and "traces" in library:
            moved = [trace | {"path": str(bench.traces / f"{n}.jsonl")} for n, trace in enumerate(library["traces"])]
            document["library"] = library | {"traces": moved}
    return replace(
        order, launch=launch, repo=bench.repo, state=bench.folder / "launch", log=bench.logs / order.log.name,
        artifacts=str(bench.artifacts), document=document,
    )  # fmt: skip


def secrets_of(order: LaunchOrder, environ: Mapping[str, str]) -> tuple[str, ...]:
    return secret_values({**environ, **order.agent.environment})
