"""One model: every number that a person reads about a run is that of its document, on whatever screen or page.

Each screen is read by CLAIMS. What still has a digit after that, and is no name, time or hash, fails: a new number
needs a row here, and a place in the document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent_fox.core.verdicts.known import counts_in_words
from agent_fox.engine.account.overview import STATES
from agent_fox.testing.worlds import NEVER, Req, World, issue_files, run_cli
from tests.stories.scene import CANNOT_GO_ON, CEILING, NOT_PROVEN

Document = dict[str, Any]
Told = tuple[object, ...]
WIDE = "2000"
"""Columns, so that no line is wrapped or cut."""

LIMITED = 'fail API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}'
SPECS = {
    "01_a": [Req("01-REQ-1.1"), Req("01-REQ-1.2", right_at=2)],
    "02_b": [Req("02-REQ-1.1", right_at=NEVER), Req("02-REQ-1.2"), Req("02-REQ-2.1", 2)],
    "03_c": [Req("03-REQ-1.1")],
}
DEPENDS = {"02_b": "01_a", "03_c": "02_b"}
SETTINGS = "[retry]\nattempts = 3\n[infrastructure]\nfirst_wait = 0.05\n"


@dataclass(frozen=True)
class Case:
    """A world, how its run ends, and what is typed after it: another run has an account of its own."""

    world: World
    ends: int
    then: tuple[str, ...] = ()


CASES = {
    "crash, reread, no progress": Case(
        World(
            SPECS, depends=DEPENDS, coder_does={"01_a:1/1": "crash"}, verifier_says={"01_a/1/1": "unsure"},
            settings=SETTINGS, cost=0.25,
        ), NOT_PROVEN,
    ),
    "launches lost to a rate limit, and a second run": Case(
        World(SPECS, depends=DEPENDS, coder_does={"02_b:1/1": [LIMITED, LIMITED]}, settings=SETTINGS, cost=0.37),
        NOT_PROVEN, ("run", "--new-run"),
    ),
    "nobody tells a cost, and a person resets": Case(
        World(SPECS, depends=DEPENDS, settings=SETTINGS, cost=None), NOT_PROVEN, ("reset", "02_b:3"),
    ),
    "a ceiling": Case(World(SPECS, settings=f"{SETTINGS}[limits]\ncost_usd = 2.1\n", cost=0.61), CEILING),
    "a pause for good": Case(
        World(SPECS, coder_does={"01_a:1/1": LIMITED}, settings=f"{SETTINGS}attempts = 2\n", cost=0.11), CANNOT_GO_ON
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """What a case's people read, by screen, and the document."""

    document: Document
    screens: dict[str, str]


def read(root: Path, end: str) -> Reading:
    def screen(*arguments: str) -> str:
        return run_cli(root, *arguments, COLUMNS=WIDE).stdout

    document: Document = json.loads(screen("report", "--json"))
    screens = {"status": screen("status"), "the end of the run": end}
    screens |= {f"explain {node['id']}": screen("explain", node["id"]) for node in document["nodes"]}
    screens |= {f"issue {number}": path.read_text() for number, path in enumerate(issue_files(root), 1)}
    reports = sorted((root / ".agent-fox" / "verification").rglob("verification.md"))
    screens |= {f"report of {path.parent.name}": path.read_text() for path in reports}
    return Reading(document, screens)


@pytest.fixture(scope="module", params=CASES)
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reading:
    case = CASES[request.param]
    root = case.world.build(tmp_path_factory.mktemp("model"))
    done = run_cli(root, "run", COLUMNS=WIDE)
    assert done.returncode == case.ends, (done.stdout, done.stderr)
    if case.then:
        done = run_cli(root, *case.then, COLUMNS=WIDE)
    end = done.stdout.partition("\n\n")[2] if "run" in (*case.then, "run")[:1] else ""
    return read(root, end)


def usd(value: float | None) -> str | None:
    return f"{value:.2f}" if value else None


def node(document: Document, name: str) -> Document:
    return next(each for each in document["nodes"] if each["id"] == name)


def spec(document: Document, name: str) -> Document:
    return next(each for each in document["account"]["specs"] if each["name"] == name)


