"""A program that stays and answers one question after another, instead of being started for each of them."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Callable
from typing import IO, TypeVar

T = TypeVar("T")

LONGEST_END = 5.0
"""Seconds that the program gets to end after its input was closed."""


class NoAnswer(Exception):
    """The program could not be started, or ended before it had answered. The next question starts another."""


class Resident:
    """One program, started at the first question. It ends with its input: when this is closed, or when we die."""

    def __init__(self, start: Callable[[], subprocess.Popen[bytes]]) -> None:
        self._start, self._lock = start, threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, request: bytes, read: Callable[[IO[bytes]], T]) -> T:
        """What `read` makes of the answer; it raises EOFError where that is cut short. Raises NoAnswer."""
        with self._lock:
            try:
                process = self._process = self._process or self._start()
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write(request)
                process.stdin.flush()
                return read(process.stdout)
            except (OSError, EOFError) as error:
                self._end()
                raise NoAnswer(str(error)) from error
            except BaseException:
                self._end()  # what is left of this answer must not be taken for the next one
                raise

    def close(self) -> None:
        with self._lock:
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        try:
            process.wait(LONGEST_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
