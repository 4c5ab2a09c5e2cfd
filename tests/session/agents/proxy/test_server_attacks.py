"""What an agent's shell might try against the proxy. Faked: the model's server, which is one of the tests' own."""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_fox.session.agents.proxy.model_side import MASK, Mask
from agent_fox.session.agents.proxy.shared import MOST_NOTES, ProxyLimits
from agent_fox.session.agents.task import Provider
from agent_fox.testing.worlds import wait_until
from tests.session.agents.model_upstream import KEY, SOON, Answering, house, upstream

MESSAGES = "/v1/messages"


def fine(handler: Answering) -> None:
    handler.plain(200, b'{"model": "m", "usage": {"input_tokens": 1, "output_tokens": 1}}')


def status_of(raw: bytes) -> int:
    return int(raw.split(b" ", 2)[1])


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-api-key": ""},
        {"x-api-key": "wrong"},
        {"x-api-key": KEY + "x"},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic d29yZA=="},
        {"x-goog-api-key": "w\xf6rd"},
    ],
)
def test_without_the_word_nothing_goes_through(headers: dict[str, str]) -> None:
    with house(fine) as here:
        response, body = here.ask(MESSAGES, headers=headers)
        here.ask(f"{MESSAGES}?key=wrong&key=", headers=headers)
        assert here.upstream.asked == []
    assert response.status == 401
    assert json.loads(body)["error"]["type"] == "authentication_error"
    assert here.notes == ["a request without this session's key was refused: POST '/v1/messages'"]


def test_a_part_of_the_word_is_not_the_word() -> None:
    with house(fine) as here:
        for word in (here.word[:-1], here.word + "a", here.word.upper(), f"{here.word},{here.word}"):
            assert here.ask(MESSAGES, headers={"x-api-key": word})[0].status == 401
        assert here.ask(MESSAGES, headers={"Authorization": here.word})[0].status == 401
        assert here.upstream.asked == []


FORBIDDEN = {
    Provider.ANTHROPIC: [
        *("/v1/files", "/v1/messages/batches", "/v1/organizations/api_keys", "/v1/complete", "/", "/v1"),
        *("/v1/messages/", "/v1//messages", "//v1/messages", "/v1/./messages", "/v1/messages/../files"),
        *("/v1/messages/%2e%2e/files", "/v1/messages%2f..%2ffiles", "/v1/%6dessages", "/v1/messages%00"),
        *("/v1/messages;/../files", "/v1/messages\\..\\files", "/v1/messages#x", "/v1/models/..", "/v1/models/."),
        *("/V1/MESSAGES", "/v2/messages", "/v1/responses", "/v1/messages/count_tokens/../../files", "/v1/m\xe9ssages"),
        *("*", "v1/messages", "http://evil.example/v1/messages", "https://api.anthropic.com/v1/messages"),
    ],
    Provider.OPENAI: [
        *("/v1/files", "/v1/batches", "/v1/fine_tuning/jobs", "/v1/organization/admin_api_keys", "/v1/assistants"),
        *("/v1/responses/resp_1", "/v1/responses/resp_1/cancel", "/v1/chat/completions/x", "/v1/uploads"),
        *("/v1/responses/../files", "/v1/messages", "/v1/vector_stores", "/v1/embeddings", "/v1/images/generations"),
    ],
    Provider.GEMINI: [
        *("/v1beta/files", "/upload/v1beta/files", "/v1beta/cachedContents", "/v1beta/tunedModels"),
        *("/v1beta/models/x:batchGenerateContent", "/v1beta/models/..:generateContent", "/v1beta/models/x:predict"),
        *("/v1beta/models/x/../../files:generateContent", "/v1beta/models/x%2f..:generateContent"),
    ],
}


@pytest.mark.parametrize("provider", list(Provider))
def test_beside_the_model_nothing_goes_through(provider: Provider) -> None:
    with house(fine, provider) as here:
        for path, method in itertools.product(FORBIDDEN[provider], ("POST", "GET")):
            raw = here.raw(
                f"{method} {path} HTTP/1.1\r\nHost: x\r\nx-api-key: {here.word}\r\nContent-Length: 0\r\n\r\n".encode(
                    "latin-1"
                )
            )
            assert status_of(raw) in (400, 403), (method, path)
        assert here.upstream.asked == []
    assert len(here.notes) == min(MOST_NOTES, 2 * len(FORBIDDEN[provider]))


