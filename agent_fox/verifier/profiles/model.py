"""What a profile is: the commands a build system may be asked to run, and under which rules. Data, checked when read.

Where profiles come from is in `loading`; what contradicts what is in `contradictions`.
"""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, field_validator

from agent_fox.config import Count, Flag, Seconds, Table, Text
from agent_fox.verifier.ground.results import Tool
from agent_fox.verifier.logs.registry import BUILT_IN, UnknownTool
from agent_fox.verifier.projects.systems import SystemKind  # noqa: TC001 - pydantic reads it

GIT = ".git"
WITHOUT_COMMAND = frozenset({Tool.STATIC_POLICY, Tool.SUMMARIZE, Tool.RESOLVE})
"""Tools that look at what is there already, and the one with a step of its own: no command answers for them."""


class NetworkProfile(StrEnum):
    """Which network a command may have. `package-readonly`: a separate resolving step may read from package indexes;
    every other command runs without a network either way."""

    NONE = "none"
    PACKAGE_READONLY = "package-readonly"


class Lists(StrEnum):
    """What stands for any number of arguments: `{script...}` alone makes an element."""

    MODULE = "module"  # the command's own list, where a module is asked for
    WHOLE = "whole"  # the command's own list, where none is
    SELECTION = "selection"  # the command's lists `name` and `path`, as far as the selector has these parts
    FILES = "files"  # the files that the command's own globs find
    SCRIPT = "script"  # options that the project's test script gives its runner
    TARGETS = "targets"  # what that script names to be tested
    DISCOVER = "discover"  # where unittest is to look
    COLLECTED = "collected"  # what pytest is given, where no setting of its own says it
    TYPED = "typed"  # what mypy is to read
    PACKAGES = "packages"  # Go's packages


class Values(StrEnum):
    """What stands for a piece of text within an element."""

    MODULE = "module"
    PATH = "path"  # of a selector
    NAME = "name"  # of a selector, as it was given
    PATTERN = "pattern"  # the name as a regular expression that matches nothing else
    REPORTS = "reports"  # the folder for reports
    REPORTERS = "reporters"  # the folder of our own programs that run a test runner and write its report
    FOLDER = "folder"  # where the command runs
    SRC = "src"  # the folders that modules are imported from, as a search path
    ADVISORIES = "advisories"  # the folder of known vulnerabilities


class SelectorKind(StrEnum):
    """Whose way of naming one test is meant. `inputs` has the rules."""

    PYTEST = "pytest"
    UNITTEST = "unittest"
    SUREFIRE = "surefire"
    GRADLE = "gradle"
    GO = "go"
    CARGO = "cargo"
    CTEST = "ctest"
    JAVASCRIPT = "javascript"


def _parser(word: str) -> str:
    try:
        BUILT_IN.known(word)
    except UnknownTool as error:
        raise ValueError(str(error)) from error
    return word


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"no regular expression: {error}") from error
    return text


def _folder(pattern: str) -> str:
    path = PurePosixPath(pattern)
    if path.is_absolute() or not path.parts or ".." in path.parts or "\\" in pattern or path.parts[0].lower() == GIT:
        raise ValueError("allowed is a path inside the workspace, counted from its root, and not .git")
    return pattern


ProfileId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,62}$")]
ParserWord = Annotated[Text, AfterValidator(_parser)]
Pattern = Annotated[Text, AfterValidator(_pattern)]
Inside = Annotated[Text, AfterValidator(_folder)]
VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class Command(Table):
    """One way to do what a tool is asked for. The first whose `when` holds is taken.

    An element of `argv` is a program (`{maven}`), a list (`{module...}`, see `Lists`), or text with values in it
    (`{reports}/junit.xml`, see `Values`). The first element is a program.
    """

    when: list[Text] = Field(default=[], description="Traits of the project that must hold, all of them.")
    argv: list[Text] = Field(min_length=1, description="The command, one element an argument; no shell.")
    before: list[list[Text]] = Field(default=[], description="Commands to run first; the first that fails ends it.")
    module: list[Text] = Field(default=[], description="What `{module...}` stands for when one module is asked for.")
    whole: list[Text] = Field(default=[], description="What `{whole...}` stands for when no module is asked for.")
    runs_in_module: Flag = Field(default=False, description="With a module, the command runs in the module's folder.")
    selector: SelectorKind | None = Field(default=None, description="Whose names of tests are accepted.")
    path: list[Text] = Field(default=[], description="The part of `{selection...}` for a selector with a file.")
    name: list[Text] = Field(default=[], description="The part of `{selection...}` for a selector with a name.")
    files: list[Text] = Field(default=[], description="Globs of the files that `{files...}` stands for.")
    parser: ParserWord = Field(description="Whose log it is.")
    reports: list[Text] = Field(default=[], description="Globs of the reports it writes, from the workspace's root.")
    seconds: Seconds = Field(default=600.0, description="Time limit.")
    output_bytes: Count = Field(default=50_000_000, description="How much it may print.")
    environment: dict[VariableName, str] = Field(default={}, description="Variables it is given beside the least.")
    network: Flag = Field(default=False, description="Whether it can't do without a network.")
    is_part: Flag = Field(
        default=False, description="It does a part of what an earlier one does, and is run where that lacks a program."
    )
    changes_source: Flag = Field(default=False, description="Whether it is meant to change source.")
    only_reads: Flag = Field(default=False, description="It changes nothing, and may run while tests do.")
    fails_on_output: Flag = Field(default=False, description="It exits with 0 even so; what its log says counts.")
    expands: Flag = Field(default=False, description="Whether globs become names of files first, as in a shell.")
    idle: Pattern | None = Field(default=None, description="It counts no tests; lines like this say that it ran none.")
    needs: list[Text] = Field(default=[], description="Folders of advisories it compares with.")
    notes: list[Text] = Field(default=[], description="What a reader of its result must know.")


