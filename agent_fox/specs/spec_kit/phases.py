"""tasks.md cut into phases and tasks: which lines are tasks, and under which heading. Ids are not read here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace
from itertools import groupby

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.specs.lines import Chain, Heading, Line, with_headings
from agent_fox.specs.outline import tables_of, tree_of
from agent_fox.specs.spec_kit.rows import task_rows
from agent_fox.specs.spec_kit.words import PHASE
from agent_fox.specs.word_tables import words_in

_BOX = regex(r"(?:[-*+]|\d{1,3}[.)]) +\[(?P<box>[^\[\]]{0,2}?)\](?P<star> ?\*(?!\*))?(?!\() *(?P<rest>.*)$")
_BULLET = regex(r"(?:[-*+]|\d{1,3}[.)]) +(?P<rest>.*)$")
_N = r"\d{1,6}"
NUMBER = rf"T-?(?:[A-Z]{{1,5}}\d{{0,3}}[-.])?{_N}(?:[.-]{_N}){{0,3}}[A-Za-z]?|TASK-{_N}"
_OTHER_NUMBER = (
    rf"(?!(?:N?FR|SC|EC|AC|US|BR|ADR|RFC|ISO|UTF|CVE|SHA|AES|P)-?\d)[A-Z]{{1,4}}\d{{0,2}}-\d{{2,5}}"
    rf"|{_N}(?:\.{_N}){{1,3}}[a-z]?|{_N}(?=[.)]\s)|[A-Z]\d{{3}}[a-z]?(?=\s{{1,3}}\[(?:P|US ?\d))"
)
_NUMBERED = regex(
    rf"(?P<struck>~~)?[*_`\s]{{0,4}}\[?(?:Task\s)?(?P<number>{NUMBER}|{_OTHER_NUMBER})\]?(?![\w\]-])[:.)]?(?P<rest>.*)$"
)
_T_NUMBER = regex(rf"[*_`\s]{{0,4}}\[?(?P<number>{NUMBER})\]?(?![\w\]])(?!\s?[-–—~,→]\s?\[?T)(?P<rest>.*)$")
_IS_NUMBER = regex(NUMBER)
_DIGITS = regex(r"\d+")
_BEGINS = regex(rf"[*_`\s]{{0,4}}\[?(?P<number>{NUMBER})\]?(?![\w])(?!\s?(?:[,，、/&→]|and\b|or\b))")
_NO_NUMBER = regex(r"[*_`\s]{0,4}\[?T(?:X{2,4}|\?{2,4})\]?(?!\w)[:.]?")
_BOLD_LINE = regex(r"(?:\*\*|__)(?P<text>[^*]{3,120}?)[:：]?(?:\*\*|__)[:：]?(?P<after>.{0,40})$")
_BELOW_HEADINGS = 7
_WORDS = words_in(__file__)
_CHECKS = _WORDS["checks"]


@dataclass(slots=True)
class TaskDraft:
    """A task while it is read. `number` is empty where it has none; `is_aside`: it stands where samples stand. Its
    `stories`, `is_parallel` and `details` are known once its labels are taken from its title.
    """

    number: str
    title: str
    box: str
    line: int
    indent: int
    chain: Chain
    is_optional: bool = False
    is_struck: bool = False
    is_aside: bool = False
    lines: list[Line] = field(default_factory=list)
    stories: tuple[str, ...] = ()
    is_parallel: bool = False
    details: tuple[str, ...] = ()

    @property
    def is_heading(self) -> bool:
        return self.indent < 0

    @property
    def text(self) -> str:
        return "\n".join((self.title, *self.details))


@dataclass(slots=True)
class PhaseDraft:
    """A phase while it is read. Without a heading it holds the tasks that stand before any."""

    line: int
    heading: str
    tasks: list[TaskDraft] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    intro: list[Line] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Cut:
    """The phases that have tasks. `lost` are tasks that stand aside from all of them, `empty` phases without tasks,
    `unread` numbers of tasks in phases that are written in another way than the rest."""

    phases: tuple[PhaseDraft, ...]
    lost: tuple[TaskDraft, ...]
    empty: tuple[tuple[int, str], ...]
    unread: tuple[tuple[int, str], ...] = ()


def cut(lines: Iterable[Line]) -> Cut:
    """The phases of a tasks file. Tasks are boxes; where no box has a `T` number, what else begins with one."""
    placed = list(_placed(lines))
    boxes = _tasks(placed, _boxed)
    has_numbers = any(_is_t(task) for task in boxes)
    tasks = boxes if has_numbers else _without_boxes(placed) or boxes
    kept, lost = _kept(tasks, has_numbers)
    phased = _phased(placed, kept, lost)
    return replace(phased, unread=tuple(_unread(placed, tasks)))


def _without_boxes(placed: list[tuple[Chain, Line]]) -> list[TaskDraft]:
    """Tasks that are headings or plain items, else bold words on a line of their own, else rows."""
    tasks = _tasks(placed, _unboxed)
    if any(not task.is_aside for task in tasks):
        return tasks
    return _tasks(placed, _bold) or _in_rows(placed) or tasks


def _in_rows(placed: list[tuple[Chain, Line]]) -> list[TaskDraft]:
    """Tasks that are rows of tables, each number once."""
    lines = {line.number: (chain, line) for chain, line in placed}
    drafts: dict[str, TaskDraft] = {}
    for table in tables_of(tree_of([line for _, line in placed])):
        for row in task_rows(table, _IS_NUMBER):
            chain, line = lines[row.line]
            task = TaskDraft(row.number, f" {row.title}", row.box, row.line, line.indent, chain)
            task.is_aside = _is_aside(chain)
            task.lines = [Line(row.line, f"- {other}", line.indent + 2) for other in row.others]
            if row.number not in drafts or (drafts[row.number].is_aside and not task.is_aside):
                drafts[row.number] = task
    return sorted(drafts.values(), key=lambda task: task.line)


def _unread(placed: Iterable[tuple[Chain, Line]], tasks: list[TaskDraft]) -> Iterator[tuple[int, str]]:
    """Headings and items of phases that begin with a `T` number, or with a range, which no task has."""
    known = {task.number for task in tasks}
    within = {line.number for task in tasks for line in task.lines}
    for chain, line in placed:
        text = _listed_text(line) if not line.is_code and line.number not in within else ""
        match = _BEGINS.match(text) if "T" in text else None
        is_planned = any(PHASE.match(heading.title) for _, heading in chain) and not _is_aside(chain)
        if match is not None and is_planned and match["number"] not in known:
            yield line.number, match["number"]


def _placed(lines: Iterable[Line]) -> Iterator[tuple[Chain, Line]]:
    """Each line with the headings it stands under. A phase's name in bold, or as a box of its own, is a heading too."""
    placed = (line if (heading := _heading(line)) is line.heading else line._replace(heading=heading) for line in lines)
    return with_headings(placed)


