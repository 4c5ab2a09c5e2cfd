"""The metering proxy between real sockets. Faked: the model's server, which is one of the tests' own."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agent_fox.session.agents.events import Beat, Tokens, Used
from agent_fox.session.agents.proxy.server import ModelProxy
from agent_fox.session.agents.proxy.shared import ProxyLimits
from agent_fox.session.agents.task import Provider
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.testing.worlds import wait_until
from tests.session.agents.model_upstream import (
    ANTHROPIC_STREAM,
    ANTHROPIC_USED,
    KEY,
    SOON,
    Answer,
    Answering,
    house,
)

MESSAGES, RESPONSES = "/v1/messages", "/v1/responses"


def streaming(handler: Answering) -> None:
    handler.stream(*ANTHROPIC_STREAM)


def refuse_all(_: Answering) -> None:
    raise AssertionError("nothing should come here")


def test_the_program_has_the_word_and_the_model_gets_the_key() -> None:
    with house(streaming) as here:
        response, body = here.ask(
            f"{MESSAGES}?beta=true",
            b'{"model": "m"}',
            headers={"x-api-key": here.word, "anthropic-version": "2023-06-01", "Cookie": "c=1", "X-Hop": "1",
                     "Connection": "x-hop"},
        )  # fmt: skip
        assert response.status == 200
        assert b"hello" in body
        [asked] = here.upstream.asked
    assert (asked.method, asked.path, asked.body) == ("POST", "/v1/messages?beta=true", b'{"model": "m"}')
    low = {name.lower(): value for name, value in asked.headers.items()}
    assert low["x-api-key"] == KEY
    assert low["anthropic-version"] == "2023-06-01"
    assert low["host"] == here.upstream.url.removeprefix("http://")
    assert low["accept-encoding"] == "identity"
    assert {"cookie", "x-hop", "authorization"}.isdisjoint(low)
    assert here.word not in str(asked)


@pytest.mark.parametrize(
    ("provider", "path", "header", "value"),
    [
        (Provider.ANTHROPIC, "/v1/messages", "x-api-key", KEY),
        (Provider.OPENAI, "/v1/responses", "authorization", f"Bearer {KEY}"),
        (Provider.OPENAI, "/v1/chat/completions", "authorization", f"Bearer {KEY}"),
        (Provider.GEMINI, "/v1beta/models/gemini-2.5-pro:generateContent", "x-goog-api-key", KEY),
    ],
)
def test_the_key_stands_where_its_provider_looks_for_it(provider: Provider, path: str, header: str, value: str) -> None:
    for given in ("x-api-key", "x-goog-api-key", "Authorization", "query"):
        with house(lambda handler: handler.plain(200, b"{}"), provider) as here:
            if given == "query":
                response, _ = here.ask(f"{path}?alt=sse&key={here.word}", headers={})
            else:
                word = f"Bearer {here.word}" if given == "Authorization" else here.word
                response, _ = here.ask(path, headers={given: word})
            assert response.status == 200
            [asked] = here.upstream.asked
            assert {name.lower(): text for name, text in asked.headers.items()}[header] == value
            assert here.word not in str(asked)
            assert asked.path.partition("?")[2] in ("", "alt=sse")


@pytest.mark.parametrize(
    ("below", "path", "arrives"),
    [
        ("", "/v1/responses", "/v1/responses"),
        ("/v1", "/v1/responses", "/v1/responses"),
        ("/v1", "/responses", "/v1/responses"),
        ("/gateway/openai", "/v1/responses", "/gateway/openai/v1/responses"),
        ("/gateway/v1/", "/v1/chat/completions", "/gateway/v1/chat/completions"),
    ],
)
def test_the_upstream_may_stand_below_a_path(below: str, path: str, arrives: str) -> None:
    with house(lambda handler: handler.plain(200, b"{}"), Provider.OPENAI, below=below) as here:
        here.ask(path)
        assert [asked.path for asked in here.upstream.asked] == [arrives]


def test_a_stream_is_passed_on_as_it_comes() -> None:
    may_end = threading.Event()

    def slow(handler: Answering) -> None:
        handler.stream(*ANTHROPIC_STREAM[:2], end=False)
        assert may_end.wait(SOON)
        for event in ANTHROPIC_STREAM[2:]:
            handler.chunk(f"data: {json.dumps(event)}\n\n".encode())
        handler.chunk(b"")

    with house(slow) as here, contextlib.closing(here.connect()) as connection:
        connection.request("POST", MESSAGES, b"{}", here.credential())
        response = connection.getresponse()
        first = response.read1(65536)
        assert b"message_start" in first
        assert not may_end.is_set()
        wait_until(lambda: bool(here.used), "the first use of tokens was heard")
        assert here.used == [(Tokens(100, 1, 3000, 20), "claude-opus-5-5")]
        may_end.set()
        assert response.read().endswith(b'{"type": "message_stop"}\n\n')
        wait_until(lambda: here.used == [ANTHROPIC_USED], "what was used had been heard")
    assert here.notes == []
    assert sum(isinstance(event, Beat) for event in here.events) in (1, 2)


OPENAI_USAGE = {
    "input_tokens": 1000,
    "input_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 100},
    "output_tokens": 50,
}
CHAT_USAGE = {"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": 600}, "completion_tokens": 50}
GEMINI_USAGE = {
    "promptTokenCount": 1000,
    "cachedContentTokenCount": 600,
    "candidatesTokenCount": 40,
    "thoughtsTokenCount": 10,
    "totalTokenCount": 1050,
}
GENERATE = "/v1beta/models/gemini-2.5-pro:generateContent"
STREAM = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"


@pytest.mark.parametrize(
    ("provider", "path", "events", "tokens", "model"),
    [
        (
            Provider.OPENAI,
            RESPONSES,
            [
                {"type": "response.created", "response": {"id": "r", "model": "gpt-6-sol", "usage": None}},
                {"type": "response.output_text.delta", "delta": "usage of an error"},
                {"type": "response.completed", "response": {"id": "r", "model": "gpt-6-sol", "usage": OPENAI_USAGE}},
            ],
            Tokens(300, 50, 600, 100),
            "gpt-6-sol",
        ),
        (
            Provider.OPENAI,
            "/v1/chat/completions",
            [
                {"id": "c", "model": "gpt-5.5", "choices": [{"delta": {"content": "x"}}], "usage": None},
                {"id": "c", "model": "gpt-5.5", "choices": [], "usage": CHAT_USAGE},
            ],
            Tokens(400, 50, 600, 0),
            "gpt-5.5",
        ),
        (
            Provider.GEMINI,
            STREAM,
            [
                {"modelVersion": "gemini-2.5-pro", "usageMetadata": {"promptTokenCount": 1000}},
                {"modelVersion": "gemini-2.5-pro", "usageMetadata": GEMINI_USAGE},
            ],
            Tokens(400, 50, 600, 0),
            "gemini-2.5-pro",
        ),
    ],
)
def test_what_a_stream_used_is_heard_in_every_protocol(
    provider: Provider, path: str, events: list[object], tokens: Tokens, model: str
) -> None:
    with house(lambda handler: handler.stream(*events), provider) as here:
        here.ask(path)
        wait_until(lambda: here.used == [(tokens, model)], "what was used had been heard")
    assert (here.notes, here.troubles) == ([], [])


@pytest.mark.parametrize(
    ("provider", "path", "document", "tokens", "model"),
    [
        (
            Provider.ANTHROPIC,
            MESSAGES,
            {"type": "message", "model": "claude-opus-5-5", "usage": {"input_tokens": 7, "output_tokens": 8}},
            Tokens(7, 8),
            "claude-opus-5-5",
        ),
        (Provider.OPENAI, RESPONSES, {"model": "gpt-6-sol", "usage": OPENAI_USAGE, "error": None},
         Tokens(300, 50, 600, 100), "gpt-6-sol"),
        (Provider.OPENAI, "/v1/chat/completions", {"model": "gpt-5.5", "usage": CHAT_USAGE},
         Tokens(400, 50, 600), "gpt-5.5"),
        (Provider.GEMINI, GENERATE, {"modelVersion": "gemini-2.5-pro", "usageMetadata": GEMINI_USAGE},
         Tokens(400, 50, 600), "gemini-2.5-pro"),
        (Provider.GEMINI, GENERATE.replace("g:g", "g:streamG"),
         [{"modelVersion": "gemini-2.5-pro", "usageMetadata": GEMINI_USAGE}], Tokens(400, 50, 600), "gemini-2.5-pro"),
    ],
)  # fmt: skip
def test_what_a_plain_answer_used_is_heard_in_every_protocol(
    provider: Provider, path: str, document: object, tokens: Tokens, model: str
) -> None:
    with house(lambda handler: handler.plain(200, json.dumps(document).encode()), provider) as here:
        here.ask(path)
        wait_until(lambda: here.used == [(tokens, model)], "what was used had been heard")
    assert here.notes == []


@pytest.mark.parametrize(
    ("provider", "status", "body", "kind", "says"),
    [
        (Provider.ANTHROPIC, 401, {"error": {"type": "authentication_error", "message": "invalid x-api-key"}},
         Infrastructure.AUTHENTICATION, "invalid x-api-key"),
        (Provider.ANTHROPIC, 403, {"error": {"type": "permission_error", "message": "no"}},
         Infrastructure.AUTHENTICATION, "permission_error"),
        (Provider.ANTHROPIC, 400, {"error": {"type": "invalid_request_error",
                                             "message": "Your credit balance is too low to access the API."}},
         Infrastructure.NO_CREDIT, "credit balance"),
        (Provider.ANTHROPIC, 429, {"error": {"type": "rate_limit_error", "message": "slow"}},
         Infrastructure.RATE_LIMIT, "retry after 17 s"),
        (Provider.ANTHROPIC, 529, {"error": {"type": "overloaded_error", "message": "Overloaded"}},
         Infrastructure.OVERLOAD, "529 overloaded_error"),
        (Provider.ANTHROPIC, 500, "<html>", Infrastructure.OVERLOAD, "500"),
        (Provider.ANTHROPIC, 404, {"error": {"type": "not_found_error", "message": "model: x"}},
         Infrastructure.UNKNOWN_MODEL, "model: x (the model or its address does not exist"),
        (Provider.ANTHROPIC, 400, {"error": {"type": "invalid_request_error", "message": "model"}}, None, "model"),
        (Provider.OPENAI, 429, {"error": {"type": "insufficient_quota", "code": "insufficient_quota", "message": "q"}},
         Infrastructure.NO_CREDIT, "waiting does not help"),
        (Provider.OPENAI, 401, {"error": {"code": "invalid_api_key", "message": "Incorrect API key"}},
         Infrastructure.AUTHENTICATION, "invalid_api_key"),
        (Provider.OPENAI, 503, {"error": {"message": "down"}}, Infrastructure.OVERLOAD, "down"),
        (Provider.GEMINI, 400, {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid",
                                          "details": [{"@type": "x", "reason": "API_KEY_INVALID"}, {"other": 1}]}},
         Infrastructure.AUTHENTICATION, "API_KEY_INVALID"),
        (Provider.GEMINI, 429, [{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "quota"}}],
         Infrastructure.RATE_LIMIT, "RESOURCE_EXHAUSTED"),
    ],
)  # fmt: skip
def test_an_error_is_passed_on_and_heard_with_its_kind(
    provider: Provider, status: int, body: object, kind: Infrastructure | None, says: str
) -> None:
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    path = {Provider.ANTHROPIC: MESSAGES, Provider.OPENAI: RESPONSES, Provider.GEMINI: GENERATE}[provider]
    with house(lambda handler: handler.plain(status, raw, Retry_After="17"), provider) as here:
        response, answer = here.ask(path)
    assert (response.status, answer, response.headers["Retry-After"]) == (status, raw, "17")
    [trouble] = here.troubles
    assert trouble.kind is kind
    assert not trouble.is_final
    assert says in trouble.text


@pytest.mark.parametrize(
    ("provider", "event", "kind"),
    [
        (Provider.ANTHROPIC, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
         Infrastructure.OVERLOAD),
        (Provider.OPENAI, {"type": "error", "code": "rate_limit_exceeded", "message": "slow"},
         Infrastructure.RATE_LIMIT),
        (Provider.OPENAI, {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "x"}}},
         Infrastructure.OVERLOAD),
    ],
)  # fmt: skip
def test_an_error_inside_a_stream_is_heard(provider: Provider, event: object, kind: Infrastructure) -> None:
    path = MESSAGES if provider is Provider.ANTHROPIC else RESPONSES
    with house(lambda handler: handler.stream(event), provider) as here:
        here.ask(path)
    assert [trouble.kind for trouble in here.troubles] == [kind]


def test_nobody_listens_upstream() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    with house(refuse_all, address=address) as here:
        response, body = here.ask(MESSAGES)
    assert response.status == 502
    assert json.loads(body)["error"]["type"] == "api_error"
    assert [(trouble.kind, trouble.text) for trouble in here.troubles] == [
        (Infrastructure.NETWORK, "the model's server cannot be reached: Connection refused")
    ]


def test_a_silent_upstream_is_given_up() -> None:
    with house(lambda _: time.sleep(9), limits=ProxyLimits(idle=0.3)) as here:
        began = time.monotonic()
        response, _ = here.ask(MESSAGES)
        assert time.monotonic() - began < 6
    assert response.status == 504
    assert [trouble.kind for trouble in here.troubles] == [Infrastructure.NETWORK]
    assert "silent for too long" in here.troubles[0].text


def broken(handler: Answering) -> None:
    handler.stream(*ANTHROPIC_STREAM[:2], end=False)
    handler.connection.shutdown(socket.SHUT_RDWR)


def short(handler: Answering) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    handler.wfile.write(f"data: {json.dumps(ANTHROPIC_STREAM[0])}\n\n".encode())


@pytest.mark.parametrize("answer", [broken, short])
def test_an_answer_that_breaks_off_breaks_off_for_the_program_and_its_input_counts(
    answer: Answer,
) -> None:
    with house(answer) as here:
        raw = here.raw(
            f"POST {MESSAGES} HTTP/1.1\r\nHost: x\r\nx-api-key: {here.word}\r\nContent-Length: 2\r\n\r\n{{}}".encode()
        )
        wait_until(lambda: bool(here.notes), "there was a note")
    assert b"message_start" in raw
    assert not raw.endswith(b"0\r\n\r\n")
    assert here.used == [(Tokens(100, 1, 3000, 20), "claude-opus-5-5")]
    assert [trouble.kind for trouble in here.troubles] == [Infrastructure.NETWORK]
    assert here.notes == ["an answer of the model ended before it told all that it used: the cost is too low"]


def test_a_program_that_is_killed_has_used_what_was_told_by_then_and_the_model_is_left() -> None:
    left = threading.Event()

    def endless(handler: Answering) -> None:
        handler.stream(*ANTHROPIC_STREAM[:2], end=False)
        try:
            while True:
                handler.chunk(b'data: {"type": "ping"}\n\n')
                time.sleep(0.01)
        except OSError:
            left.set()

    with house(endless) as here:
        program = subprocess.Popen(
            [sys.executable, "-c", "import sys, urllib.request as u; u.urlopen(u.Request(sys.argv[1], b'{}', "
             "{'x-api-key': sys.argv[2]})).read()", here.proxy.url + MESSAGES, here.word]
        )  # fmt: skip
        wait_until(lambda: bool(here.used), "the first use of tokens was heard")
        program.kill()
        program.wait(SOON)
        assert left.wait(SOON)
        wait_until(lambda: bool(here.notes), "there was a note")
    assert here.used == [(Tokens(100, 1, 3000, 20), "claude-opus-5-5")]
    assert here.troubles == []


def test_closing_ends_everything_at_once() -> None:
    waits = threading.Event()
    stack = contextlib.ExitStack()

    def waiting(_: Answering) -> None:
        waits.wait(SOON)

    here = stack.enter_context(house(waiting))
    connection = here.connect()
    connection.request("POST", MESSAGES, b"{}", here.credential())
    wait_until(lambda: bool(here.upstream.asked), "the model's side was asked")
    idle = socket.create_connection(("127.0.0.1", here.port))
    began = time.monotonic()
    stack.close()
    assert time.monotonic() - began < 4
    with contextlib.suppress(ConnectionResetError):
        assert idle.recv(1) == b""
    with contextlib.suppress(ConnectionError, http.client.HTTPException):
        assert connection.getresponse().status >= 500  # it may just have been told that nobody answers any more
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", here.port))
    waits.set()
    idle.close()
    assert here.troubles == []


def test_a_ceiling_refuses_the_next_request_in_the_providers_own_form() -> None:
    reasons: list[str | None] = [None, "the session has cost $2.00, its ceiling is $2.00"]
    for provider, path, kind in (
        (Provider.ANTHROPIC, MESSAGES, ("error", "type", "invalid_request_error")),
        (Provider.OPENAI, RESPONSES, ("error", "type", "invalid_request_error")),
        (Provider.GEMINI, GENERATE, ("error", "status", "FAILED_PRECONDITION")),
    ):
        left = list(reasons)
        with house(lambda handler: handler.plain(200, b"{}"), provider, why_not=partial(left.pop, 0)) as here:
            assert here.ask(path)[0].status == 200
            response, body = here.ask(path, b"x" * 2_000_000)
            assert len(here.upstream.asked) == 1
            assert here.ask("/v1/models", None, "GET")[0].status == 200
        document = json.loads(body)
        assert (response.status, response.headers["x-should-retry"]) == (400, "false")
        assert document[kind[0]][kind[1]] == kind[2]
        assert document["error"]["message"] == reasons[1]
        assert f"a request was refused: {reasons[1]}" in here.notes


def test_twenty_requests_at_once_are_all_metered_and_none_mixed() -> None:
    together = threading.Barrier(20)

    def by_number(handler: Answering) -> None:
        number = json.loads(handler.body)["n"]
        together.wait(SOON)
        usage = {"input_tokens": number, "output_tokens": number * 2}
        handler.plain(200, json.dumps({"model": f"m{number}", "usage": usage, "n": number}).encode())

    with house(by_number) as here:
        with ThreadPoolExecutor(20) as pool:
            answers = list(pool.map(lambda n: here.ask(MESSAGES, json.dumps({"n": n}).encode()), range(20)))
        wait_until(lambda: len(here.used) == 20, "what twenty requests used had been heard")
    assert [json.loads(body)["n"] for _, body in answers] == list(range(20))
    assert sorted(here.used, key=lambda used: used[0].input) == [(Tokens(n, 2 * n), f"m{n}") for n in range(20)]


def test_more_requests_than_places_wait_for_one() -> None:
    at_once: list[int] = []
    lock, running = threading.Lock(), [0]

    def counted(handler: Answering) -> None:
        with lock:
            running[0] += 1
            at_once.append(running[0])
        time.sleep(0.03)  # time for one too many to come in
        with lock:
            running[0] -= 1
        handler.plain(200, b"{}")

    with house(counted, limits=ProxyLimits(most=2)) as here, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: here.ask(MESSAGES)[0].status, range(8)))
    assert answers == [200] * 8
    assert max(at_once) <= 2


MEMORY = """
import sys, threading, urllib.request
from tests.session.agents.model_upstream import house
import resource
SIZE = 50 * 1024 * 1024
def big(handler):
    handler.send_response(200)
    handler.send_header("Content-Type", sys.argv[1])
    handler.send_header("Content-Length", str(SIZE))
    handler.end_headers()
    for _ in range(SIZE // 65536):
        handler.wfile.write(b"x" * 65536)
with house(big) as here:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    request = urllib.request.Request(here.proxy.url + "/v1/messages", b"{}", {"x-api-key": here.word})
    got = 0
    with urllib.request.urlopen(request) as response:
        while piece := response.read(65536):
            got += len(piece)
    print(got == SIZE, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
def test_fifty_megabytes_flow_through_flat_memory(kind: str) -> None:
    root = Path(__file__).parents[4]
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, kind], capture_output=True, text=True, timeout=60, cwd=root, check=True
    )
    whole, grown = done.stdout.split()
    assert whole == "True"
    assert int(grown) < 25 * 1024, f"{grown} KiB more"


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    file = tmp_path / "both.pem"
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    subprocess.run(
        [
            "openssl",
            *words,
            "-addext",
            "subjectAltName=DNS:localhost",
            "-keyout",
            str(file),
            "-out",
            str(tmp_path / "c"),
        ],
        check=True,
        capture_output=True,
    )
    file.write_text(file.read_text() + (tmp_path / "c").read_text())
    return file