@pytest.mark.parametrize("method", ["DELETE", "PUT", "PATCH", "OPTIONS", "HEAD", "GET"])
def test_other_methods_do_not_reach_the_model(method: str) -> None:
    with house(fine) as here:
        assert here.ask(MESSAGES, None, method)[0].status == 403
        assert here.upstream.asked == []


@pytest.mark.parametrize("line", ["CONNECT api.anthropic.com:443 HTTP/1.1", "TRACE / HTTP/1.1", "GET /v1/models"])
def test_connect_trace_and_the_oldest_http_are_refused(line: str) -> None:
    with house(fine) as here:
        raw = here.raw(f"{line}\r\nHost: x\r\nx-api-key: {here.word}\r\n\r\n".encode())
        assert b"200" not in raw[:20]
        assert here.upstream.asked == []


SMUGGLED = b"POST /v1/files HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"


@pytest.mark.parametrize(
    "lines",
    [
        "Content-Length: 4\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: xchunked\r\nContent-Length: 4",
        "transfer-encoding:\tchunked\r\nContent-Length: 4",
        "Content-Length: 4\r\nContent-Length: 80",
        "Content-Length: 4, 80",
        "Content-Length: +4",
        "Content-Length: -1",
        "Content-Length: 0x4",
        "Content-Length: 4_0",
        "Content-Length: \xb2",
        "Content-Length: 99999999999999999999",
        "Content-Length : 80\r\nContent-Length: 4",
        "X-One: a\r\n Content-Length: 80\r\nContent-Length: 4",
        "X-One: a\rContent-Length: 80\r\nContent-Length: 4",
        "X-One: a\x00b\r\nContent-Length: 4",
        "no colon\r\nContent-Length: 4",
    ],
)
def test_a_body_that_reads_in_two_ways_is_refused_and_nothing_follows_it(lines: str) -> None:
    with house(fine) as here:
        raw = here.raw(
            f"POST {MESSAGES} HTTP/1.1\r\nHost: x\r\nx-api-key: {here.word}\r\n{lines}\r\n\r\n".encode("latin-1")
            + b"0\r\n\r\n"
            + SMUGGLED
        )
        assert status_of(raw) in (400, 411)
        assert raw.count(b"HTTP/1.1") == 1
        assert here.upstream.asked == []


def test_what_follows_a_good_request_is_not_a_second_one() -> None:
    with house(fine) as here:
        head = f"POST {MESSAGES} HTTP/1.1\r\nHost: x\r\nx-api-key: {here.word}\r\nContent-Length: 2\r\n\r\n{{}}"
        raw = here.raw(head.encode() * 2 + SMUGGLED)
        assert raw.count(b"HTTP/1.1") == 1
        assert [asked.body for asked in here.upstream.asked] == [b"{}"]


def test_headers_that_would_change_the_request_are_not_passed_on() -> None:
    evil = {
        "X-HTTP-Method-Override": "DELETE",
        "Proxy-Authorization": "Basic x",
        "Forwarded": "for=1",
        "TE": "trailers",
        "api-key": "other",
        "Host": "evil.example",
        "Upgrade": "h2c",
        "HTTP2-Settings": "x",
    }
    with house(fine) as here:
        assert here.ask(MESSAGES, headers={**here.credential(), **evil})[0].status == 200
        [asked] = here.upstream.asked
    low = {name.lower(): value for name, value in asked.headers.items()}
    assert low["host"] == here.upstream.url.removeprefix("http://")
    assert {name.lower() for name in evil} & set(low) == {"host"}


def test_a_body_that_is_too_large_is_refused() -> None:
    with house(fine, limits=ProxyLimits(largest=1000)) as here:
        assert here.ask(MESSAGES, b"x" * 1000)[0].status == 200
        assert here.ask(MESSAGES, b"x" * 1001)[0].status == 413
        assert len(here.upstream.asked) == 1


def test_who_sends_nothing_loses_the_place_again() -> None:
    with house(fine, limits=ProxyLimits(request=0.3, most=2)) as here:
        silent = [socket.create_connection(("127.0.0.1", here.port)) for _ in range(2)]
        half = f"POST {MESSAGES} HTTP/1.1\r\nHost: x\r\nx-api-key: {here.word}\r\nContent-Length: 9\r\n\r\nx"
        silent[1].sendall(half.encode())
        began = time.monotonic()
        assert here.ask(MESSAGES)[0].status == 200
        assert time.monotonic() - began < 6
        for connection in silent:
            connection.close()


