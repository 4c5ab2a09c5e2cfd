"""The stop hook of a chat: whether every review task that it registered was verified. Standard library only, for speed.

Fails closed: what cannot be read or checked is `Held`, and whoever calls this turns any other exception into the same.
The state file is read by `hook_state`, without the rest of this package. Whether files changed since they were verified
is asked of `recheck`, in a process of its own, once everything else is fine.
"""

from __future__ import annotations

import _thread
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from agent_fox.review.hooks.state import (
    CLEARED,
    VERIFIED,
    Held,
    Task,
    find_state,
    is_open,
    open_state,
    parsed,
    tasks_of,
    unreadable,
    why_not,
)
from agent_fox.review.hooks.transcripts import Transcript, TranscriptTrouble

MOST_INPUT = 16 * 1024 * 1024
CATCH_UP_SECONDS = 3.0
"""How long a transcript may be behind the chat before the hook answers by what the state file says."""

ABSENT_SECONDS = 0.3
"""How long a transcript that is not there at all may take to appear. A client makes it with a person's first message,
long before it asks its hook, so that a file that is still missing is missing for good."""

PAUSE = 0.03
TICK = 1.0
RECHECK_SECONDS = 60.0
SHORTEST_SESSION = 8
"""Characters of a session's name that is looked for in what the server noted of its client."""


class Answer:
    """That the chat may stop. `verified` and `cleared` are tasks; a person has let go of the latter."""

    __slots__ = ("cleared", "verified")

    def __init__(self, verified: Sequence[str] = (), cleared: Sequence[str] = ()) -> None:
        self.verified, self.cleared = tuple(verified), tuple(cleared)


def decide(given: bytes, state: str | None, environ: Mapping[str, str]) -> Answer:
    """The answer to what a client wrote to the hook. `state`: the folder of the state file, None: look for it.

    Raises Held; any other exception is for the caller to turn into the same.
    """
    asked = read_input(given)
    transcript = transcript_of(asked)
    file = os.path.join(state, "state.db") if state is not None else find_state(environ, text_of(asked, "cwd"))
    db = open_state(file)
    try:
        catch_up(transcript, some_are_open=any(map(is_open, tasks_of(db).values())))
        if db is not None:
            db.execute("BEGIN")  # from here on one state of the file, whatever is written meanwhile
        known = tasks_of(db)
        own = own_tasks(transcript, known, text_of(asked, "session_id"))
        return judge(db, known, own, list(transcript.named), file)
    except sqlite3.Error as error:
        raise unreadable(file, error) from error
    finally:
        if db is not None:
            db.close()


def read_input(given: bytes) -> dict[str, object]:
    if len(given) > MOST_INPUT:
        raise Held("what the client wrote to the hook is too long to be what a hook is shown; look at its settings")
    try:
        asked = json.loads(given)
    except (ValueError, RecursionError):
        asked = None
    if not isinstance(asked, dict):
        raise Held(
            "standard input is not the JSON object that a client tells its stop hook; this command is for the client's "
            "settings (`agent-fox hook install` writes them)"
        )
    return asked


def text_of(asked: Mapping[str, object], name: str) -> str:
    value = asked.get(name)
    return value if isinstance(value, str) else ""


def transcript_of(asked: Mapping[str, object]) -> Transcript:
    path = text_of(asked, "transcript_path")
    if not path:
        raise Held(
            "the client names no transcript (transcript_path), so what this chat registered cannot be known; "
            "let the client keep its sessions, or uninstall the hook"
        )
    return Transcript(os.path.expanduser(path), text_of(asked, "last_assistant_message"))


def catch_up(transcript: Transcript, *, some_are_open: bool) -> None:
    """Read the transcript, and wait a little where it is behind the chat and that could matter.

    Raises Held where the tool was called and its answer does not come.
    """
    begun = time.monotonic()
    while not read_on(transcript) or transcript.waiting or (some_are_open and not transcript.is_current):
        longest = CATCH_UP_SECONDS if os.path.lexists(transcript.path) else ABSENT_SECONDS
        if time.monotonic() > begun + longest:
            break
        time.sleep(PAUSE)
    if transcript.line == 0:
        raise Held(f"the transcript {transcript.path} is not there, or empty; {KEEP}")
    if transcript.waiting:
        raise Held(
            "the tool todoWrite was called, and its answer is not in the transcript yet; "
            "wait for the answer, then verify that task"
        )


KEEP = "let the client keep its sessions, or uninstall the hook (`agent-fox hook uninstall`)"


def read_on(transcript: Transcript) -> bool:
    """Whether there is a transcript with anything in it; what was added to it is read."""
    try:
        transcript.read_on()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise Held(
            f"the transcript {transcript.path} cannot be read ({error.strerror}); check its permissions"
        ) from error
    except TranscriptTrouble as trouble:
        raise Held(str(trouble)) from trouble
    return transcript.line > 0


def own_tasks(transcript: Transcript, known: Mapping[str, Task], session: str) -> list[str]:
    """Tasks that this chat was given, and those that the server noted for its session.

    Where the transcript is still behind, also those of which the server could not note a session.
    """
    by_session = [name for name, task in known.items() if len(session) >= SHORTEST_SESSION and session in task.client]
    unsure = () if transcript.is_current else (n for n, t in known.items() if is_open(t) and "session=" not in t.client)
    return list(dict.fromkeys((*transcript.given, *by_session, *unsure)))


