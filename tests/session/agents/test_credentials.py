"""Where a key for the model is looked for, and what the agent must not see of it."""

from __future__ import annotations

import pytest

from agent_fox.session.agents.claude.adapter import CLAUDE
from agent_fox.session.agents.codex.adapter import CODEX
from agent_fox.session.agents.credentials import find, secret_names, upstream
from agent_fox.session.agents.task import Provider


def test_the_first_key_there_is_counts() -> None:
    both = {"ANTHROPIC_AUTH_TOKEN": "token", "ANTHROPIC_API_KEY": "key"}
    found = find(CLAUDE.facts, Provider.ANTHROPIC, both)
    assert (found.name, found.key, found.is_bearer, found.direct) == ("ANTHROPIC_API_KEY", "key", False, {})


def test_a_gateways_token_is_a_bearer_token() -> None:
    found = find(CLAUDE.facts, Provider.ANTHROPIC, {"ANTHROPIC_AUTH_TOKEN": "token", "ANTHROPIC_API_KEY": ""})
    assert (found.key, found.is_bearer) == ("token", True)


def test_a_login_of_the_program_itself_is_handed_on() -> None:
    found = find(CODEX.facts, Provider.OPENAI, {"CODEX_ACCESS_TOKEN": "t"})
    assert (found.key, found.is_held, dict(found.direct)) == ("", False, {"CODEX_ACCESS_TOKEN": "t"})
    assert found


def test_secrets_that_only_go_with_a_login_are_none() -> None:
    assert not find(CLAUDE.facts, Provider.ANTHROPIC, {"AWS_SECRET_ACCESS_KEY": "s"})
    assert find(CLAUDE.facts, Provider.ANTHROPIC, {"AWS_SECRET_ACCESS_KEY": "s", "CLAUDE_CODE_USE_BEDROCK": "1"})


def test_the_key_of_another_provider_is_none() -> None:
    assert not find(CODEX.facts, Provider.OPENAI, {"ANTHROPIC_API_KEY": "k"})


def test_every_variable_with_a_secret_is_kept_from_the_agent() -> None:
    assert {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"} <= secret_names(CLAUDE.facts)


def test_a_secret_does_not_show_where_values_are_shown() -> None:
    shown = repr(find(CLAUDE.facts, Provider.ANTHROPIC, {"ANTHROPIC_API_KEY": "sk-secret"}))
    assert "sk-secret" not in shown


@pytest.mark.parametrize(
    ("variables", "address"),
    [({}, "https://api.anthropic.com"), ({"ANTHROPIC_BASE_URL": "http://127.0.0.1:1/x"}, "http://127.0.0.1:1/x")],
)
def test_the_models_side_is_where_the_person_says(variables: dict[str, str], address: str) -> None:
    assert upstream(Provider.ANTHROPIC, variables) == address