def _heading(line: Line) -> Heading | None:
    """A task's heading may have the rank of its phase's; it stands below that all the same."""
    if line.heading is None:
        return _bold_phase(line)
    is_task = _T_NUMBER.match(line.heading.title) is not None
    return Heading(_BELOW_HEADINGS + 1, line.heading.title) if is_task else line.heading


def _bold_phase(line: Line) -> Heading | None:
    text = line.text.strip()
    if line.is_code or text[:1] not in ("*", "_", "-", "+"):
        return None
    box = _BOX.match(text)
    rest = box["rest"] if box else text
    bold = _BOLD_LINE.match(rest)
    name = bold["text"] + bold["after"] if bold else rest
    is_phase = PHASE.match(name) is not None and (bold is not None or box is not None) and len(name) < 160
    return Heading(_BELOW_HEADINGS, name) if is_phase and (box or line.indent == 0) else None


class _Tasks:
    """Goes through lines. Knows only the task it stands in, and the label above."""

    def __init__(self) -> None:
        self.tasks: list[TaskDraft] = []
        self.open: TaskDraft | None = None
        self.is_check = False

    def heading(self, heading: Heading) -> None:
        self.open, self.is_check = None, _CHECKS.match(heading.title) is not None and not PHASE.match(heading.title)

    def begin(self, task: TaskDraft) -> bool:
        """Whether a line is a task: not if it is a step of one, or a check below a label."""
        is_step = self.open is not None and task.indent > self.open.indent + 1
        if not task.number and (is_step or self.is_check):
            return False
        self.open = task
        self.is_check = self.is_check and not task.number
        self.tasks.append(task)
        return True

    def text(self, line: Line) -> None:
        bold = _BOLD_LINE.match(line.text.strip()) if line.indent < 2 and not line.is_code else None
        if bold is not None:
            self.is_check = _CHECKS.match(bold["text"]) is not None
        if self.open is not None and (line.indent > self.open.indent or line.is_code or line.is_blank):
            self.open.lines.append(line)
        elif self.open is not None:
            self.open = self.open if self._wraps(line) else None

    def _wraps(self, line: Line) -> bool:
        """A line that goes on without being indented."""
        assert self.open is not None
        wraps = not (self.open.lines and self.open.lines[-1].is_blank) and _BULLET.match(line.text.strip()) is None
        if wraps:
            self.open.lines.append(line)
        return wraps


