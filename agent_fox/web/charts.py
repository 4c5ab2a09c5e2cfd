"""The pictures of the page as values: where each mark stands, in the units of its own picture. Nothing is drawn here.

They are made from the document of a run, so that they can hold nothing that the document does not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from agent_fox.core.values import dataclass
from agent_fox.engine.account.overview import STANDINGS, STATES

Item = Mapping[str, Any]

MOST_COLUMNS = 12
"""Readings of a spec that the heat map shows, the last ones."""
MOST_NODES = 150
"""Nodes of a plan that is drawn node by node; a larger one is drawn spec by spec."""
MOST_TICKS = MOST_WAITS = 400
"""Decisions and waits in the timeline, the last ones."""
STEP_X, STEP_Y, BOX, LABELS = 46, 34, 24, 190
WIDTH, LANE = 1000, 18
ENDS = ("done", "failed")
"""Kinds of events that end a call."""
LETTERS = {"PASS": "P", "FAIL": "F", "UNKNOWN": "?"}
NOW = {
    "proven": "P", "failing": "F", "unclear": "?", "stale": "~", "elsewhere": "~", "short": "~", "waived": "W",
    "unread": "-",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cell:
    """One reading of one requirement. `had_landing`: a coder's work landed between it and the reading before."""

    letter: str
    word: str
    is_regression: bool
    had_landing: bool


@dataclass(frozen=True, slots=True)
class HeatRow:
    """One requirement. `cells` are in the columns of its spec, None where it was not read."""

    story: Item
    cells: tuple[Cell | None, ...]
    letter: str
    words: str


@dataclass(frozen=True, slots=True)
class HeatSpec:
    """The rows of one spec, what is not proven first. `left_out` counts earlier readings without a column."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[HeatRow, ...]
    left_out: int

    @property
    def open_rows(self) -> tuple[HeatRow, ...]:
        return tuple(row for row in self.rows if row.letter not in "PW")


ORDER = tuple("F?~-WP")


def heat_map(document: Item) -> list[HeatSpec]:
    """Requirements by attempt and reading, specs with what fails first."""
    by_spec: dict[str, list[Item]] = {}
    for story in document["requirements"]:
        by_spec.setdefault(story["spec"], []).append(story)
    specs = [_heat_spec(name, stories) for name, stories in by_spec.items()]
    return sorted(specs, key=lambda spec: min((ORDER.index(row.letter) for row in spec.rows), default=len(ORDER)))


def _heat_spec(name: str, stories: Sequence[Item]) -> HeatSpec:
    tickets = sorted({(r["attempt"], r["reading"]) for story in stories for r in story["readings"]})
    shown = tickets[-MOST_COLUMNS:]
    rows = sorted((_row(story, shown) for story in stories), key=lambda row: ORDER.index(row.letter))
    columns = tuple(f"{attempt}.{reading}" for attempt, reading in shown)
    return HeatSpec(name, columns, tuple(rows), len(tickets) - len(shown))


def _row(story: Item, tickets: Sequence[tuple[int, int]]) -> HeatRow:
    cells = {
        (reading["attempt"], reading["reading"]): Cell(
            LETTERS[reading["word"]], reading["word"], bool(reading["is_regression"]), bool(reading["landed"])
        )
        for reading in story["readings"]
    }
    letter = NOW[story["state"]]
    return HeatRow(story, tuple(cells.get(ticket) for ticket in tickets), letter, STATES[story["state"]])


@dataclass(frozen=True, slots=True)
class Box:
    """A node of the plan, or a spec where there are too many nodes. `href` is the fragment of its drawer."""

    x: int
    y: int
    label: str
    title: str
    kind: str
    href: str


@dataclass(frozen=True, slots=True)
class Line:
    """An edge between the middles of two boxes."""

    x1: int
    y1: int
    x2: int
    y2: int
    kind: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan from left to right by level, a lane for each spec. `is_by_spec`: there were too many nodes."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    lanes: tuple[tuple[int, str], ...]
    is_by_spec: bool


def plan(document: Item) -> Plan:
    """The plan's picture, in pixels."""
    nodes = document["nodes"]
    is_by_spec = len(nodes) > MOST_NODES
    marks = _specs_as_nodes(document) if is_by_spec else [_mark(node) for node in nodes]
    lanes = list(dict.fromkeys(mark["spec"] for mark in marks))
    top = {name: number for number, name in enumerate(lanes)}
    if is_by_spec:
        lanes = []
        top = _packed(marks)
    left, step = (0, 4 * STEP_X) if is_by_spec else (LABELS, STEP_X)
    middle = {
        mark["id"]: (left + mark["level"] * step + BOX, top[mark["spec"]] * STEP_Y + BOX) for mark in marks
    }  # fmt: skip
    boxes = tuple(Box(*middle[m["id"]], m["label"], m["title"], m["kind"], m["href"]) for m in marks)
    blocked = {mark["id"] for mark in marks if mark["kind"] in ("blocked", "escalated")}
    lines = tuple(
        Line(*middle[a], *middle[b], "blocked" if a in blocked or b in blocked else kind)
        for a, b, kind in _edges(document, is_by_spec=is_by_spec)
        if a in middle and b in middle
    )
    width = max((x for x, _ in middle.values()), default=0) + 4 * BOX
    height = max((y for _, y in middle.values()), default=0) + 2 * BOX
    return Plan(width, height, boxes, lines, tuple((top[name] * STEP_Y + BOX, name) for name in lanes), is_by_spec)


