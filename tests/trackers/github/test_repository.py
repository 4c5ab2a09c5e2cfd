"""Which repository issues go to, and where its interface is: by the settings, else by the git remote."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.config import TrackerSettings
from agent_fox.trackers.github.repository import Address, address_of, base_of, checked_base, split_remote
from agent_fox.trackers.github.trouble import SetupTrouble

PUBLIC = "https://api.github.com"


def repository(tmp_path: Path, remote: str = "", name: str = "origin") -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    if remote:
        subprocess.run(["git", "-C", str(tmp_path), "remote", "add", name, remote], check=True)
    return tmp_path


@pytest.mark.parametrize(
    ("remote", "base", "named"),
    [
        ("https://github.com/o/n.git", PUBLIC, "o/n"),
        ("https://github.com/o/n", PUBLIC, "o/n"),
        ("https://github.com/o/n/", PUBLIC, "o/n"),
        ("https://user:ghp_secret@github.com/o/n.git", PUBLIC, "o/n"),
        ("http://github.com/o/n.git", PUBLIC, "o/n"),
        ("git@github.com:o/n.git", PUBLIC, "o/n"),
        ("github.com:o/n", PUBLIC, "o/n"),
        ("ssh://git@github.com/o/n.git", PUBLIC, "o/n"),
        ("ssh://git@ssh.github.com:443/o/n.git", PUBLIC, "o/n"),
        ("git://github.com/o/n.git", PUBLIC, "o/n"),
        ("https://github.com/some-org/a.name_with-all", PUBLIC, "some-org/a.name_with-all"),
        ("git@ghe.example.com:o/n.git", "https://ghe.example.com/api/v3", "o/n"),
        ("ssh://git@ghe.example.com:2222/o/n.git", "https://ghe.example.com/api/v3", "o/n"),
        ("https://ghe.example.com:8443/o/n.git", "https://ghe.example.com:8443/api/v3", "o/n"),
        ("http://ghe.example.com:8080/o/n.git", "https://ghe.example.com/api/v3", "o/n"),
        ("https://acme.ghe.com/o/n", "https://api.acme.ghe.com", "o/n"),
        ("http://127.0.0.1:8080/o/n.git", "http://127.0.0.1:8080/api/v3", "o/n"),
        ("http://localhost:8080/o/n.git", "http://localhost:8080/api/v3", "o/n"),
    ],
)
def test_a_remote_tells_repository_and_interface(tmp_path: Path, remote: str, base: str, named: str) -> None:
    found = address_of(TrackerSettings(), repository(tmp_path, remote))
    assert (found.base_url, found.repository) == (base, named)
    assert "secret" not in repr(found)


@pytest.mark.parametrize(
    "remote",
    [
        "/srv/git/n.git",
        "../n.git",
        "file:///srv/git/n.git",
        "https://github.com/n.git",
        "https://github.com/o/n/tree/main",
        "https://github.com:99999/o/n",
        "git@work:o/n.git",
        "git@github.com:o/n with a space",
    ],
)
def test_a_remote_that_names_no_repository_gets_a_remedy(tmp_path: Path, remote: str) -> None:
    with pytest.raises(SetupTrouble, match=r"set `\[tracker\]") as caught:
        address_of(TrackerSettings(), repository(tmp_path, remote))
    assert caught.value.held.is_general
    assert "issues sync" in caught.value.held.remedy


def test_another_remote_can_be_named(tmp_path: Path) -> None:
    root = repository(tmp_path, "git@github.com:o/n.git", name="upstream")
    assert address_of(TrackerSettings(remote="upstream"), root).repository == "o/n"
    with pytest.raises(SetupTrouble, match="no git remote `origin`"):
        address_of(TrackerSettings(), root)


def test_git_s_own_replacements_of_addresses_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text('[url "https://github.com/"]\n\tinsteadOf = gh:\n')
    root = repository(tmp_path, "gh:o/n.git")
    assert address_of(TrackerSettings(), root) == Address(PUBLIC, "o", "n")


def test_settings_go_before_the_remote(tmp_path: Path) -> None:
    root = repository(tmp_path, "git@ghe.example.com:o/n.git")
    other = address_of(TrackerSettings(repository="a/b"), root)
    assert other == Address("https://ghe.example.com/api/v3", "a", "b")
    based = address_of(TrackerSettings(base_url="https://x.example/api/v3/"), root)
    assert based == Address("https://x.example/api/v3", "o", "n")


def test_without_a_remote_the_settings_are_enough(tmp_path: Path) -> None:
    assert address_of(TrackerSettings(repository="a/b"), repository(tmp_path)) == Address(PUBLIC, "a", "b")


@pytest.mark.parametrize("named", ["n", "o/n/x", "https://github.com/o/n", "o/n n", "o/..", "/n", "o/", "ö/n"])
def test_a_repository_of_another_form_gets_a_remedy(tmp_path: Path, named: str) -> None:
    with pytest.raises(SetupTrouble, match="OWNER/NAME"):
        address_of(TrackerSettings(repository=named), repository(tmp_path))


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("http://ghe.example.com/api/v3", "not https"),
        ("https://user:secret@ghe.example.com/api/v3", "holds credentials"),
        ("https://github.com", "address of the pages"),
        ("https://github.com/o/n", "address of the pages"),
        ("ghe.example.com/api/v3", "no address"),
        ("ftp://ghe.example.com", "no address"),
        ("https://ghe.example.com:no/api", "no address|port"),
        ("https://ghe.example.com/api/v3?x=1", "no address"),
        ("https://[", "no address"),
    ],
)
def test_a_token_is_sent_to_no_odd_address(url: str, complaint: str) -> None:
    with pytest.raises(SetupTrouble, match=complaint) as caught:
        checked_base(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["https://api.github.com", "http://127.0.0.1:1", "http://localhost:1/api/v3", "http://[::1]:1"]
)
def test_https_and_this_machine_are_good_addresses(url: str) -> None:
    assert checked_base(f"{url}/") == url


@pytest.mark.parametrize(
    ("base", "web", "host"),
    [
        (PUBLIC, "https://github.com", "github.com"),
        ("https://api.acme.ghe.com", "https://acme.ghe.com", "acme.ghe.com"),
        ("https://ghe.example.com/api/v3", "https://ghe.example.com", "ghe.example.com"),
        ("https://api.example.com/api/v3", "https://api.example.com", "api.example.com"),
        ("http://127.0.0.1:80", "http://127.0.0.1:80", "127.0.0.1:80"),
    ],
)
def test_pages_are_where_people_know_them(base: str, web: str, host: str) -> None:
    address = Address(base, "O", "N")
    assert (address.web, address.host, address.place) == (web, host, f"{host}/o/n")


def test_the_interface_of_a_host_follows_from_its_name() -> None:
    assert base_of("https://github.com") == PUBLIC
    assert split_remote("git@[::1]:o/n.git") == ("https://[::1]", "o/n.git")


ADDRESSES = st.text() | st.builds(
    "".join, st.lists(st.sampled_from(["https://", "ssh://", "a.b", ":", "/", "@", "[", "]", "o/n", "99999", "?", "ℂ"]))
)


@given(ADDRESSES)
def test_an_address_of_any_form_is_one_or_is_refused(url: str) -> None:
    for read in (split_remote, checked_base):
        with suppress(SetupTrouble):
            read(url)


@given(ADDRESSES)
def test_what_a_token_may_be_sent_to_is_https_or_this_machine(url: str) -> None:
    with suppress(SetupTrouble):
        assert checked_base(url).startswith(("https://", "http://localhost", "http://127.", "http://[::1]"))
