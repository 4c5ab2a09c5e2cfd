"""The fake GitHub and what PyGithub asks of it, held against GitHub's own description; and that this finds faults.

The description is fetched by `make test` (`python -m tools.github_description`); where it is not, these are skipped.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import requests
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from github import Auth, Github, GithubException, GithubIntegration
from pydantic import JsonValue

from agent_fox.core.retry.filing import Says
from agent_fox.testing.github import Answer, Break, Fault, GitHubFake, Manner, Request, Role, Say, faults, mounted
from agent_fox.testing.github.contract import Checked, Description, checked, plain, read_description
from agent_fox.trackers.github.door import Absent, RemoteIssue, opened
from agent_fox.trackers.github.repository import Address
from agent_fox.trackers.github.work.checks import CHECKS, Check, Remark
from agent_fox.trackers.protocol import EffectKind
from tests.trackers.github.scene import FILED, scene
from tools import github_description

API = "https://api.github.com"
HERE = f"{API}/repos/octo/project"
HEADERS = {"Authorization": "token ghp_fake"}


@pytest.fixture(scope="module")
def description() -> Description:
    file = github_description.cached()
    if not file.exists():
        pytest.skip("GitHub's description of its API is not here: `python -m tools.github_description` fetches it")
    return read_description(file)


class Lying(GitHubFake):
    """The fake, with one change made to what it answers with JSON."""

    def __init__(self, change: Callable[[JsonValue], JsonValue], status: int | None = None) -> None:
        super().__init__()
        self.change, self.status = change, status

    def answer(self, request: Request) -> Answer:
        true = super().answer(request)
        body = json.dumps(self.change(json.loads(true.body))).encode()
        return Answer(self.status or true.status, body, true.headers)


@pytest.fixture
def key() -> str:
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def client(secret: str = "ghp_fake", base_url: str = API) -> Github:
    return Github(
        auth=Auth.Token(secret),
        base_url=base_url,
        lazy=True,
        retry=None,
        per_page=100,
        seconds_between_requests=0,
        seconds_between_writes=0,
    )


def life_of_an_issue(github: Github) -> None:
    where = github.get_repo("octo/project")
    assert where.full_name == "octo/project"
    where.create_label("agent-fox", "ff8800", "filed by agent-fox")
    issue = where.create_issue("First", "its body", labels=["agent-fox", "new one"])
    comment = issue.create_comment("one")
    comment.edit("two")
    assert where.get_issue(issue.number).get_comment(comment.id).raw_data["body"] == "two"
    child = where.create_issue("Second")
    issue.add_sub_issue(child)
    assert [one.number for one in issue.get_sub_issues()] == [child.number]
    issue.edit(state="closed", state_reason="completed")
    issue.edit(state="open")
    issue.edit(title="Third", body="another", labels=[])
    ours = where.get_issues(state="all", creator=github.get_user("fox-bot"), sort="created")
    assert [one.number for one in ours] == [2, 1]
    assert [one.body for one in issue.get_comments()] == ["two"]
    assert {one.name for one in where.get_labels()} == {"agent-fox", "new one"}
    assert where.get_label("new one").raw_data["color"] == "ededed"
    assert github.get_user().login == "fox-bot"
    assert github.get_rate_limit().raw_data["rate"]["limit"] == 5000


def what_github_refuses(github: Github, fake: GitHubFake) -> Iterator[int]:
    """The status codes of a few requests that cannot be done."""
    where = github.get_repo("octo/project")
    fake.person().opens("gone")
    fake.person().deletes(3)
    fake.person().opens_pull("a change")
    attempts: list[Callable[[], object]] = [
        lambda: where.get_issue(99).title,
        lambda: where.get_issue(3).title,
        lambda: where.create_issue("x" * 257),
        lambda: where.create_issue("x", "x" * 65_537),
        lambda: where.create_label("agent-fox", "ff8800"),
        lambda: where.get_issue(1).add_sub_issue(next(one.id for one in fake.issues if one.number == 2)),
        lambda: client("wrong").get_user().login,
    ]
    for attempt in attempts:
        with pytest.raises(GithubException) as caught:
            attempt()
        yield caught.value.status


def as_an_app(key: str, base_url: str = API) -> None:
    app = GithubIntegration(auth=Auth.AppAuth(7, key), base_url=base_url)
    installation = app.get_repo_installation("octo", "project")
    assert app.get_app().slug == "fox-app"
    assert app.get_app_installation(installation.id).app_id == 7
    secret = app.get_access_token(installation.id).token
    made = client(secret, base_url).get_repo("octo/project").create_issue("From an app")
    assert made.user.login == "fox-app[bot]"


def moved_about(github: Github, fake: GitHubFake) -> None:
    other = fake.add_repository("octo/other")
    fake.person().transfers(1, other)
    assert github.get_repo("octo/project").get_issue(1).title == "Third"
    fake.rename("octo/renamed")
    assert github.get_repo("octo/project").raw_data["full_name"] == "octo/renamed"


def test_everything_that_pygithub_asks_and_the_fake_answers_is_as_github_describes_it(
    description: Description, key: str
) -> None:
    fake = GitHubFake()
    fake.add_app()
    with mounted(fake), checked(description) as seen:
        life_of_an_issue(client())
        assert list(what_github_refuses(client(), fake)) == [404, 410, 422, 422, 422, 422, 401]
        as_an_app(key)
        moved_about(client(), fake)
    assert seen.problems == []
    wanted = {f"{method} {path}" for method, path in github_description.OPERATIONS[:-10]}
    assert set(seen.operations) == wanted


def test_an_enterprise_server_is_described_alike(description: Description, key: str) -> None:
    fake = GitHubFake()
    fake.add_app()
    with mounted(fake), checked(description) as seen:
        life_of_an_issue(client(base_url="https://git.example.org/api/v3"))
        as_an_app(key, "https://git.example.org/api/v3")
    assert seen.problems == []
    assert fake.issues[0].number == 1


def test_everything_that_our_own_door_asks_is_as_github_describes_it(description: Description) -> None:
    fake = GitHubFake(faults=[Fault(faults.reads, faults.gateway())])
    with mounted(fake), checked(description) as seen:
        door = opened("ghp_fake", Address(API, "octo", "project"), pause=lambda _: None)
        assert door.login() == "fox-bot"
        assert door.ensure_labels(("agent-fox", "agent-fox")) == ("agent-fox", "agent-fox")
        first, second = (door.create(title, "body", ("agent-fox",)) for title in ("First", "Second"))
        door.edit_comment(1, door.comment(1, "one").id, "two")
        door.add_sub_issue(1, second)
        door.add_sub_issue(1, second)
        door.set_state(1, "closed", "completed")
        door.set_state(1, "open", None)
        door.set_state(2, "closed", "duplicate")
        assert [one.number for one in door.issues(first.creator)] == [2, 1]
        assert [one.body for one in door.comments(1)] == ["two"]
        assert (door.newest(), door.issue(9)) == (2, Absent.NONE)
        fake.person().deletes(2)
        fake.person().transfers(1, fake.add_repository("octo/other"))
        assert door.issue(2) is Absent.GONE
        moved = door.issue(1)
        assert isinstance(moved, RemoteIssue)
        assert moved.repository == "octo/other"
        fake.rename("octo/renamed")
        door.create("Third", "body", ())
    assert seen.problems == []
    assert len(seen.operations) == 12


def test_everything_that_work_on_github_asks_is_as_github_describes_it(
    description: Description, tmp_path: Path
) -> None:
    with scene(tmp_path) as at, checked(description) as seen:
        app, alex = at.fake.add_app(), at.fake.person()
        alex.pushes("main", "a" * 40)
        alex.pushes("topic", "b" * 40)
        at.fake.repository.milestones[1] = "Beta"
        at.fake.repository.issue_types = ("Bug",)
        at.fake.repository.roles["alex"] = Role.WRITE
        proposal = replace(FILED, kind=EffectKind.COMMENT, fingerprint="pull", target="pull:topic", says=Says.PROGRESS)
        at.settled(proposal)
        at.settled(replace(proposal, id="e2", body="More."))
        door = at.tracker.door
        more = {"assignees": ["alex"], "milestone": 1, "type": "Bug"}
        assert door.create("Third", "body", (), more).number == 2
        assert [door.ask(f"/assignees/{login}").status for login in ("alex", "nobody")] == [204, 404]
        assert [door.ask(f"/collaborators/{login}/permission").status for login in ("alex", "none")] == [200, 404]
        assert door.ask("/milestones", {"state": "open", "per_page": "100"}).is_fine
        said = Check(
            name="a", conclusion="failure", title="t", summary="s", remarks=(Remark(path="p", line=1, text="m"),)
        )
        checks = replace(
            proposal, fingerprint="checks", target=f"checks:{'b' * 40}", body=CHECKS.dump_json((said,)).decode()
        )
        at.settled(checks)
        at.fake.token.account, at.fake.token.installation = app.account, app.installation
        at.settled(replace(checks, id="e4"))
        at.settled(replace(checks, id="e5"))
    assert seen.problems == []
    work = [f"{method} {path}" for method, path in github_description.OPERATIONS[-10:]]
    assert set(work) <= set(seen.operations)


STRIKES = [
    Say(Answer(503, b"<h1>busy</h1>", {"Content-Type": "text/html"})),
    faults.limited("1", 429),
    faults.limited(None),
    faults.exhausted(2_000_000_000),
    faults.refusal(403, "Resource not accessible", {"X-Accepted-GitHub-Permissions": "issues=write"}),
    faults.gateway(),
    faults.dropped(),
    faults.timed_out(),
    faults.refused(),
    faults.cut(),
]


@pytest.mark.parametrize("what", STRIKES, ids=lambda what: repr(what)[:40])
def test_faults_that_the_fake_makes_are_such_as_github_may_make(description: Description, what: Say | Break) -> None:
    fake = GitHubFake(faults=[Fault(faults.creates, what)])
    with mounted(fake), checked(description) as seen, pytest.raises((GithubException, requests.RequestException)):
        client().get_repo("octo/project").create_issue("First")
    assert seen.problems == []
    assert seen.exchanges == 1


def test_an_answer_cut_on_purpose_is_counted_and_no_problem_where_that_is_said(description: Description) -> None:
    fake = GitHubFake(faults=[Fault(faults.creates, Break(Manner.HALVED), times=2)])
    with mounted(fake), checked(description, is_tolerant=True) as seen:
        requests.post(f"{HERE}/issues", json={"title": "First"}, headers=HEADERS, timeout=1)
    with mounted(fake), checked(description) as strict:
        requests.post(f"{HERE}/issues", json={"title": "Second"}, headers=HEADERS, timeout=1)
    assert (seen.unreadable, seen.problems) == (1, [])
    assert any("no JSON" in problem for problem in strict.problems)


REQUESTS: dict[str, tuple[str, str, dict[str, Any] | None, str]] = {
    "a title that is a list": ("POST", "/issues", {"title": ["a"]}, "body"),
    "no title": ("POST", "/issues", {"body": "b"}, "'title' is a required property"),
    "labels that are numbers": ("POST", "/issues", {"title": "t", "labels": [1]}, "labels[0]"),
    "a body that is null where it must not be": ("POST", "/issues", {"title": "t", "body": None}, ".body"),
    "a state that does not exist": ("PATCH", "/issues/1", {"state": "shut"}, "'shut' is not one of"),
    "a reason that does not exist": ("PATCH", "/issues/1", {"state": "closed", "state_reason": "done"}, "state_reason"),
    "a member that GitHub does not know": ("POST", "/issues", {"title": "t", "key": "once"}, "'key' was unexpected"),
    "a path that GitHub does not have": ("POST", "/issues/1/remarks", {"body": "b"}, "no such operation"),
    "a method that GitHub does not have there": ("PUT", "/issues/1", {"title": "t"}, "no such operation"),
    "a number of an issue in letters": ("GET", "/issues/one", None, "parameter issue_number"),
    "a parameter that GitHub does not know": ("GET", "/issues?author=fox-bot", None, "no such parameter"),
    "a parameter of a wrong value": ("GET", "/issues?state=shut", None, "parameter state"),
    "a page that is too long": ("GET", "/issues?per_page=101", None, "more than 100"),
    "a comment without its body": ("POST", "/issues/1/comments", None, "has no body"),
    "a child by its name": ("POST", "/issues/1/sub_issues", {"sub_issue_id": "two"}, "sub_issue_id"),
    "a body with a question": ("GET", "/issues/1", {"title": "t"}, "none is described"),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_planted_fault_in_a_request_is_found(description: Description, name: str) -> None:
    method, path, body, wanted = REQUESTS[name]
    fake = GitHubFake()
    fake.person().opens("First")
    with mounted(fake), checked(description) as seen:
        requests.request(method, HERE + path, json=body, headers=HEADERS, timeout=1)
    assert [problem for problem in seen.problems if wanted in problem] != []


def edited(**values: JsonValue) -> Callable[[JsonValue], JsonValue]:
    def change(value: JsonValue) -> JsonValue:
        assert isinstance(value, dict)
        return value | values

    return change


def without(name: str) -> Callable[[JsonValue], JsonValue]:
    def change(value: JsonValue) -> JsonValue:
        assert isinstance(value, dict)
        return {key: inner for key, inner in value.items() if key != name}

    return change


ANSWERS: dict[str, tuple[Callable[[JsonValue], JsonValue], int | None, str]] = {
    "a number in letters": (edited(number="one"), None, ".number"),
    "no number": (without("number"), None, "'number' is a required property"),
    "a label that is a number": (edited(labels=[1]), None, ".labels[0]"),
    "a title of null": (edited(title=None), None, ".title"),
    "an unknown reason": (edited(state_reason="done"), None, ".state_reason"),
    "a time that is none": (edited(created_at="yesterday"), None, ".created_at"),
    "an address that is none": (edited(html_url="here or there"), None, ".html_url"),
    "a user without a login": (edited(user={"id": 1}), None, ".user"),
    "a member that is invented": (edited(fingerprint="abc"), None, "'fingerprint' was unexpected"),
    "a list for an object": (lambda value: [value], None, "is not of type 'object'"),
    "a status that is not described": (edited(), 202, "no such status"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_planted_fault_in_an_answer_is_found(description: Description, name: str) -> None:
    change, status, wanted = ANSWERS[name]
    with mounted(Lying(change, status)), checked(description) as seen:
        requests.post(f"{HERE}/issues", json={"title": "First"}, headers=HEADERS, timeout=1)
    assert [problem for problem in seen.problems if wanted in problem] != []


@pytest.mark.parametrize("values", [{"body": None}, {"closed_at": None}, {"state_reason": None}, {"user": None}])
def test_what_may_be_null_is_let_through(description: Description, values: dict[str, JsonValue]) -> None:
    with mounted(Lying(edited(**values))), checked(description) as seen:
        requests.post(f"{HERE}/issues", json={"title": "First"}, headers=HEADERS, timeout=1)
    assert seen.problems == []


def test_an_element_of_a_list_is_looked_at(description: Description) -> None:
    fake = Lying(lambda value: [edited(state="ajar")(one) for one in value] if isinstance(value, list) else value)
    fake.person().opens("First")
    with mounted(fake), checked(description) as seen:
        requests.get(f"{HERE}/issues", headers=HEADERS, timeout=1)
    assert seen.problems == []  # a state is any text in GitHub's description
    fake.change = lambda value: [edited(id="four")(one) for one in value] if isinstance(value, list) else value
    with mounted(fake), checked(description) as seen:
        requests.get(f"{HERE}/issues", headers=HEADERS, timeout=1)
    assert [problem for problem in seen.problems if "[0].id" in problem] != []


def test_the_hook_is_gone_afterwards(description: Description) -> None:
    before = requests.Session.send
    with checked(description) as seen:
        pass
    assert requests.Session.send is before
    assert seen == Checked(description)


def test_null_is_added_wherever_a_description_has_it() -> None:
    null: JsonValue = {"type": "null"}
    choice: JsonValue = {"oneOf": [{"type": "string"}, {"type": "integer"}]}
    assert isinstance(choice, dict)
    assert plain({**choice, "nullable": True}) == {"anyOf": [choice, null]}
    assert plain({"enum": ["a"], "nullable": True}) == {"anyOf": [{"enum": ["a"]}, null]}
    named: JsonValue = {"properties": {"nullable": {"type": "boolean"}}, "additionalProperties": True}
    assert plain(named) == named


OPERATION: JsonValue = {"summary": "prose", "responses": {"200": {"$ref": "#/components/responses/fine"}}}
WHOLE: JsonValue = {
    "openapi": "3.0.3",
    "paths": {path: dict.fromkeys(("get", "post", "patch"), OPERATION) for _, path in github_description.OPERATIONS},
    "components": {
        "responses": {
            "fine": {"description": "prose", "content": {"j": {"schema": {"$ref": "#/components/schemas/a"}}}}
        },
        "schemas": {"a": {"properties": {"description": {"type": "string", "example": "x"}}}, "unused": {}},
    },
}


def test_of_the_description_only_what_is_referred_to_is_kept_without_prose() -> None:
    kept = github_description.cut(WHOLE)
    assert kept["components"] == {
        "responses": {"fine": {"content": {"j": {"schema": {"$ref": "#/components/schemas/a"}}}}},
        "schemas": {"a": {"properties": {"description": {"type": "string"}}}},
    }


def test_another_package_is_not_believed(tmp_path: Path) -> None:
    package, text = tmp_path / "package.tgz", b"{}"
    with tarfile.open(package, "w:gz") as archive:
        member = tarfile.TarInfo(github_description.MEMBER)
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    with pytest.raises(ValueError, match="checksum"):
        github_description.read(package)


def test_where_it_cannot_be_fetched_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert github_description.main() == github_description.NOT_FETCHED
    assert "npm is not installed" in capsys.readouterr().err
