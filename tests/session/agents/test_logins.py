"""Logins behind the metering proxy, between real sockets and in real files.

Faked: the model's server and the server that exchanges tokens, which are the tests' own.
"""

from __future__ import annotations

import base64
import contextlib
import json
import resource
import stat
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from agent_fox.session.agents.claude.adapter import CLAUDE
from agent_fox.session.agents.codex.adapter import CODEX
from agent_fox.session.agents.credentials import find
from agent_fox.session.agents.credentials import upstream as address_of
from agent_fox.session.agents.events import Event, Tokens, Used
from agent_fox.session.agents.gemini.adapter import GEMINI
from agent_fox.session.agents.logins import Login, LoginKind
from agent_fox.session.agents.proxy.model_side import LoginError
from agent_fox.session.agents.proxy.server import ModelProxy, fresh_word
from agent_fox.session.agents.task import Provider
from agent_fox.session.infrastructure import Infrastructure
from tests.session.agents.model_upstream import Answering, House, Upstream, upstream

CLAUDE_LOGIN, CHATGPT_LOGIN, GEMINI_LOGIN = (kind for cli in (CLAUDE, CODEX, GEMINI) if (kind := cli.facts.login))
OLD, RENEWER = "old-token-0123456789", "renewer-0123456789"
NEW = {"access_token": "new-token-0123456789", "refresh_token": "next-renewer-0123", "expires_in": 3600}


def jwt(ends: float) -> str:
    claims = base64.urlsafe_b64encode(json.dumps({"exp": ends}).encode()).decode().rstrip("=")
    return f"head.{claims}.{'s' * 16}"


def file_of(folder: Path, kind: LoginKind, left: float, access: str = OLD) -> Path:
    """A login that holds for `left` seconds more, with something beside it that is not ours."""
    ends = time.time() + left
    if kind is CHATGPT_LOGIN:
        token = jwt(ends) if access == OLD else access
        held = {"id_token": "i", "access_token": token, "refresh_token": RENEWER, "account_id": "acc-1"}
        document: dict[str, object] = {"OPENAI_API_KEY": None, "tokens": held, "last_refresh": "2026-01-01T00:00:00Z"}
    elif kind is CLAUDE_LOGIN:
        oauth = {
            "accessToken": access,
            "refreshToken": RENEWER,
            "expiresAt": int(ends * 1000),
            "scopes": ["user:inference"],
        }
        document = {"claudeAiOauth": oauth, "mcpOAuth": {"kept": True}}
    else:
        document = {"access_token": access, "refresh_token": RENEWER, "expiry_date": ends * 1000, "scope": "s"}
    path = folder / kind.file
    path.write_text(json.dumps(document))
    path.chmod(0o600)
    return path


@dataclass
class Logged(House):
    """A proxy with a login, the server that renews it, and its file."""

    renewing: Upstream
    login: Login

    @property
    def held(self) -> dict[str, object]:
        document: dict[str, object] = json.loads(self.login.file.read_text())
        found = document.get(self.login.kind.tokens, document)
        assert isinstance(found, dict)
        return found


def echo(handler: Answering) -> None:
    """Shows what it was opened with, as a model's server must not."""
    handler.plain(200, json.dumps({"seen": handler.headers["authorization"]}).encode())


@contextlib.contextmanager
def logged_in(
    file: Path, kind: LoginKind = CLAUDE_LOGIN, *, status: int = 200, given: object = None, program: str = "",
    answer: object = echo, provider: Provider = Provider.ANTHROPIC, token_url: str = "",
) -> Iterator[Logged]:  # fmt: skip
    events: list[Event] = []
    notes: list[str] = []
    word = fresh_word()
    body = json.dumps(NEW if given is None else given).encode()
    with upstream(answer) as model, upstream(lambda handler: handler.plain(status, body)) as renewing:  # type: ignore[arg-type]
        login = Login(kind, file, program, token_url or renewing.url)
        proxy = ModelProxy(
            model.url, provider, login, word=word, hear=events.append, note=notes.append, service=kind.service
        )
        with proxy:
            yield Logged(proxy, word, model, provider, events, notes, renewing, login)