def card(document: Document, name: str) -> Document:
    return next(each for each in document["needs_you"] if each["node"] == name)


def money_of(sessions: list[Document]) -> tuple[float, float]:
    return sum(each["cost_usd"] or 0 for each in sessions), sum(each["assumed_usd"] for each in sessions)


def sessions_of(document: Document, **wanted: object) -> list[Document]:
    return [each for each in document["sessions"] if all(each[name] == value for name, value in wanted.items())]


def settled(document: Document, name: str) -> tuple[str, str]:
    found = spec(document, name)
    return str(len(found["proven"]) + len(found["waived"])), str(found["expected"])


def of_session(document: Document, match: re.Match[str]) -> Told:
    (found,) = sessions_of(
        document, node=document["node"], attempt=int(match["attempt"]), reading=int(match["reading"] or 1)
    )
    words = [
        each["word"]
        for story in document["requirements"]
        for each in story["readings"]
        if each["session"] == found["id"]
    ]
    passes = None if match["passes"] is None else str(words.count("PASS"))
    cost = usd(found["cost_usd"]) if found["ended_at"] else None
    return match["attempt"], match["reading"], cost, passes


def of_history(document: Document, match: re.Match[str]) -> Told:
    """How many sessions and decisions are shown of those about a node."""
    name = document["node"]
    decisions = [each for each in document["decisions"] if name in (each["node"], *each["blamed"], *each["moved"])]
    return match[1], str(len(sessions_of(document, node=name)) + len(decisions))


def budget(document: Document, match: re.Match[str]) -> Told:
    return next(
        (each["node"], str(each["spent"]), str(each["total"]), each["what"], str(max(each["total"] - each["spent"], 0)))
        for each in node(document, document["node"])["budgets"]
        if (each["node"], each["what"]) == (match[1], match[4])
    )


def of_list(name: str) -> Callable[[Document, re.Match[str]], Told]:
    """How many requirements of a spec are in one list of its account."""
    return lambda document, match: (match[1], str(len(spec(document, match[1])[name])))


def of_own_list(name: str) -> Callable[[Document, re.Match[str]], Told]:
    """The same of the spec that the screen is about."""
    return lambda document, match: (str(len(spec(document, document["node"])[name])),)


def of_issues(state: str) -> Callable[[Document, re.Match[str]], Told]:
    """How many issues stand so."""
    return lambda document, match: (str([issue["state"] for issue in document["account"]["issues"]].count(state)),)


USD = r"\$(\d+\.\d\d)"
LISTS = {"failing": "fails?", "unclear": "without a clear verdict", "unread": "not read yet", "waived": "waived",
         "stale": STATES["stale"], "elsewhere": STATES["elsewhere"]}  # fmt: skip
SOURCE_LISTS = {
    "failing": "fails?", "unclear": "ha(?:s|ve) no clear verdict", "unread": "(?:was|were) not read yet",
    "stale": "passed before the code changed, and must be read again",
}  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """Words on screens of some kind, and what the document has for each of their groups."""

    kind: str
    words: str
    told: Callable[[Document, re.Match[str]], Told]


PAGE, EXPLAIN, ISSUE, REPORT = "page", "explain", "issue", "report"
AGAIN, SOURCE, PULL = "again", "source", "pull"
"""A comment on an issue of ours, one on the issue that a spec came from, and a pull request."""

