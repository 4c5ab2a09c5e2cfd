"""What `issues doctor` finds, at the fake that ships: a double for the service, of nothing else."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
import pytest

from agent_fox.cli.issues.doctor import in_words, looked_at
from agent_fox.config import Settings, TrackerSettings
from agent_fox.system import clock
from agent_fox.system.clock import later
from agent_fox.testing.github import Answer, Fault, GitHubFake, Grant, Request, Role, Say, faults, mounted, serve
from agent_fox.trackers.github.checkup import Check
from agent_fox.trackers.github.doctor import examine
from tests.trackers.github.test_credentials import NOTHING, key_file

ALL = (
    *("repository", "token", "host", "accepted", "login", "visible", "issues", "active", "reading", "writing"),
    *("labels", "rate", "clock", "key"),
)

HERE = {"AGENT_FOX_GITHUB_HOST": "127.0.0.1"}


@pytest.fixture
def fake() -> Iterator[GitHubFake]:
    with mounted(GitHubFake()) as fake:
        yield fake


@pytest.fixture
def root(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path / "here")], check=True)
    subprocess.run(
        ["git", "-C", str(tmp_path / "here"), "remote", "add", "origin", "git@github.com:octo/project"], check=True
    )
    return tmp_path / "here"


def examined(root: Path, environ: Mapping[str, str] | None = None, **settings: str | int) -> dict[str, Check]:
    """The checks by name; every one that is not good has a remedy or says that GitHub does not tell."""
    surroundings = {**NOTHING, "XDG_STATE_HOME": str(root.parent / "state"), "GH_TOKEN": "ghp_fake"}
    told = TrackerSettings.model_validate(settings)
    found = examine(told, root, {**surroundings, **(environ or {})}, pause=lambda _: None)
    assert all(check.remedy or "tell" in check.detail for check in found if not check.ok)
    return {check.name: check for check in found}


def bad(found: Mapping[str, Check]) -> dict[str, bool | None]:
    return {name: check.ok for name, check in found.items() if check.ok is not True}


def answers_with(headers: Mapping[str, str], fake: GitHubFake) -> Fault:
    """The repository as it is, with more headers."""

    def is_the_repository(request: Request) -> bool:
        return request.path == "/repos/octo/project"

    body = fake.answer(Request("GET", "/repos/octo/project", headers={"authorization": "token ghp_fake"})).body
    return Fault(is_the_repository, Say(Answer(200, body, dict(headers))), times=9)


def test_where_all_is_well_only_what_cannot_be_told_is_open(fake: GitHubFake, root: Path) -> None:
    found = examined(root)
    assert tuple(found) == ALL
    assert bad(found) == {"writing": None, "clock": None}
    assert found["login"].detail == "fox-bot"
    assert found["token"].detail == "from GH_TOKEN"
    assert fake.writes == ()


def test_nothing_is_written_whatever_is_wrong(fake: GitHubFake, root: Path) -> None:
    for role in Role:
        for grant in Grant:
            fake.token.role, fake.token.grant = role, grant
            examined(root)
    assert fake.writes == ()
    assert fake.issues == ()
    assert not (root.parent / "state").exists()


def test_no_repository_and_no_token_end_the_matter_early(fake: GitHubFake, root: Path) -> None:
    assert bad(examined(root, remote="upstream")) == {"repository": False}
    assert bad(examined(root, repository="https://github.com/o/n")) == {"repository": False}
    assert bad(examined(root, base_url="http://ghe.example.com")) == {"repository": False}
    assert bad(examined(root, {"GH_TOKEN": ""})) == {"token": False}
    assert bad(examined(root, {"GH_TOKEN": "a b"})) == {"token": False}
    assert bad(examined(root, app_id=7, app_key="missing.pem")) == {"token": False}
    assert fake.exchanges == []


def test_a_host_that_does_not_answer_and_a_token_that_is_refused_are_told_apart(fake: GitHubFake, root: Path) -> None:
    fake.faults.append(Fault(faults.anything, faults.refused()))
    assert bad(examined(root)) == {"host": False}
    fake.faults.append(Fault(faults.anything, faults.gateway(), times=3))
    assert bad(examined(root)) == {"host": False}
    assert bad(examined(root, {"GH_TOKEN": "ghp_wrong"})) == {"accepted": False}
    fake.faults.append(Fault(faults.anything, faults.limited("60")))
    limited = examined(root)
    assert bad(limited) == {"rate": False}
    assert limited["rate"].remedy.startswith("wait until 20")


def test_a_repository_that_one_may_not_see_is_said(fake: GitHubFake, root: Path) -> None:
    fake.repository.is_private, fake.token.role = True, Role.NONE
    found = examined(root)
    assert bad(found)["visible"] is False
    assert "labels" not in found
    assert bad(examined(root, repository="octo/nowhere"))["visible"] is False


def test_a_repository_with_another_name_is_seen_and_named(fake: GitHubFake, root: Path) -> None:
    fake.rename("octo/renamed")
    found = examined(root)["visible"]
    assert found.ok
    assert 'repository = "octo/renamed"' in found.remedy


def test_issues_switched_off_and_an_archived_repository_are_said(fake: GitHubFake, root: Path) -> None:
    fake.repository.has_issues, fake.repository.is_archived = False, True
    found = bad(examined(root))
    assert (found["issues"], found["active"], found["reading"]) == (False, False, False)


def test_what_the_token_may_not_read_is_said_with_what_github_asks_for(fake: GitHubFake, root: Path) -> None:
    fake.token.grant = Grant.NONE
    found = examined(root)
    assert found["reading"].ok is False
    assert "`issues=read`" in found["reading"].remedy


def test_without_a_role_labels_are_dropped(fake: GitHubFake, root: Path) -> None:
    fake.token.role = Role.READ
    assert examined(root)["labels"].ok is False
    fake.token.role = Role.TRIAGE
    assert examined(root)["labels"].ok is True


@pytest.mark.parametrize(
    ("scopes", "is_private", "ok"),
    [
        ("repo, gist", True, True),
        ("public_repo", False, True),
        ("public_repo", True, False),
        ("gist", False, False),
        ("", False, None),
    ],
)
def test_a_classic_token_tells_what_it_may(
    fake: GitHubFake, root: Path, scopes: str, is_private: bool, ok: bool | None
) -> None:
    fake.repository.is_private = is_private
    fake.faults.append(answers_with({"X-OAuth-Scopes": scopes}, fake))
    assert examined(root)["writing"].ok is ok


def test_a_rate_that_is_nearly_used_up_is_said(fake: GitHubFake, root: Path) -> None:
    fake.faults.append(answers_with({"X-RateLimit-Remaining": "3", "X-RateLimit-Limit": "5000"}, fake))
    found = examined(root)["rate"]
    assert (found.ok, found.detail) == (False, "3 of 5000 requests left in this hour")
    fake.faults[:] = [answers_with({"X-RateLimit-Remaining": "lots"}, fake)]
    assert examined(root)["rate"].ok is None


def test_a_clock_that_is_wrong_is_said(root: Path) -> None:
    def fast() -> str:
        return later(clock.now(), 600)

    environ = {"PATH": "", "XDG_STATE_HOME": str(root.parent / "state"), "GH_TOKEN": "ghp_fake", **HERE}
    with serve(GitHubFake()) as url:
        settings = TrackerSettings(repository="octo/project", base_url=url)
        right = {check.name: check for check in examine(settings, root, environ)}
        wrong = {check.name: check for check in examine(settings, root, environ, now=fast)}
    assert right["clock"].ok is True
    assert wrong["clock"].ok is False
    assert "ahead of the server's" in wrong["clock"].detail


def test_an_app_tells_who_it_is_and_what_it_may(fake: GitHubFake, root: Path) -> None:
    fake.add_app(7, slug="fox-app")
    path = key_file(root)
    found = examined(root, app_id=7, app_key=str(path))
    assert bad(found) == {"clock": None}
    assert found["login"].detail == "fox-app[bot]"
    assert found["writing"].detail == "the App may write issues"
    assert fake.issues == ()


def test_an_app_that_is_not_installed_is_said(fake: GitHubFake, root: Path) -> None:
    found = examined(root, app_id=8, app_key=str(key_file(root)))
    assert bad(found) == {"accepted": False}
    assert "install the App" in found["accepted"].remedy


def test_who_we_are_may_be_told_where_the_token_cannot(fake: GitHubFake, root: Path) -> None:
    fake.faults.append(
        Fault(lambda request: request.path == "/user", faults.refusal(403, "Resource not accessible by integration"))
    )
    assert examined(root)["login"].ok is None
    assert examined(root, login="github-actions[bot]")["login"].ok is True


def test_a_key_that_is_none_is_said(fake: GitHubFake, root: Path) -> None:
    assert examined(root, {"AGENT_FOX_TRACKER_KEY": "ab" * 32})["key"].ok is True
    assert examined(root, {"AGENT_FOX_TRACKER_KEY": "xyz"})["key"].ok is False
    path = root.parent / "state" / "agent-fox" / "tracker.key"
    path.parent.mkdir(parents=True)
    path.write_text("ab" * 32)
    path.chmod(0o644)
    assert "chmod 600" in examined(root)["key"].remedy


def test_an_answer_of_another_form_is_unknown(fake: GitHubFake, root: Path) -> None:
    fake.faults.append(Fault(lambda request: request.path.startswith("/repos"), Say(Answer(200, b"[]", {})), times=9))
    assert examined(root)["visible"].ok is None
    fake.faults[:] = [Fault(faults.anything, Say(Answer(200, b'{"full_name": "octo/project"}', {})), times=99)]
    found = bad(examined(root))
    assert (found["issues"], found["active"], found["labels"], found["login"]) == (None, None, None, None)


def test_the_guide_shows_what_the_doctor_says(root: Path) -> None:
    fake = GitHubFake()
    fake.token.role, fake.repository.has_issues = Role.READ, False
    environ = {**NOTHING, "HOME": str(root.parent), "GH_TOKEN": "ghp_fake", **HERE}
    with serve(fake) as url:
        settings = Settings(tracker=TrackerSettings(kind="github", base_url=url))
        said = [words for line in looked_at(root, settings, environ) for words in in_words(line)]
    printed = click.unstyle("\n".join(said)).replace(str(root.parent), "/home/you")
    guide = (Path(__file__).parents[3] / "docs" / "github.md").read_text(encoding="utf-8")
    shown = guide.partition("```text\n")[2].partition("\n```")[0]
    assert without_figures(printed) == without_figures(shown)


def without_figures(text: str) -> str:
    """Ports and seconds are others each time."""
    return re.sub(r"(127\.0\.0\.1:|clock: )\d+( s (ahead of|behind))?", r"\1N", text)
