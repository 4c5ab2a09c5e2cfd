"""`specifications.toml`: what a spec, a person or an agent writes down to be checked, read and held against the plan.

Nothing is kept or run here. What stands in a file is only a text until a spec or a person adopts it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, assert_never

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from agent_fox.core.formal import contract_text, smt_text, temporal
from agent_fox.core.formal.specification import (
    ALL,
    EXAMPLES,
    LIBRARY,
    PROVING_SECONDS,
    Check,
    Checklist,
    ChosenTests,
    FunctionContract,
    PropertyTests,
    Specification,
    SpecKind,
    TheoremStatement,
    TraceFormula,
)
from agent_fox.core.late import adapter
from agent_fox.core.regex import regex
from agent_fox.core.spec import Problem, Severity, Spec
from agent_fox.core.values import dataclass
from agent_fox.evidence.spec_library import FILE, has_library
from agent_fox.specs.files import TextFile, error, place_of, read_text_file

MOST = 1000
MOST_BYTES = 1024 * 1024
MOST_EXAMPLES = 100_000
MOST_SECONDS = 3600.0
_REQUIREMENT = regex(r"(?i:(?:\d+-)?REQ-\d)|(?:[A-Z]{1,4}[-.]?)?\d+(?:\.E?\d+)*$")

Text = Annotated[str, Field(min_length=1, max_length=4000)]
Words = Annotated[list[Text], Field(min_length=1, max_length=100)]
Seconds = Annotated[float, Field(strict=True, gt=0, le=MOST_SECONDS)]
Count = Annotated[int, Field(strict=True, ge=1, le=MOST_EXAMPLES)]


class Form(BaseModel, defer_build=True):
    """What every specification has. `requirements`: ids of the spec's own, `SPEC/ID` of another's, or `all`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
    text: Text
    requirements: list[Text] = []


class AssertionForm(Form):
    kind: Literal["assertion"]
    tests: list[Text] = []
    command: str = ""

    def check(self) -> Check:
        if bool(self.tests) == bool(self.command):
            raise ValueError('say either tests = [...] or command = "..."')
        return ChosenTests(tuple(self.tests), self.command)


class PropertyForm(Form):
    kind: Literal["property"]
    tests: Words
    examples: Count = EXAMPLES

    def check(self) -> Check:
        return PropertyTests(tuple(self.tests), self.examples)


class TemporalForm(Form):
    kind: Literal["temporal property"]
    formula: Text

    def check(self) -> Check:
        try:
            temporal.parse(self.formula)
        except temporal.FormulaError as wrong:
            raise ValueError(f"formula: {wrong}") from wrong
        return TraceFormula(self.formula)


class ContractForm(Form):
    kind: Literal["contract"]
    function: Text
    signature: Text
    post: Words
    pre: list[Text] = []
    raises: list[Text] = []
    seconds: Seconds = PROVING_SECONDS

    def check(self) -> Check:
        contract = FunctionContract(
            self.function, self.signature, tuple(self.post), tuple(self.pre), tuple(self.raises), self.seconds
        )
        wrong = contract_text.trouble(contract)
        if wrong:
            raise ValueError(wrong)
        return contract


class TheoremForm(Form):
    kind: Literal["theorem"]
    goal: Text
    axioms: Annotated[str, Field(max_length=100_000)] = ""
    seconds: Seconds = PROVING_SECONDS

    def check(self) -> Check:
        theorem = TheoremStatement(self.goal, self.axioms, self.seconds)
        wrong = smt_text.trouble(theorem)
        if wrong:
            raise ValueError(wrong)
        return theorem


class ChecklistForm(Form):
    kind: Literal["checklist"]
    items: Words

    def check(self) -> Check:
        return Checklist(tuple(self.items))


AnyForm = AssertionForm | PropertyForm | TemporalForm | ContractForm | TheoremForm | ChecklistForm
FORM: TypeAdapter[AnyForm] = adapter(lambda: TypeAdapter(Annotated[AnyForm, Field(discriminator="kind")]))


@dataclass(frozen=True, slots=True)
class Owner:
    """Under whose name a file's specifications lie, and which requirements there are: spec → ids that can be named.

    An id may name several: a whole requirement stands for its criteria.
    """

    name: str
    known: Mapping[str, Mapping[str, tuple[str, ...]]]

    def addresses(self, named: str) -> tuple[str, ...]:
        """Raises ValueError for a requirement that nobody expects."""
        spec, slash, part = named.rpartition("/")
        spec = spec if slash else self.name
        if spec not in self.known:
            raise ValueError(f"requirements: {named!r}: there is no spec {spec!r}; write SPEC/ID")
        if part == ALL:
            return (f"{spec}/{ALL}",)
        if part not in self.known[spec]:
            raise ValueError(f"requirements: {named!r}: {spec} has no such requirement")
        return tuple(f"{spec}/{name}" for name in self.known[spec][part])


def owner_of(spec: Spec) -> Owner:
    """A spec's own file speaks of that spec alone."""
    return Owner(spec.name, {spec.name: named_parts(spec)})


