"""What strangers, text, settings and files can do: nothing is touched that is not ours, and no token goes astray.

GitHub is the fake; what a hostile server does is in `test_attacks_server`.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.config import TrackerSettings
from agent_fox.core.retry.filing import Says
from agent_fox.testing.github import Fault, faults
from agent_fox.trackers.github.credentials import credential
from agent_fox.trackers.github.make import Unready, github_tracker
from agent_fox.trackers.github.marker import Marker
from agent_fox.trackers.github.repository import Address, address_of
from agent_fox.trackers.github.trouble import SetupTrouble
from agent_fox.trackers.protocol import Done, EffectKind, Remote
from agent_fox.trackers.text.template import TemplateTrouble, read_template
from tests.trackers.github.scene import AGAIN, FILED, PROVEN, Scene, scene
from tests.trackers.github.test_credentials import NOTHING, key_file, program

SOURCE = replace(
    FILED, id="s1", kind=EffectKind.COMMENT, says=Says.PROGRESS, fingerprint="source:octo/project#1",
    target="octo/project#1", slot="slot1", facts=(),
)  # fmt: skip


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Scene]:
    with scene(tmp_path) as at:
        yield at


def words_of(at: Scene, number: int) -> list[tuple[str, str]]:
    issue = next(one for one in at.fake.issues if one.number == number)
    return [(comment.author.login, comment.body) for comment in issue.comments]


def copied(at: Scene, number: int) -> str:
    """The last comment of ours with its mark, as anybody can read it."""
    return [body for login, body in words_of(at, number) if login == "fox-bot"][-1]


def test_a_copy_of_our_comment_does_not_hide_what_a_person_said(at: Scene) -> None:
    at.settled(FILED)
    at.settled(AGAIN)
    at.fake.person("alex").comments(1, "Leave this open, please.")
    at.fake.person("mallory").comments(1, copied(at, 1))
    done = at.settled(PROVEN)
    assert isinstance(done, Done)
    assert done.remote is Remote.KEPT
    assert at.open_numbers() == [1]


def test_a_copy_of_what_is_to_be_told_does_not_keep_it_from_being_told(at: Scene) -> None:
    """A mark is read in another issue of the cause before it stands in this one."""
    at.settled(FILED)
    at.fake.person("mallory").comments(1, Marker(FILED.fingerprint, AGAIN.id).above("x", at.tracker.key))
    at.settled(AGAIN)
    assert len([login for login, _ in words_of(at, 1) if login == "fox-bot"]) == 1


def test_a_strangers_copy_is_never_written_over(at: Scene) -> None:
    at.fake.person("alex").opens("A wish")
    at.settled(SOURCE)
    mark = copied(at, 1).partition("\n")[0]
    at.fake.person("alex").deletes_comment(1, at.fake.issues[0].comments[-1].id)
    at.fake.person("mallory").comments(1, f"{mark}\nmine")
    at.settled(replace(SOURCE, id="s2", body="All of it is proven."))
    assert ("mallory", f"{mark}\nmine") in words_of(at, 1)
    assert "All of it is proven." in words_of(at, 1)[-1][1]


def test_a_copy_of_a_duplicates_word_leads_nowhere(at: Scene) -> None:
    """Only our own comment says that another issue was kept."""
    at.fake.person("alex").opens("Somebody else's")
    at.settled(FILED)
    text = Marker(FILED.fingerprint, "duplicate-of-1").above("x", at.tracker.key)
    at.fake.person("mallory").comments(2, text)
    at.fake.person("mallory").closes(2)
    at.settled(AGAIN)
    assert words_of(at, 1) == []
    assert at.open_numbers() == [1, 2]


def test_a_token_that_cannot_tell_who_it_is_believes_no_persons_copy(at: Scene) -> None:
    at.fake.faults.append(
        Fault(lambda asked: asked.path == "/user", faults.refusal(403, "Resource not accessible by integration"), 999)
    )
    at.settled(FILED)
    body = at.fake.issues[0].face.body or ""
    with_copy = at.fake.person("mallory").opens("Mine", body)
    at.fake.person("alex").closes(1)
    at.db.execute("DELETE FROM tracker_memory")
    at.db.execute("DELETE FROM issues")
    at.numbers.clear()
    at.restart()
    at.settled(PROVEN)
    assert with_copy.is_open
    assert words_of(at, with_copy.number) == []


def test_an_issue_with_a_number_from_elsewhere_is_ours_only_if_we_wrote_it(at: Scene) -> None:
    at.settled(FILED)
    body = at.fake.issues[0].face.body or ""
    mallorys = at.fake.person("mallory").opens("Mine", body)
    at.db.execute("DELETE FROM tracker_memory")
    at.numbers[FILED.fingerprint] = str(mallorys.number)
    at.restart()
    at.settled(PROVEN)
    assert mallorys.is_open
    assert words_of(at, mallorys.number) == []


def test_a_sub_issue_is_put_below_no_issue_but_ours(at: Scene) -> None:
    """The number of the whole may be one of the local tracker, from before."""
    at.fake.person("alex").opens("A wish")
    at.settled(replace(FILED, parent="1"))
    assert all("sub_issues" not in exchange.request.path for exchange in at.fake.exchanges)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example\\.ghe.com",
        "https://evil.example\\.ghe.com/api/v3",
        "https://evil.example#.ghe.com",
        "https://evil.example?.ghe.com",
        "https://evil.example;.ghe.com",
        "https://evil.example%2f.ghe.com",
        "https://evil.example\t.ghe.com",
        "https://evil.example\n.ghe.com",
        "https://evil.example .ghe.com",
        "https://evıl.ghe.com",
        "https://github.com\\@evil.example",
        "https://x@evil.example",
        "http://evil.example",
        "http://127.0.0.1.evil.example",
        "http://localhost.evil.example",
        "file:///etc/passwd",
        "https://",
        "https://[::1",
        "https://.ghe.com",
    ],
)
def test_an_address_that_two_readers_read_otherwise_is_none(url: str, tmp_path: Path) -> None:
    with pytest.raises(SetupTrouble):
        address_of(TrackerSettings(repository="o/n", base_url=url), tmp_path)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example\\.ghe.com/o/n",
        "evil.example\\.ghe.com:o/n",
        "evil.example?x.ghe.com:o/n",
        "evil.example#.ghe.com:o/n",
        "git@evil.example%00.ghe.com:o/n",
        "ext::sh -c touch% /tmp/x",
        "file:///etc",
        "https://github.com/o/n/../../x",
        "https://github.com/o\\..\\n",
        "-oProxyCommand=x:o/n",
    ],
)
def test_a_remote_that_two_readers_read_otherwise_is_none(url: str, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "config", "remote.origin.url", url], check=True)
    with pytest.raises(SetupTrouble):
        address_of(TrackerSettings(), tmp_path)


@pytest.mark.parametrize(
    "base", ["https://evil.example/api/v3", "https://127.0.0.1.evil.example", "https://github.com.evil.example"]
)
@pytest.mark.parametrize(
    "name", ["AGENT_FOX_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"]
)
def test_a_host_that_the_project_names_gets_no_token_of_the_environment(base: str, name: str, tmp_path: Path) -> None:
    settings = TrackerSettings(repository="o/n", base_url=base)
    address = address_of(settings, tmp_path)
    asks = program(tmp_path / "bin", f'test -n "${name}" && echo "${name}"')
    with pytest.raises(SetupTrouble, match="set AGENT_FOX_GITHUB_HOST="):
        credential(settings, address, tmp_path, {**NOTHING, **asks, name: "ghp_secret"})
    named = {**NOTHING, "AGENT_FOX_GITHUB_HOST": address.host, "AGENT_FOX_GITHUB_TOKEN": "ghp_secret"}
    assert credential(settings, address, tmp_path, named).auth.token == "ghp_secret"


def test_a_host_that_the_project_names_gets_no_word_of_the_app(tmp_path: Path) -> None:
    key_file(tmp_path)
    settings = TrackerSettings(app_id=7, app_key="app.pem")
    evil = Address("https://evil.example/api/v3", "o", "n")
    with pytest.raises(SetupTrouble, match="AGENT_FOX_GITHUB_HOST"):
        credential(settings, evil, tmp_path, NOTHING)


def other_files(folder: Path) -> list[Path]:
    """What no template and no key is."""
    os.mkfifo(folder / "pipe", 0o600)
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "to-pipe").symlink_to(folder / "pipe")
    secret = folder / "secret"
    secret.write_text("root:$y$j9T$abcdefgh:19000:0:99999:7:::\n")
    (folder / "to-secret").symlink_to(secret)
    return [folder / name for name in ("pipe", "loop", "to-pipe", "to-secret")] + [Path("/dev/zero"), Path("/dev/tty")]


def test_a_template_that_is_no_text_of_the_project_neither_waits_nor_shows_what_it_holds(tmp_path: Path) -> None:
    for path in other_files(tmp_path):
        with pytest.raises(TemplateTrouble) as caught:
            read_template(path)
        assert "abcdefgh" not in str(caught.value)


def test_an_apps_key_that_is_no_file_neither_waits_nor_shows_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "secret").touch(0o600)
    for path in other_files(tmp_path):
        if stat.S_ISREG(path.parent.joinpath(path.name).lstat().st_mode):
            continue
        with pytest.raises(SetupTrouble) as caught:
            credential(
                TrackerSettings(app_id=7, app_key=str(path)), Address("https://api.github.com", "o", "n"), tmp_path, {}
            )
        assert "abcdefgh" not in str(caught.value)


def test_settings_that_can_be_no_tracker_raise_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    environ = {**NOTHING, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "GH_TOKEN": "ghp_secret"}
    for wrong in (
        {"template": "pipe"},
        {"template": "../../../../etc/shadow"},
        {"template": "/dev/stdin"},
        {"app_id": 7, "app_key": "pipe"},
        {"base_url": "https://evil.example\\.ghe.com"},
        {"repository": "o/n/../../x"},
        {"repository": "o/..", "base_url": "https://api.github.com"},
    ):
        settings = TrackerSettings.model_validate({"repository": "o/n", **wrong})
        tracker = github_tracker(settings, tmp_path, environ)
        assert isinstance(tracker, Unready)
        assert "ghp_secret" not in repr(tracker)