def _mark(node: Item) -> dict[str, Any]:
    kind = node["outcome"] if node["outcome"] in ("escalated", "waived") else node["status"]
    letter = {"coder": "", "reviewer": "R", "verifier": "V"}[node["archetype"]]
    group = node["id"].split(":")[1]
    standing = STANDINGS.get(node["outcome"], node["outcome"])
    return {
        "id": node["id"], "spec": node["spec"], "level": node["level"], "label": letter or group,
        "title": f"{node['id']} {node['mode'] or node['archetype']}: {standing or node['status']}", "kind": kind,
        "href": f"node/{node['id']}",
    }  # fmt: skip


def _specs_as_nodes(document: Item) -> list[dict[str, Any]]:
    levels = spec_levels(document)
    return [
        {
            "id": spec["name"], "spec": spec["name"], "level": levels.get(spec["name"], 0), "label": spec["name"][:22],
            "title": f"{spec['name']}: {STANDINGS.get(spec['standing'], spec['standing'])}",
            "kind": spec["standing"].replace(" ", "-"), "href": f"spec/{spec['name']}",
        }
        for spec in document["account"]["specs"]
    ]  # fmt: skip


def spec_levels(document: Item) -> dict[str, int]:
    """How many specs stand in a row before each, by the edges between specs."""
    waits: dict[str, set[str]] = {}
    for a, b, _ in _edges(document, is_by_spec=True):
        waits.setdefault(b, set()).add(a)
    levels: dict[str, int] = {}
    order = [spec["name"] for spec in document["account"]["specs"]]
    for _ in order:  # at most as many rounds as specs, for they may stand in any order
        before = dict(levels)
        for name in order:
            levels[name] = 1 + max((levels.get(other, 0) for other in waits.get(name, ())), default=-1)
        if levels == before:
            break
    return levels


def _packed(marks: Iterable[Item]) -> dict[str, int]:
    """By spec, its row among those of the same level."""
    count: dict[int, int] = {}
    rows: dict[str, int] = {}
    for mark in marks:
        rows[mark["spec"]] = count.get(mark["level"], 0)
        count[mark["level"]] = rows[mark["spec"]] + 1
    return rows


def _edges(document: Item, *, is_by_spec: bool) -> Iterator[tuple[str, str, str]]:
    if not is_by_spec:
        yield from ((edge["source"], edge["target"], edge["kind"]) for edge in document["edges"])
        return
    specs = {node["id"]: node["spec"] for node in document["nodes"]}
    pairs = ((specs[edge["source"]], specs[edge["target"]]) for edge in document["edges"])
    yield from ((a, b, "dependency") for a, b in dict.fromkeys(pairs) if a != b)


@dataclass(frozen=True, slots=True)
class Bar:
    """A session in the timeline. `calls` is where its tools were called, as the data of an SVG path."""

    x: float
    y: int
    width: float
    kind: str
    is_critical: bool
    label: str
    href: str
    calls: str


