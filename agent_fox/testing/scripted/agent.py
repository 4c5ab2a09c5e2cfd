"""The scripted agent: plays each step of a script as a real process. A script of its own, standard library
only.

A script is a TOML file (or JSON of the same shape) of steps. The first step that fits a session is played; a
session that no step fits exits 65 and says so.

    [[step]]
    node = "01_ledger:2"          # node id or glob, such as "01_*" or "*:1"; absent: every node
    attempt = 1                   # or [1, 2]; absent: every attempt
    reading = 1                   # or [1, 2]; absent: every reading
    actions = [                   # in this order, in the workspace
      {write = "src/a.py", text = "..."},            # folders are made; `executable = true` sets the bit
      {append = "src/a.py", text = "..."},
      {replace = "src/a.py", old = "x", new = "y"},  # exit 66 where `old` is not there
      {delete = "src/b.py"},                         # file, link or folder; absence is no error
      {run = ["git", "commit", "-am", "done"]},  # ends the session where it fails; or `allow_failure = true`
      {sleep = 0.2},                                 # seconds
      {print = "text"},                              # to standard output, a line
      {complain = "text"},                           # to standard error
      {verdicts = "PASS"},                           # a report: this word for every requirement of the brief,
      {verdicts = {"01-REQ-1.1" = "FAIL", "*" = "PASS"}, evidence = "why"},   # or by id, `*` for the rest
      {fail = "rate limit"},      # prints what a real agent prints then, exits 1: authentication, rate limit,
    ]                             # overload, network, disk full
    cost_usd = 0.5                # these four are written to AGENT_FOX_RESULT, before an exit too
    input_tokens = 1000
    output_tokens = 100
    summary = "what was done"
    exit = 0                      # exit status after the actions

In `run`, a word `{python}` stands for the interpreter that plays the script. `{spec}`, `{node}`, `{attempt}`
and `{reading}` are filled in everywhere in `run`, `write`, `append` and `print`, as far as the words stand
for themselves.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

NO_STEP, NOT_FOUND = 65, 66

SIGNATURES = {
    "authentication": 'API Error: 401 {"error":{"type":"authentication_error","message":"invalid key"}}',
    "rate limit": 'API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}',
    "overload": 'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    "network": "Error: getaddrinfo EAI_AGAIN models.invalid",
    "disk full": "Error: ENOSPC: no space left on device, write",
}

Action = Mapping[str, Any]


def play(document: Mapping[str, Any]) -> int:
    """Play the step; the exit status."""
    step = document["step"]
    if step is None:
        ticket = ", ".join((document["node"], variable("attempt"), variable("reading")))
        return complain(f"the script has no step for {ticket}", NO_STEP)
    leave_result(step)
    for action in step["actions"]:
        act(action)
    return int(step["exit"])


def variable(name: str) -> str:
    return f"{name} {os.environ.get(f'AGENT_FOX_{name.upper()}', '?')}"


def leave_result(step: Mapping[str, Any]) -> None:
    result = {name: step[name] for name in ("cost_usd", "input_tokens", "output_tokens", "summary")}
    given = {name: value for name, value in result.items() if value is not None}
    if given and "AGENT_FOX_RESULT" in os.environ:
        Path(os.environ["AGENT_FOX_RESULT"]).write_text(json.dumps(given), encoding="utf-8")


def act(action: Action) -> None:
    kind = next(name for name in ACTIONS if name in action)
    ACTIONS[kind](action)


def filled(text: str) -> str:
    words = {"{python}": sys.executable}
    words |= {
        f"{{{name}}}": os.environ.get(f"AGENT_FOX_{name.upper()}", "")
        for name in ("spec", "node", "attempt", "reading")
    }
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def write(action: Action) -> None:
    path = Path(filled(action["write"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(filled(action["text"]), encoding="utf-8")
    if action.get("executable"):
        path.chmod(0o755)


def append(action: Action) -> None:
    path = Path(filled(action["append"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(filled(action["text"]))


def replace(action: Action) -> None:
    path = Path(action["replace"])
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if action["old"] not in text:
        leave(complain(f"{path} does not hold {action['old']!r}", NOT_FOUND))
    path.write_text(text.replace(action["old"], action["new"]), encoding="utf-8")


def delete(action: Action) -> None:
    path = Path(action["delete"])
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def run(action: Action) -> None:
    argv = [filled(word) for word in action["run"]]
    try:
        status = subprocess.run(argv, check=False).returncode
    except OSError as error:
        status = complain(f"{argv[0]}: {error.strerror}", 1)
    if status and not action.get("allow_failure"):
        leave(status if status > 0 else 128 - status)


def say(action: Action) -> None:
    print(filled(action["print"]), flush=True)  # noqa: T201 - a process's own standard output


def report(action: Action) -> None:
    """One verdict for each requirement of the brief, and for each that the action names."""
    words = action["verdicts"]
    words = {"*": words} if isinstance(words, str) else words
    brief = json.loads(Path(os.environ["AGENT_FOX_BRIEF_JSON"]).read_bytes())
    ids = [requirement["id"] for requirement in brief.get("requirements", ())]
    named = [each for each in words if each != "*" and each not in ids]
    given = [(each, words.get(each, words.get("*"))) for each in [*ids, *named]]
    evidence = action.get("evidence", "")
    rows = [{"requirement_id": each, "verdict": word, "evidence": evidence} for each, word in given if word is not None]
    overall = "PASS" if rows and all(row["verdict"] == "PASS" for row in rows) else "FAIL"
    document = {"verdicts": rows, "overall_verdict": overall, "summary": f"{len(rows)} verdicts"}
    print(json.dumps(document, indent=1), flush=True)  # noqa: T201 - a process's own standard output


def fail(action: Action) -> None:
    leave(complain(SIGNATURES[action["fail"]], 1))


def mutter(action: Action) -> None:
    complain(action["complain"], 0)


def complain(text: str, status: int) -> int:
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - a process's own standard error
    return status


def leave(status: int) -> NoReturn:
    raise SystemExit(status)


ACTIONS: Mapping[str, Callable[[Action], None]] = {
    "write": write,
    "append": append,
    "replace": replace,
    "delete": delete,
    "run": run,
    "sleep": lambda action: time.sleep(action["sleep"]),
    "print": say,
    "complain": mutter,
    "verdicts": report,
    "fail": fail,
}


if __name__ == "__main__":
    sys.exit(play(json.loads(Path(sys.argv[1]).read_bytes())))
