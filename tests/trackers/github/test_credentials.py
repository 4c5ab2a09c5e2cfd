"""Who files: where a token is looked for, in which order, and what is said of one that cannot be right."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from agent_fox.config import TrackerSettings
from agent_fox.testing.github import Fault, GitHubFake, faults, mounted
from agent_fox.trackers.github import credentials
from agent_fox.trackers.github.credentials import Credential, RepositoryApp, credential
from agent_fox.trackers.github.door import Door, DoorTrouble, opened
from agent_fox.trackers.github.repository import Address
from agent_fox.trackers.github.trouble import SetupTrouble
from agent_fox.trackers.protocol import Held, Retry

PUBLIC = Address("https://api.github.com", "o", "n")
ENTERPRISE = Address("https://ghe.example.com/api/v3", "o", "n")
NOTHING = {"PATH": "/nonexistent", "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}


def found(
    environ: Mapping[str, str], address: Address = PUBLIC, root: Path = Path("/"), **settings: str | int
) -> Credential:
    return credential(TrackerSettings.model_validate(settings), address, root, {**NOTHING, **environ})


def token_of(credential: Credential) -> str:
    return credential.auth.token


def program(folder: Path, lines: str) -> dict[str, str]:
    """A PATH with a `gh` of our own."""
    folder.mkdir(exist_ok=True)
    gh = folder / "gh"
    gh.write_text(f"#!/bin/sh\n{lines}\n")
    gh.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


def key_file(folder: Path, mode: int = 0o600) -> Path:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.TraditionalOpenSSL
    text = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    path = folder / "app.pem"
    path.write_bytes(text)
    path.chmod(mode)
    return path


def test_our_own_variable_goes_before_those_of_others() -> None:
    all_of_them = {"GITHUB_TOKEN": "c", "GH_TOKEN": "b", "AGENT_FOX_GITHUB_TOKEN": "a"}
    assert [token_of(found(all_of_them)), found(all_of_them).source] == ["a", "AGENT_FOX_GITHUB_TOKEN"]
    assert token_of(found({"GITHUB_TOKEN": "c", "GH_TOKEN": "b"})) == "b"
    assert token_of(found({"GITHUB_TOKEN": "c"})) == "c"


def test_a_token_is_shown_by_nothing_that_prints_a_credential() -> None:
    credential = found({"GH_TOKEN": "ghp_secret"})
    assert "secret" not in repr(credential)
    assert "secret" not in str(credential)


def test_a_token_for_github_com_is_shown_to_no_other_host() -> None:
    ghe = {"AGENT_FOX_GITHUB_HOST": "ghe.example.com"}
    with pytest.raises(SetupTrouble, match="GITHUB_TOKEN is not for this host"):
        found({"GITHUB_TOKEN": "c", **ghe}, ENTERPRISE)
    assert token_of(found({"GH_ENTERPRISE_TOKEN": "e", "GH_TOKEN": "b", **ghe}, ENTERPRISE)) == "e"
    assert token_of(found({"AGENT_FOX_GITHUB_TOKEN": "a", **ghe}, ENTERPRISE)) == "a"


def test_in_actions_of_an_enterprise_its_own_token_counts() -> None:
    environ = {"GITHUB_TOKEN": "c", "GITHUB_SERVER_URL": "https://ghe.example.com"}
    assert token_of(found(environ, ENTERPRISE)) == "c"


@pytest.mark.parametrize("token", ["a b", "a\n", " a", "a\tb", "tökén", "a\r", "a\x00b", "\n"])
def test_a_token_that_can_be_none_is_named_by_where_it_was_found(token: str) -> None:
    with pytest.raises(SetupTrouble, match="the token from GH_TOKEN has a space"):
        found({"GH_TOKEN": token, "GITHUB_TOKEN": "c"})


def test_without_any_token_the_remedy_says_what_to_do() -> None:
    with pytest.raises(SetupTrouble, match=r"no token for github\.com; GH_TOKEN is empty") as caught:
        found({"GH_TOKEN": ""})
    assert "gh auth login" in caught.value.remedy
    assert caught.value.held.is_general


def test_gh_is_asked_for_the_host(tmp_path: Path) -> None:
    environ = program(tmp_path / "bin", 'echo "$1-$2-$3-$4"')
    assert token_of(found(environ)) == "auth-token---hostname-github.com"
    assert token_of(found(environ, ENTERPRISE)).endswith("ghe.example.com")
    assert found(environ).source == "`gh auth token`"
    assert token_of(found({**environ, "GH_TOKEN": "b"})) == "b"
    assert token_of(found({**environ, "GH_TOKEN": "b"}, credentials="gh")).startswith("auth")


def test_a_gh_that_knows_nobody_or_hangs_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SetupTrouble, match="no token"):
        found(program(tmp_path / "bin", "echo not logged in >&2; exit 1"))
    monkeypatch.setattr(credentials, "PATIENCE", 0.05)
    with pytest.raises(SetupTrouble, match="no token"):
        found(program(tmp_path / "slow", "exec sleep 5"))


@pytest.mark.skipif(importlib.util.find_spec("keyring") is None, reason="the extra `github` is not installed")
def test_the_keyring_is_the_last_place(tmp_path: Path) -> None:
    backend = (
        "from keyring.backend import KeyringBackend\n"
        "class Ours(KeyringBackend):\n"
        "    priority = 1\n"
        "    def get_password(self, service, username): return f'{service}-{username}'\n"
        "    def set_password(self, service, username, password): ...\n"
        "    def delete_password(self, service, username): ...\n"
    )
    (tmp_path / "our_keyring.py").write_text(backend)
    environ = {"PYTHONPATH": str(tmp_path), "PYTHON_KEYRING_BACKEND": "our_keyring.Ours"}
    credential = found(environ)
    assert token_of(credential) == "agent-fox:github.com-token"
    assert credential.source == "the keyring, service `agent-fox:github.com`"
    with pytest.raises(SetupTrouble, match="`environment`"):
        found(environ, credentials="environment")


def test_an_app_goes_before_every_token_and_its_key_is_relative_to_the_repository(tmp_path: Path) -> None:
    key_file(tmp_path)
    credential = found({"GH_TOKEN": "b"}, root=tmp_path, app_id=7, app_key="app.pem")
    assert isinstance(credential.auth, RepositoryApp)
    assert (credential.source, credential.renews) == ("GitHub App 7", True)
    assert (
        token_of(found({"GH_TOKEN": "b"}, root=tmp_path, app_id=7, app_key="app.pem", credentials="environment")) == "b"
    )


def test_an_app_without_number_or_key_says_what_is_missing() -> None:
    for settings in ({"credentials": "app"}, {"app_id": 7}):
        with pytest.raises(SetupTrouble, match="needs its number and its key"):
            found({}, **settings)


def test_a_key_that_is_missing_open_or_no_key_is_said_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(SetupTrouble, match="cannot be read: No such file"):
        found({}, root=tmp_path, app_id=7, app_key="app.pem")
    path = key_file(tmp_path, mode=0o644)
    with pytest.raises(SetupTrouble, match="can be read by others: run `chmod 600"):
        found({}, root=tmp_path, app_id=7, app_key="app.pem")
    path.write_text("no key")
    path.chmod(0o600)
    with pytest.raises(SetupTrouble, match="is no private key"):
        found({}, root=tmp_path, app_id=7, app_key=str(path))


def app_door(fake: GitHubFake, tmp_path: Path, **settings: int) -> Door:
    fake.add_app(7, slug="fox-app", installation=70)
    key_file(tmp_path)
    address = Address("https://api.github.com", "octo", "project")
    return opened(found({}, address, tmp_path, app_id=7, app_key="app.pem", **settings).auth, address)


@pytest.mark.parametrize("settings", [{}, {"installation": 70}])
def test_an_app_files_under_its_own_name_and_finds_its_installation(tmp_path: Path, settings: dict[str, int]) -> None:
    with mounted(GitHubFake()) as fake:
        door = app_door(fake, tmp_path, **settings)
        assert door.login() == "fox-app[bot]"
        assert door.create("title", "body").creator == "fox-app[bot]"
        assert [issue.number for issue in door.issues(door.login())] == [1]


def test_a_token_of_an_app_is_renewed_before_it_ends(tmp_path: Path) -> None:
    ahead = 0.0
    with mounted(GitHubFake(lambda: time.time() - ahead)) as fake:
        door = app_door(fake, tmp_path)
        ahead = 3595.0  # the token is given as if it had been asked for an hour ago
        door.create("title", "body")
        door.create("title", "body")
        asked = [exchange for exchange in fake.exchanges if exchange.request.path.endswith("/access_tokens")]
        assert len(asked) > 1
        assert len(fake.issues) == 2


def test_a_token_that_cannot_be_had_leaves_no_doubt_about_the_write(tmp_path: Path) -> None:
    with mounted(GitHubFake()) as fake:
        door = app_door(fake, tmp_path)
        fake.faults.append(Fault(faults.writes, faults.dropped()))
        with pytest.raises(DoorTrouble) as caught:
            door.create("title", "body")
        assert isinstance(caught.value.delivery, Retry)
        fake.faults.append(Fault(faults.writes, faults.refusal(404, "Not Found")))
        with pytest.raises(DoorTrouble, match="gives the App no token") as caught:
            door.create("title", "body")
        assert isinstance(caught.value.delivery, Held)
        assert caught.value.delivery.is_general
        assert fake.issues == ()
        door.create("title", "body")
        assert len(fake.issues) == 1