@dataclass(frozen=True, slots=True)
class Wait:
    """A time in which nothing was launched, in the lane of its session, or over all lanes for the whole run."""

    x: float
    y: int
    width: float
    height: int
    label: str
    story: Item


@dataclass(frozen=True, slots=True)
class Timeline:
    """The sessions of the run shown, by lane; `ticks` are decisions as (x, words)."""

    height: int
    bars: tuple[Bar, ...]
    waits: tuple[Wait, ...]
    ticks: tuple[tuple[float, str], ...]
    start: str
    end: str
    ticks_left_out: int
    waits_left_out: int


def timeline(document: Item) -> Timeline:
    """The sessions of the run shown, over WIDTH units."""
    run = document["account"]["run"]
    sessions = [session for session in document["sessions"] if session["run"] == run]
    if not sessions:
        return Timeline(0, (), (), (), "", "", 0, 0)
    start = min(session["started_at"] for session in sessions)
    end = max((session["ended_at"] or document["made_at"]) for session in sessions)
    scale = Scale(start, end, WIDTH / max(_seconds(start, end), 1e-3))
    lanes = {slot: n for n, slot in enumerate(sorted({session["slot"] for session in sessions}))}
    bars = tuple(_bar(session, scale, lanes) for session in sessions)
    inside = [each for each in document["decisions"] if start <= each["at"] <= end]
    ticks = tuple((scale.x(each["at"]), f"{each['node']}: {each['words']}") for each in inside[-MOST_TICKS:])
    tops = {session["id"]: lanes[session["slot"]] * LANE for session in sessions}
    waits = [wait for wait in document["waits"] if wait["run"] == run]
    return Timeline(
        height=len(lanes) * LANE,
        bars=bars,
        waits=tuple(_wait(wait, scale, tops, len(lanes) * LANE) for wait in waits[-MOST_WAITS:]),
        ticks=ticks,
        start=start,
        end=end,
        ticks_left_out=max(0, len(inside) - MOST_TICKS),
        waits_left_out=max(0, len(waits) - MOST_WAITS),
    )


@dataclass(frozen=True, slots=True)
class Scale:
    """From times (ISO 8601, UTC) to units of a picture; `units` a second. What lies outside is put at the border."""

    start: str
    end: str
    units: float

    def x(self, at: str) -> float:
        return round(_seconds(self.start, min(max(at, self.start), self.end)) * self.units, 1)

    def width(self, begin: str, end: str) -> float:
        return max(round(self.x(end or self.end) - self.x(begin), 1), 1.5)


def _bar(session: Item, scale: Scale, lanes: Mapping[int, int]) -> Bar:
    """With a mark for each unit of the picture in which a tool was called; calls without a time have none."""
    ticket, y = f"attempt {session['attempt']}.{session['reading']}", lanes[session["slot"]] * LANE
    times = (time_of(event) for event in session["events"] if event.get("kind") == "call")
    return Bar(
        x=scale.x(session["started_at"]),
        y=y,
        width=scale.width(session["started_at"], session["ended_at"]),
        kind=session["archetype"],
        is_critical=session["is_critical"],
        label=f"{session['node']} {ticket}: {session['end'] or session['status']}",
        href=f"session/{session['id']}",
        calls="".join(f"M{x} {y + 5}v8" for x in sorted({round(scale.x(at)) for at in times if at})),
    )


def _wait(wait: Item, scale: Scale, tops: Mapping[int, int], height: int) -> Wait:
    y = tops.get(wait["session"])
    return Wait(
        x=scale.x(wait["began_at"]),
        y=y or 0,
        width=scale.width(wait["began_at"], wait["ended_at"]),
        height=height if y is None else LANE,
        label=f"{wait['node'] or 'the run'} waited: {wait['kind']}: {wait['reason']}",
        story=wait,
    )


@dataclass(frozen=True, slots=True)
class Act:
    """One call of a tool. `at` is empty where nobody noted it; `seconds` None where its end was not seen.

    `end` is done, failed, or empty; where it stands alone, the call itself is not among the events.
    """

    at: str
    kind: str
    tool: str
    edits: tuple[str, ...]
    command: str
    seconds: float | None = None
    end: str = ""


