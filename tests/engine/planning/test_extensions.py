"""What is built in and what plugins add, by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

import pytest

from agent_fox.engine.planning.extensions import backends_of
from agent_fox.engine.planning.plugged_parsers import parsers_of
from agent_fox.plugins import PluginError, hookimpl, load_plugins
from agent_fox.session.built_in.command import CommandBackend
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.reading import Run, read_run
from agent_fox.verifier.logs.status import Ending


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


class Shouting:
    """A plugin whose parser takes every line for a failure; with `gives`, it gives that instead of a result."""

    tools = ("shout",)

    def __init__(self, gives: object = None) -> None:
        self.gives = gives

    @hookimpl
    def agent_fox_log_parsers(self) -> Sequence[object]:
        return [self]

    def parse(self, lines: Iterable[str], workspace: Workspace) -> object:
        return self.gives or Parsed(tuple(Failure(FailureKind.UNKNOWN, line) for line in lines))


def read(folder: Path, parser: Shouting) -> list[str]:
    plugins = load_plugins()
    plugins.register(parser, name="some-plugin")
    (folder / "log.txt").write_text("it broke\n")
    run = Run(Ending("shout", 1, False), folder / "log.txt", ())
    outcome = read_run(run, Workspace(PurePosixPath("/workspace")), parsers_of(plugins))
    return [failure.message for failure in outcome.parsed.failures]


def test_a_plugins_log_parser_reads_the_tools_that_it_names(tmp_path: Path) -> None:
    assert read(tmp_path, Shouting()) == ["it broke"]


def test_a_log_parser_that_gives_no_result_is_named(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="some-plugin"):
        read(tmp_path, Shouting(gives="nonsense"))


@pytest.mark.parametrize("judge", ["checks", "library"])
def test_no_plugin_takes_the_place_of_a_judge_that_is_trusted(judge: str) -> None:
    plugins = load_plugins()
    plugins.register(Offering(judge), name="some-plugin")
    with pytest.raises(PluginError, match=rf"some-plugin.*{judge}"):
        backends_of(plugins)
