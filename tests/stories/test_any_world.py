"""What people read of worlds made by chance, on the terminal and on GitHub: its numbers are those of the document.

The agents are scripted, and GitHub is our stand-in. The claims are those of `test_one_model`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from agent_fox.testing.github.state import Issue
from agent_fox.testing.worlds import NEVER, Req, World, commit_all, git
from tests.stories.github_scene import github
from tests.stories.test_on_github import Hub
from tests.stories.test_one_model import EXPLAIN, PAGE, SOURCE, WIDE, Reading, check, kind_of, unclaimed

NAMES = ("01_a", "02_b", "03_c")
SETTINGS = '{}[git]\npush = "origin"\n[github]\npull_request = true\n'
ENDS = (0, 2, 3, 4)
"""How a run ends that was not stopped by a mistake of its settings."""


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Up to three specs in a row, with failures, crashes, unclear readings, ceilings, and costs that nobody tells."""
    names = NAMES[: draw(st.integers(1, 3))]
    specs = {
        name: [
            Req(f"{name[:2]}-REQ-1.{number}", draw(st.integers(1, 2)), draw(st.sampled_from([1, 1, 2, NEVER])))
            for number in range(1, draw(st.integers(1, 3)) + 1)
        ]
        for name in names
    }
    attempts, ceiling = draw(st.integers(1, 3)), draw(st.sampled_from([None, None, 1.3, 2.1]))
    limit = f"[limits]\ncost_usd = {ceiling}\n" if ceiling else ""
    return World(
        specs,
        depends=dict(draw(st.sampled_from([(), tuple(zip(names[1:], names, strict=False))]))),
        coder_does=draw(st.sampled_from([{}, {"01_a:1/1": "crash"}])),
        verifier_says=draw(st.sampled_from([{}, {"01_a/1/1": "unsure"}])),
        cost=draw(st.sampled_from([None, 0.25, 0.37])),
        settings=SETTINGS.format(f"[retry]\nattempts = {attempts}\n{limit}"),
    )


@dataclass
class Morning:
    """One world on our stand-in of GitHub, and which comments were read already."""

    hub: Hub
    root: Path
    sources: dict[str, Issue]
    heard: set[str] = field(default_factory=set)

    def go(self, *arguments: str) -> None:
        self.hub.scene.fake.person().pushes("main", git(self.root, "rev-parse", "main"))
        done = self.hub.scene.cli(self.root, *arguments, COLUMNS=WIDE)
        assert done.returncode in ENDS, (done.stdout, done.stderr)

    def read(self, *, is_first: bool) -> Reading:
        """The document, and what people read. What an issue was filed with is that of its time: it is read once."""
        document = json.loads(self.screen("report", "--json"))
        screens = {"status": self.screen("status")}
        screens |= {f"explain {node['id']}": self.screen("explain", node["id"]) for node in document["nodes"]}
        sources = {issue.number for issue in self.sources.values()}
        filed = [issue for issue in self.hub.scene.fake.issues if issue.number not in sources]
        screens |= {f"issue {issue.number}": issue.face.body or "" for issue in filed if is_first}
        screens |= {f"again {issue.number}": self.news(issue) for issue in filed}
        screens |= {f"source {name}": self.news(issue) for name, issue in self.sources.items()}
        if any(issue.is_pull for issue in self.hub.scene.fake.repository.issues.values()):
            screens["pull request"] = self.hub.pull_body.replace("\u200b", "")
        return Reading(document, {name: text for name, text in screens.items() if text})

    def screen(self, *arguments: str) -> str:
        return self.hub.scene.cli(self.root, *arguments, COLUMNS=WIDE).stdout

    def news(self, issue: Issue) -> str:
        fresh = [comment.body for comment in issue.comments if comment.body not in self.heard]
        self.heard |= set(fresh)
        return "\n".join(fresh)


def begun(hub: Hub, world: World) -> Morning:
    sources = {name: hub.scene.fake.person().opens(f"Do {name}", "Please.") for name in world.specs}
    root = hub.build_world(world, world.settings)
    for name, issue in sources.items():
        prd = root / ".agent-fox" / "specs" / name / "prd.md"
        prd.write_text(prd.read_text().replace("\n\n", f"\n\n> Source: #{issue.number}\n\n", 1))
    commit_all(root, "where they came from")
    hub.scene.fake.hooks.before = lambda request: hub.learn()
    return Morning(hub, root, sources)


STOPPED_AS_A_WHOLE = World(
    {"01_a": [Req("01-REQ-1.1", 2), Req("01-REQ-1.2", 2, NEVER), Req("01-REQ-1.3", 2, NEVER)]},
    coder_does={"01_a:1/1": "crash"}, cost=None, settings=SETTINGS.format("[retry]\nattempts = 1\n"),
)  # fmt: skip
"""The same issue is first about the spec, and then about what fails of it."""


@given(worlds(), st.sampled_from(["nothing", "another run", "new attempts"]))
@example(STOPPED_AS_A_WHOLE, "new attempts")
@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)
def test_every_number_that_anybody_reads_is_that_of_the_document(world: World, then: str) -> None:
    with TemporaryDirectory() as folder, github(Path(folder)) as scene:
        morning = begun(Hub(scene), world)
        morning.go("run")
        found = morning.read(is_first=True)
        check(found)
        no_numbers_of_their_own(found)
        blocked = [each["node"] for each in found.document["account"]["blocked"]]
        if then == "nothing" or (then == "new attempts" and not blocked):
            return
        if then == "new attempts":
            morning.go("reset", blocked[0])
        morning.go("run", "--new-run")
        found = morning.read(is_first=False)
        check(found)
        no_numbers_of_their_own(found)


def no_numbers_of_their_own(found: Reading) -> None:
    own = {
        screen: lines
        for screen, text in found.screens.items()
        if kind_of(screen) in (PAGE, EXPLAIN, SOURCE) and (lines := list(unclaimed(kind_of(screen), text)))
    }
    assert own == {}