def acts(session: Item) -> Iterator[Act]:
    """What a session's tools did, each call with its end where both are there. A file of events may hold anything: what
    is no text in it is shown as none."""
    events = session["events"]
    calls = {event["call"] for event in events if event.get("kind") == "call" and isinstance(event.get("call"), int)}
    ends = {event["call"]: event for event in events if _is_end(event, calls)}
    for event in events:
        if _is_end(event, calls):
            continue
        at, edits, is_whole = time_of(event), event.get("edits"), event.get("is_whole")
        end = ends.get(event["call"], {}) if isinstance(event.get("call"), int) else {}
        ended = time_of(end)
        yield Act(
            at=at,
            kind="cut off: what came later is not recorded" if is_whole is False else _text(event.get("kind")),
            tool=_text(event.get("tool")),
            edits=tuple(map(_text, edits)) if isinstance(edits, (list, tuple)) else (),
            command=_text(event.get("command")),
            seconds=_seconds(at, ended) if at and ended else None,
            end=_text(end.get("kind")),
        )


def _is_end(event: Item, calls: Collection[int]) -> bool:
    """Whether it ends one of these calls."""
    return event.get("kind") in ENDS and isinstance(event.get("call"), int) and event["call"] in calls


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


LOG = "log: artifact://"


def addresses(evidence: str) -> list[str]:
    """The logs that evidence names, each once."""
    lines = (line.strip() for line in evidence.split("\n"))
    return list(dict.fromkeys(line.removeprefix("log: ") for line in lines if line.startswith(LOG)))


def without_addresses(evidence: str) -> list[str]:
    """The lines of evidence that do not only name a log."""
    return [line for line in evidence.split("\n") if not line.strip().startswith(LOG)]


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines of a difference that belong together, with their signs: what was, and what is.

    `kind` is head (names of files, places), same, or change; `new` has lines of a change alone.
    """

    kind: str
    old: tuple[str, ...]
    new: tuple[str, ...]


def hunks(diff: str) -> list[Hunk]:
    """A difference as git prints it, in its order."""
    groups: list[tuple[str, list[str], list[str]]] = []
    is_head = True
    for line in diff.rstrip("\n").split("\n"):
        is_head = line.startswith("diff --git ") or (is_head and not line.startswith("@@"))
        kind = "head" if is_head else {"+": "change", "-": "change", " ": "same"}.get(line[:1], "head")
        is_added = kind == "change" and line.startswith("+")
        if not groups or groups[-1][0] != kind or (kind == "change" and not is_added and groups[-1][2]):
            groups.append((kind, [], []))
        _, old, new = groups[-1]
        (new if is_added else old).append(line)
    return [Hunk(kind, tuple(old), tuple(new)) for kind, old, new in groups]


def time_of(event: Item) -> str:
    """When an event was heard; empty where that is not recorded, or is no time."""
    at = _text(event.get("at"))
    try:
        return at if datetime.fromisoformat(at).tzinfo else ""
    except ValueError:
        return ""


@dataclass(frozen=True, slots=True)
class Burn:
    """What was spent over time, as two lines of points in a picture of WIDTH by `height`, and where the ceiling is."""

    height: int
    known: str
    total: str
    ceiling_y: float | None
    most: float


def burn(document: Item) -> Burn | None:
    """None where nothing was spent."""
    points = document["costs"]["points"]
    ceiling = document["costs"]["ceiling_usd"]
    most = max((point["known_usd"] + point["assumed_usd"] for point in points), default=0.0)
    if not most:
        return None
    top = max(most, ceiling or 0.0)
    height = 120
    first, last = points[0]["at"], points[-1]["at"]
    scale = WIDTH / max(_seconds(first, last), 1e-3)
    known, total = [], []
    for point in points:
        x = round(_seconds(first, point["at"]) * scale, 1)
        known.append(f"{x},{round(height - point['known_usd'] / top * height, 1)}")
        total.append(f"{x},{round(height - (point['known_usd'] + point['assumed_usd']) / top * height, 1)}")
    ceiling_y = None if ceiling is None else round(height - ceiling / top * height, 1)
    return Burn(height, " ".join(known), " ".join(total), ceiling_y, top)


def _seconds(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