class Policy(Table):
    """The most that commands may do beside reading the workspace. Whoever starts the verifier may allow less."""

    network: NetworkProfile = Field(default=NetworkProfile.NONE, description="Which network there is.")
    allow_source_mutation: Flag = Field(default=False, description="Whether `run_format_apply` may change source.")
    builds_in_copy: Flag = Field(
        default=False, description="Whether commands that only read source run in a copy, as they write beside it."
    )
    write_folders: list[Inside] = Field(default=[], description="Folders below any module that builds write to.")


class Output(Table):
    """What is kept of a command's output."""

    output_bytes: Count = Field(default=50_000_000, description="How much any command may print.")


class SourceRules(Table):
    """Which files are source: all but `exclude`; of that, `include` and what git has tracked are source still.

    A glob without an inner slash holds at every depth; one that ends in a slash means a folder with all below it.
    """

    include: list[Inside] = Field(default=[], description="What is source though `exclude` names it.")
    exclude: list[Inside] = Field(default=[], description="What is not, such as folders that builds write.")


class Resolve(Table):
    """The one step that may use the network: it fetches dependencies, and runs no code of the project's."""

    when: list[Text] = Field(default=[], description="Traits of the project that must hold, all of them.")
    argv: list[Text] = Field(min_length=1, description="The command; no shell.")
    token_environment: VariableName | None = Field(default=None, description="The variable its token is given in.")
    seconds: Seconds = Field(default=900.0, description="Time limit.")
    parser: ParserWord = Field(description="Whose log it is.")
    notes: list[Text] = Field(default=[], description="What a reader of its result must know.")


class Profile(Table):
    """All that a build system may be asked for. Frozen; every path in it is relative."""

    id: ProfileId
    language: Text
    build_system: SystemKind
    summary: Text
    limitations: list[Text] = Field(min_length=1, description="What it does not do, or does not see.")
    parsed_only: list[Text] = Field(default=[], description="Commands whose logs are read, but which no test runs.")
    programs: dict[Text, list[Text]] = Field(default={}, description="Where each program is looked for, in order.")
    commands: dict[Tool, list[Command]] = Field(description="Ways to do what each tool is asked for.")
    environment: dict[VariableName, str] = Field(default={}, description="Variables that every command is given.")
    caches: dict[VariableName, Inside] = Field(default={}, description="Variables that name a cache, and its folder.")
    unavailable: dict[Tool, Text] = Field(default={}, description="Why a tool has no command that fits.")
    policy: Policy = Policy()
    output: Output = Output()
    source: SourceRules = SourceRules()
    resolve: Resolve | None = None
    remedy: Text | None = Field(default=None, description="What a person does where packages or tools are missing.")
    locked_remedy: Text | None = Field(default=None, description="The same where one of `locks` is there.")
    locks: list[Inside] = Field(default=[], description="Lock files that what is installed may come from.")
    max_seconds: Seconds = Field(default=1800.0, description="Time limit of any one command.")

    def remedy_in(self, *folders: Path) -> str | None:
        """What a person does where packages are missing, by the lock files that lie in these folders."""
        is_locked = any((at / name).is_file() for at in folders for name in self.locks)
        return (self.locked_remedy if is_locked else None) or self.remedy

    @field_validator("programs")
    @classmethod
    def _local_or_plain(cls, programs: dict[str, list[str]]) -> dict[str, list[str]]:
        """A program is a plain name, or a path inside the workspace that begins with `./`."""
        for choice in (choice for choices in programs.values() for choice in choices):
            if "/" in choice and (not choice.startswith("./") or ".." in PurePosixPath(choice).parts):
                raise ValueError(f"{choice!r} is neither a plain name nor a path inside the workspace such as ./mvnw")
        return programs
