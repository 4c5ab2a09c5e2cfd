"""The page: one HTML document from the document of a run, with nothing to load from anywhere.

Everything in it that we did not write is text: freed of control characters, masked, and escaped by the templates.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from agent_fox.core.markdown import printable
from agent_fox.core.values import to_document
from agent_fox.core.words import counted, listed, quote
from agent_fox.engine.account.overview import STANDINGS, STATES
from agent_fox.engine.account.run_document import TEXTS, RunDocument
from agent_fox.system.redaction.masking import redact
from agent_fox.web import charts

MOST_TEXT = 900_000
"""Characters of logs, events, differences and briefs on one page."""
MOST_DRAWERS = 2_000
"""Drawers of requirements that are proven and were read once; the page says how many are left out."""
EXACT = 10.0
"""Seconds up to which a length of time is told with a tenth."""
MOST_CLEANED = 50_000
MOST_FOLDED = 60
"""Rows of a spec that the heat map shows without being asked."""


def page(whole: RunDocument, *, secrets: Iterable[str] = (), is_live: bool = False) -> str:
    """The page as HTML. `secrets` are values that must not stand in it; `is_live`: it is served, and asks for news."""
    values, cleaned = tuple(secrets), lru_cache(MOST_CLEANED)(clean)  # most texts stand in many places
    document: Any = to_document(whole.document(), text=lambda text: cleaned(text, values))
    template = _environment().get_template("page.html")
    style, script = asset("page.css"), asset("page.js")
    policy = {
        "style-src": digest(style),
        "script-src": digest(script),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    policy |= {"connect-src": "'self'"} if is_live else {}
    return template.render(
        document=document,
        account=document["account"],
        costs=document["costs"],
        heat=charts.heat_map(document),
        plan=charts.plan(document),
        time=charts.timeline(document),
        burn=charts.burn(document),
        drawers=drawers(document),
        sessions={session["id"]: session for session in document["sessions"]},
        decisions=by_session(document["decisions"]),
        told_of=by_node(document),
        model=embedded({**document, "sessions": [_light(session) for session in document["sessions"]]}),
        style=Markup(style),
        script=Markup(script),
        policy="; ".join(("default-src 'none'", *(f"{name} {value}" for name, value in policy.items()))),
        is_live=is_live,
        last_sign=last_sign(document),
        most_folded=MOST_FOLDED,
        width=charts.WIDTH,
    )


def clean(text: str, secrets: tuple[str, ...]) -> str:
    """Text as it may be shown: without control characters and direction marks, and masked."""
    return redact(printable(text), secrets)


def _light(session: Mapping[str, Any]) -> dict[str, Any]:
    """A session without the long texts, which stand in its drawer."""
    return {name: value for name, value in session.items() if name not in TEXTS}


def drawers(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The requirements that have a drawer: all with something to tell, and the first MOST_DRAWERS of the others."""
    plain_count = 0
    chosen = []
    for story in document["requirements"]:
        if story["state"] == "proven" and len(story["readings"]) <= 1:
            plain_count += 1
            if plain_count > MOST_DRAWERS:
                continue
        chosen.append(story)
    return chosen


def by_session(decisions: Iterable[Mapping[str, Any]]) -> dict[int, list[Mapping[str, Any]]]:
    """The decisions about the end of each session."""
    of: dict[int, list[Mapping[str, Any]]] = {}
    for decision in decisions:
        of.setdefault(decision["session"], []).append(decision)
    of.pop(0, None)
    return of


def by_node(document: Mapping[str, Any]) -> dict[str, tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]]:
    """For each node its sessions, and the decisions that are about it, blamed it or moved it."""
    of: dict[str, tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]]
    of = {node["id"]: ([], []) for node in document["nodes"]}
    for session in document["sessions"]:
        if session["node"] in of:
            of[session["node"]][0].append(session)
    for decision in document["decisions"]:
        for name in {decision["node"], *decision["blamed"], *decision["moved"]} & of.keys():
            of[name][1].append(decision)
    return of


def last_sign(document: Mapping[str, Any]) -> str:
    """When anything was recorded last; empty where nothing was."""
    times = [session["ended_at"] or session["started_at"] for session in document["sessions"]]
    times += [decision["at"] for decision in document["decisions"][-1:]]
    return max(times, default="")


def embedded(document: object) -> Markup:
    """JSON that no text in it can end: it holds no `<`, and no line separator."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    for letter in "<\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def digest(text: str) -> str:
    """The hash that a content policy allows an inline style or script by."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def asset(name: str) -> str:
    return files("agent_fox.web").joinpath("templates", name).read_text("utf-8")


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.globals |= {"states": STATES, "standings": STANDINGS}
    environment.filters |= {
        "money": lambda usd: f"${usd:,.2f}",
        "clock": clock,
        "duration": duration,
        "exactly": lambda seconds: f"{seconds:.1f} s" if seconds < EXACT else duration(seconds),
        "time": lambda at: datetime.fromisoformat(at).astimezone(UTC).strftime("%H:%M:%S"),
        "span": span,
        "acts": charts.acts,
        "addresses": charts.addresses,
        "without_addresses": charts.without_addresses,
        "hunks": charts.hunks,
        "counted": counted,
        "listed": listed,
        "quoted": quote,
        "short": lambda commit: commit[:12],
    }
    return environment


def clock(at: str) -> str:
    """A stored time (ISO 8601, UTC) to the second, for people anywhere."""
    return datetime.fromisoformat(at).strftime("%Y-%m-%d %H:%M:%S UTC") if at else ""


def span(wait: Mapping[str, Any]) -> str:
    """How long a wait took; of one that lasts, until when it is to."""
    begin, end = wait["began_at"], wait["ended_at"]
    if end:
        return duration((datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds())
    return f"until {clock(wait['until'])}" if wait["until"] else "it lasts"


def duration(seconds: float) -> str:
    """`42 s`, `3 min 05 s`, `2 h 10 min`."""
    whole = max(int(seconds), 0)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
