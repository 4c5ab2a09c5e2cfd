"""Models of Bedrock and Vertex AI behind the metering proxy, by the real SDKs' chains of credentials.

Faked: the clouds, which are servers of the tests' own. No account was used.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from agent_fox.session.agents.claude.adapter import CLAUDE
from agent_fox.session.agents.clouds import CloudKind
from agent_fox.session.agents.credentials import find, secret_names
from agent_fox.session.agents.credentials import upstream as address_of
from agent_fox.session.agents.events import Event
from agent_fox.session.agents.proxy.model_side import Access
from agent_fox.session.agents.proxy.server import ModelProxy, fresh_word
from agent_fox.session.agents.task import Provider
from agent_fox.session.infrastructure import Infrastructure
from tests.session.agents.model_upstream import ANTHROPIC_STREAM, ANTHROPIC_USED, Answer, Answering, House, upstream

MODELS = "/projects/proj/locations/us-east5/publishers/anthropic/models"
BEDROCK, VERTEX = CLAUDE.facts.clouds
ASKS_VERTEX = f"{MODELS}/claude-opus-5-5@20261001:streamRawPredict"
ASKS_BEDROCK = "/model/us.anthropic.claude-opus-5-5-v1%3A0/invoke-with-response-stream"
GOOGLES = "ya29.a-token-of-google"


def frame(event: object) -> bytes:
    """One event as AWS frames it: lengths, a sum of them, no headers, the payload, a sum of all."""
    payload = json.dumps({"bytes": base64.b64encode(json.dumps(event).encode()).decode()}).encode()
    prelude = struct.pack("!II", len(payload) + 16, 0)
    head = prelude + struct.pack("!I", binascii.crc32(prelude))
    return head + payload + struct.pack("!I", binascii.crc32(head + payload))


def framed(data: bytes) -> Answer:
    def answer(handler: Answering) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/vnd.amazon.eventstream")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    return answer


@contextlib.contextmanager
def in_front(cloud: CloudKind, access: Access, answer: Answer) -> Iterator[House]:
    events: list[Event] = []
    notes: list[str] = []
    word = fresh_word()
    with upstream(answer) as model:
        proxy = ModelProxy(
            model.url,
            Provider.ANTHROPIC,
            access,
            word=word,
            hear=events.append,
            note=notes.append,
            service=cloud.service,
        )
        with proxy:
            yield House(proxy, word, model, Provider.ANTHROPIC, events, notes)


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine on which no cloud knows anybody."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))


def service_account(folder: Path, token_uri: str) -> Path:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    account = {
        "type": "service_account", "project_id": "proj", "private_key_id": "1", "private_key": pem,
        "client_email": "fox@proj.example", "client_id": "1", "token_uri": token_uri,
    }  # fmt: skip
    path = folder / "account.json"
    path.write_text(json.dumps(account))
    return path


def giving(status: int, document: object) -> Answer:
    return lambda handler: handler.plain(status, json.dumps(document).encode())


def test_vertex_gets_the_token_of_googles_own_chain_and_is_metered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with upstream(giving(200, {"access_token": GOOGLES, "expires_in": 3600})) as google:
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(service_account(tmp_path, google.url)))
        access = VERTEX.access({})
        with in_front(VERTEX, access, lambda handler: handler.stream(*ANTHROPIC_STREAM)) as here:
            assert {here.ask(ASKS_VERTEX)[0].status for _ in range(3)} == {200}
            assert here.ask(f"{MODELS}/count-tokens:rawPredict")[0].status == 200
            for path in ("/v1/messages", f"{MODELS}/x:predict", "/projects/proj/locations/us-east5/endpoints"):
                assert here.ask(path)[0].status == 403
        assert len(google.asked) == 1
    assert {asked.headers["authorization"] for asked in here.upstream.asked} == {f"Bearer {GOOGLES}"}
    assert here.used[0] == ANTHROPIC_USED
    assert here.word not in str(here.upstream.asked)


def test_bedrock_gets_a_token_of_awss_own_chain_and_its_frames_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s" * 40)
    with in_front(
        BEDROCK, BEDROCK.access({"AWS_REGION": "us-east-1"}), framed(b"".join(map(frame, ANTHROPIC_STREAM)))
    ) as here:
        response, body = here.ask(ASKS_BEDROCK)
        assert response.status == 200
        assert body == b"".join(map(frame, ANTHROPIC_STREAM))
        assert here.ask("/model/x/converse")[0].status == 403
    [asked] = here.upstream.asked
    given = asked.headers["authorization"].removeprefix("Bearer bedrock-api-key-")
    assert b"us-east-1%2Fbedrock%2Faws4_request" in base64.b64decode(given)
    assert "s" * 40 not in str(asked)
    assert here.used == [ANTHROPIC_USED]


@pytest.mark.parametrize("cut", [5, 40, -3])
def test_broken_frames_pass_as_they_are_and_say_that_the_cost_is_too_low(
    monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s" * 40)
    whole = frame(ANTHROPIC_STREAM[0])
    data = whole[:cut] + b"\xff" + whole[cut:]

    with in_front(BEDROCK, BEDROCK.access({"AWS_REGION": "eu-west-1"}), framed(data)) as here:
        assert here.ask(ASKS_BEDROCK)[1] == data
    assert any("cost is too low" in note for note in here.notes)


@pytest.mark.parametrize(("cloud", "path"), [(VERTEX, ASKS_VERTEX), (BEDROCK, ASKS_BEDROCK)])
def test_where_the_cloud_knows_nobody_the_run_pauses_and_says_what_to_type(cloud: CloudKind, path: str) -> None:
    with in_front(cloud, cloud.access({"AWS_REGION": "eu-west-1"}), giving(200, {})) as here:
        assert here.ask(path)[0].status == 401
    [trouble] = here.troubles
    assert trouble.kind is Infrastructure.AUTHENTICATION
    assert {VERTEX: "gcloud auth application-default login", BEDROCK: "aws configure"}[cloud] in trouble.text
    assert here.upstream.asked == []


def test_a_service_account_that_is_refused_is_no_trouble_of_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with upstream(giving(400, {"error": "invalid_grant"})) as google:
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(service_account(tmp_path, google.url)))
        with in_front(VERTEX, VERTEX.access({}), giving(200, {})) as here:
            assert here.ask(ASKS_VERTEX)[0].status == 401
    assert here.troubles[0].kind is Infrastructure.AUTHENTICATION


def test_what_is_refused_is_asked_for_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with upstream(giving(200, {"access_token": GOOGLES, "expires_in": 3600})) as google:
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(service_account(tmp_path, google.url)))
        with in_front(VERTEX, VERTEX.access({}), giving(401, {"error": {"status": "UNAUTHENTICATED"}})) as here:
            here.ask(ASKS_VERTEX)
            here.ask(ASKS_VERTEX)
        assert len(google.asked) == 2


@pytest.mark.parametrize(
    ("cloud", "variables", "address"),
    [
        (VERTEX, {"CLOUD_ML_REGION": "us-east5"}, "https://us-east5-aiplatform.googleapis.com/v1"),
        (VERTEX, {"CLOUD_ML_REGION": "global"}, "https://aiplatform.googleapis.com/v1"),
        (VERTEX, {"ANTHROPIC_VERTEX_BASE_URL": "http://127.0.0.1:1"}, "http://127.0.0.1:1"),
        (BEDROCK, {"AWS_REGION": "eu-west-1"}, "https://bedrock-runtime.eu-west-1.amazonaws.com"),
        (BEDROCK, {"AWS_DEFAULT_REGION": "eu-west-2"}, "https://bedrock-runtime.eu-west-2.amazonaws.com"),
    ],
)
def test_the_clouds_side_is_where_its_region_is(cloud: CloudKind, variables: dict[str, str], address: str) -> None:
    assert address_of(Provider.ANTHROPIC, variables, cloud=cloud) == address


@pytest.mark.parametrize("cloud", [VERTEX, BEDROCK])
def test_without_a_region_it_is_said_which_variable_names_it(cloud: CloudKind) -> None:
    with pytest.raises(ValueError, match="REGION"):
        address_of(Provider.ANTHROPIC, {}, cloud=cloud)


def test_the_program_sees_where_its_cloud_is_and_none_of_its_secrets() -> None:
    given = {
        "CLAUDE_CODE_USE_BEDROCK": "1", "AWS_REGION": "eu-west-1", "AWS_SECRET_ACCESS_KEY": "s", "AWS_PROFILE": "p",
        "PATH": "/bin",
    }  # fmt: skip
    found = find(CLAUDE.facts, Provider.ANTHROPIC, given)
    assert (found.cloud, found.is_held, found.is_login, dict(found.direct)) == (BEDROCK, True, False, {})
    assert BEDROCK.for_runner(given) == {name: value for name, value in given.items() if name != "PATH"}
    assert BEDROCK.for_program(given, "http://127.0.0.1:9", "fox-word") == {
        "CLAUDE_CODE_USE_BEDROCK": "1", "CLAUDE_CODE_SKIP_BEDROCK_AUTH": "1", "AWS_REGION": "eu-west-1",
        "ANTHROPIC_BEDROCK_BASE_URL": "http://127.0.0.1:9", "ANTHROPIC_CUSTOM_HEADERS": "x-api-key: fox-word",
    }  # fmt: skip


def test_a_key_comes_before_a_cloud() -> None:
    given = {"ANTHROPIC_API_KEY": "k", "CLAUDE_CODE_USE_VERTEX": "1"}
    assert find(CLAUDE.facts, Provider.ANTHROPIC, given).cloud is None


@pytest.mark.parametrize(("cloud", "path"), [(VERTEX, ASKS_VERTEX), (BEDROCK, ASKS_BEDROCK)])
def test_the_chain_reads_variables_that_are_gone_when_the_program_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cloud: CloudKind, path: str
) -> None:
    """The runner takes them out of its environment as soon as the chain was asked."""
    with upstream(giving(200, {"access_token": GOOGLES, "expires_in": 3600})) as google:
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(service_account(tmp_path, google.url)))
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s" * 40)
        access = cloud.access({"AWS_REGION": "eu-west-1"})
        for name in secret_names(CLAUDE.facts):
            monkeypatch.delenv(name, raising=False)
        with in_front(cloud, access, giving(200, {})) as here:
            assert here.ask(path)[0].status == 200
