"""What results of commands rest on, as it stands now: source, packages, products, tools and machine. Runs nothing.

What is looked at, and what is not, stands in `docs/verifier.md`, "Results that are taken again".
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.system.files import replace_file
from agent_fox.system.processes import processors
from agent_fox.system.sandbox import bubblewrap, toolchains
from agent_fox.system.sandbox.bubblewrap import SandboxMode
from agent_fox.system.sandbox.view import etc_shown
from agent_fox.verifier.profiles.narrowing import fingerprint
from agent_fox.verifier.running.execution import scope_of
from agent_fox.verifier.running.guarded import environment_of
from agent_fox.verifier.source.git import GIT
from agent_fox.verifier.source.scope import Rules, SourceScope
from agent_fox.verifier.source.watch import SourceMissing, TreeState, read_tree

if TYPE_CHECKING:
    from agent_fox.verifier.ground.request import Prepared
    from agent_fox.verifier.profiles.context import RunContext
    from agent_fox.verifier.source.files import Seen

MOST_FILES = 1_000_000
"""So many files and folders are looked at; of a machine or checkout with more nothing is known."""

MOST_SOURCE = 64 * 1024 * 1024
"""Bytes of source that are read for words that ask a clock or chance."""

ASKS = regex(
    rb"(?i)\bnow\(|\.(?:utc|local)?now\b|\.today\b|\btoday\(|\btime\.time|\btime_ns\b|\bmonotonic|\bperf_counter|\b(?:local|gm)time\("
    rb"|from time import|\brandom|\buuid|\bsecrets\b|\burandom|\bhypothesis\b|\bfaker\b|getrandom|\bthread_rng|\brand::"
    rb"|\brand\.|/rand\"|\bnew Date\(\)|Instant::|SystemTime|currentTimeMillis|nanoTime|\bhrtime|time\.Since"
    rb"|\bs?rand\(|\bclock_?(?:gettime)?\(|\bgettimeofday|\btime\((?:NULL|0|nullptr|&)"
)
"""Words by which code asks what time it is, or leaves something to chance."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What results rest on, as digests (hex), and when the newest of it was changed (nanoseconds of the clock).

    source: names, modes and contents, and what is watched of git. rest: installed packages and other files that are no
    source. products: files that commands of the profile may write. environment: profile, limits, machine and tools.
    """

    source: str
    rest: str
    products: str
    environment: str
    newest: int

    @property
    def compared(self) -> tuple[str, ...]:
        return self.source, self.rest, self.products, self.environment


@dataclass(frozen=True, slots=True)
class Ground:
    """How everything stands: the tree, and by path the mode and content of what of it is source, but git's own."""

    tree: TreeState
    standing: Standing

    @property
    def sources(self) -> dict[str, str]:
        return {path: f"{seen.mode:o} {seen.content.hex()}" for path, seen in _source(self.tree)}


@dataclass(frozen=True, slots=True)
class Moment:
    """When and where results are kept. commit: empty outside of git."""

    ground: Ground
    day: str
    commit: str
    at: str

    def asks_clock_or_chance(self, files: Iterable[str] | None = None) -> bool:
        """Whether these files of source (None: all) ask what time it is, or leave something to chance; also where
        there is too much to read.
        """
        left = MOST_SOURCE
        for path in (path for path, _ in _source(self.ground.tree)) if files is None else files:
            try:
                content = (self.ground.tree.root / path).read_bytes()
            except OSError:
                continue  # a link that leads nowhere, a pipe, or what was looked for and is not there
            left -= len(content)
            if left < 0 or ASKS.search(content):
                return True
        return False


def ground(context: RunContext, commands: Collection[Prepared], folders: Path) -> Ground | None:
    """How everything stands for these commands; None where that cannot be known: without a sandbox, of too much, or
    where the workspace is gone.

    folders: a file that names the folders of tools and packages outside of the workspace, for the next look.
    """
    products = dict.fromkeys(path for command in commands for path in command.products)
    try:
        tree = read_tree(context.root, scope_of(context, tuple(products)))
    except SourceMissing:
        return None
    stands = standing(context, commands, tree, folders)
    return Ground(tree, stands) if stands else None


def standing(context: RunContext, commands: Iterable[Prepared], tree: TreeState, folders: Path) -> Standing | None:
    """What results of these commands rest on now; None where it cannot be known: without a sandbox, or of too much.

    folders: a file that names the folders of tools and packages outside of the workspace, for the next look.
    """
    if not isinstance(context.sandbox, SandboxMode) or not bubblewrap.is_used(context.sandbox):
        return None
    rest, products, outside = _Stamps(), _Stamps(), _Stamps()
    try:
        look_at_workspace(context, tree, rest, products)
        for words in words_of_the_machine(context):
            outside.word(words)
        for place in (*etc_shown(network=False), str(Path(__file__).parents[1]), *map(str, context.readable)):
            outside.add(place)
        outside.word(digest_of_folders(outside, tools_of(context, commands), folders))
    except _TooMany:
        return None
    of_source = (seen.stamp[3] if seen.stamp else time.time_ns() for _, seen in _source(tree))
    newest = max(*of_source, rest.newest, outside.newest)
    return Standing(source_digest(tree), rest.digest, products.digest, outside.digest, newest)


def source_digest(tree: TreeState) -> str:
    """SHA-256 (hex) of names, modes and contents, and of what is watched of git."""
    entries = sorted((folder + name, seen) for folder, held in tree.folders.items() for name, seen in held.items())
    whole = hashlib.sha256()
    for path, seen in entries:
        whole.update(b"%b\0%o %d\0%b" % (os.fsencode(path), seen.mode, len(seen.content), seen.content))
    return whole.hexdigest()