def opened_with(here: Logged) -> list[str]:
    return [asked.headers.get("authorization", asked.headers.get("Authorization", "")) for asked in here.upstream.asked]


def test_the_program_has_a_word_and_the_model_gets_the_token(tmp_path: Path) -> None:
    with logged_in(file_of(tmp_path, CLAUDE_LOGIN, 7200)) as here:
        headers = {"Authorization": f"Bearer {here.word}", "anthropic-beta": "interleaved-thinking"}
        response, body = here.ask("/v1/messages", headers=headers)
        assert response.status == 200
    [asked] = here.upstream.asked
    low = {name.lower(): value for name, value in asked.headers.items()}
    assert low["authorization"] == f"Bearer {OLD}"
    assert low["anthropic-beta"] == "interleaved-thinking,oauth-2025-04-20"
    assert "x-api-key" not in low
    assert here.word not in str(asked)
    assert (OLD.encode() in body, here.renewing.asked) == (False, [])


def test_a_login_about_to_end_is_renewed_once_and_written_back(tmp_path: Path) -> None:
    file = file_of(tmp_path, CLAUDE_LOGIN, 60)
    with logged_in(file) as here, ThreadPoolExecutor(8) as pool:
        assert {response.status for response, _ in pool.map(lambda _: here.ask("/v1/messages"), range(16))} == {200}
        assert set(opened_with(here)) == {f"Bearer {NEW['access_token']}"}
        [asked] = here.renewing.asked
        assert json.loads(asked.body) == {
            "grant_type": "refresh_token", "refresh_token": RENEWER, "client_id": CLAUDE_LOGIN.client
        }  # fmt: skip
        assert (here.held["accessToken"], here.held["refreshToken"]) == (NEW["access_token"], NEW["refresh_token"])
        assert here.held["scopes"] == ["user:inference"]
    assert json.loads(file.read_text())["mcpOAuth"] == {"kept": True}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_sessions_that_ask_at_once_renew_it_once_between_them(tmp_path: Path) -> None:
    file = file_of(tmp_path, CLAUDE_LOGIN, 60)
    with logged_in(file) as here, logged_in(file, token_url=here.renewing.url) as there, ThreadPoolExecutor(8) as pool:
        asks = [here.ask, there.ask] * 4
        assert {response.status for response, _ in pool.map(lambda ask: ask("/v1/messages"), asks)} == {200}
        assert (len(here.renewing.asked), len(there.renewing.asked)) == (1, 0)


@pytest.mark.parametrize("given", [{"error": "invalid_grant"}, ["no object"], {"access_token": "two words"}])
def test_a_login_that_is_not_taken_pauses_the_run_and_stays_as_it_is(tmp_path: Path, given: object) -> None:
    file = file_of(tmp_path, CLAUDE_LOGIN, -60)
    before = file.read_bytes()
    with logged_in(file, status=400 if given == {"error": "invalid_grant"} else 200, given=given) as here:
        response, body = here.ask("/v1/messages")
    assert (response.status, here.upstream.asked) == (401, [])
    [trouble] = here.troubles
    assert trouble.kind is Infrastructure.AUTHENTICATION
    assert "log in again: claude /login" in trouble.text
    assert file.read_bytes() == before
    assert RENEWER not in f"{body!r}{trouble}{here.notes}"


@pytest.mark.parametrize(("left", "status"), [(60, 200), (-60, 502)])
def test_a_server_that_cannot_renew_now_is_trouble_of_the_network(tmp_path: Path, left: float, status: int) -> None:
    """A token that still holds is used meanwhile."""
    with logged_in(file_of(tmp_path, CLAUDE_LOGIN, left), status=503) as here:
        response, _ = here.ask("/v1/messages")
    assert response.status == status
    assert [trouble.kind for trouble in here.troubles] == ([] if status == 200 else [Infrastructure.NETWORK])


