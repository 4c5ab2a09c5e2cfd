"""What our agent class for mini-swe-agent tells: recorded from the real program in front of a scripted model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.session.agents.events import (
    Answered,
    Beat,
    Began,
    Called,
    Event,
    Finished,
    Spoke,
    Tokens,
    Trouble,
    Turn,
    Unreadable,
    Used,
)
from agent_fox.session.agents.mini.adapter import MINI
from agent_fox.session.agents.mini.reader import MiniReader
from agent_fox.session.agents.report import Ending
from agent_fox.session.agents.runner.outcome import outcome_of
from agent_fox.session.agents.runner.tally import Tally
from agent_fox.session.agents.task import AgentTask, Door, Provider, Role
from agent_fox.session.infrastructure import Infrastructure
from tests.session.agents.tasks import task_in

E = TypeVar("E")
LINES = Path(__file__).parents[1] / "lines" / "mini"


def lines(name: str) -> list[str]:
    return (LINES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()


def played(name: str) -> list[Event]:
    reader = MiniReader()
    return [event for line in lines(name) for event in reader.line(line)]


def tallied(name: str) -> Tally:
    tally = Tally(lambda tool: MINI.may(Role.CODER, tool))
    for event in played(name):
        tally.hear(event)
    return tally


def of(kind: type[E], events: list[Event]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.parametrize(("name", "model"), [("openai", "openai/gpt-5"), ("anthropic", "anthropic/claude-sonnet-4-5")])
def test_a_session_is_told_as_it_goes(name: str, model: str) -> None:
    events = played(name)

    assert of(Began, events)[0].model.startswith(model)
    assert [call.arguments for call in of(Called, events)][:2] == [
        {"command": "echo hi > out.txt; cat out.txt"},
        {"command": "false"},
    ]
    assert [end.is_error for end in of(Answered, events)] == [False, True]
    assert [used.tokens for used in of(Used, events)] == [Tokens(input=100, output=7)] * 3
    assert len({used.message for used in of(Used, events)}) == len(of(Turn, events)) == 3
    finished = of(Finished, events)[-1]
    assert (finished.text, finished.is_error, finished.reason) == ("Mended.", False, "Submitted")
    assert finished.cost_usd
    assert of(Spoke, events)[-1].text == "Mended."
    assert outcome_of(tallied(name), None, 0, "").ending is Ending.ENDED


def test_what_a_cache_held_is_told_apart() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 7,
        "cache_read_input_tokens": 60,
        "cache_creation_input_tokens": 30,
    }
    line = {"type": "message", "role": "assistant", "response": {"id": "a", "usage": usage, "choices": []}}

    (used,) = of(Used, list(MiniReader().line(json.dumps(line))))

    assert used.tokens == Tokens(input=10, output=7, cache_read=60, cache_write=30)


def test_a_call_of_another_tool_is_seen_and_refused() -> None:
    tally = tallied("another-tool")

    assert [call.tool for call in of(Called, played("another-tool"))] == ["edit"] * 3
    assert len(tally.forbidden) == 3
    assert tally.open_calls == {}
    outcome = outcome_of(tally, None, 0, "")
    assert (outcome.ending, "RepeatedFormatError" in outcome.reason) == (Ending.FAILED, True)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("401", Infrastructure.AUTHENTICATION),
        ("429", Infrastructure.RATE_LIMIT),
        ("529", Infrastructure.OVERLOAD),
        ("refused", Infrastructure.NETWORK),
    ],
)
def test_what_was_broken_is_known_by_its_name(name: str, kind: Infrastructure) -> None:
    outcome = outcome_of(tallied(name), None, 1, "")

    assert (outcome.ending, outcome.infrastructure) == (Ending.INFRASTRUCTURE, kind)


def test_a_bad_request_is_nobody_else_s_fault() -> None:
    assert outcome_of(tallied("400"), None, 1, "").ending is Ending.FAILED


def test_what_stands_before_the_first_word_is_the_program_s_greeting() -> None:
    reader = MiniReader()

    assert list(reader.line("Building agent config from specs")) == [Beat()]
    list(reader.line('{"type": "began"}'))
    assert of(Unreadable, list(reader.line("Building agent config from specs")))


def test_its_agent_class_is_python_that_can_be_read() -> None:
    compile(MINI.beside("telling.txt"), "agent_fox_telling.py", "exec")


def test_arguments_that_are_no_json_are_kept_as_they_came() -> None:
    function = {"name": "bash", "arguments": "{"}
    response = {"choices": [{"message": {"tool_calls": [{"id": "1", "function": function}]}}]}
    line = {"type": "message", "role": "user", "interrupt": "FormatError", "content": "No.", "response": response}

    (called,) = of(Called, list(MiniReader().line(json.dumps(line))))

    assert called.arguments == {"arguments": "{"}


REAL = [line for file in sorted(LINES.glob("*.jsonl")) for line in lines(file.stem)]


@given(st.one_of(st.text(), st.binary().map(lambda raw: raw.decode("utf-8", "replace"))))
def test_garbage_is_told_as_unreadable(text: str) -> None:
    reader = MiniReader(has_begun=True)

    events = list(reader.line(text))

    assert all(isinstance(event, Unreadable) for event in events)
    assert bool(events) == bool(text.strip())
    assert not list(reader.complaint(text))


@given(st.sampled_from(REAL), st.integers(0, 2000), st.text(max_size=5))
def test_lines_cut_short_or_made_up_never_raise(line: str, cut: int, more: str) -> None:
    events = list(MiniReader(has_begun=True).line(line[:cut] + more))

    assert not of(Finished, events) or json.loads(line[:cut] + more)["role"] == "exit"


@given(
    st.dictionaries(
        st.sampled_from(
            ["role", "content", "call", "response", "cost", "status", "errors", "exit_status", "interrupt"]
        ),
        st.recursive(
            st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
        ),
    ),
    st.sampled_from(["began", "turn", "trouble", "message", "more"]),
)
def test_other_shapes_never_raise(fields: dict[str, object], kind: str) -> None:
    assert isinstance(list(MiniReader().line(json.dumps({"type": kind, **fields}))), list)


def test_troubles_are_told_each(tmp_path: Path) -> None:
    assert [trouble.kind for trouble in of(Trouble, played("429"))] == [Infrastructure.RATE_LIMIT] * 3


def made(tmp_path: Path, **more: object) -> AgentTask:
    (tmp_path / "home").mkdir()
    environment = {"PATH": "/usr/bin", "PYTHONPATH": "src"}
    usual = {"provider": Provider.OPENAI, "model": "gpt-5", "environment": environment}
    return task_in(tmp_path, "mini", **{**usual, **more})


@pytest.mark.parametrize(
    ("model", "provider", "whole", "base"),
    [
        ("gpt-5", Provider.OPENAI, "openai/gpt-5", "http://127.0.0.1:8000/v1"),
        ("openai/gpt-5", Provider.OPENAI, "openai/gpt-5", "http://127.0.0.1:8000/v1"),
        ("anthropic/claude-x", Provider.ANTHROPIC, "anthropic/claude-x", "http://127.0.0.1:8000"),
        ("claude-x", Provider.ANTHROPIC, "anthropic/claude-x", "http://127.0.0.1:8000"),
    ],
)
def test_the_name_of_a_model_says_whose_it_is(
    model: str, provider: Provider, whole: str, base: str, tmp_path: Path
) -> None:
    task = made(tmp_path, model=model, provider=MINI.provider(model), effort="high")
    MINI.prepare(task, Door("http://127.0.0.1:8000", "word"))
    settings = json.loads((task.home / ".mini" / "session.yaml").read_text())

    assert MINI.provider(model) is provider
    assert settings["model"]["model_name"] == whole
    assert settings["model"]["model_kwargs"]["api_base"] == base
    assert settings["model"]["model_kwargs"]["reasoning_effort"] == "high"
    assert (settings["agent"]["step_limit"], settings["environment"]["timeout"]) == (40, 90)
    assert "word" not in json.dumps(settings)


def test_the_program_imports_nothing_from_the_workspace(tmp_path: Path) -> None:
    start = MINI.start(made(tmp_path), Door("http://127.0.0.1:8000", "word"))

    assert start.environment["PYTHONPATH"] == str(tmp_path / "home" / ".mini")
    assert json.loads(start.environment["AGENT_FOX_KEPT"])["PYTHONPATH"] == "src"
    assert "word" not in " ".join(start.argv)


def test_nothing_that_an_earlier_session_has_left_can_be_imported(tmp_path: Path) -> None:
    task, outside = made(tmp_path), tmp_path / "outside"
    outside.write_text("x", encoding="utf-8")
    folder = task.home / ".mini"
    folder.mkdir()
    (folder / "litellm.py").write_text("raise SystemExit", encoding="utf-8")
    (folder / "session.yaml").symlink_to(outside)
    MINI.prepare(task, Door("http://127.0.0.1:8000", "word"))

    assert sorted(path.name for path in folder.iterdir()) == ["agent_fox_telling.py", "session.yaml"]
    assert outside.read_text(encoding="utf-8") == "x"


def test_only_a_shell_may_be_called() -> None:
    assert MINI.may(Role.CODER, "bash")
    assert not MINI.may(Role.CODER, "edit")


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("anthropic/claude-sonnet-4-5", Provider.ANTHROPIC),
        ("claude-sonnet-4-5", Provider.ANTHROPIC),
        ("openai/gpt-5.3-codex", Provider.OPENAI),
        ("gpt-5.3-codex", Provider.OPENAI),
    ],
)
def test_the_provider_follows_from_the_models_name(model: str, provider: Provider) -> None:
    assert MINI.provider(model) is provider


@pytest.mark.parametrize("model", ["", "mistral/large"])
def test_a_model_that_no_key_here_is_for_is_refused(model: str) -> None:
    with pytest.raises(ValueError, match="set `model = "):
        MINI.provider(model)
