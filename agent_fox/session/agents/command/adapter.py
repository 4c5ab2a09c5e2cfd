"""Any command as an agent's program. It reads its prompt where its own words say so, else from its standard input;
what it prints is its answer.

Nothing of its format is known: its tools are not seen, and what it costs is what the proxy meters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from agent_fox.session.agents import events
from agent_fox.session.agents.command_line import (
    CommandLine,
    Reader,
    Start,
    command_of,
    environment_of,
    facts_of,
    names_any,
    words_of,
)
from agent_fox.session.agents.private_files import keep_folder, write_new
from agent_fox.session.agents.runner.outcome import telling
from agent_fox.system.files import remove_tree

if TYPE_CHECKING:
    from agent_fox.session.agents.task import AgentTask, Door, Role

PROMPT, PROMPT_FILE = "{prompt}", "{prompt_file}"
NAME = "prompt.md"
LONGEST_ANSWER = 1024 * 1024
"""Characters of what it prints that are kept, of its end."""

MOST_LAST = 20
"""Lines of each stream that are looked at for why it failed."""

LONGEST_PROMPT = 100 * 1024
"""Bytes of a prompt that can be one word of a command line."""


class AnyCommand(CommandLine):
    """The adapter."""

    facts = facts_of("command", has_tools=False, asks_anew=True)
    served = ()

    def prepare(self, task: AgentTask, door: Door) -> None:
        keep_folder(task.home)

    def start(self, task: AgentTask, door: Door) -> Start:
        return started(task, door, "\n\n".join(filter(None, (task.system, task.prompt))))

    def again(self, task: AgentTask, door: Door, session: str) -> Start:
        """A new process, which is told what was answered: nothing is known of how it would take up a session."""
        return started(task, door, f"{task.ask_again}\n\nThe answer was:\n\n{session}\n")

    def reader(self, task: AgentTask) -> Reader:
        return Printed()

    def own_tools(self, role: Role) -> Collection[str]:
        return ()


class Printed(Reader):
    """Keeps what is printed. Each line of either stream is a sign of life."""

    works_by_complaints = True

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._complaints: list[str] = []
        self._length = self._left_out = 0

    def line(self, text: str) -> Iterable[events.Event]:
        self._lines.append(text)
        self._length += len(text) + 1
        if self._length > 2 * LONGEST_ANSWER:
            self.cut()
        return (events.Printed(text),)

    def complaint(self, text: str) -> Iterable[events.Event]:
        self._complaints = [*self._complaints, text][-MOST_LAST:]
        return ()

    def cut(self) -> None:
        whole = "\n".join(self._lines)
        kept = whole[-LONGEST_ANSWER:]
        self._left_out += len(whole) - len(kept)
        self._lines, self._length = [kept], len(kept)

    def end(self, exit_status: int | None) -> events.Finished | None:
        self.cut()
        if exit_status != 0:
            last = [*self._lines[0].splitlines()[-MOST_LAST:], *self._complaints]
            return events.Finished(is_error=True, reason=telling("\n".join(last)))
        head = f"… {self._left_out} characters are left out\n" if self._left_out else ""
        return events.Finished(text=head + self._lines[0].strip(), reason="completed")


def started(task: AgentTask, door: Door, prompt: str) -> Start:
    """The prompt stands in a file of its home at all times; it is written to its input where no word names it."""
    file = task.home / NAME
    remove_tree(file)
    write_new(file, prompt)
    is_long = len(prompt.encode()) > LONGEST_PROMPT  # for a word of a command line
    word = f"Read the file {file} as a whole, and do what it says." if is_long else prompt
    words = {**words_of(task, door), PROMPT: word, PROMPT_FILE: str(file)}
    is_named = any(names_any(word, (PROMPT, PROMPT_FILE)) for word in (*task.arguments, *task.environment.values()))
    return Start(command_of(task, words), environment_of(task, door, words), "" if is_named else prompt)


COMMAND = AnyCommand()
