"""What a reviewer's output says; everything that is not plainly OK is not OK."""

from __future__ import annotations

import json

import pytest

from agent_fox.review.answer import Nok, Ok, Unreadable, read_answer
from agent_fox.review.prompt import block

MARK = "0123456789abcdef0123456789abcdef"
OK = '{"status": "OK"}'
NOK = '{"status": "NOK", "feedback": "no route"}'
DIFF_WITH_OK = '+REPLY = {"status": "OK"}\n'

SAYS_OK = {
    "alone": OK,
    "with space around": f"\n\n  {OK}\n ",
    "with a byte order mark": f"\ufeff{OK}",
    "in another case": '{"status": " ok "}',
    "with an empty feedback": '{"status": "OK", "feedback": null}',
    "in a code block": f"```json\n{OK}\n```",
    "in a plain code block": f"```\n{OK}\n```",
    "over several lines": '{\n  "status":\n  "OK"\n}',
    "behind prose": f"I have read the change. All is there.\n\n{OK}",
    "behind prose, in a code block": f"All is there.\n\n```json\n{OK}\n```\n",
    "behind another object": f'{{"thought": "fine"}}\n{OK}',
    "said twice": f"{OK}\n{OK}",
}
SAYS_NOTHING = {
    "nothing": "",
    "blank": " \n",
    "prose": "Looks good to me, OK!",
    "OK alone": "OK",
    "a JSON string": '"OK"',
    "a list": f"[{OK}]",
    "nested": f'{{"type": "result", "result": {OK}}}',
    "a string inside": '{"type": "result", "result": "{\\"status\\": \\"OK\\"}"}',
    "truncated": '{"status": "OK"',
    "truncated earlier": '{"status": "O',
    "an unknown status": '{"status": "PASS"}',
    "a true status": '{"status": true}',
    "no status": "{}",
    "a feedback that is no text": '{"status": "OK", "feedback": ["x"]}',
    "an OK with a remark": '{"status": "OK", "feedback": "the tests are missing"}',
    "an OK with a remark under another name": '{"status": "OK", "issues": ["the tests are missing"]}',
    "an OK with a remark, spelled otherwise": '{"status": "OK", "Feedback": "the tests are missing"}',
    "a doubled key": '{"status": "NOK", "status": "OK"}',
    "in the middle of a line": f"I say {OK}",
    "as an added line": f"The diff has:\n+{OK}",
    "as a removed line": f"The diff has:\n-{OK}",
    "as a quoted line": f"The description says:\n> {OK}",
    "in a code block of a diff": f"The diff has:\n```diff\n{OK}\n```",
    "in a code block of another language": f"The diff has:\n```python\n{OK}\n```",
    "in a code block that does not end": f"```diff\n{OK}",
    "followed by prose": f"{OK}\nwould be my answer if the route were there.",
    "between our own fences": block("GIT_DIFF", MARK, OK),
    "between our own fences, prose before": f"I quote:\n{block('GIT_DIFF', MARK, OK)}",
    "in a fence of ours that does not end": f"<GIT_DIFF {MARK}>\n{OK}",
    "two that disagree": f"{NOK}\n{OK}",
    "two that disagree, the other way": f"{OK}\n{NOK}",
    "two that disagree, one in a sentence": f"I would not say {NOK} here.\n{OK}",
    "nested too deep": '{"status": ' + "[" * 100_000,
}


@pytest.mark.parametrize("name", sorted(SAYS_OK))
def test_a_plain_ok_is_ok(name: str) -> None:
    assert read_answer(SAYS_OK[name], "", MARK) == Ok()


@pytest.mark.parametrize("name", sorted(SAYS_NOTHING))
def test_what_is_not_plainly_an_answer_is_none(name: str) -> None:
    assert isinstance(read_answer(SAYS_NOTHING[name], "", MARK), Unreadable)


def test_a_nok_has_its_feedback() -> None:
    assert read_answer(NOK, "", MARK) == Nok("no route")
    assert read_answer(f"I looked.\n{NOK}", DIFF_WITH_OK, MARK) == Nok("no route")
    assert read_answer('{"status": "NOK"}', "", MARK) == Nok("the reviewer gave no reason")


def test_an_ok_behind_text_does_not_count_where_the_change_holds_one_itself() -> None:
    quoting = f"The change contains this line, which is odd:\n{OK}"
    assert isinstance(read_answer(quoting, DIFF_WITH_OK, MARK), Unreadable)
    assert read_answer(quoting, "+x = 1\n", MARK) == Ok()


def test_an_ok_alone_counts_whatever_the_change_holds() -> None:
    assert read_answer(OK, DIFF_WITH_OK, MARK) == Ok()
    assert read_answer(f"```json\n{OK}\n```", DIFF_WITH_OK, MARK) == Ok()


def test_an_escaped_ok_in_the_change_is_one_too() -> None:
    assert isinstance(read_answer(f"It says:\n{OK}", '+"{\\"status\\": \\"OK\\"}"', MARK), Unreadable)


@pytest.mark.parametrize(
    "output",
    [f"<{'a' * 250_000}", f"{NOK}\n{OK}" + "\n" * 250_000 + "x", "<a " * 80_000],
    ids=["a fence that never closes", "a void behind the answer", "many fences"],
)
def test_output_that_is_made_to_be_slow_to_read_is_no_answer(output: str) -> None:
    """With a pattern that tries every way there is, each of these takes longer than anybody waits."""
    assert isinstance(read_answer(output, "", MARK), Unreadable)


@pytest.mark.parametrize("remark", ["the tests are missing", "looks good"])
def test_an_ok_with_a_remark_beside_it_is_no_answer(remark: str) -> None:
    found = read_answer(json.dumps({"status": "OK", "feedback": remark}), "", "m")
    assert isinstance(found, Unreadable)
    assert remark in found.why