def judge(
    db: sqlite3.Connection | None, known: Mapping[str, Task], own: Sequence[str], named: Sequence[str], file: str
) -> Answer:
    """Raises Held with every task that is not verified; the chat's own must be so for the files as they are now."""
    lost = [name for name in own if name not in known]
    if lost or db is None:
        return nothing_known(lost, file)
    tasks = [known[name] for name in dict.fromkeys((*own, *named)) if name in known]
    reasons = {task.name: why for task in tasks if (why := why_not(db, task))}
    if reasons:
        raise Held(unverified(reasons))
    verified = [task.name for task in tasks if task.word == VERIFIED]
    again = [name for name in verified if name in own]
    changed = changed_since(file, again) if again else {}
    if changed:
        raise Held(unverified({name: f"changed since it was verified: {where}" for name, where in changed.items()}))
    return Answer(verified, [task.name for task in tasks if task.word == CLEARED])


def nothing_known(lost: Sequence[str], file: str) -> Answer:
    if not lost:
        return Answer()
    where = f"the state file {file} does not know them" if file else "there is no state file (.agent-fox/state.db) here"
    raise Held(
        f"{len(lost)} task(s) of this chat were registered, and {where}: {', '.join(lost)}; "
        "the state was lost or moved: a person must restore it, or end this chat and begin a new one"
    )


def unverified(reasons: Mapping[str, str]) -> str:
    """What the seed's hook says, then a line for each task."""
    first = f"{len(reasons)} unverified task(s). Call todoCompleteAndVerify for: {', '.join(reasons)}"
    return "\n".join((first, *(f"  {name}: {why}" for name, why in reasons.items())))


def changed_since(file: str, names: Sequence[str]) -> dict[str, str]:
    """Tasks whose files are others than those that were verified, with the repositories. Raises Held."""
    import subprocess  # noqa: PLC0415 - slow to import, and needed only by a chat that is about to stop

    argv = [sys.executable, "-P", "-m", "agent_fox.review.recheck", file, *names]
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=RECHECK_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Held(
            f"whether files changed since {', '.join(names)} cannot be checked ({type(error).__name__})"
        ) from error
    changes = parsed(done.stdout.decode("utf-8", "replace")) if done.returncode == 0 else {}
    if not all(isinstance(changes.get(name), list) for name in names):
        raise Held(
            f"whether files changed since {', '.join(names)} were verified cannot be checked; "
            f"`agent-fox gate --task-id {names[0]}` says why"
        )
    return {name: ", ".join(map(str, where)) for name in names if isinstance(where := changes[name], list) and where}


class Options:
    """What the command line of the hook says."""

    __slots__ = ("as_json", "seconds", "state")

    def __init__(self) -> None:
        self.state: str | None = None
        self.seconds, self.as_json = 100, False


def read_options(words: Sequence[str]) -> Options:
    """Raises Held for what is no option of the hook."""
    options, rest = Options(), list(words)
    while rest:
        word = rest.pop(0)
        if word == "--json":
            options.as_json = True
        elif word == "--state" and rest:
            options.state = rest.pop(0)
        elif word == "--seconds" and rest and rest[0].isdecimal() and 0 < int(rest[0]) < 10_000:
            options.seconds = int(rest.pop(0))
        else:
            raise Held(f"this is no option of the stop hook: {word!r}; it has --state DIR, --seconds N and --json")
    return options


def answer(words: Sequence[str], given: Callable[[int], bytes], environ: Mapping[str, str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of the hook. `given` reads what the client wrote.

    Any exception is for the caller: it is a block.
    """
    as_json = "--json" in words
    try:
        options = read_options(words)
        set_alarm(options.seconds)
        allowed = decide(given(MOST_INPUT + 1), options.state, environ)
    except Held as held:
        return blocked(str(held), as_json)
    return 0, shown(allowed, as_json), ""


def shown(allowed: Answer, as_json: bool) -> str:
    if as_json:
        return json.dumps({"allowed": True, "verified": allowed.verified, "cleared": allowed.cleared}, indent=2) + "\n"
    if allowed.cleared:
        names = ", ".join(allowed.cleared)
        return json.dumps({"systemMessage": f"agent-fox: cleared by a person, not verified: {names}"}) + "\n"
    return ""


def blocked(reason: str, as_json: bool = False) -> tuple[int, str, str]:
    clean = "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in reason)
    document = json.dumps({"allowed": False, "reason": clean}, indent=2) + "\n" if as_json else ""
    return 2, document, f"BLOCKED: {clean}\n"


def set_alarm(seconds: int) -> None:
    """End with a block before the client loses patience: a hook that it stops by force lets the chat go on.

    The clock ticks, so that a signal which comes just before a wait begins is heard a second later at the most.
    """
    import signal  # noqa: PLC0415 - of no use to who only asks this module what it knows

    end = time.monotonic() + seconds

    def tick(number: int, frame: object) -> None:
        if time.monotonic() >= end:
            end_blocked(number, frame)

    signal.signal(signal.SIGTERM, end_blocked)
    signal.signal(signal.SIGALRM, tick)
    signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
    _thread.start_new_thread(end_late, (seconds + TICK, signal.SIGALRM))


def end_late(seconds: float, number: int) -> None:
    """For a question to SQLite that never ends (a pipe, a view without end): until it does, no signal is heard."""
    time.sleep(seconds)
    end_blocked(number, None)


def end_blocked(number: int, frame: object) -> None:
    os.write(2, f"BLOCKED: the stop hook was ended by signal {number} before it knew; try again\n".encode())
    os._exit(2)
