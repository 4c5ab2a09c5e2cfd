"""Any command held like an agent's program: where it finds its prompt, what its answer is, and what it is not told."""

from __future__ import annotations

import json
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agent_fox.session.agents.command.adapter import COMMAND, LONGEST_ANSWER, LONGEST_PROMPT
from agent_fox.session.agents.credentials import Credentials
from agent_fox.session.agents.prices import read_prices
from agent_fox.session.agents.report import AgentReport, CostSource, Ending
from agent_fox.session.agents.runner.attending import Orders
from agent_fox.session.agents.runner.listening import Hearing
from agent_fox.session.agents.runner.main import Conversation
from agent_fox.session.agents.task import AgentTask, Door, Provider, Role
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.system.sandbox.bubblewrap import Container
from agent_fox.system.sandbox.containers import remove_of
from agent_fox.testing.model_server import ModelServer
from tests.agents.world import script
from tests.session.agents.tasks import task_in
from tests.session.agents.toy import make_task
from tests.system.sandbox import images

DOOR = Door("http://127.0.0.1:7/w", "word-of-this-launch")
VERDICTS = json.dumps({"verdicts": [{"requirement_id": "01-REQ-1.1", "verdict": "PASS"}], "overall_verdict": "PASS"})


def task(folder: Path, *arguments: str, **changes: object) -> AgentTask:
    usual = {"arguments": arguments, "provider": None, **changes}
    return task_in(folder, "command", **usual)


def held(folder: Path, script: str, role: Role = Role.CODER, ask_again: str = "", **limits: float) -> AgentReport:
    """The session of a shell script; its report."""
    made = replace(
        make_task(folder, "The brief.", role=role, **limits), cli="command", provider=None, upstream="",
        program="/bin/sh", arguments=("-c", script), ask_again=ask_again, system="The rules.",
    )  # fmt: skip
    return Conversation(made, COMMAND, Hearing(made, COMMAND, read_prices(None)), Orders()).hold(Credentials())


def test_a_prompt_that_no_word_names_comes_by_standard_input(tmp_path: Path) -> None:
    start = COMMAND.start(task(tmp_path, "--yes"), DOOR)
    assert (start.argv, start.stdin) == (("/opt/command", "--yes"), "The rules.\n\nThe brief.")


@pytest.mark.parametrize("place", ["{prompt}", "{prompt_file}"])
def test_a_prompt_that_a_word_names_stands_there(tmp_path: Path, place: str) -> None:
    start = COMMAND.start(task(tmp_path, f"--message={place}"), DOOR)
    file = tmp_path / "home/prompt.md"
    assert file.read_text() == "The rules.\n\nThe brief."
    shown = "The rules.\n\nThe brief." if place == "{prompt}" else str(file)
    assert (start.argv[1], start.stdin) == (f"--message={shown}", "")


def test_a_prompt_that_no_command_line_can_hold_is_read_from_its_file(tmp_path: Path) -> None:
    start = COMMAND.start(task(tmp_path, "{prompt}", prompt="x" * LONGEST_PROMPT), DOOR)
    assert start.argv[1] == f"Read the file {tmp_path / 'home/prompt.md'} as a whole, and do what it says."


def test_words_of_a_prompt_are_not_filled_in(tmp_path: Path) -> None:
    start = COMMAND.start(
        task(tmp_path, "{model}", "{prompt}", model="m-1", prompt="Say {model_key} and {model}."), DOOR
    )
    assert start.argv[1:] == ("m-1", "The rules.\n\nSay {model_key} and {model}.")


@pytest.mark.parametrize(
    ("provider", "variables"),
    [
        (Provider.ANTHROPIC, {"ANTHROPIC_BASE_URL": DOOR.model_url, "ANTHROPIC_API_KEY": DOOR.model_key}),
        (
            Provider.OPENAI,
            {
                "OPENAI_BASE_URL": f"{DOOR.model_url}/v1", "OPENAI_API_BASE": f"{DOOR.model_url}/v1",
                "OPENAI_API_KEY": DOOR.model_key, "CODEX_API_KEY": DOOR.model_key,
            },
        ),
        (Provider.GEMINI, {"GOOGLE_GEMINI_BASE_URL": DOOR.model_url, "GEMINI_API_KEY": DOOR.model_key}),
        (None, {}),
    ],
)  # fmt: skip
def test_the_proxy_stands_where_the_providers_programs_look_for_it(
    tmp_path: Path, provider: Provider | None, variables: dict[str, str]
) -> None:
    environment = dict(COMMAND.start(task(tmp_path, provider=provider), DOOR).environment)
    assert {environment.pop(name) for name in ("NO_PROXY", "no_proxy")} == {"127.0.0.1,localhost"}
    assert environment == variables


