"""What a reader of proposed hidden checks must say for them to count, and whose word it is."""

from __future__ import annotations

import json

import pytest

from agent_fox.core.verdicts.hidden import Question, vendor_of, why_not_accepted

ASKED = (Question("tests/test_a.py", "R1"), Question("tests/test_a.py", "R2"), Question("tests/help.py", ""))
YES = [{"file": one.file, "requirement": one.requirement, "answer": "yes"} for one in ASKED]


def said(*rows: object) -> str:
    return json.dumps({"checks": list(rows)})


def test_each_question_answered_once_with_yes_accepts() -> None:
    assert why_not_accepted(ASKED, f"I read them.\n{said(*YES)}\n") == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no complete answer"),
        ("yes", "no complete answer"),
        (said(*YES)[:-1], "no complete answer"),
        (said(*YES[:2]), "not answered exactly once: tests/help.py"),
        (said(*YES, YES[0]), "not answered exactly once: tests/test_a.py about R1"),
        (said(*YES, {**YES[0], "requirement": "R9"}), "answered, but not asked: tests/test_a.py about R9"),
        (said(*YES, {"answer": "yes"}), "answered, but not asked"),
        (said(*YES[:2], {**YES[2], "answer": "Yes"}), "not accepted: tests/help.py: Yes"),
        (said(*YES[:2], {**YES[2], "answer": True}), "not accepted: tests/help.py: True"),
        (said(*YES[:2], {**YES[2], "answer": "it asks for more"}), "not accepted: tests/help.py: it asks for more"),
        (said(*YES, "row"), "no complete answer"),
        (said(*YES) + said(*YES[:2]), "not answered exactly once"),
    ],
)
def test_anything_else_accepts_nothing_and_says_why(text: str, why: str) -> None:
    assert why in why_not_accepted(ASKED, text)


@pytest.mark.parametrize(
    ("backend", "model", "vendor"),
    [
        ("claude", "", "Anthropic"),
        ("codex", "", "OpenAI"),
        ("gemini", "", "Google"),
        ("opencode", "anthropic/claude-sonnet-4", "Anthropic"),
        ("opencode", "openrouter/openai/gpt-5", "OpenAI"),
        ("codex", "qwen3-coder", "Alibaba"),
        ("mini", "", ""),
        ("claude", "house-model", ""),
    ],
)
def test_the_vendor_is_the_models_and_only_without_one_the_programs(backend: str, model: str, vendor: str) -> None:
    assert vendor_of(backend, model) == vendor
