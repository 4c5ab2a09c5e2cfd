"""What a reader of proposed hidden checks must say for them to count, and whose word it is."""

from __future__ import annotations

import json

import pytest

from agent_fox.core.verdicts.hidden import LONGEST_LINE, Question, vendor_of, why_not_accepted

ASKED = (Question("tests/test_a.py", "R1"), Question("tests/test_a.py", "R2"), Question("tests/help.py", ""))
YES = [{"file": one.file, "requirement": one.requirement, "answer": "yes"} for one in ASKED]


def said(*rows: object) -> str:
    return json.dumps({"checks": list(rows)})


def test_each_question_answered_once_with_yes_accepts() -> None:
    assert why_not_accepted(ASKED, f"I read them.\n{said(*YES)}\n") == ""


def test_the_last_answer_counts_and_one_that_is_broken_takes_it_away() -> None:
    no, yes = said({**YES[0], "answer": "no"}), said(*YES)
    assert why_not_accepted(ASKED, f'{no} {yes} {{"id": "a", "status": "b"}}') == ""
    assert why_not_accepted(ASKED, f"{yes} {yes[:-1]}") == NONE
    assert why_not_accepted(ASKED, f'{no[:-1]}, "checks": []}} {yes}') == ""


NONE = "no complete answer was found"
R1, HELP = "tests/test_a.py about R1", "tests/help.py"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", NONE),
        ("yes", NONE),
        (said(*YES)[:-1], NONE),
        (said(*YES[:2]), f"not answered exactly once: {HELP}"),
        (said(YES[0], YES[0]), f"not answered exactly once: {R1}, tests/test_a.py about R2, {HELP}"),
        (said(*YES, YES[0]), f"not answered exactly once: {R1}"),
        (said(*YES, {**YES[0], "requirement": "R9"}), "answered, but not asked: tests/test_a.py about R9"),
        (
            said(*YES, *({**YES[0], "requirement": f"R{number}"} for number in range(3, 9))),
            "answered, but not asked: " + ", ".join(f"tests/test_a.py about R{number}" for number in range(3, 8)),
        ),
        *(
            (said(*YES, {**YES[0], **odd}), "answered, but not asked: a row without both names")
            for odd in ({"file": True}, {"requirement": True})
        ),
        (said(*YES[:2], {**YES[2], "answer": "Yes"}), f"not accepted: {HELP}: Yes"),
        (said(*YES[:2], {**YES[2], "answer": True}), f"not accepted: {HELP}: True"),
        (said(*YES[:2], {**YES[2], "answer": "x" * 201}), f"not accepted: {HELP}: {'x' * LONGEST_LINE}"),
        (
            said({**YES[0], "answer": "it asks for more"}, YES[1], {**YES[2], "answer": None}),
            f"not accepted: {R1}: it asks for more; {HELP}: None",
        ),
        (said(*YES, "row"), NONE),
        (json.dumps({"checks": YES[0]}), NONE),
        (f'{{"checks": [], "checks": {json.dumps(YES)}}}', NONE),
        (said(*YES[1:], "R").replace('"R"', json.dumps(YES[0])[:-1] + ', "answer": "yes"}'), NONE),
        (said(*YES) + said(*YES[:2]), f"not answered exactly once: {HELP}"),
    ],
)
def test_anything_else_accepts_nothing_and_says_why(text: str, why: str) -> None:
    assert why_not_accepted(ASKED, text) == why


@pytest.mark.parametrize(
    ("count", "named"),
    [(5, "1, 2, 3, 4, 5"), (6, "1, 2, 3, 4, 5 and 1 more"), (7, "1, 2, 3, 4, 5 and 2 more")],
)
def test_a_few_of_what_is_wrong_are_named_and_the_rest_counted(count: int, named: str) -> None:
    asked = [Question(str(number + 1), "") for number in range(count)]
    assert why_not_accepted(asked, said({"requirement": ""})) == f"not answered exactly once: {named}"
    answered = [{"file": each.file, "requirement": "", "answer": "no"} for each in asked]
    assert why_not_accepted(asked, said(*answered)) == "not accepted: 1: no; 2: no; 3: no; 4: no; 5: no"


@pytest.mark.parametrize(
    ("backend", "model", "vendor"),
    [
        ("claude", "", "Anthropic"),
        ("codex", "", "OpenAI"),
        ("gemini", "", "Google"),
        ("opencode", "anthropic/claude-sonnet-4", "Anthropic"),
        ("opencode", "openrouter/openai/gpt-5", "OpenAI"),
        ("codex", "qwen3-coder", "Alibaba"),
        ("mini", "Meta_Llama", "Meta"),
        ("mini", "anthropic/house", ""),
        ("mini", "", ""),
        ("claude", "house-model", ""),
    ],
)
def test_the_vendor_is_the_models_and_only_without_one_the_programs(backend: str, model: str, vendor: str) -> None:
    assert vendor_of(backend, model) == vendor
