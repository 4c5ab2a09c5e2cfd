"""The program's first door: the stop hook of a chat starts here without the rest; every other command goes to `main`.

A client asks its hook at every stop, so the hook loads neither click nor this package's other commands. Here too every
failure of the hook becomes a block.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` alone takes a fifth of the time that the hook has
    from typing import NoReturn

HOOK = ["hook", "stop"]
HELP = {"-h", "--help"}
BLOCKED = 2


def main() -> None:
    """The program `agent-fox`."""
    words = sys.argv[1:]
    if words[:2] == HOOK and not HELP.intersection(words):
        end(stop_hook(words[2:]))
    from agent_fox.cli import main as whole  # noqa: PLC0415 - the hook starts without it

    whole.main()


def stop_hook(words: Sequence[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `agent-fox hook stop`; any error at all is a block."""
    try:
        from agent_fox.review.hooks import stop_hook as hook  # noqa: PLC0415 - what fails at its import is a block too

        return hook.answer(words, given, os.environ)
    except BaseException as error:  # noqa: BLE001 - fails closed: what the hook did not foresee does not let a chat stop
        return BLOCKED, "", f"BLOCKED: the stop hook failed ({type(error).__name__}); run `agent-fox doctor`\n"


def given(most: int) -> bytes:
    """What the client wrote; a terminal is none, and nobody is waited for there."""
    return b"" if sys.stdin.isatty() else sys.stdin.buffer.read(most)


def end(answer: tuple[int, str, str]) -> NoReturn:
    """Leave at once, whatever the streams are."""
    code, *texts = answer
    for number, text in enumerate(texts, start=1):
        try:
            write(number, text.encode("utf-8", "backslashreplace"))
        except OSError:
            continue  # nobody reads it; the exit code says the same
    os._exit(code)


def write(number: int, text: bytes) -> None:
    while text:
        text = text[os.write(number, text) :]


if __name__ == "__main__":
    main()
