"""The agents that there are, by name: each can be loaded, and is named wherever a person chooses one."""

from __future__ import annotations

import re

import pytest

from agent_fox.cli.setup.init import command as init
from agent_fox.config import AgentSettings
from agent_fox.session.agents.registry import NAMES, command_line


@pytest.mark.parametrize("name", NAMES)
def test_an_agent_has_its_name_and_stands_in_the_settings_and_in_the_help_of_init(name: str) -> None:
    assert command_line(name).facts.name == name
    assert f"`{name}`" in str(AgentSettings.model_fields["backend"].description)
    assert name in re.findall(r"\w+", str(init.help))


def test_another_name_is_none() -> None:
    with pytest.raises(KeyError):
        command_line("hal")
