"""What fails, why, what now, what did it cost: on the first screen of `status`, the page, an issue, a pull request.

A real run of a hundred nodes with three failures; its agents are scripted, and GitHub is our stand-in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import expect

from agent_fox.testing.worlds import NEVER, Req, World
from tests.stories.github_scene import github
from tests.stories.scene import NOT_PROVEN
from tests.stories.test_on_github import Hub
from tests.stories.test_one_model import WIDE, Reading, check
from tests.web.conftest import Open
from tests.web.conftest import browser as browser
from tests.web.conftest import opened as opened

LINES, COLUMNS = 40, 100
"""Of a terminal; and the lines of an issue or a pull request that are on a screen."""
SEEN = "wrong at attempt 2"
"""What the evidence of each says."""
SPEC_ROW = re.compile(r"^\| `(\d\d_stock)` \| \d+ of \d+ \| (.*?) \|", re.MULTILINE)
"""Of a pull request: name and standing."""
STOPPED = {"07_stock": "07-REQ-1.1", "15_stock": "15-REQ-1.1", "22_stock": "22-REQ-1.1"}
SETTINGS = '[retry]\nattempts = 2\n[git]\npush = "origin"\n[github]\npull_request = true\n[limits]\ncost_usd = 60\n'


def world() -> World:
    """25 specs of three coders and a verifier; the verifiers of three stop, and one spec waits for the first."""
    names = [f"{number:02}_stock" for number in range(1, 26)]
    return World(
        {
            name: [
                Req(f"{name[:2]}-REQ-1.1", 1, NEVER if name in STOPPED else 1),
                Req(f"{name[:2]}-REQ-2.1", 2, 2 if name == "03_stock" else 1),
                Req(f"{name[:2]}-REQ-3.1", 3),
            ]
            for name in names
        },
        depends={"08_stock": "07_stock"}, cost=0.25,
    )  # fmt: skip


@dataclass(frozen=True)
class Morning:
    """What the operator finds: the repository, and what stands on GitHub."""

    root: Path
    hub: Hub
    report: Path

    @property
    def issues(self) -> dict[str, str]:
        """Title and body of every issue of ours."""
        issues = self.hub.scene.fake.repository.issues.values()
        return {issue.face.title: issue.face.body or "" for issue in issues if not issue.is_pull}


@pytest.fixture(scope="module")
def morning(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Morning]:
    with github(tmp_path_factory.mktemp("morning")) as scene:
        hub = Hub(scene)
        root = hub.build_world(world(), SETTINGS)
        hub.run(root, NOT_PROVEN)
        report = scene.folder / "report.html"
        scene.cli(root, "report", "--output", str(report))
        yield Morning(root, hub, report)


@pytest.fixture(scope="module")
def account(morning: Morning) -> dict[str, object]:
    found: dict[str, object] = json.loads(morning.hub.scene.cli(morning.root, "status", "--json").stdout)
    return found


def spent(account: dict[str, object]) -> str:
    cost = account["cost"]
    assert isinstance(cost, dict)
    return f"${cost['known_usd']:.2f}"


def test_it_is_a_run_of_a_hundred_nodes_with_three_failures(account: dict[str, object]) -> None:
    nodes, blocked = account["nodes"], account["blocked"]
    assert isinstance(nodes, dict)
    assert isinstance(blocked, list)
    assert sum(nodes.values()) == 100
    assert {one["node"].split(":")[0] for one in blocked} == set(STOPPED)


def test_status(morning: Morning, account: dict[str, object]) -> None:
    told = morning.hub.scene.cli(morning.root, "status").stdout.splitlines()
    first = "\n".join(told[:LINES])
    for spec, requirement in STOPPED.items():
        assert requirement in first
        assert f"✗ {spec}:4 stopped after 2 attempts" in first
    assert first.count(SEEN) == len(STOPPED)
    assert spent(account) in first
    assert "agent-fox explain 07_stock:4" in "\n".join(told[: LINES + 6])
    assert "NOT PROVEN" in told[0]


def test_page(morning: Morning, account: dict[str, object], opened: Open) -> None:
    page = opened(morning.report.read_text())
    for requirement in STOPPED.values():
        expect(page.get_by_role("link", name=requirement).first).to_be_in_viewport()
    for answer in ("agent-fox explain 07_stock:4", spent(account)):
        expect(page.get_by_text(answer).first).to_be_in_viewport()
    expect(page.locator(".quoted").first).to_be_in_viewport()


def test_issue(morning: Morning) -> None:
    bodies = [body for body in morning.issues.values() if "07-REQ-1.1" in body]
    assert len(bodies) == 1
    first = "\n".join(bodies[0].splitlines()[:LINES])
    for answer in ("07-REQ-1.1", SEEN, "agent-fox explain 07_stock:4", "spent 1.00 USD"):
        assert answer in first


def test_pull_request(morning: Morning, account: dict[str, object]) -> None:
    first = "\n".join(morning.hub.pull_body.splitlines()[:LINES])
    for spec, requirement in STOPPED.items():
        assert requirement in first
        assert f"agent-fox explain {spec}:4" in first
    assert first.count(SEEN) >= len(STOPPED)
    assert spent(account).removeprefix("$") in first  # a dollar sign would begin a formula there


def test_every_number_is_the_same_everywhere(morning: Morning, account: dict[str, object]) -> None:
    document = json.loads(morning.hub.scene.cli(morning.root, "report", "--json").stdout)
    shared = set(document["account"]) & set(account)
    assert {name: document["account"][name] for name in shared} == {name: account[name] for name in shared}
    bodies = [body for body in morning.issues.values() if "07-REQ-1.1" in body]
    screens = {f"issue {number}": body for number, body in enumerate(bodies)}
    pull = morning.hub.pull_body.replace("\u200b", "")  # it keeps a dollar sign from beginning a formula
    status = morning.hub.scene.cli(morning.root, "status", COLUMNS=WIDE).stdout
    check(Reading(document, {"status": status, "pull request": pull, **screens}))
    assert len(SPEC_ROW.findall(pull)) == len(document["account"]["specs"])
    for name, standing in SPEC_ROW.findall(pull):
        is_proven = next(spec["is_proven"] for spec in document["account"]["specs"] if spec["name"] == name)
        assert standing == ("not proven" if name in STOPPED else "proven" if is_proven else "blocked")