TRIED = (
    rf"What was tried: (\d+) sessions?, {USD[2:]} USD(?:, and (\d+) of unknown cost)?</summary>"
    r"(?s:.*?)^\|---.*\n\| (\w+) \|"
)
HOLDS = r"^- (\d+) (judged|tests passed[^:]*|red without[^:]*): (?=.*\n(?s:.*?)^\| (\w+)/)"
CLAIMS = (
    Claim(PAGE, r"^[A-Z]+(?: [A-Z]+)?  (\S.*)$", lambda d, m: (d["banner"]["because"],)),
    Claim(
        PAGE, rf"^run (\d+): (?:.*?, exit code (\d+))?.*?(?:; {USD} spent)?(?:[;,] {USD} assumed)?$",
        lambda d, m: (
            str(d["account"]["run"]), None if d["banner"]["exit_code"] is None else str(d["banner"]["exit_code"]),
            usd(d["account"]["cost"]["known_usd"]), usd(d["account"]["cost"]["assumed_usd"]),
        ),
    ),
    Claim(PAGE, r"^how it is known: (.*)$", lambda d, m: (counts_in_words(d["account"]["known"]),)),
    Claim(
        PAGE, rf"^  ✗ (\S+) stopped(?: after (\d+) attempts?)?.*?(?:; {USD} spent)?(?:[;,] {USD} assumed)?(?: on it)?$",
        lambda d, m: (
            m[1], str(node(d, m[1])["attempt"]) if m[2] else None, usd(card(d, m[1])["known_usd"]),
            usd(card(d, m[1])["assumed_usd"]),
        ),
    ),
    Claim(
        PAGE, r"^  ✗ (\w+)(:\S*) stopped.*\n((?:      .*\n)*?)      and (\d+) more that (?:is|are) not proven$",
        lambda d, m: (m[1], m[2], m[3], str(len(open_ids(d, m[1])) - shown(m[3]))),
    ),
    Claim(PAGE, r"^  [✓✗▶·?] (\w+) +(\d+) of (\d+)  ", lambda d, m: (m[1], *settled(d, m[1]))),
    *(Claim(PAGE, rf"^  [✓✗▶·?] (\w+) .*?\b(\d+) {words}", of_list(name)) for name, words in LISTS.items()),
    Claim(
        PAGE, r"^  [✓✗▶·?] (\w+) .*?(?:; |  )(\d+ (?:judged|tests passed|red without).*?)(?:; on [0-9a-f]{12})?$",
        lambda d, m: (m[1], counts_in_words(d["known_of"][m[1]])),
    ),
    *(
        Claim(PAGE, rf"^  issues: (?:.*, )?(\d+) {state}\b", of_issues(state)) for state in ("open", "closed")
    ),
    Claim(
        PAGE, rf"^  {USD} spent(?: of at most {USD})?(?:, {USD} assumed where no cost is known)?$",
        lambda d, m: (
            f"{d['account']['cost']['known_usd']:.2f}", usd(d["costs"]["ceiling_usd"]) if m[2] else None,
            usd(d["account"]["cost"]["assumed_ended_usd"]),
        ),
    ),
    Claim(
        PAGE, r"^  (\d+) sessions?, (\d+) retr(?:y|ies), (\d+) rereads?; (\d+) s of running$",
        lambda d, m: (
            *(str(d["account"][name]) for name in ("sessions", "retries", "rereads")), f"{d['account']['seconds']:.0f}"
        ),
    ),
    Claim(EXPLAIN, r"^  (\S+): (\d+) of (\d+) (attempts|readings) spent, (\d+) left$", budget),
    Claim(
        EXPLAIN, rf"^  \d\d:\d\d:\d\d  attempt (?P<attempt>\d+)(?:, reading (?P<reading>\d+))?: (?:running|waiting|.*?"
        rf"\((?:\d+\.\d s, )?(?:{USD}|cost unknown)\).*)(?:\n {{14}}(?:.*; )?(?P<passes>\d+) PASS$)?", of_session,
    ),
    Claim(EXPLAIN, r"^what happened \(the last (\d+) of (\d+); ", of_history),
    Claim(
        EXPLAIN, r"^  (\S+): (\d+) of (\d+) attempts? left unspent$",
        lambda d, m: next(
            (each["node"], str(each["total"] - each["spent"]), str(each["total"]))
            for each in node(d, d["node"])["budgets"] if each["node"] == m[1]
        ),
    ),
    Claim(
        EXPLAIN, r"^(?:  )?(?:not proven|blocked): .*?(\d+) requirements? fails?: (?=(\d\d))",
        lambda d, m: (str(next(len(s["failing"]) for s in d["account"]["specs"] if s["name"][:2] == m[2])), m[2]),
    ),
    Claim(
        EXPLAIN, rf"^  the (\d+) sessions? of (\w+) so far cost {USD}(?: \((\d+) reported no cost\))?$",
        lambda d, m: (
            str(len(sessions_of(d, spec=m[2]))), m[2], f"{money_of(sessions_of(d, spec=m[2]))[0]:.2f}",
            str(sum(each["cost_usd"] is None for each in sessions_of(d, spec=m[2]))) if m[4] else None,
        ),
    ),
    Claim(
        ISSUE, r"^\*\*Stopped after (\d+) attempts?[^*]*\*\*(?s:.*?)^\| (\w+)/",
        lambda d, m: (str(verifier(d, m[2])["attempt"]), m[2]),
    ),
    Claim(
        ISSUE, rf"^(\d+) of (\d+) open, spent {USD[2:]} USD(?: and {USD[2:]} USD assumed)?, .*?run (\d+), "
        r"(?s:.*?)^\| (\w+)/", lambda d, m: of_issue(d, m),
    ),
    *(Claim(kind, TRIED, lambda d, m: of_tried(d, m[4])) for kind in (ISSUE, AGAIN)),
    *(Claim(kind, HOLDS, lambda d, m: (str(held(d, m[3], m[2])), m[2], m[3])) for kind in (ISSUE, AGAIN)),
    Claim(
        AGAIN, r"^\*\*Still failing\*\*: (\d+)(?: of (\d+))?, .* \(spec `(\w+)`, node `(\S+?)`, run `(\d+)`",
        lambda d, m: (*parts_of(d, m[2]), m[3], m[4], str(d["account"]["run"])),
    ),
    Claim(AGAIN, r"^Still open, (\d+) part\(s\): ", lambda d, m: (parts_of(d, None)[0],)),
    Claim(
        SOURCE, r"^(?:All (\d+)|The one) requirements? of `(\w+)` (?:are|is) proven",
        lambda d, m: (str(len(spec(d, m[2])["proven"])) if m[1] else None, m[2]),
    ),
    Claim(
        SOURCE, r"^Not fully proven: (\d+) of (\d+) requirements of `(\w+)` ",
        lambda d, m: (str(len(spec(d, m[3])["proven"])), str(spec(d, m[3])["expected"]), m[3]),
    ),
    *(Claim(SOURCE, rf"^- (\d+) {words}: ", of_own_list(name)) for name, words in SOURCE_LISTS.items()),
    Claim(
        SOURCE, r"^- (\d+) known as (.*?): ", lambda d, m: (str(d["known_of"][d["node"]][m[2]]), m[2])
    ),
    Claim(PULL, r"^\*\*[A-Z ]+\*\*: (.*)\.$", lambda d, m: (d["banner"]["because"],)),
    Claim(
        PULL, rf"^Cost over all runs: {USD}(?:, and {USD} assumed where no cost was told)?\.$",
        lambda d, m: (f"{whole_cost(d, 'known_usd'):.2f}", usd(whole_cost(d, "assumed_usd"))),
    ),
    Claim(
        PULL, rf"^\| `(\w+)` \| (\d+) of (\d+) \| .*? \| (?:{USD})?(?:(?: and )?{USD} assumed)? \|$",
        lambda d, m: (m[1], *settled(d, m[1]), *row_cost(d, m[1])),
    ),
    Claim(
        REPORT, r"^# Verification of (\w+)(?s:.*?)\*\*, (\d+) of (\d+) requirements pass",
        lambda d, m: (m[1], str(len(spec(d, m[1])["proven"])), str(spec(d, m[1])["expected"])),
    ),
)  # fmt: skip


