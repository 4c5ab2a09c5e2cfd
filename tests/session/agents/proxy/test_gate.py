"""The paths that the metering proxy lets through, by the examples that stand beside them."""

from __future__ import annotations

import pytest

from agent_fox.session.agents.proxy.gate import Service, fits, table
from agent_fox.session.agents.task import Provider


@pytest.mark.parametrize(("name", "service"), table().services.items())
def test_each_kind_of_request_has_examples_of_what_passes_and_what_does_not(name: str, service: Service) -> None:
    for kind in ("generates", "counts", "lists"):
        pattern = getattr(service, kind)
        assert service.passes[kind]
        assert [path for path in service.passes[kind] if not fits(pattern, path)] == []
        assert service.refused[kind]
        assert [path for path in service.refused[kind] if fits(pattern, path)] == []


def test_every_provider_has_its_service() -> None:
    assert {provider.value for provider in Provider} <= set(table().services)
