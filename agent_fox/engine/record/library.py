"""The specification library as a run uses it: brought in line with the files, and handed to the judge `library`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.formal.specification import Checklist, Specification
from agent_fox.core.late import late_module
from agent_fox.evidence import library
from agent_fox.evidence.library import Trust
from agent_fox.evidence.library_files import errors, read_spec_library
from agent_fox.evidence.waivers import grounds_of
from agent_fox.session.agents.runner.trace import trace_beside
from agent_fox.store import library as stored
from agent_fox.store.sessions import coder_logs
from agent_fox.system.adapters import adapter
from agent_fox.verifier.ground.order import CheckOrder
from agent_fox.verifier.lanes.order import ORDER, LibraryOrder
from agent_fox.verifier.lanes.results import TraceFile

if TYPE_CHECKING:
    import pydantic
    from sqlite_utils import Database

    from agent_fox.config import Settings
    from agent_fox.core.spec import Spec
    from agent_fox.engine.record.docket import Docket
else:
    pydantic = late_module("pydantic")

OBJECTS: pydantic.TypeAdapter[tuple[Specification, ...]] = adapter(
    lambda: pydantic.TypeAdapter(tuple[Specification, ...])
)


class LibraryBroken(ValueError):
    """A specifications.toml cannot be used. A line for each thing that is wrong."""


@dataclass(frozen=True)
class Shelf:
    """Where the library's words are weighed: the repository, its settings, the person's environment."""

    root: Path
    settings: Settings
    environ: Mapping[str, str]

    @property
    def trust(self) -> Trust:
        grounds = grounds_of(self.root, self.settings, self.environ)
        return Trust(grounds.repository, lambda: grounds.signers)

    def adopted(self, db: Database, spec_name: str) -> tuple[Specification, ...]:
        """What binds requirements of the spec now. Signatures of persons are checked again."""
        return library.binding(db, spec_name, self.trust) if spec_name in stored.specs(db) else ()

    def with_lane(self, db: Database, spec_name: str) -> tuple[Specification, ...]:
        return tuple(item for item in self.adopted(db, spec_name) if item.has_lane)


def formal(objects: Iterable[Specification]) -> tuple[Specification, ...]:
    """Those that can be proved."""
    return tuple(item for item in objects if item.is_formal)


def checklists(objects: Iterable[Specification]) -> dict[str, tuple[str, ...]]:
    """The questions that a reviewer is to answer, by the address of their checklist."""
    return {item.address: item.check.items for item in objects if isinstance(item.check, Checklist)}


def read_files(specs: Iterable[Spec], root: Path) -> dict[str, tuple[Specification, ...]]:
    """What each spec's folder asks for now. Raises LibraryBroken for what was found right a moment ago."""
    read: dict[str, tuple[Specification, ...]] = {}
    for spec in specs:
        read[spec.name], problems = read_spec_library(spec, root)
        if errors(problems):
            raise LibraryBroken("\n".join(f"{problem.where}: {problem.what}" for problem in problems))
    return read


def sync_library(tx: Docket, files: Mapping[str, Sequence[Specification]]) -> tuple[str, ...]:
    """Adopt what the specs' folders ask for, and withdraw what they do not any more, in the open transaction."""
    known = stored.specs(tx.db)
    return tuple(
        f"{change.specification.address} ({change.specification.kind}) is {change.state}"
        for spec_name, wanted in files.items()
        if wanted or spec_name in known
        for change in library.sync(tx.db, tx.at, spec_name, wanted)
    )


def order_for(db: Database, spec_name: str, objects: Sequence[Specification], root: Path) -> dict[str, object]:
    """What the judge `library` is to do, without the order of the commands, which it shares with `checks`."""
    whole = LibraryOrder(spec_name, tuple(objects), CheckOrder({}), tuple(traces_of(db, spec_name, root)))
    document: dict[str, object] = ORDER.dump_python(whole, mode="json", exclude={"order"})
    return document


def traces_of(db: Database, spec_name: str, root: Path) -> Iterator[TraceFile]:
    """Where the last session of each coder that ended well recorded its events."""
    for node, attempt, reading, log in coder_logs(db, spec_name):
        yield TraceFile(f"{node}@{attempt}.{reading}", str(trace_beside(root / log)))
