"""What each test command would compile anew: compiled once, before any code of the work runs, for all of a reading.

A command gets a copy that goes with it. What is kept for later readings was compiled from the base commit alone. The
rule, and why it is no other: `docs/adr/0075-build-caches-in-runs.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.system import programs
from agent_fox.system.files import content_in, remove_tree
from agent_fox.system.git import GitError
from agent_fox.system.sandbox.bubblewrap import Container, in_words, is_used
from agent_fox.verifier.running.build_caches import Layers, cloned, key_of
from agent_fox.verifier.running.commands import Bounds, Ended, Place, run_logged
from agent_fox.verifier.source.base_tree import base_tree

if TYPE_CHECKING:
    import re

    from agent_fox.verifier.running.commands import Ground
    from agent_fox.verifier.suites.calls import Call

CACHE = "build-cache"
"""The folder of a command's own cache, below what is private to it."""

_ENDED_BY_ITSELF = (0, 1, 2)
"""Go's exit codes; with 1 and 2 something could not be compiled, and the rest was."""


@dataclass(frozen=True, slots=True)
class Tool:
    """Whose cache may be filled without running code of the project.

    variable: what names the cache. locks: files at the root that say which packages are compiled. filling: compiles
    what tests need, and runs none; `carried` are flags of the command that decide what is compiled, put behind it.
    """

    program: str
    variable: str
    locks: tuple[str, ...]
    filling: tuple[str, ...]
    carried: re.Pattern[str]

    def words(self, call: Call) -> tuple[str, ...]:
        """The filling command for a call. No other of its words is taken: some of them name programs to run."""
        flags = (word for word in call.argv[call.at + 1 :] if self.carried.fullmatch(word))
        return (*self.filling, *sorted({*flags}), "./...")

    def locked(self, tree: Path) -> dict[str, bytes]:
        contents = ((path, content_in(tree, path)) for path in self.locks)
        return {path: content for path, content in contents if content is not None}


TOOLS: Mapping[str, Tool] = {
    "go": Tool(
        "go",
        "GOCACHE",
        ("go.mod", "go.sum", "go.work", "go.work.sum", "vendor/modules.txt"),
        ("test", "-exec=true", "-run=^$"),
        regex(r"--?(?:race|msan|asan|tags=[\w.,-]+|mod=\w+)"),
    )
}


@contextmanager
def own_cache(call: Call | None, ground: Ground, private: Path) -> Iterator[Mapping[str, str]]:
    """The variables that give a command a cache of its own, below its private folder, which goes with the block."""
    tool = TOOLS.get(call.tool) if call else None
    if call is None or tool is None:
        yield {}
        return
    cache = private / CACHE
    try:
        with suppress(OSError):
            cloned(layer_of(tool, tool.words(call), ground), cache)
        yield {tool.variable: str(cache)}
    finally:
        remove_tree(cache, ignore_errors=True)


def layer_of(tool: Tool, words: tuple[str, ...], ground: Ground) -> Path:
    """What was compiled of the tree that is read; no command is shown it."""
    private = ground.folder(f"build-{digest_of(*words, digits=12)}")
    layer, program = private / CACHE, program_of(tool, ground)
    if not layer.is_dir() and program:
        begin(tool, words, program, ground, private)
        _fill(tool, (program, *words), ground, ground.workspace, private)
    return layer


def begin(tool: Tool, words: tuple[str, ...], program: str, ground: Ground, private: Path) -> None:
    """Begin with the kept layer, which is made where it is missing; with nothing where there can be none."""
    order = ground.order
    if not order.caches_folder or order.network or isinstance(order.sandbox, Container) or not is_used(order.sandbox):
        return
    layers, state = Layers(Path(order.caches_folder)), Path(program).stat()
    compiler = f"{program} {state.st_size} {state.st_mtime_ns}"

    def key(tree: Path) -> str:
        return key_of(tool.program, words, compiler, tool.locked(tree), in_words(order.sandbox, network=False))

    if layers.take(key(ground.workspace), private / CACHE) or not order.base_commit:
        return
    with suppress(GitError), base_tree(Path(order.repository), order.base_commit, private / "nothing") as base:
        if key(base.folder) == key(ground.workspace):
            apart = ground.folder(f"{private.name}-base")
            ended = _fill(tool, (program, *words), ground, base.folder, apart)
            if ended.exit_code in _ENDED_BY_ITSELF and layers.keep(key(base.folder), apart / CACHE):
                layers.take(key(base.folder), private / CACHE)


def _fill(tool: Tool, argv: tuple[str, ...], ground: Ground, tree: Path, private: Path) -> Ended:
    """Compile a tree into the cache below a folder. What is wrong with the tree, the tests' own command says."""
    order, is_read = ground.order, tree == ground.workspace
    lent = (*(Path(folder) for folder in order.readable), *ground.also) if is_read else ()
    (private / CACHE).mkdir(exist_ok=True)
    bounds = Bounds(order.sandbox, order.network, order.memory, order.processes, lent)
    variables = {**order.environment, tool.variable: str(private / CACHE)}
    return run_logged(argv, Place(tree, private), variables, order.timeout, bounds, ground.stop)


def program_of(tool: Tool, ground: Ground) -> str:
    """The program that compiles; empty for none that lies outside of the project."""
    if isinstance(ground.order.sandbox, Container):
        return tool.program
    place = programs.of_the_machine(tool.program, ground.workspace, among=ground.order.environment.get("PATH"))
    return str(Path(place).resolve()) if place else ""