def test_only_loopback_listens() -> None:
    with house(fine) as here:
        assert here.proxy.url.startswith("http://127.0.0.1:")
        others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
        for address in others - {"127.0.0.1"}:
            with pytest.raises(OSError):
                socket.create_connection((str(address), here.port), timeout=1).close()


def test_a_redirection_is_not_followed_with_the_key() -> None:
    with upstream(fine) as elsewhere:

        def away(handler: Answering) -> None:
            handler.plain(307, b"", Location=f"{elsewhere.url}/v1/messages")

        with house(away) as here:
            response, body = here.ask(MESSAGES)
        assert elsewhere.asked == []
    assert response.status == 502
    assert "Location" not in response.headers
    assert b"redirection (307)" in body


@pytest.mark.parametrize("status", [200, 401, 500])
def test_the_key_is_in_nothing_that_comes_back_even_where_the_server_echoes_it(status: int) -> None:
    def echo(handler: Answering) -> None:
        key = handler.headers["x-api-key"]
        body = json.dumps({"error": {"type": "authentication_error", "message": f"bad key {key}, {key}"}})
        handler.plain(status, body.encode(), X_Echo=key)

    with house(echo) as here:
        raw = here.raw(
            f"POST {MESSAGES} HTTP/1.1\r\nHost: x\r\nx-api-key: {here.word}\r\nContent-Length: 2\r\n\r\n{{}}".encode()
        )
        told = f"{here.events} {here.notes} {here.proxy!r}"
    assert status_of(raw) == status
    assert b"bad key [redacted], [redacted]" in raw
    assert KEY.encode() not in raw
    assert KEY not in told


def test_the_key_is_masked_where_a_stream_cuts_it_in_two() -> None:
    def cut(handler: Answering) -> None:
        handler.stream(end=False)
        for piece in (b"data: ", *(bytes([letter]) for letter in KEY.encode()), b" sk-re\n\n"):
            handler.chunk(piece)
            time.sleep(0.002)  # so that the pieces arrive one by one
        handler.chunk(b"")

    with house(cut) as here:
        _, body = here.ask(MESSAGES)
    assert body == b"data: [redacted] sk-re\n\n"


def test_a_long_error_is_cut() -> None:
    with house(lambda handler: handler.plain(500, b"x" * 1_000_000)) as here:
        response, body = here.ask(MESSAGES)
    assert (response.status, len(body)) == (500, 64 * 1024)


def test_nothing_is_printed_whatever_comes(capfd: pytest.CaptureFixture[str]) -> None:
    def rude(handler: Answering) -> None:
        handler.wfile.write(b"this is no http\r\n\r\n" * 3)

    with house(rude) as here:
        assert here.ask(MESSAGES)[0].status == 504
        here.raw(b"\x00\xff\r\n\r\n")
        with socket.create_connection(("127.0.0.1", here.port)) as connection:
            connection.sendall(b"POST ")
        wait_until(lambda: bool(here.troubles), "trouble was told")
    assert "BadStatusLine" in here.troubles[0].text
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")


def test_random_bytes_reach_no_model() -> None:
    with house(fine, limits=ProxyLimits(request=0.2)) as here:

        @settings(max_examples=100, deadline=None, database=None)
        @given(st.binary(max_size=300))
        def sent(data: bytes) -> None:
            with socket.create_connection(("127.0.0.1", here.port), timeout=SOON) as connection:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                with contextlib.suppress(ConnectionResetError):
                    assert KEY.encode() not in b"".join(iter(lambda: connection.recv(65536), b""))

        sent()
        assert here.upstream.asked == []


LONG = b"aab" * 6
PARTS = [b"a", b"b", b"aab", b"x", b"aab" * 5, b"secret-of-16-byt", b"e", b"es", LONG]


@given(st.lists(st.sampled_from(PARTS), max_size=20))
def test_a_mask_gives_back_everything_else_in_order(pieces: list[bytes]) -> None:
    for secret in (b"secret-of-16-bytes", LONG):
        mask = Mask(secret)
        out = b"".join(mask.feed(piece) for piece in pieces) + mask.end()
        assert secret not in out.replace(MASK, b"\n")
        assert out.replace(MASK, secret) == b"".join(pieces)