def _tasks(placed: Iterable[tuple[Chain, Line]], task_at: Callable[[Chain, Line], TaskDraft | None]) -> list[TaskDraft]:
    reading = _Tasks()
    for chain, line in placed:
        task = None if line.is_code else task_at(chain, line)
        if line.heading is not None:
            reading.heading(line.heading)
        is_task = task is not None and reading.begin(task)
        if not is_task and line.heading is None:
            reading.text(line)
    return reading.tasks


def _boxed(chain: Chain, line: Line) -> TaskDraft | None:
    box = _BOX.match(line.text.strip()) if "[" in line.text and line.heading is None else None
    if box is None:
        return None
    match = _NUMBERED.match(box["rest"])
    number, rest = (match["number"], match["rest"]) if match else ("", _NO_NUMBER.sub("", box["rest"], count=1))
    is_struck = box["rest"].lstrip("* ").startswith("~~")
    task = TaskDraft(number, rest, box["box"].strip(), line.number, line.indent, chain)
    task.is_optional, task.is_struck, task.is_aside = box["star"] is not None, is_struck, _is_aside(chain)
    return task


def _unboxed(chain: Chain, line: Line) -> TaskDraft | None:
    """A heading or a plain list item that begins with a `T` number."""
    text = _listed_text(line)
    match = _T_NUMBER.match(text) if text else None
    if match is None:
        return None
    box = "x" if line.heading and ("✅" in text or "[x]" in text.lower()) else ""
    indent = -1 if line.heading else line.indent
    return TaskDraft(
        match["number"], match["rest"].lstrip(":. "), box, line.number, indent, chain, is_aside=_is_aside(chain)
    )


def _bold(chain: Chain, line: Line) -> TaskDraft | None:
    """A line such as `**T001** [P] Make it`, with all that stands below it."""
    match = _T_NUMBER.match(line.text) if line.text.startswith(("**T", "__T")) and line.heading is None else None
    if match is None or _is_aside(chain):
        return None
    return TaskDraft(match["number"], match["rest"], "", line.number, -1, chain)


def _listed_text(line: Line) -> str:
    bullet = _BULLET.match(line.text.strip()) if line.heading is None else None
    return line.heading.title if line.heading else bullet["rest"] if bullet else ""


def box_of(line: Line) -> str | None:
    """What stands in the box of a list item; None where it has none."""
    box = _BOX.match(line.text.strip()) if not line.is_code else None
    return box["box"].strip() if box else None


def _is_aside(chain: Chain) -> bool:
    """Whether a heading says that samples or words about tasks stand below it; a phase's name never does."""
    return any(
        heading.level > 1
        and _WORDS["tasks_aside"].match(heading.title[:200]) is not None
        and not PHASE.match(heading.title)
        for _, heading in chain
    )


def _is_t(task: TaskDraft) -> bool:
    return task.number.startswith("T")