@contextlib.contextmanager
def over_tls(certificate: Path) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            body = b'{"model": "m", "usage": {"input_tokens": 1, "output_tokens": 2}}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"https://localhost:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def test_tls_upstream_with_a_certificate_that_the_system_trusts(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with over_tls(certificate) as address:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        with house(refuse_all, address=address) as here:
            assert here.ask(MESSAGES)[0].status == 200
        assert here.used == [(Tokens(1, 2), "m")]


def test_a_certificate_that_nobody_trusts_ends_the_request_before_the_key_is_sent(certificate: Path) -> None:
    with over_tls(certificate) as address, house(refuse_all, address=address) as here:
        assert here.ask(MESSAGES)[0].status == 502
    assert "certificate is not trusted" in here.troubles[0].text


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("ftp://host", KEY),
        ("host", KEY),
        ("https://user:pass@host", KEY),
        ("https://host/?a=b", KEY),
        ("https://host:port", KEY),
        ("https://[host", KEY),
        (f"https://{'x' * 70}.example", KEY),
        ("https://host", ""),
        ("https://host", f"{KEY}\r\nX-Evil: 1"),
        ("https://host", f"{KEY} "),
        ("https://host", f"{KEY}é"),
    ],
)
def test_what_cannot_be_used_is_refused_at_once_and_not_shown(address: str, key: str) -> None:
    with pytest.raises(ValueError) as raised:
        ModelProxy(address, Provider.ANTHROPIC, key, word="w", hear=lambda _: None)
    assert KEY not in str(raised.value)
    assert "pass@" not in str(raised.value)


