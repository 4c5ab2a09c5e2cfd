"""Whom a filed issue is assigned to, its milestone and type, at the fake GitHub; the owners are read by real git."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agent_fox.config import GitHubSettings
from agent_fox.testing.github import Fault, Role, faults
from agent_fox.testing.worlds import commit_all, git
from agent_fox.trackers.github.work.extras import Extras
from agent_fox.trackers.protocol import Done
from tests.trackers.github.scene import FILED, Scene, scene


@dataclass
class Office:
    """A repository with owners at HEAD, and a commit of a coder beside it."""

    at: Scene
    root: Path
    work: str = ""

    def use(self, **settings: object) -> None:
        extras = Extras(GitHubSettings.model_validate(settings), self.root)
        self.at.tracker = replace(self.at.tracker, extras=extras)

    def file(self) -> tuple[tuple[str, ...], int | None, str, str]:
        """Assignees, milestone and type of the issue that is filed, and what was said of it."""
        done = self.at.settled(replace(FILED, work=(self.work,)))
        assert isinstance(done, Done)
        [issue] = self.at.fake.issues
        return issue.assignees, issue.milestone, issue.type, done.note


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    root = tmp_path / "repository"
    (root / ".github").mkdir(parents=True)
    git(tmp_path, "init", "-q", "-b", "main", "repository")
    (root / ".github" / "CODEOWNERS").write_text("*.py @pat\n/gate/ @gus @octo/team ops@example.org @stranger\n")
    commit_all(root, "owners")
    git(root, "checkout", "-q", "-b", "work")
    (root / "gate").mkdir()
    (root / "gate" / "a.py").write_text("a = 1\n")
    (root / "b.py").write_text("b = 1\n")
    (root / ".github" / "CODEOWNERS").write_text("* @whoever-an-agent-likes\n")
    commit_all(root, "what a coder did")
    work = git(root, "rev-parse", "HEAD")
    git(root, "checkout", "-q", "main")
    with scene(tmp_path) as at:
        at.fake.repository.roles |= {"pat": Role.WRITE, "gus": Role.READ}
        at.fake.repository.milestones[3] = "Beta"
        at.fake.repository.issue_types = ("Bug",)
        yield Office(at, root, work)


def test_by_default_nothing_is_set(office: Office) -> None:
    office.use()
    assert office.file() == ((), None, "", "")


def test_owners_of_the_files_that_the_failing_work_touched_are_assigned_by_the_persons_own_head(office: Office) -> None:
    office.use(assign=True)
    assignees, _, _, note = office.file()
    assert assignees == ("pat", "gus")
    others = "issues cannot be assigned to teams and addresses: octo/team, ops@example.org"
    assert note == f"{others}; cannot be assigned here: stranger"
    assert office.at.fake.notices == ()


def test_milestone_and_type_are_set_by_name(office: Office) -> None:
    office.use(milestone="Beta", issue_type="Bug")
    assert office.file() == ((), 3, "Bug", "")


def test_a_milestone_that_is_not_there_is_said_and_the_issue_is_filed(office: Office) -> None:
    office.use(milestone="Gamma")
    assert office.file() == ((), None, "", "no open milestone 'Gamma'")


def test_a_type_that_github_refuses_costs_the_issue_nothing_else(office: Office) -> None:
    office.use(issue_type="Epic")
    _, _, kind, note = office.file()
    assert kind == ""
    assert "GitHub takes none of type: GitHub does not accept it" in note


def test_without_owners_or_with_a_commit_that_is_gone_nobody_is_assigned_and_it_is_said(office: Office) -> None:
    office.use(assign=True)
    office.work = "f" * 40
    assert office.file()[3] == "nobody owns 0 files that the failing work touched"


def test_without_a_file_of_owners_it_is_said(office: Office) -> None:
    git(office.root, "rm", "-q", ".github/CODEOWNERS")
    commit_all(office.root, "no owners")
    office.use(assign=True)
    assert office.file()[3].startswith("no CODEOWNERS (")


@pytest.mark.parametrize("lost", [True, False])
def test_an_answer_that_is_lost_leaves_one_issue_with_its_people(office: Office, lost: bool) -> None:
    office.use(assign=True)
    office.at.fake.faults.append(Fault(faults.creates, faults.dropped(is_applied=lost)))
    assert office.file()[0] == ("pat", "gus")


def test_a_token_that_may_not_push_files_without_people(office: Office) -> None:
    office.at.fake.token.role = Role.READ
    office.use(assign=True)
    assignees, _, _, note = office.file()
    assert assignees == ()
    assert note.endswith("GitHub assigned nobody: the token may not push")
