"""Encryption against a real server behind a proxy that speaks TLS, as a production server does."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from agent_fox.cluster.engine import engine_of
from agent_fox.cluster.looking import look
from agent_fox.config import ClusterSettings
from agent_fox.testing.cluster import Cluster


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, as files."""

    certificate: Path
    key: Path


def made(folder: Path, name: str) -> Pair:
    """A certificate for 127.0.0.1 that vouches for itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder().subject_name(who).issuer_name(who).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    pair = Pair(folder / f"{name}.pem", folder / f"{name}.key")
    pair.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    pair.key.write_bytes(key.private_bytes(*form))
    return pair


@contextmanager
def encrypted(port: int, own: Pair, clients: Pair | None = None, seen: bytearray | None = None) -> Iterator[int]:
    """A port that speaks TLS and passes on to another; with `clients`, to those alone who show that certificate. What
    they send is put into `seen`.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own.certificate, own.key)
    context.set_alpn_protocols(["h2"])
    if clients:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients.certificate)
    with socket.create_server(("127.0.0.1", 0)) as door:
        threading.Thread(target=serve, args=(door, context, port, seen), daemon=True).start()
        yield door.getsockname()[1]


def serve(door: socket.socket, context: ssl.SSLContext, port: int, seen: bytearray | None) -> None:
    while True:
        try:
            raw, _ = door.accept()
        except OSError:
            return
        with suppress(OSError):
            outer = context.wrap_socket(raw, server_side=True)
            inner = socket.create_connection(("127.0.0.1", port))
            for source, target, kept in ((outer, inner, seen), (inner, outer, None)):
                threading.Thread(target=pass_on, args=(source, target, kept), daemon=True).start()


def pass_on(source: socket.socket, target: socket.socket, seen: bytearray | None) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            if seen is not None:
                seen += data
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


SHORT = "012aceiost"
"""Letters that HTTP/2 writes in five bits, the number of each in this order."""

API_KEY = "taste0a1ace2oasisictesta"


def is_sent(key: str, seen: bytes) -> bool:
    """Whether a key of SHORT letters stands in what was sent, as HTTP/2 writes it (RFC 7541, appendix B) or bare."""
    spelled = "".join(f"{SHORT.index(letter):05b}" for letter in key)
    return spelled in "".join(f"{byte:08b}" for byte in seen) or key.encode() in seen


def trouble(port: int, **settings: str) -> str:
    """Why nothing can be seen of the engine; empty where it can."""
    named = ClusterSettings(**settings)  # type: ignore[arg-type]
    return look(engine_of(f"temporal://127.0.0.1:{port}", named, {"CLOUD_KEY": API_KEY}), ["coder"]).trouble


@pytest.fixture
def own(tmp_path: Path) -> Pair:
    return made(tmp_path, "server")


def test_a_certificate_that_is_known_is_taken_and_an_unknown_one_is_refused(
    shared: Cluster, own: Pair, tmp_path: Path
) -> None:
    other = made(tmp_path, "another")
    with encrypted(shared.port, own) as port:
        assert trouble(port, ca=str(own.certificate)) == ""
        assert "does not answer" in trouble(port, ca=str(other.certificate))
        assert "its certificate must be known" in trouble(port, server_name="127.0.0.1")


def test_a_server_that_wants_a_certificate_gets_ours_and_nobody_without_one_comes_in(
    shared: Cluster, own: Pair, tmp_path: Path
) -> None:
    client, other = made(tmp_path, "client"), made(tmp_path, "another")
    with encrypted(shared.port, own, client) as port:
        ca = str(own.certificate)
        assert trouble(port, ca=ca, certificate=str(client.certificate), key=str(client.key)) == ""
        assert trouble(port, ca=ca, certificate=str(other.certificate), key=str(other.key)) != ""
        assert trouble(port, ca=ca) != ""


def test_a_server_that_does_not_speak_tls_is_not_spoken_with_where_it_must(shared: Cluster, own: Pair) -> None:
    assert "does not answer" in trouble(shared.port, ca=str(own.certificate))


def test_an_api_key_is_sent_with_each_call_over_the_encrypted_line_alone(shared: Cluster, own: Pair) -> None:
    for named, is_expected in (("CLOUD_KEY", True), ("", False)):
        seen = bytearray()
        with encrypted(shared.port, own, seen=seen) as port:
            assert trouble(port, ca=str(own.certificate), api_key=named) == ""
        assert seen
        assert is_sent(API_KEY, bytes(seen)) is is_expected
    assert "does not answer" in trouble(shared.port, ca=str(own.certificate), api_key="CLOUD_KEY")