def test_two_proxies_at_once_do_not_mix() -> None:
    with house(streaming) as one, house(streaming) as other:
        assert one.ask(MESSAGES)[0].status == 200
        assert one.ask(MESSAGES, headers={"x-api-key": other.word})[0].status == 401
        assert other.used == []


def test_what_is_heard_names_each_request_by_itself_even_where_the_server_repeats_its_ids() -> None:
    with house(streaming) as here:
        here.ask(MESSAGES)
        here.ask(MESSAGES)
        wait_until(lambda: here.used == [ANTHROPIC_USED] * 2, "what both had used was heard")
    assert {event.message for event in here.events if isinstance(event, Used)} == {"request-1", "request-2"}


def test_an_answer_that_does_not_tell_what_it_used_is_noted() -> None:
    with house(lambda handler: handler.plain(200, b'{"id": "resp", "status": "queued"}'), Provider.OPENAI) as here:
        here.ask(RESPONSES)
        wait_until(lambda: bool(here.notes), "there was a note")
    assert (here.used, len(here.notes)) == ([], 1)


def test_counting_and_listing_go_through_and_use_nothing() -> None:
    with house(lambda handler: handler.plain(200, b'{"input_tokens": 5}')) as here:
        assert here.ask("/v1/messages/count_tokens")[0].status == 200
        assert here.ask("/v1/models?limit=1000", None, "GET")[0].status == 200
        assert here.ask("/v1/models/claude-opus-5-5", None, "GET")[0].status == 200
    assert (here.events[1:], here.notes) == ([], [])


def test_a_gateways_token_goes_where_gateways_look_for_it() -> None:
    with house(lambda handler: handler.plain(200, b"{}"), is_bearer=True) as here:
        assert here.ask(MESSAGES)[0].status == 200
        [asked] = here.upstream.asked
    low = {name.lower(): text for name, text in asked.headers.items()}
    assert low["authorization"] == f"Bearer {KEY}"
    assert "x-api-key" not in low