def test_a_persons_own_variables_may_name_the_proxy_and_count_over_the_usual_ones(tmp_path: Path) -> None:
    own = {"PATH": "/usr/bin", "MY_URL": "{model_url}/x", "OPENAI_API_KEY": "Bearer {model_key}", "PLAIN": "{other}"}
    environment = COMMAND.start(task(tmp_path, provider=Provider.OPENAI, environment=own), DOOR).environment
    assert environment["MY_URL"] == f"{DOOR.model_url}/v1/x"
    assert environment["OPENAI_API_KEY"] == f"Bearer {DOOR.model_key}"
    assert not {"PLAIN", "PATH"} & set(environment)


def test_what_it_prints_is_its_answer(tmp_path: Path) -> None:
    report = held(tmp_path, "cat; echo; echo Done.")
    assert (report.ending, report.summary) == (Ending.ENDED, "The rules.\n\nThe brief.\nDone.")
    assert (report.cost_usd, report.cost_source) == (None, CostSource.UNKNOWN)


def test_of_endless_output_the_end_is_kept_and_the_cut_is_told(tmp_path: Path) -> None:
    reader = COMMAND.reader(task(tmp_path))
    for _ in range(3000):
        list(reader.line("x" * 999))
    list(reader.line("the verdict"))
    last = reader.end(0)
    assert last is not None
    assert last.text.endswith("\nthe verdict")
    head, _, rest = last.text.partition("\n")
    assert (int(head.split()[1]) + len(rest), len(rest)) == (3000 * 1000 + len("the verdict"), LONGEST_ANSWER)


def test_why_it_failed_is_looked_for_in_both_streams(tmp_path: Path) -> None:
    report = held(tmp_path, "echo 'Error: no such flag'; echo Bye.; echo working >&2; exit 2")
    assert "exit 2, with an error: Error: no such flag" in report.reason


def test_what_it_prints_on_either_stream_is_a_sign_of_life(tmp_path: Path) -> None:
    script = "for n in 1 2 3 4; do sleep 0.4; echo at work >&2; sleep 0.4; echo at work; done"
    assert held(tmp_path, script, idle=1.0).ending is Ending.ENDED


@pytest.mark.parametrize(
    ("script", "ending", "kind"),
    [
        ("echo begun; exit 3", Ending.INFRASTRUCTURE, Infrastructure.BROKEN_PROGRAM),
        ("echo 'Error: 429 Too Many Requests' >&2; exit 1", Ending.INFRASTRUCTURE, Infrastructure.RATE_LIMIT),
        ("exec sleep 60", Ending.INFRASTRUCTURE, Infrastructure.NETWORK),
    ],
)
def test_a_bad_end_has_its_name(tmp_path: Path, script: str, ending: Ending, kind: Infrastructure | None) -> None:
    report = held(tmp_path, script, idle=0.5)
    assert (report.ending, report.infrastructure) == (ending, kind), report.reason


def test_an_answer_that_nobody_can_read_is_asked_for_again_by_a_process_that_is_told_it(tmp_path: Path) -> None:
    script = f"if grep -q 'The answer was:'; then echo '{VERDICTS}'; else echo 'All is well.'; fi"
    report = held(tmp_path, script, Role.VERIFIER, "Only the JSON, please.")
    assert (report.ending, report.is_asked_again) == (Ending.ENDED, True)
    assert (tmp_path / "agent/home/prompt.md").read_text() == (
        "Only the JSON, please.\n\nThe answer was:\n\nAll is well.\n"
    )


def test_the_interpreter_is_not_part_of_the_answer(tmp_path: Path) -> None:
    report = held(tmp_path, f"{sys.executable} -c 'print(1)'")
    assert report.summary == "1"