def test_a_token_that_the_model_refuses_is_renewed_before_the_next_request(tmp_path: Path) -> None:
    def refusing(handler: Answering) -> None:
        is_old = OLD in (handler.headers["authorization"] or "")
        handler.plain(401 if is_old else 200, b'{"error": {"type": "authentication_error"}}' if is_old else b"{}")

    with logged_in(file_of(tmp_path, CLAUDE_LOGIN, 7200), answer=refusing) as here:
        assert [here.ask("/v1/messages")[0].status for _ in range(3)] == [401, 200, 200]
        assert len(here.renewing.asked) == 1


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"claudeAiOauth": 1}', '{"claudeAiOauth": {"accessToken": "a b"}}']
)
def test_a_file_that_holds_no_login_says_how_to_get_one(tmp_path: Path, text: str) -> None:
    file = tmp_path / CLAUDE_LOGIN.file
    file.write_text(text)
    with logged_in(file) as here:
        assert here.ask("/v1/messages")[0].status == 401
    [trouble] = here.troubles
    assert "claude /login" in trouble.text
    assert file.read_text() == text


def test_a_login_that_could_not_be_written_back_is_not_exchanged(tmp_path: Path) -> None:
    """A limit on the size of files stands for a full disk."""
    file = file_of(tmp_path, CLAUDE_LOGIN, -60)
    before = file.read_bytes()
    with logged_in(file) as here:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
        try:
            with pytest.raises(LoginError, match="is not renewed, for it cannot be written"):
                here.login.current()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert here.renewing.asked == []
    assert file.read_bytes() == before


def test_a_login_without_a_renewer_is_used_until_it_ends(tmp_path: Path) -> None:
    file = file_of(tmp_path, CLAUDE_LOGIN, -60)
    document = json.loads(file.read_text())
    del document["claudeAiOauth"]["refreshToken"]
    file.write_text(json.dumps(document))
    with logged_in(file) as here:
        assert here.ask("/v1/messages")[0].status == 401
    assert "claude /login" in here.troubles[0].text


def test_chatgpts_token_tells_when_it_ends_and_goes_with_its_account(tmp_path: Path) -> None:
    with logged_in(file_of(tmp_path, CHATGPT_LOGIN, 7200), CHATGPT_LOGIN, provider=Provider.OPENAI) as here:
        here.ask("/responses")
        assert here.renewing.asked == []
    low = {name.lower(): value for name, value in here.upstream.asked[0].headers.items()}
    assert low["chatgpt-account-id"] == "acc-1"
    new = {**NEW, "access_token": jwt(time.time() + 7200), "id_token": "j"}
    with logged_in(file_of(tmp_path, CHATGPT_LOGIN, -1), CHATGPT_LOGIN, provider=Provider.OPENAI, given=new) as here:
        here.ask("/responses")
        here.ask("/responses")
        assert len(here.renewing.asked) == 1
        assert (here.held["id_token"], here.held["account_id"]) == ("j", "acc-1")
    assert json.loads(here.login.file.read_text())["last_refresh"] > "2026-01-01T00:00:00Z"


def test_geminis_service_for_people_who_are_logged_in_is_metered(tmp_path: Path) -> None:
    usage = {"promptTokenCount": 7, "candidatesTokenCount": 3}
    event = {"response": {"modelVersion": "gemini-3-pro", "usageMetadata": usage}, "traceId": "t"}
    (tmp_path / "bundle").mkdir()
    program = tmp_path / "bundle" / "gemini.js"
    program.write_text('var OAUTH_CLIENT_ID = "client-of-it";\nvar OAUTH_CLIENT_SECRET = "no-secret";\n')
    file = file_of(tmp_path, GEMINI_LOGIN, 10)
    with logged_in(
        file, GEMINI_LOGIN, provider=Provider.GEMINI, program=str(program), answer=lambda handler: handler.stream(event)
    ) as here:
        assert here.ask("/v1internal:loadCodeAssist")[0].status == 200
        assert here.ask("/v1internal:streamGenerateContent?alt=sse")[0].status == 200
        assert here.ask("/v1internal:recordCodeAssistMetrics")[0].status == 403
        assert here.ask("/v1beta/models/gemini-3-pro:generateContent")[0].status == 403
        [asked] = here.renewing.asked
        assert parse_qs(asked.body.decode())["client_id"] == ["client-of-it"]
        assert parse_qs(asked.body.decode())["client_secret"] == ["no-secret"]
    used = [event for event in here.events if isinstance(event, Used)]
    assert (used[-1].tokens, used[-1].model) == (Tokens(7, 3, 0), "gemini-3-pro")