def verifier(document: Document, name: str) -> Document:
    return next(each for each in document["nodes"] if (each["spec"], each["archetype"]) == (name, "verifier"))


def of_issue(document: Document, match: re.Match[str]) -> Told:
    name = match[6]
    known, assumed = money_of(sessions_of(document, spec=name))
    found = spec(document, name)
    open_count = len(found["failing"]) + len(found["unclear"])
    first_run = min(each["run"] for each in sessions_of(document, spec=name))
    return str(open_count), match[2], f"{known:.2f}", usd(assumed), str(first_run), name


def held(document: Document, name: str, how: str) -> int:
    """How many of a spec are known so, whether or not the branch has moved since the issue was written."""
    return [story["how"] for story in document["requirements"] if story["spec"] == name].count(how)


def open_ids(document: Document, name: str) -> list[str]:
    """What is not proven of a spec, for whatever reason."""
    lists = ("failing", "unclear", "stale", "elsewhere", "short", "unread")
    return [part for kind in lists for part in spec(document, name)[kind]]


def shown(lines: str) -> int:
    """How many requirements stand in the lines of a card."""
    return len(re.findall(r"^      \w+ +\d\d-REQ-", lines, re.MULTILINE))


def parts_of(document: Document, told: str | None) -> tuple[str, str | None]:
    """How many parts of the issue whose number stands as the node are open, of how many, where that is told."""
    parts = next(each["parts"] for each in document["account"]["issues"] if each["number"] == document["node"])
    return str(sum(part["is_open"] for part in parts)), str(len(parts)) if told else None


