"""Addresses, encryption and keys: what is refused before anything is connected to, and in which words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_fox.cluster.engine import EngineError, Tls, engine_of, lease_of, pause_between
from agent_fox.cluster.places import queue_of, tag_of
from agent_fox.config import ClusterSettings, PlaceSettings
from agent_fox.core.graph import Node
from agent_fox.core.ids import Archetype


def test_an_engine_on_this_machine_is_reached_as_it_is() -> None:
    engine = engine_of("temporal://127.0.0.1", ClusterSettings(), {})
    assert (engine.target, engine.namespace, engine.tls) == ("127.0.0.1:7233", "default", None)
    assert engine.name == "temporal://127.0.0.1:7233/default"
    assert engine_of(engine.name, ClusterSettings(namespace="other"), {}) == engine


@pytest.mark.parametrize("host", ["10.0.0.5", "example.org", "[2001:db8::1]", "127.0.0.1.example.org"])
def test_an_engine_elsewhere_is_reached_encrypted_unless_it_is_said_otherwise(host: str) -> None:
    assert engine_of(f"temporal://{host}:7233", ClusterSettings(), {}).tls == Tls()
    assert engine_of(f"temporal://{host}:7233", ClusterSettings(insecure=True), {}).tls is None


def test_certificates_and_an_api_key_are_read_where_they_are_named(tmp_path: Path) -> None:
    for name in ("ca", "certificate", "key"):
        (tmp_path / name).write_text(name)
    files: dict[str, Any] = {name: str(tmp_path / name) for name in ("ca", "certificate", "key")}
    settings = ClusterSettings(api_key="CLOUD_KEY", server_name="cloud", **files)
    engine = engine_of("temporal://127.0.0.1:1/space", settings, {"CLOUD_KEY": "opensesame"})
    assert engine.tls == Tls(b"ca", b"certificate", b"key", "cloud")
    assert (engine.api_key, engine.namespace) == ("opensesame", "space")
    assert "opensesame" not in engine.name


@pytest.mark.parametrize(
    ("address", "settings", "said"),
    [
        ("http://127.0.0.1:7233", ClusterSettings(), "temporal://HOST:PORT"),
        ("temporal://", ClusterSettings(), "temporal://HOST:PORT"),
        ("temporal://host:port", ClusterSettings(), "temporal://HOST:PORT"),
        ("temporal://me@host", ClusterSettings(), "temporal://HOST:PORT"),
        ("temporal://host", ClusterSettings(api_key="ABSENT"), "there is no such variable"),
        ("temporal://host", ClusterSettings(ca="/nowhere/ca.pem"), "cannot be read"),
        ("temporal://host", ClusterSettings(certificate="/dev/null"), "belong together"),
        ("temporal://host", ClusterSettings(insecure=True, ca="/dev/null"), "goes with none of ca"),
        ("temporal://host", ClusterSettings(heartbeat=3, timeout=4), "twice as long"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_do(address: str, settings: ClusterSettings, said: str) -> None:
    with pytest.raises(EngineError, match=said):
        engine_of(address, settings, {})


def test_a_lease_ends_before_another_worker_may_begin() -> None:
    for heartbeat, timeout in ((2.0, 30.0), (0.2, 3.0), (5.0, 10.0), (1.0, 2.0)):
        engine = engine_of("temporal://localhost", ClusterSettings(heartbeat=heartbeat, timeout=timeout), {})
        assert 0 < engine.lease < timeout


def test_many_sessions_of_a_worker_say_less_often_that_they_live_and_all_within_their_leases() -> None:
    lease = lease_of(2, 30)
    assert [pause_between(2, lease, sessions) for sessions in (1, 10, 20, 50, 500)] == [2, 2, 4, 6.5, 6.5]
    for heartbeat, timeout in ((2.0, 30.0), (0.2, 3.0), (5.0, 10.0), (1.0, 2.0)):
        lease = lease_of(heartbeat, timeout)
        assert all(0 < pause_between(heartbeat, lease, sessions) <= lease / 2 for sessions in (1, 10, 1000))


def test_a_session_goes_to_the_first_place_that_it_fits_in_else_to_its_archetype() -> None:
    places = {
        "readers": PlaceSettings(archetypes=[Archetype.VERIFIER, Archetype.REVIEWER]),
        "gpu": PlaceSettings(archetypes=[Archetype.CODER], specs=["02_*"]),
        "second": PlaceSettings(nodes=["*:2"]),
        "app": PlaceSettings(specs=["01_*"]),
        "trained": PlaceSettings(labels=["large", "huge"]),
    }

    def at(archetype: Archetype, name: str, title: str = "") -> str:
        return tag_of(Node("", name, name.partition(":")[0], 1, archetype, title=title), places)

    assert at(Archetype.CODER, "01_app:1") == "app"
    assert at(Archetype.CODER, "03_app:1") == "coder"
    assert at(Archetype.CODER, "01_app:2") == "second"
    assert at(Archetype.CODER, "02_x:1") == "gpu"
    assert at(Archetype.VERIFIER, "01_app:verifier") == "readers"
    assert at(Archetype.CODER, "03_app:1", "Train the model #large") == "trained"
    assert at(Archetype.CODER, "03_app:1", "Mend issue#large, and #larger") == "coder"
    assert queue_of("app") == "agent-fox-app"
