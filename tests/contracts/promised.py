"""What plugins, hosts and scripts rely on, gathered from code: paths, interfaces, hooks, codes, tables, documents."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from importlib import import_module
from pathlib import Path

from agent_fox import plugins
from agent_fox.cli.exits import Exit
from agent_fox.engine import hosting

GOLDEN = Path(__file__).parent / "golden"

IMPORTED = (
    *(
        "agent_fox.core.graph:Node",
        "agent_fox.core.graph:Plan",
        "agent_fox.core.ids:Archetype",
        "agent_fox.core.ids:Ticket",
    ),
    *("agent_fox.core.policy:Policy", "agent_fox.core.spec:Criterion", "agent_fox.core.spec:Group"),
    *("agent_fox.core.spec:Problem", "agent_fox.core.spec:Requirement", "agent_fox.core.spec:Severity"),
    *("agent_fox.core.spec:Spec", "agent_fox.engine.record.docket:Docket", "agent_fox.engine.record.docket:Handled"),
    *("agent_fox.engine.running.results:EndedSession", "agent_fox.engine.running.results:ResultHandler"),
    *("agent_fox.engine.running.results:Reviewers", "agent_fox.evidence.granting:sign_with_key"),
    *("agent_fox.evidence.waivers:Grounds", "agent_fox.plugins:hookimpl", "agent_fox.session.backends:Backend"),
    *("agent_fox.session.order:Agent", "agent_fox.session.order:LaunchOrder", "agent_fox.session.order:Paths"),
    *("agent_fox.specs.dialects:Dialect", "agent_fox.specs.planner:PlanShape", "agent_fox.specs.planner:plan_of"),
    *("agent_fox.store.records:record_event", "agent_fox.trackers.local:LocalTracker"),
    *("agent_fox.trackers.protocol:Delivery", "agent_fox.trackers.protocol:Done", "agent_fox.trackers.protocol:Effect"),
    *("agent_fox.trackers.protocol:Held", "agent_fox.trackers.protocol:Tracker"),
    "agent_fox.verifier.logs.protocol:LogParser",
)
"""What the documents, the examples and the plugin of the tests import, beside `agent_fox.engine.hosting`."""

PROTOCOLS = (
    "agent_fox.session.backends:Backend",
    "agent_fox.specs.dialects:Dialect",
    "agent_fox.trackers.protocol:Tracker",
    "agent_fox.engine.running.results:ResultHandler",
    "agent_fox.verifier.logs.protocol:LogParser",
)

DOCUMENTS = (
    *(
        "status --json",
        "plan --json",
        "explain 01_calc:2 --json",
        "explain 02_top:2 --json",
        "explain 01-REQ-1.1 --json",
    ),
    *("ledger show --json", "ledger verify --json", "lint --json", "issues list --json", "waive --list --json"),
    *("library list --json", "keys list --json", "review tasks --json", "agree --list --json"),
)
"""Commands over the finished run whose JSON documents are promised; the summary of the run itself comes beside them."""


def loaded(place: str) -> object:
    module, name = place.split(":")
    return getattr(import_module(module), name)


def imports() -> list[str]:
    """The promised places at which something is. Raises ImportError or AttributeError where it is not."""
    return sorted(place for place in IMPORTED if loaded(place) is not None)


def protocols() -> dict[str, dict[str, str]]:
    """Each protocol's public members, with their signatures."""
    return {place: dict(_members(loaded(place))) for place in PROTOCOLS}


def _members(of: object) -> list[tuple[str, str]]:
    public = sorted(name for name in dir(of) if not name.startswith("_"))
    found = [(name, _signature(getattr(of, name))) for name in public]
    return found + [(name, "a value") for name in sorted(inspect.get_annotations(of)) if name not in public]  # type: ignore[arg-type]


def _signature(member: object) -> str:
    if isinstance(member, type) and issubclass(member, Exception):
        return "an error"
    if isinstance(member, type) and dataclasses.is_dataclass(member):  # its `__init__` is made when first called
        return ", ".join(each.name for each in dataclasses.fields(member) if each.init)
    if not callable(member):
        return "a value"
    return ", ".join(each.name for each in inspect.signature(member).parameters.values())


def hooks() -> dict[str, list[str]]:
    found: Mapping[str, Callable[..., object]] = {
        name: value for name, value in vars(plugins).items() if hasattr(value, f"{plugins.GROUP}_spec")
    }
    return {name: list(inspect.signature(hook).parameters) for name, hook in sorted(found.items())}


def hosted() -> dict[str, str]:
    """What `hosting` promises, each with the names of its parameters or fields."""
    return {name: _signature(getattr(hosting, name)) for name in sorted(hosting.__all__)}


def exits() -> dict[str, int]:
    return {code.name: int(code) for code in Exit}


def tables(state: Path) -> dict[str, list[str]]:
    """Tables and views of a state file, each with its columns and their types, in order."""
    with closing(sqlite3.connect(f"file:{state}?mode=ro", uri=True)) as db:
        names = [
            name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY 1")
        ]
        return {
            name: [f"{row[1]} {row[2]}".rstrip() for row in db.execute(f'PRAGMA table_info("{name}")')]
            for name in names
        }


NAMED = re.compile(r"[a-z][a-z0-9_]*")
"""A key of a document that is a name of ours (`exit_code`), and no datum (`01-REQ-1.1`, `red without`)."""


def shape(value: object) -> object:
    """What a document is made of: names with shapes, lists with the shapes of what they hold, types. No data."""
    if isinstance(value, dict):
        if value and not all(NAMED.fullmatch(key) for key in value):
            return {"*": merged([shape(each) for each in value.values()])}
        return {key: shape(each) for key, each in sorted(value.items())}
    if isinstance(value, list):
        return [merged([shape(each) for each in value])] if value else []
    return "null" if value is None else type(value).__name__


def merged(shapes: list[object]) -> object:
    """One shape for several: of dicts by name, else all that occur, in order."""
    if all(isinstance(each, dict) for each in shapes):
        names = sorted({name for each in shapes for name in each})  # type: ignore[attr-defined]
        return {name: merged([each[name] for each in shapes if name in each]) for name in names}  # type: ignore[index,operator]
    distinct = {json.dumps(each, sort_keys=True): each for each in shapes}
    return next(iter(distinct.values())) if len(distinct) == 1 else [distinct[key] for key in sorted(distinct)]


def written(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