def of_tried(document: Document, name: str) -> Told:
    coders = sessions_of(document, spec=name, archetype="coder")
    untold = sum(each["cost_usd"] is None for each in coders)
    return str(len(coders)), f"{money_of(coders)[0]:.2f}", str(untold) if untold else None, name


def whole_cost(document: Document, name: str) -> float:
    return sum(float(spend[name]) for spend in document["costs"]["by_archetype"])


def row_cost(document: Document, name: str) -> tuple[str | None, str | None]:
    known, assumed = money_of(sessions_of(document, spec=name))
    return f"{known:.2f}", usd(assumed)


def kind_of(screen: str) -> str:
    word = screen.split()[0]
    return word if word in (EXPLAIN, ISSUE, REPORT, AGAIN, SOURCE, PULL) else PAGE


NAMES = re.compile(
    r"\d\d-REQ-\d+\.\d+|\b\d\d_\w+(?::\d+(?::\w+)*)?|\d\d:\d\d:\d\d|\b[0-9a-f]{12}(?:[0-9a-f]{28})?\b|https?://\S+"
    r"|^<!--.*-->$|\.agent-fox/\S+|git merge \S+"
    r"|^ *proof/.*$|Part \d of|\(all \d|--expires 30d|attempt \d+ landed|exit (?:status )?\d+"
    r"|^the work.*$|^  \d+ files? .*$"
    r"|^  look at it.*$|API Error.*$|\"\w+\"|^(?:  )?git .*$"
)
"""What has digits and is no number about the run: names, times, hashes, evidence, what git says of files."""


def unclaimed(kind: str, text: str) -> Iterator[str]:
    """The lines that have a number which no claim speaks of."""
    for claim in CLAIMS:
        if claim.kind == kind:
            text = re.sub(claim.words, lambda match: re.sub(r"\d", "", match[0]), text, flags=re.MULTILINE)
    yield from (line for line in text.splitlines() if re.search(r"\d", NAMES.sub("", line)))


def check(told: Reading) -> None:
    """Every claim on every screen is what the document has; every screen but that of a run's end has one."""
    document = {**told.document, "known_of": known_of(told.document)}
    silent = {screen for screen in told.screens if told.screens[screen] and kind_of(screen) != AGAIN}
    for screen, text in told.screens.items():
        about = {**document, "node": screen.partition(" ")[2]}
        for claim in CLAIMS:
            for match in re.finditer(claim.words, text, re.MULTILINE) if claim.kind == kind_of(screen) else ():
                assert match.groups() == claim.told(about, match), (screen, match[0])
                silent.discard(screen)
    assert silent == set()


def test_every_number_is_that_of_the_document(told: Reading) -> None:
    check(told)


def known_of(document: Document) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for story in document["requirements"]:
        if story["state"] in ("proven", "waived") and story["how"]:
            own = counts.setdefault(story["spec"], {})
            own[story["how"]] = own.get(story["how"], 0) + 1
    return counts


def test_no_screen_has_a_number_of_its_own(told: Reading) -> None:
    own = {
        screen: lines
        for screen, text in told.screens.items()
        if kind_of(screen) in (PAGE, EXPLAIN) and (lines := list(unclaimed(kind_of(screen), text)))
    }
    assert own == {}
