"""Logs of Maven: compiler errors, tests, checks of style and format, dependencies, POMs; each failure once.

Maven prints compiler errors where they occur and again at the end. The end also names the goals that failed, and an
error of a compiler counts only where a compiler's goal failed: a test may have printed it.
"""

from __future__ import annotations

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.frames import java_file
from agent_fox.verifier.logs.gathering import MOST_KEPT, Draft, Gathering
from agent_fox.verifier.logs.jvm.surefire import SurefireReader
from agent_fox.verifier.logs.kinds import kind_in, patterns_in
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.row_reader import RowReader, built_in

_LIKE = patterns_in(__file__)


class MavenReader:
    """Reads what `mvn` prints, quiet or not."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._findings = Gathering()
        self._checks = RowReader(built_in("java_checks"), workspace, self._findings)
        self._formatters = RowReader(built_in("java_formatters"), workspace, self._findings)
        self._compiled = Gathering()
        self._compiler = RowReader(built_in("maven"), workspace, self._compiled)
        self._tests = SurefireReader()
        self._folders: dict[int, str] = {}
        self._module_of: dict[str, int] = {}
        self._goals: list[Draft] = []
        self._goal: Draft | None = None
        self._reports = 0
        self._poms = RowReader(built_in("maven_pom"), workspace, self._findings)
        self._has_begun = False  # and says when it is over, unless it is told to be quiet
        self._is_over = False

    def skip(self, block: str, at: int) -> int:
        """Skips the output of tests, and whole classes without a failure."""
        if self._tests.open is not None:
            return at
        if self._tests.running:  # only a test can have printed the next line, unless that is marked as another's
            match = _LIKE["said_lines"].match(block, at)
            return match.end() if match else at
        while each := _LIKE["passed_class"].match(block, at):
            self._tests.pass_class(each[1], int(each[2]), int(each[3]))
            self._goals.clear()
            at = each.end()
        return at

    def take(self, line: str) -> None:
        if "] Tests run: " in line and self._tests.running and (glued := _LIKE["glued"].search(line)):
            line = line[glued.start() :]
        match = _LIKE["level"].match(line) if "[" in line[:40] else None
        level, text = (match[1], line[match.end() :]) if match else ("", line)
        if level == "INFO":
            self._note(text)
        if self._tests.feed(level, text):
            self._goals.clear()  # Maven gives up after the last test: these goals were printed by one
        elif self._tests.running:
            return
        elif level in ("ERROR", "WARNING", "WARN"):
            self._problem(level, text)
        elif level == "INFO":
            self._compiler.finish()
            self._check(level, text)
        elif not level and self._compiler.is_open:
            self._compiler.feed(text)
        elif not level and _LIKE["plain"].match(text):
            self._findings.fail(Failure(FailureKind.ENVIRONMENT_FAILURE, text.strip(), evidence=line))

    def parsed(self) -> Parsed:
        """A goal's own message counts where no failure of its kind was found, or a test crashed."""
        self._compiler.finish()
        is_compiler = not self._goals or any(goal.kind is FailureKind.COMPILE_ERROR for goal in self._goals)
        self._findings.fail(*(self._compiled.failures.values() if is_compiler else ()))
        self._findings.warn(*self._compiled.warnings.values())
        self._findings.fail(*self._tests.failures(self._folders))
        for goal in self._goals:
            module, goal.symbol = self._module_of.get(goal.symbol or "", 0), None
            if goal.test_name:
                goal.file = java_file(goal.test_name, module=self._folders.get(module, ""))
                self._findings.keep(goal)
            else:
                self._findings.fall_back(goal.failure(), on_kind=True)
        return self._findings.parsed(self._tests.summary(), is_complete=self._is_over or not self._has_begun)

    def _note(self, text: str) -> None:
        """Where the build is: which module, which goal, in which folder."""
        if text[:1] in "-><" and (match := _LIKE["goal_begins"].match(text)):
            self._tests.goal_begins()
            self._module_of.setdefault(match["artifact"], self._tests.module)
        elif text.startswith("Building") and _LIKE["module"].match(text):
            self._tests.module += 1
            self._tests.goal_begins()
        elif text.startswith(("skip non", "  from ")) and (match := _LIKE["folder"].match(text)):
            self._remember(self._tests.module, match["resources"] or match["pom"].rstrip("/") or ".")
        elif text.startswith(("BUILD SUCCESS", "BUILD FAILURE")):
            self._is_over = True
        elif text.startswith("Finished at: "):
            self._tests.goal_begins()  # a test that crashed has not ended in any other way
        elif text.startswith("Scanning for projects"):
            self._has_begun = True

    def _remember(self, module: int, folder: str) -> None:
        if len(self._folders) < MOST_KEPT and self._workspace.holds(folder + "/pom.xml"):
            self._folders.setdefault(module, self._workspace.relative(folder + "/pom.xml").rpartition("/")[0])

    def _problem(self, level: str, text: str) -> None:
        if level == "ERROR" and self._last_words(text):
            return
        if self._check(level, text):
            self._compiler.finish()
        else:
            self._compiler.feed(f"[{level}] {text}")

    def _check(self, level: str, text: str) -> bool:
        """Whether the line is a style checker's."""
        return self._goal is None and self._checks.feed(f"[{level}] {text}")

    def _last_words(self, text: str) -> bool:
        """What Maven says when it gives up. Lines that belong to a goal's message are evidence for it."""
        if match := _LIKE["failed"].match(text):
            self._compiler.finish()
            self._is_over = True
            message, plugin = _LIKE["help"].sub("", match["message"]).strip(), match["plugin"] or ""
            self._goal = Draft(_kind(message, plugin), message, symbol=match["project"].strip(), evidence=[text])
            if len(self._goals) < MOST_KEPT:
                self._goals.append(self._goal)
        elif text.startswith("  ") and self._poms.feed(text):
            self._is_over = True
        elif _LIKE["last"].match(text):
            self._goal, self._is_over = None, True
        elif self._goal is not None:
            goal = self._goal
            goal.add(text)
            if match := _LIKE["reports"].match(text):
                self._reports += 1
                self._remember(self._module_of.get(goal.symbol or "", self._reports - 1), match["folder"])
            elif goal.kind is FailureKind.FORMAT_FAILURE:
                self._formatters.feed(text)
            elif goal.kind is FailureKind.TEST_FAILURE and not text.startswith(("\t", "Please refer", "Command was")):
                goal.message = goal.message or text.strip()
                goal.is_error = goal.is_error or text == "Crashed tests:"  # they took the whole process with them
                goal.test_name = text if goal.is_error and _LIKE["crashed"].match(text) else goal.test_name
            self._compiler.feed(f"[ERROR] {text}")
        elif "-> [Help" in text and not text.startswith("The build could not read"):
            message = _LIKE["help"].sub("", text).strip()
            self._findings.fall_back(Failure(_kind(message), message, evidence=text), on_kind=True)
        else:
            return False
        return True


def _kind(message: str, plugin: str = "") -> FailureKind:
    """The kind of a message, which the plugin tells that failed where the words do not."""
    artifact = plugin.split(":")[1] if ":" in plugin else plugin
    return kind_in("maven", message) or kind_in("maven plugins", artifact) or FailureKind.UNKNOWN
