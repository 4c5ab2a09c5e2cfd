"""What is built in and what plugins add, by name."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from agent_fox.engine.extensions import backends_of
from agent_fox.plugins import PluginError, hookimpl, load_plugins
from agent_fox.session.backends import CommandBackend


class Named(CommandBackend):
    """A plugin's backend: the command backend under another name."""

    def __init__(self, name: str) -> None:
        self.name = name


class Offering:
    """A plugin that offers one backend."""

    def __init__(self, name: str) -> None:
        self.name = name

    @hookimpl
    def agent_fox_backends(self) -> Sequence[object]:
        return [Named(self.name)]


def test_the_built_in_backends_are_there_without_any_plugin() -> None:
    assert {"command", "scripted", "checks"} <= set(backends_of(load_plugins()))


def test_a_plugin_adds_a_backend_or_takes_the_place_of_one() -> None:
    for name in ("mine", "command"):
        plugins = load_plugins()
        plugins.register(Offering(name), name="some-plugin")
        assert backends_of(plugins)[name].name == name


def test_no_plugin_takes_the_place_of_the_judge_that_is_trusted() -> None:
    plugins = load_plugins()
    plugins.register(Offering("checks"), name="some-plugin")
    with pytest.raises(PluginError, match=r"some-plugin.*checks"):
        backends_of(plugins)