def test_a_gemini_that_does_not_tell_its_id_is_named_as_the_one_that_renews(tmp_path: Path) -> None:
    with logged_in(file_of(tmp_path, GEMINI_LOGIN, -1), GEMINI_LOGIN, provider=Provider.GEMINI) as here:
        here.ask("/v1internal:generateContent")
    assert "start it once, then run again" in here.troubles[0].text


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    far = file_of(tmp_path / "far", CLAUDE_LOGIN, -1)
    near = tmp_path / "near.json"
    near.symlink_to(far)
    with logged_in(near) as here:
        assert here.ask("/v1/messages")[0].status == 200
    assert near.is_symlink()
    assert str(NEW["access_token"]) in far.read_text()


def test_a_login_is_sent_to_no_plain_address(tmp_path: Path) -> None:
    with logged_in(file_of(tmp_path, CLAUDE_LOGIN, -1), token_url="http://login.example/token") as here:
        assert here.ask("/v1/messages")[0].status == 401
    assert "no https:// address" in here.troubles[0].text


def test_a_renewal_is_not_sent_on_to_where_the_server_points(tmp_path: Path) -> None:
    with upstream(lambda handler: handler.plain(200, b"{}")) as elsewhere:

        def sends_on(handler: Answering) -> None:
            handler.plain(307, b"", Location=elsewhere.url)

        with upstream(sends_on) as first, logged_in(file_of(tmp_path, CLAUDE_LOGIN, -1), token_url=first.url) as here:
            assert here.ask("/v1/messages")[0].status == 401
        assert elsewhere.asked == []


def test_what_is_shown_of_a_login_has_no_token(tmp_path: Path) -> None:
    login = Login(CLAUDE_LOGIN, file_of(tmp_path, CLAUDE_LOGIN, 7200))
    assert OLD not in f"{login!r}{login.read()!r}{login.opening()!r}"


def test_a_key_comes_before_a_login_and_a_login_where_there_is_no_key(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    file = file_of(tmp_path / ".claude", CLAUDE_LOGIN, 7200)
    home = {"HOME": str(tmp_path)}
    assert find(CLAUDE.facts, Provider.ANTHROPIC, {**home, "ANTHROPIC_API_KEY": "k"}).login is None
    found = find(CLAUDE.facts, Provider.ANTHROPIC, home)
    assert (found.login, found.is_held, found.is_login) == (file, True, True)
    lasting = find(CLAUDE.facts, Provider.ANTHROPIC, {**home, "CLAUDE_CODE_OAUTH_TOKEN": "t"})
    assert (lasting.key, lasting.is_login, dict(lasting.direct), lasting.login) == ("t", True, {}, None)
    assert not find(CLAUDE.facts, Provider.ANTHROPIC, {"HOME": str(tmp_path / "nobody")})
    elsewhere = {**home, "CLAUDE_CONFIG_DIR": str(tmp_path)}
    assert find(CLAUDE.facts, Provider.ANTHROPIC, elsewhere).login is None


@pytest.mark.parametrize(
    ("facts", "provider", "kind"),
    [
        (CLAUDE.facts, Provider.ANTHROPIC, CLAUDE_LOGIN),
        (CODEX.facts, Provider.OPENAI, CHATGPT_LOGIN),
        (GEMINI.facts, Provider.GEMINI, GEMINI_LOGIN),
    ],
)
def test_each_login_leads_to_its_own_side_of_the_provider(facts: object, provider: Provider, kind: LoginKind) -> None:
    assert getattr(facts, "login") is kind  # noqa: B009
    assert address_of(provider, {}, kind) == kind.upstream
    assert address_of(provider, {"ANTHROPIC_BASE_URL": "http://x", "OPENAI_BASE_URL": "http://x",
                                 "GOOGLE_GEMINI_BASE_URL": "http://x"}, kind) == "http://x"  # fmt: skip