def named_parts(spec: Spec) -> dict[str, tuple[str, ...]]:
    whole = {requirement.id: tuple(part.id for part in requirement.parts) for requirement in spec.requirements}
    return whole | {part: (part,) for part in spec.expected}


def read_spec_library(spec: Spec, root: Path) -> tuple[tuple[Specification, ...], tuple[Problem, ...]]:
    """What a spec's folder asks for beside its requirements, and what is wrong with it. No file asks for nothing."""
    path = root / spec.path / FILE
    if not has_library(spec, root):
        return (), ()
    if spec.name == LIBRARY:
        what = f"{LIBRARY!r} is the name of what belongs to no spec; give this spec another name"
        return (), (replace(error(place_of(path, root), what), spec=spec.name),)
    specifications, problems = read_library(path, root, owner_of(spec))
    return specifications, tuple(replace(problem, spec=spec.name) for problem in problems)


def read_library(path: Path, root: Path, owner: Owner) -> tuple[tuple[Specification, ...], tuple[Problem, ...]]:
    """Every specification of a file, and everything that is wrong with it."""
    file = read_text_file(path, root)
    if isinstance(file, Problem):
        return (), (file,)
    if len(file.text) > MOST_BYTES:
        return (), (error(place_of(path, root), f"has more than {MOST_BYTES} characters; split it"),)
    return read_text(file, owner)


def read_text(file: TextFile, owner: Owner) -> tuple[tuple[Specification, ...], tuple[Problem, ...]]:
    try:
        document = tomllib.loads(file.text)
    except (tomllib.TOMLDecodeError, RecursionError) as wrong:
        return (), (error(file.where, f"this is not TOML: {wrong}"),)
    tables = document.get("specification")
    if not isinstance(tables, list) or len(document) != 1 or len(tables) > MOST:
        return (), (error(file.where, f"holds [[specification]] tables and nothing else, {MOST} at most"),)
    specifications: dict[str, Specification] = {}
    problems: list[Problem] = []
    for number, table in enumerate(tables, 1):
        where = f"{file.where}: specification {number}"
        try:
            specification = specification_of(table, owner)
        except ValueError as wrong:
            problems.append(error(where, str(wrong)))
            continue
        if specification.address in specifications:
            problems.append(
                error(where, f"name = {specification.address.partition('/')[2]!r} stands here twice; rename one")
            )
        specifications[specification.address] = specification
    return tuple(specifications.values()), tuple(problems)


def specification_of(table: object, owner: Owner) -> Specification:
    """Raises ValueError with what is wrong and what to do."""
    try:
        form = FORM.validate_python(table)
    except ValidationError as wrong:
        raise ValueError(first_error(wrong)) from wrong
    if _REQUIREMENT.match(form.name) or form.name == ALL or form.name in owner.known.get(owner.name, ()):
        raise ValueError(f"name = {form.name!r}: this is how requirements are named; take another")
    check, kind = form.check(), SpecKind(form.kind)
    addresses = [address for named in form.requirements for address in owner.addresses(named)]
    if not addresses and kind is not SpecKind.CHECKLIST:
        raise ValueError('requirements: name what it is evidence for, or "all"')
    addresses = addresses or ([f"{owner.name}/{ALL}"] if owner.name != LIBRARY else [])
    return Specification(f"{owner.name}/{form.name}", kind, form.text, tuple(dict.fromkeys(addresses)), check)


def first_error(wrong: ValidationError) -> str:
    """The first of what pydantic found, in one line."""
    first = wrong.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part not in [kind.value for kind in SpecKind])
    match first["type"]:
        case "union_tag_invalid" | "union_tag_not_found" | "model_attributes_type":
            kinds = ", ".join(kind.value for kind in SpecKind if kind is not SpecKind.REQUIREMENT)
            return f"kind: one of {kinds}"
        case "extra_forbidden":
            return f"{place}: there is no such key for this kind"
        case _:
            return f"{place}: {first['msg']}" if place else str(first["msg"])


def toml_of(one: Specification) -> str:
    """How a person would write it down, for the screen."""
    match one.check:
        case ChosenTests(select, command):
            return f"command: {command}" if command else f"tests: {', '.join(select)}"
        case PropertyTests(select, examples):
            return f"tests: {', '.join(select)} ({examples} examples)"
        case TraceFormula(formula):
            return f"formula: {formula}"
        case FunctionContract() as check:
            before = f"{' and '.join(check.pre)} → " if check.pre else ""
            return f"contract of {check.function}{check.signature}: {before}{' and '.join(check.post)}"
        case TheoremStatement(goal=goal):
            return f"theorem: {goal}"
        case Checklist(items):
            return "\n".join(f"- {item}" for item in items)
        case None:
            return "judged by the verifier"
        case check:
            assert_never(check)


def errors(problems: Iterable[Problem]) -> list[Problem]:
    return [problem for problem in problems if problem.severity is Severity.ERROR]