def _kept(tasks: list[TaskDraft], has_numbers: bool) -> tuple[list[TaskDraft], list[TaskDraft]]:
    """The tasks that are planned, and those that stand aside: numbered ones that stand nowhere else, and boxes
    without a number where no task with one is near."""
    for task in _going_on(tasks):
        task.is_aside = False
    seen = {task.number for task in tasks if not task.is_aside}
    near = {number for task in tasks if task.number for number, heading in task.chain if heading.level > 1}
    kept: list[TaskDraft] = []
    lost: list[TaskDraft] = []
    for task in tasks:
        is_in_phase = any(PHASE.match(heading.title) for _, heading in task.chain)
        is_new = bool(task.number) and task.number not in seen
        if task.is_aside and not (is_in_phase and is_new):
            lost += [task] if is_new and has_numbers else []
        elif task.number or is_in_phase or not has_numbers or _is_near(task, near):
            kept.append(task)
        else:
            lost.append(task)
    return kept, lost


def _going_on(tasks: list[TaskDraft]) -> list[TaskDraft]:
    """Tasks below a heading such as *Example gallery* whose numbers go on with those before: it is about tasks."""
    counted = [(task, int(digits[-1])) for task in tasks if _is_t(task) and (digits := _DIGITS.findall(task.number))]
    known = {number for task, number in counted if not task.is_aside}
    drafts: list[TaskDraft] = []
    highest = 0
    for _, under in groupby(counted, lambda each: each[0].chain):
        here = list(under)
        goes_on = here[0][1] == highest + 1 and not known & {number for _, number in here}
        if here[0][0].is_aside and not goes_on:
            continue
        drafts += [task for task, _ in here if task.is_aside]
        highest = max(highest, *(number for _, number in here))
    return drafts


def _is_near(task: TaskDraft, near: set[int]) -> bool:
    ranked = [number for number, heading in task.chain if heading.level > 1]
    return not ranked or bool(near & set(ranked))


def _phased(placed: list[tuple[Chain, Line]], tasks: list[TaskDraft], lost: list[TaskDraft]) -> Cut:
    level = _level(tasks)
    drafts: dict[int, PhaseDraft] = {}
    for task in tasks:
        number, title = _phase(task.chain, level)
        drafts.setdefault(number, PhaseDraft(number, title)).tasks.append(task)
    own = {below.number for task in tasks for below in task.lines} | {task.line for task in tasks}
    for chain, under in groupby(placed, lambda found: found[0]):
        draft = drafts.get(_phase(chain, level)[0])
        if draft is not None and draft.line:
            lines = [line for _, line in under]
            draft.lines += lines
            draft.intro += [line for line in lines if line.number not in own and not line.is_code]
    empty = {
        number: heading.title
        for chain, line in placed
        if line.heading is not None
        for number, heading in chain[-1:]
        if PHASE.match(heading.title) and not _is_aside(chain) and number not in drafts
    }
    used = {number for task in tasks for number, _ in task.chain}
    return Cut(
        tuple(drafts[n] for n in sorted(drafts)), tuple(lost), tuple(e for e in empty.items() if e[0] not in used)
    )


def _level(tasks: list[TaskDraft]) -> int:
    """The rank of headings that are phases: of those that say so, else the first that parts the tasks."""
    named = [heading.level for task in tasks for _, heading in task.chain if PHASE.match(heading.title)]
    if named:
        return min(named)
    ranks: dict[int, set[int]] = {}
    for task in tasks:
        for number, heading in task.chain:
            if heading.level > 1 and not _NUMBERED.match(heading.title):
                ranks.setdefault(heading.level, set()).add(number)
    parting = [level for level, headings in ranks.items() if len(headings) > 1]
    return min(parting or ranks or [2])


def _phase(chain: Chain, level: int) -> tuple[int, str]:
    """The heading that makes a task's phase; nothing for those before any."""
    named = [step for step in chain if PHASE.match(step[1].title)]
    if named:
        return named[0][0], named[0][1].title
    ranked = [step for step in chain if 1 < step[1].level <= level]
    return (ranked[-1][0], ranked[-1][1].title) if ranked else (0, "")