ASKS = """
import json, os, sys, urllib.request
body = json.dumps({"model": "gpt-5.6-sol", "messages": [{"role": "user", "content": sys.argv[1]}]}).encode()
headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"])
print(os.environ["OPENAI_API_KEY"])
"""


def test_a_provider_makes_its_requests_metered_and_keeps_the_key_from_it(tmp_path: Path) -> None:
    key = "sk-of-a-person-0123456789"
    with ModelServer(script({"say": "Done by a model."}, input_tokens=1000, output_tokens=10)) as server:
        made = replace(
            make_task(tmp_path, "The brief."), cli="command", provider=Provider.OPENAI, upstream=f"{server.url}/v1",
            program=sys.executable, arguments=("-c", ASKS, "{prompt}"),
        )  # fmt: skip
        hearing = Hearing(made, COMMAND, read_prices(None))
        report = Conversation(made, COMMAND, hearing, Orders()).hold(Credentials("OPENAI_API_KEY", key))
        sent = [exchange.headers["authorization"] for exchange in server.requests]
    assert report.ending is Ending.ENDED, report.reason
    assert report.summary.startswith("Done by a model.")
    assert key not in report.summary
    assert sent == [f"Bearer {key}"]
    assert report.cost_source is CostSource.METERED
    assert report.cost_usd == pytest.approx(0.0042)


class _EndsLate(BaseHTTPRequestHandler):
    """An answer of a model whose last bytes are sent after its text was, and never in the session of this test."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        usage = {"prompt_tokens": 1000, "completion_tokens": 10}
        said = {"model": "gpt-5.6-sol", "choices": [{"message": {"content": "Done."}}], "usage": usage}
        body = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"%x\r\n%b\r\n" % (len(body), body))
        self.wfile.flush()
        self.rfile.read(1)  # until the proxy is closed

    def log_message(self, *_: object) -> None:
        """Nothing."""


def test_what_is_counted_after_the_program_has_gone_is_counted(tmp_path: Path) -> None:
    reads = ASKS.replace(
        "json.load(urllib.request.urlopen(request))", "json.loads(urllib.request.urlopen(request).read1())"
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), _EndsLate)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    made = replace(
        make_task(tmp_path, "The brief."), cli="command", provider=Provider.OPENAI,
        upstream=f"http://127.0.0.1:{server.server_address[1]}/v1",
        program=sys.executable, arguments=("-c", reads, "{prompt}"),
    )  # fmt: skip
    try:
        hearing = Hearing(made, COMMAND, read_prices(None))
        report = Conversation(made, COMMAND, hearing, Orders()).hold(Credentials("OPENAI_API_KEY", "sk-of-a-person"))
    finally:
        server.shutdown()
        server.server_close()
    assert report.summary.startswith("Done.")
    assert report.cost_source is CostSource.METERED
    assert report.cost_usd == pytest.approx(0.0042)


def test_in_a_container_the_model_is_reached_through_the_proxy_alone(tmp_path: Path) -> None:
    image, why_not = images.image()
    if why_not:
        pytest.skip(why_not)
    looks = "import socket\ntry: socket.create_connection(('1.1.1.1', 53), 2); print('outside')\nexcept OSError: pass\n"
    key, held_by = "sk-of-a-person-0123456789", Container("podman", image, owner=f"{tmp_path.name}-proxy")
    with ModelServer(script({"say": "Done by a model."}, input_tokens=1000, output_tokens=10)) as server:
        made = replace(
            make_task(tmp_path, "The brief."), cli="command", provider=Provider.OPENAI, upstream=f"{server.url}/v1",
            program="python3", arguments=("-c", ASKS + looks + "open('made', 'w').write('x')", "{prompt}"),
            sandbox=held_by.spelled(),
        )  # fmt: skip
        hearing = Hearing(made, COMMAND, read_prices(None))
        report = Conversation(made, COMMAND, hearing, Orders()).hold(Credentials("OPENAI_API_KEY", key))
        sent = [exchange.headers["authorization"] for exchange in server.requests]
    assert report.ending is Ending.ENDED, report.reason
    assert report.summary.startswith("Done by a model.")
    assert key not in report.summary
    assert "outside" not in report.summary
    assert sent == [f"Bearer {key}"]
    assert report.cost_usd == pytest.approx(0.0042)
    assert (made.workspace / "made").read_text() == "x"
    assert remove_of(held_by) == 0