def _source(tree: TreeState) -> Iterator[tuple[str, Seen]]:
    """Path and look of every file, but of git's own."""
    for folder, held in tree.folders.items():
        if not f"/{folder}".endswith("/.git/") and "/.git/" not in f"/{folder}":
            yield from ((folder + name, seen) for name, seen in held.items())


def look_at_workspace(context: RunContext, tree: TreeState, rest: _Stamps, products: _Stamps) -> None:
    """All that is no source, and the names of folders; git's own files are told by the tree."""
    rules = Rules(tree.scope)
    made = Rules(SourceScope(exclude=(*(f"{name}/" for name in context.profile.policy.write_folders), "__pycache__/")))
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        for entry in rest.entries(f"{tree.root}/{folder}"):
            path = folder + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name == GIT:
                continue
            if made.excludes_folder(path) if is_folder else rules.excludes_file(path):
                products.add(entry.path)
            elif is_folder and rules.excludes_folder(path):
                rest.add(entry.path)
            elif is_folder:
                rest.word(path)
                waiting.append(f"{path}/")


def tools_of(context: RunContext, commands: Iterable[Prepared]) -> list[str]:
    """What commands see of the machine's programs and packages: folders, none below another."""
    places = {*(folder for folder in toolchains.SYSTEM if not folder.is_symlink())}
    places |= {place for _, place in toolchains.caches(os.environ, context.profile.language)}
    for command in commands:
        environment = environment_of(context.root, command.environment)
        for argv in (*command.before, command.argv):
            places |= {tool.resolve() for tool in toolchains.started(argv[0], command.cwd, environment)}
    inside = context.root.resolve()
    return sorted(
        str(place) for place in places if places.isdisjoint(place.parents) and not place.is_relative_to(inside)
    )


def digest_of_folders(stamps: _Stamps, places: Sequence[str], file: Path) -> str:
    """A digest of every folder below the places; each tells of what came to it, went from it, or was replaced in it.

    Where no folder that `file` names has changed, there is no other one.
    """
    try:
        known = json.loads(file.read_bytes())
        folders = known["folders"] if known["places"] == places else []
    except (OSError, ValueError, KeyError, TypeError):
        folders = []
    if folders and (digest := stamps.of_folders(folders)) == known["digest"]:
        return digest
    walk = _Stamps()
    folders = [folder for place in places for folder in walk.folders_below(place)]
    digest = stamps.of_folders(folders)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    document = {"places": places, "digest": digest, "folders": folders}
    replace_file(file, json.dumps(document, ensure_ascii=True).encode(), is_durable=False)
    return digest


def words_of_the_machine(context: RunContext) -> Iterator[str]:
    """What a result may differ by that is in no file of a workspace; of programs on the search path, their files."""
    yield f"agent-fox {version('agent-fox')}, profile {fingerprint(context.profile)}"
    yield bubblewrap.in_words(context.sandbox, network=False)
    yield f"{context.memory} bytes, {context.processes} processes"
    yield f"{' '.join(os.uname())}, {processors()} processors, user {os.getuid()}"
    for entry in os.environ.get("PATH", os.defpath).split(os.pathsep):
        programs = _Stamps()
        for program in programs.entries(entry) if entry and not entry.startswith("/usr/") else ():
            programs.stamp(program.path, program.stat(follow_symlinks=False))
        yield f"{entry} {programs.digest}"


class _TooMany(Exception):
    """There are more files than are looked at."""


class _Stamps:
    """A digest of files by mode, inode, size and ctime, which nobody can set. `newest`: the latest ctime among them."""

    def __init__(self) -> None:
        self._whole, self._count, self.newest = hashlib.sha256(), 0, 0

    @property
    def digest(self) -> str:
        return self._whole.hexdigest()

    def word(self, text: str) -> None:
        self._whole.update(os.fsencode(text) + b"\0")

    def stamp(self, path: str, status: os.stat_result) -> None:
        line = f"{path}\0{status.st_mode} {status.st_ino} {status.st_size} {status.st_ctime_ns}\0"
        self._whole.update(os.fsencode(line))
        self.newest = max(self.newest, status.st_ctime_ns)

    def add(self, place: str) -> None:
        """A file, or a folder with all below it."""
        with suppress(OSError):
            self.stamp(place, os.lstat(place))
        for folder in self.folders_below(place) if Path(place).is_dir() else ():
            for entry in self.entries(folder):
                with suppress(OSError):
                    self.stamp(entry.path, entry.stat(follow_symlinks=False))

    def folders_below(self, place: str) -> Iterator[str]:
        """A folder and all below it, links not followed. Raises _TooMany."""
        waiting = [place]
        while waiting:
            folder = waiting.pop()
            yield folder
            waiting += [entry.path for entry in self.entries(folder) if entry.is_dir(follow_symlinks=False)]

    def of_folders(self, folders: Iterable[str]) -> str:
        """A digest (hex) of these folders, which may not be there."""
        whole = hashlib.sha256()
        for folder in folders:
            try:
                status = os.lstat(folder)
            except OSError:
                continue
            whole.update(b"%b\0%d %d\0" % (os.fsencode(folder), status.st_ino, status.st_ctime_ns))
            self.newest = max(self.newest, status.st_ctime_ns)
        return whole.hexdigest()

    def entries(self, folder: str) -> list[os.DirEntry[str]]:
        """What a folder holds, sorted; nothing where it cannot be listed. Raises _TooMany."""
        try:
            with os.scandir(folder) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
        except OSError:
            self.word(f"{folder} cannot be listed")
            return []
        self._count += len(entries)
        if self._count > MOST_FILES:
            raise _TooMany
        return entries
