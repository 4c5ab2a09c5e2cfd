"""Every setting with its default, and how file and environment become settings. No rule is here."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from agent_fox.core.ids import Archetype, digest_of, parse_node_name
from agent_fox.core.ledger.close_out_scope import why_no_pattern
from agent_fox.core.regex import regex
from agent_fox.core.spec import BareCriteria
from agent_fox.system.toml_tables import Keys, TableError, Toml, explain, put_variables, read_table

FILE = Path(".agent-fox") / "config.toml"
OWNERS = FILE.with_name("owners.toml")
REVIEW_FILE = "review.toml"
PREFIX = "AGENT_FOX__"


def _in_seconds(value: object) -> object:
    """Times have no unit: `4h` is asked for as what it is in seconds."""
    if isinstance(value, str):
        raise ValueError("allowed is a number of seconds, without a unit (an hour is 3600)")
    return value


Flag = Annotated[bool, Field(strict=True)]
Count = Annotated[int, Field(strict=True, ge=1)]
Ceiling = Annotated[int, Field(strict=True, ge=0)]
Amount = Annotated[float, Field(strict=True, ge=0)]
Fraction = Annotated[float, Field(strict=True, ge=0, le=1)]
Seconds = Annotated[float, Field(strict=True, gt=0), BeforeValidator(_in_seconds)]
Text = Annotated[str, Field(min_length=1)]
ToolName = Literal[
    "run_static_policy_checks",
    "run_compile",
    "run_selected_test",
    "run_unit_tests",
    "run_dependency_tree",
    "run_security_scan",
    "run_lint",
    "run_format_check",
]
NodeKey = Annotated[str, AfterValidator(lambda name: str(parse_node_name(name)))]

_NO_BRANCH = regex(
    r"^(?:-|/|\.|HEAD$|@$|refs/)"  # what cannot stand in front, or alone
    r"|[/.]$|\.lock$"  # or at the end
    r"|\.\.|//|@\{|/\.|\.lock/"  # or anywhere
    r"|[\x00-\x20\x7f~^:?*\[\\]"
)
"""What `git check-ref-format --branch` refuses, and what it takes for something else than a plain branch."""


def _branch(name: str) -> str:
    if _NO_BRANCH.search(name):
        raise ValueError("this cannot be a branch; write a plain name such as agent-fox/integration, without refs/")
    return name


def _inside(pattern: str) -> str:
    path = PurePosixPath(pattern)
    if path.is_absolute() or not path.parts or ".." in path.parts or ".git" in map(str.lower, path.parts):
        raise ValueError("allowed is a path inside the repository, counted from its root")
    return pattern


def _command_line(line: str) -> str:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ValueError(f"allowed is a command line that can be split into words: {error}") from error
    if not words:
        raise ValueError("allowed is a command line with a program in it")
    return line


def _pattern(pattern: str) -> str:
    why = why_no_pattern(pattern)
    if why:
        raise ValueError(f"allowed is a path or glob inside the repository, counted from its root: {why}")
    return pattern


Branch = Annotated[Text, AfterValidator(_branch)]
CommandLine = Annotated[Text, AfterValidator(_command_line)]
Pattern = Annotated[Text, AfterValidator(_pattern)]
Inside = Annotated[Text, AfterValidator(_inside)]


class ConfigError(ValueError):
    """A setting that cannot be used: one line with its place, key and value, and what is allowed."""


class Table(BaseModel):
    """One table of the file: unknown keys are refused, nothing changes after reading."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, coerce_numbers_to_str=True, defer_build=True
    )


class PlanSettings(Table):
    """What the plan is made of."""

    pre_review: Flag = Field(default=True, description="A reviewer reads each spec before its first coder.")
    drift_review: Flag = Field(default=False, description="A reviewer compares each spec with the code first.")
    audit_review: Flag = Field(default=True, description="A reviewer reads the tests after the group that writes them.")
    verifier: Flag = Field(default=True, description="A verifier gives one verdict per requirement at the end.")
    optional_groups: Flag = Field(default=True, description="Task groups marked optional are part of the plan.")
    specs: Text | list[Text] | None = Field(
        default=None,
        description="Where the specs are: a folder, a file, or a list. Unset: every usual place (docs/dialects.md).",
    )
    baseline: Flag = Field(
        default=False, description="A verifier also reads specs that only say what is there (OpenSpec's capabilities)."
    )

    @property
    def places(self) -> tuple[str, ...]:
        """The places of specs that are named; empty for the usual ones."""
        if self.specs is None:
            return ()
        return (self.specs,) if isinstance(self.specs, str) else tuple(self.specs)


class AgentChoice(Table):
    """Who does the work, and how it is started: what a rung may change."""

    backend: Text | list[Text] = Field(
        default="command",
        description="`claude`, `codex`, `gemini`, `opencode`, `mini`, `acp`, `command`, `scripted`, `checks` (for "
        "verifiers), a plugin's name, or a list of them.",
    )
    command: list[str] = Field(
        default=[],
        description="Program and arguments for the backends `command` and `acp`; no shell. Runs in the workspace.",
    )
    timeout: Seconds = Field(default=1800.0, description="Seconds until a session is ended, with all it started.")
    environment: dict[str, str] = Field(default={}, description="Variables given to the session.")
    program: Text | None = Field(default=None, description="Path of the agent's program. Unset: as found on PATH.")
    model: Text | dict[str, Text] | None = Field(
        default=None, description="A model's name, or a table from backend to model. Also given as `AGENT_FOX_MODEL`."
    )
    effort: Text | None = Field(default=None, description="How hard the model thinks, in the program's own words.")
    arguments: list[str] = Field(default=[], description="Further arguments for the agent's program.")
    like: Literal["agent"] | None = Field(
        default=None,
        description="`agent`: a command is held like an agent's program, with sandbox, home, proxy and limits "
        "(docs/agents.md).",
    )
    provider: Literal["anthropic", "openai", "gemini"] | None = Field(
        default=None,
        description="Whose models a program of your own asks (`acp`, or `command` like an agent): its requests are "
        "then metered. Unset: it has its own key, and no ceiling of money is promised.",
    )
    sandbox: Literal["auto", "require", "off"] = Field(
        default="auto", description="bubblewrap around an agent's program: where it is there, always, or never."
    )
    idle_timeout: Seconds = Field(
        default=600.0, description="Seconds without any sign of an agent or its model until its session is ended."
    )
    max_turns: Count | None = Field(default=None, description="Requests to the model in one session. Unset: no limit.")
    max_cost_usd: Amount | None = Field(default=None, description="Dollars that one session may cost. Unset: no limit.")
    label: str = Field(default="", description="The name shown for this agent.")

    @property
    def backends(self) -> list[str]:
        """The names of its backends, whether one was written or a list."""
        return [self.backend] if isinstance(self.backend, str) else self.backend

    @property
    def who(self) -> list[tuple[str, ...]]:
        """Each backend with its model; for `command` and `acp` with the command line too, which names the agent."""
        models = self.model if isinstance(self.model, dict) else dict.fromkeys(self.backends, self.model)
        lines = dict.fromkeys(("command", "acp"), tuple(self.command))
        return [(name, models.get(name) or "", *lines.get(name, ())) for name in self.backends]

    @property
    def name(self) -> str:
        """Who it is, for records: `claude:opus`; of a command line a digest, since a line may hold secrets."""
        lines = [(name, model, digest_of(*line, digits=8) if line else "") for name, model, *line in self.who]
        return ", ".join(":".join(filter(None, parts)) for parts in lines)


class Rung(AgentChoice):
    """A stronger or another agent, for retries that do not converge. Keys left out are the agent's own."""


class AgentSettings(AgentChoice):
    """The agent of one archetype."""

    script: Text | None = Field(default=None, description="File of steps for the backend `scripted`.")
    inherit: list[str] = Field(default=[], description="Names of variables passed on from `agent-fox`'s environment.")
    tools: Flag = Field(default=True, description="Is an agent offered the verifier's tools (build, test, lint)?")
    stop_hook: Flag = Field(
        default=True, description="May a coder stop only when it has run the verifier's tests after its last change?"
    )
    assumed_cost_usd: Amount = Field(
        default=0.5, description="Dollars a session counts for until it tells its cost. 0: it is free."
    )
    retry_predecessor: Flag | None = Field(
        default=None,
        description="May coders be sent back, may a reader's findings send one back? Unset: see `[retry]`.",
    )
    rungs: list[Rung] = Field(default=[], description="Agents for retries that do not converge, weakest first.")


class CoderSettings(AgentSettings):
    """The agent that writes code."""

    timeout: Seconds = Field(default=3600.0, description="Seconds until a session is ended, with all it started.")
    assumed_cost_usd: Amount = Field(
        default=1.0, description="Dollars a session counts for until it tells its cost. 0: it is free."
    )


class Agents(Table):
    """One agent for each archetype."""

    coder: CoderSettings = Field(default={}, validate_default=True, description="Writes code.")
    reviewer: AgentSettings = Field(
        default={}, validate_default=True, description="Reads specs, tests, and verified work."
    )
    verifier: AgentSettings = Field(default={}, validate_default=True, description="Gives one verdict per requirement.")

    def of(self, archetype: str) -> AgentSettings:
        """The agent of `coder`, `reviewer` or `verifier`; ValueError for any other word."""
        match Archetype(archetype):
            case Archetype.CODER:
                return self.coder
            case Archetype.REVIEWER:
                return self.reviewer
            case Archetype.VERIFIER:
                return self.verifier

    @property
    def retries_coders(self) -> bool | None:
        """May a FAIL send coders back? One `false` is enough; None where coder and verifier have no say."""
        words = {self.coder.retry_predecessor, self.verifier.retry_predecessor} - {None}
        return all(words) if words else None


class SpecSettings(Table):
    """What differs for one spec, named by its folder. Keys left out are those of the wider tables."""

    retry_predecessor: Flag | None = Field(default=None, description="May a FAIL send this spec's coders back?")
    agents: Agents = Field(default={}, validate_default=True, description="This spec's agents.")

    @property
    def retries_coders(self) -> bool | None:
        """May a FAIL send this spec's coders back? None where the spec has no say."""
        return _narrower(self.agents.retries_coders, self.retry_predecessor)


class SpecsSettings(Table):
    """How specs are read. Beside these keys stand the tables `[specs.NAME]`, each for one spec."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, SpecSettings] = Field(init=False)

    bare_criteria: Literal["detail", "required"] = Field(
        default="detail",
        description="Criteria without an id, beside others that have one: details of the requirement, part of its text "
        "(`detail`), or each with an id made from its place and a verdict of its own (`required`).",
    )

    @property
    def named(self) -> dict[str, SpecSettings]:
        """What differs for single specs, by their names."""
        return self.__pydantic_extra__

    @property
    def bare(self) -> BareCriteria:
        return BareCriteria(self.bare_criteria)


class NodeSettings(Table):
    """What differs for one node, named by its id, such as `04_gateway:3`."""

    retry_predecessor: Flag | None = Field(default=None, description="May a FAIL send this coder back?")


class RetrySettings(Table):
    """How often something is tried. All counts are totals, the first try included."""

    attempts: Count = Field(default=3, description="Tries of a coder until its FAIL goes to a person.")
    policy: Literal["ladder", "arms"] = Field(
        default="ladder",
        description="Who has a coder's next attempt after a FAIL, and where it starts: as `switch` and `start` say, or "
        "what is worth most by this project's own attempts and costs (docs/retries.md).",
    )
    worth_usd: Amount = Field(
        default=20.0, description="With `arms`: dollars that one more proven requirement is worth beside what it costs."
    )
    readings: Count = Field(default=2, description="Sessions of a verifier at one attempt until a person must look.")
    retry_predecessor: Flag = Field(default=True, description="May a FAIL send the coders who own it back to work?")
    stop_without_progress: Flag = Field(
        default=True, description="Stop when a retry repeats its failure and no stronger rung is left."
    )
    resume: Literal["handoff", "continue", "fresh"] = Field(
        default="handoff",
        description="What a coder gets of its last session where that was cut off: the difference as a file beside its "
        "brief, a workspace that starts from its files, or nothing.",
    )
    switch: Literal["second", "repeat"] = Field(
        default="second",
        description="A coder's first FAIL hands its work to the next rung, where that is another backend or model; or "
        "only a FAIL without progress does.",
    )
    keep_best: Flag = Field(
        default=True,
        description="After a round that lost requirements, go back to the best tree that was read (docs/semantics.md).",
    )
    start: Literal["tip", "best", "before-onset"] = Field(
        default="best",
        description="Where a coder that is sent back starts: the branch as it was left, the best tree that was read, "
        "or the files just before the edit by which a requirement broke. `resume` comes first (docs/traces.md).",
    )
    onset: Flag = Field(
        default=True,
        description="Search for the step of a session at which a failing test of `checks` began to fail, by running it "
        "again on the files of some steps.",
    )
    candidates: Count = Field(
        default=1,
        description="Tries of an attempt, one after the other from the same commit, where a FAIL goes back to one "
        "group: the verifier reads each, and the best lands (docs/semantics.md).",
    )
    review_attempts: Count = Field(default=2, description="Tries that critical findings of a reviewer may cause.")


class Ceilings(Table):
    """Ceilings for one spec or one node. 0 launches nothing."""

    cost_usd: Amount | None = Field(default=None, description="Dollars. Unset: no ceiling.")
    sessions: Ceiling | None = Field(default=None, description="Sessions started. Unset: no ceiling.")


class LimitSettings(Ceilings):
    """Ceilings for a whole run; one that is reached pauses it (exit code 3). 0 launches nothing."""

    wall_minutes: Amount | None = Field(default=None, description="Minutes of running. Unset: no ceiling.")
    spec: Ceilings = Field(default={}, validate_default=True, description="For each spec.")
    node: Ceilings = Field(default={}, validate_default=True, description="For each node.")


class PolicySettings(Table):
    """What holds other work back, and what counts as proven."""

    gate: Literal["spec", "group"] = Field(
        default="spec",
        description="A dependent spec waits for the other's verdict (`spec`), or its named group (`group`).",
    )
    on_escalation: Literal["block", "continue"] = Field(
        default="block",
        description="What depends on an unproven spec and has not started: blocked, or goes on.",
    )
    final_check: Flag = Field(default=True, description="Specs whose tree changed since their verdict are read again.")
    other_specs: Literal["note", "refuse"] = Field(
        default="note",
        description="A coder changes files that work for another spec made: it is told, or the session does not count.",
    )
    landed_text: Literal["refuse", "note"] = Field(
        default="refuse",
        description="A coder's work holds a key or conflict markers: it does not land and an attempt is spent, or it "
        "is told.",
    )
    required_state: Literal["tested", "reviewed", "proved"] = Field(
        default="tested",
        description="The evidence a requirement needs to count as proven: tests passed; then a reviewer found nothing "
        "critical; then a formal proof.",
    )


class EvidenceSettings(Table):
    """What earlier evidence still counts for, when a run ends."""

    environment: Literal["reopen", "show"] = Field(
        default="reopen",
        description="A verdict from another environment or judge: it is read again, or it counts and is shown.",
    )
    freshness: Literal["scope", "tree"] = Field(
        default="scope",
        description="What makes a verdict old when others' work lands: a change of what its tests were seen to rest "
        "on, or any change of the tree.",
    )
    rerun_fraction: Fraction = Field(
        default=0.0,
        description="The part of what need not be read again at the end (specs proven in earlier runs, or untouched "
        "by what landed since) that is read all the same, drawn by chance: 0 to 1.",
    )


class MemorySettings(Table):
    """Regression memory: tests that failed once, kept and run again (docs/memory.md)."""

    pre_reading: Flag = Field(
        default=True, description="Run what is remembered before a verifier's judges; a failure is a FAIL."
    )
    most_read: Count = Field(default=50, description="Items of one pre-reading; how many are left out is told.")
    seconds: Seconds = Field(
        default=60.0, description="Seconds for one pre-reading; what is left is not read, and told."
    )
    most_named: Count = Field(default=20, description="Items that a coder's brief names as what must stay green.")
    green_readings: Count = Field(
        default=20, description="An item is run on touch alone after this many green readings, and `days` untouched."
    )
    days: Count = Field(default=90, description="Days without a change of an item's files until it is run on touch.")


class PlanOfSteps(Table):
    """A verification plan of one's own: tools in the order they run; the required ones decide."""

    required: list[ToolName] = Field(default=[], description="Tools that decide, such as `run_unit_tests`.")
    optional: list[ToolName] = Field(default=[], description="Tools whose failures are warnings.")


class VerifySettings(Table):
    """What the backend `checks` and `agent-fox verify` run."""

    commands: list[Text] = Field(
        default=[],
        description="Command lines of `checks`, split into words, run without a shell. Empty: those of the spec.",
    )
    reports: list[Text] = Field(default=[], description="Globs of the JUnit XML files that the commands write.")
    untested: Literal["fail", "unknown"] = Field(
        default="fail", description="The verdict on a requirement that no test names."
    )
    counterfactual: Literal["require", "report", "off"] = Field(
        default="require",
        description="Tests of `checks` that pass are seen to fail when the work is broken, and to be the committed "
        "ones: required, told, or not asked (docs/proof.md).",
    )
    undecided: Literal["count", "unknown"] = Field(
        default="count",
        description="Tests that passed before the work too, in a language whose code cannot be broken here: they count "
        "as `already true, not shown`, or leave the verdict unknown.",
    )
    sealed: Literal["review", "refuse", "report"] = Field(
        default="review",
        description="A committed test that fails although the tests of the tree pass: a person or the requirement's "
        "younger text may allow it, nobody may, or it is only told (docs/proof.md).",
    )
    hidden: Text | None = Field(
        default=None,
        description="Folder of tests that no agent sees, outside of the repository: `checks` runs them too "
        "(docs/proof.md). Unset: none.",
    )
    reveal: Literal["criterion", "assertion", "test"] = Field(
        default="criterion",
        description="What a failing hidden check tells: the criterion and the kind of failure, the assertion too, all.",
    )
    timeout: Seconds = Field(default=600.0, description="Seconds for each command of `checks`.")
    changes: Literal["refuse", "report", "ignore"] = Field(
        default="refuse",
        description="A coder's change that weakens tests or checks: the session does not count, or it is only told.",
    )
    sandbox: Literal["auto", "require", "off"] = Field(
        default="auto", description="bubblewrap around commands: where it is there, always or nothing runs, never."
    )
    network: Flag = Field(
        default=False, description="May commands of `checks` use the network, inside the sandbox too?"
    )
    build_caches: Flag = Field(
        default=True,
        description="May `checks` begin with what was compiled of the base commit in an earlier reading "
        "(docs/verifier.md)?",
    )
    memory_mib: Count = Field(default=4096, description="Mebibytes that a command and all it starts may take.")
    processes: Count = Field(default=512, description="Processes that a command may have at once.")
    plan: Text = Field(default="auto", description="The plan of `verify`; `auto` chooses by what changed.")
    profile: Text | None = Field(default=None, description="The profile of `verify`. Unset: by the manifests.")
    base: Text | None = Field(
        default=None, description="What a change is compared with. Unset: where it left the main branch, else HEAD."
    )
    baseline: Literal["on_failure", "always", "never"] = Field(
        default="on_failure", description="When `verify` runs the plan on the base commit too."
    )
    advisories: Text | None = Field(
        default=None, description="Folder of known vulnerabilities for offline scanners. Unset: no scan can pass."
    )
    formats: list[Text] = Field(
        default=[],
        description="Files of this repository with formats of lines of your own, for logs that `verify` and runs read "
        "(docs/contributing.md).",
    )
    total_timeout: Seconds = Field(default=3600.0, description="Seconds for all commands of one `verify`.")
    format_apply: Flag = Field(default=False, description="May the formatter change files that only lack format?")
    documents: list[Text] = Field(default=[], description="More globs of files that no test reads.")
    interfaces: list[Text] = Field(default=[], description="More globs of files that others build on.")
    least_risk: Literal["documentation", "ordinary", "api-migration", "dependency-upgrade"] = Field(
        default="documentation", description="The lowest risk that any change counts as."
    )
    keep_days: Count = Field(default=30, description="Days that artifacts are kept.")
    keep_mib: Count = Field(default=4096, description="Mebibytes that all artifacts may take.")
    plans: dict[str, PlanOfSteps] = Field(default={}, description="Plans of one's own, by name.")


class GateSettings(Table):
    """What a task is held to when it is closed: by `agent-fox gate`, and at the end of each coder's session."""

    allowed: list[Pattern] = Field(
        default=[],
        description="Paths or globs that a task may write, beside those its spec's design names. Empty: any, and what "
        "the design does not name is a warning.",
    )
    forbidden: list[Pattern] = Field(default=[], description="Paths or globs that no task may write, whatever else.")
    off_scope: Literal["block", "warn"] = Field(
        default="block", description="What a write outside of `allowed` is: it holds the task back, or is told."
    )
    commands: list[CommandLine] = Field(
        default=[],
        description="Acceptance commands, split into words, run without a shell: each must have run and ended with 0.",
    )
    timeout: Seconds = Field(default=600.0, description="Seconds for each of `commands` at a coder's close-out.")


class WorkspaceSettings(Table):
    """What a session's checkout needs beside the committed files. Paths start at the repository's root."""

    setup: list[Text | list[str]] = Field(
        default=[],
        description="Commands run in each new workspace, as you and outside of any sandbox: command lines or lists of "
        "arguments; no shell.",
    )
    copies: list[Inside] = Field(default=[], alias="copy", description="Paths or globs to copy, such as `.env`.")
    link: list[Inside] = Field(default=[], description="Paths or globs to link, such as `node_modules`.")
    state: Text | None = Field(
        default=None,
        description="Folder of the workspaces, outside of what git sees. Unset: `$XDG_STATE_HOME/agent-fox`.",
    )
    largest_file_mib: Count = Field(default=50, description="Mebibytes that a file of a coder's work may have.")
    largest_change_mib: Count = Field(default=200, description="Mebibytes that all files a coder changed may have.")


class GitSettings(Table):
    """Where proven work is gathered."""

    integration_branch: Branch = Field(
        default="agent-fox/integration", description="The branch that work lands on; made from HEAD."
    )
    landing: Literal["merge", "squash"] = Field(
        default="merge",
        description="Work beside the tip lands as a merge commit, or as one commit on the tip.",
    )
    foreign_commits: Literal["refuse", "accept"] = Field(
        default="refuse",
        description="What others put on the integration branch during a run: taken off and kept aside, or kept there.",
    )
    push: Text | None = Field(
        default=None,
        description="The remote that the integration branch is pushed to at the end of each run. Unset: none.",
    )
    protected: list[Text] = Field(
        default=["main", "master", "trunk", "develop", "release/*"],
        description="Globs of branches never pushed to, beside the remote's default branch.",
    )


class TrackerSettings(Table):
    """Where issues go."""

    kind: Text = Field(
        default="local",
        description="`local`: Markdown files in `.agent-fox/issues`; `github`: issues there; or a plugin's name.",
    )
    repository: Text | None = Field(
        default=None, description="`OWNER/NAME` that issues are filed in. Unset: the one that `remote` names."
    )
    remote: Text = Field(default="origin", description="The git remote that tells repository and host.")
    base_url: Text | None = Field(
        default=None,
        description="Address of the REST interface, such as `https://HOST/api/v3` of GitHub Enterprise. Unset: by the "
        "remote's host.",
    )
    credentials: Literal["auto", "environment", "gh", "keyring", "app"] = Field(
        default="auto",
        description="Where the token comes from. `auto`: a GitHub App if `app_id` is set, else the environment "
        "(AGENT_FOX_GITHUB_TOKEN, GH_TOKEN, GITHUB_TOKEN), else `gh auth token`, else the keyring.",
    )
    app_id: int | None = Field(default=None, ge=1, description="Number of the GitHub App that files.")
    app_key: Text | None = Field(default=None, description="File with the App's private key (PEM).")
    installation: int | None = Field(
        default=None, ge=1, description="Number of the App's installation. Unset: the repository's own."
    )
    login: Text | None = Field(
        default=None, description="Who files, where the token cannot tell (such as `github-actions[bot]`)."
    )
    former_logins: list[Text] = Field(
        default=[],
        description="Who filed here before: their issues are still ours. What this state filed is remembered.",
    )
    labels: list[Text] = Field(default=["agent-fox"], description="Labels of filed issues; made where that is allowed.")
    max_new: Count = Field(default=20, description="Issues that one run files; one more lists what else stops.")
    sub_issues: bool = Field(default=False, description="One more issue for each requirement, below the issue.")
    template: Text | None = Field(
        default=None, description="File with the text of an issue, instead of the built-in one; see docs/github.md."
    )
    reopen_days: int = Field(
        default=30, ge=0, description="An issue closed for longer is not opened again: a new one is filed."
    )
    grace_minutes: float = Field(
        default=15.0, ge=0, description="How long a filing in doubt is looked for before it is sent again."
    )
    writes_per_minute: int = Field(default=30, ge=1, le=80, description="Writes to the tracker in any minute.")
    writes_per_hour: int = Field(default=400, ge=1, le=500, description="Writes to the tracker in any hour.")
    finish_seconds: float = Field(
        default=20.0, ge=0, description="How long the end of a run waits for what can be delivered at once."
    )


class GitHubSettings(Table):
    """What GitHub shows beside issues. Counts only where `[tracker] kind` is `github`; everything is off by default."""

    pull_request: Flag = Field(
        default=False,
        description="A draft pull request for the integration branch, kept current and never merged by agent-fox. The "
        "branch must be there: `[git] push`.",
    )
    base: Text | None = Field(
        default=None, description="The branch that the pull request goes to. Unset: the repository's default branch."
    )
    checks: Flag = Field(
        default=False,
        description="A check run for each spec on the pushed commit; a commit status where check runs are refused.",
    )
    comment_on: Count | None = Field(
        default=None,
        description="Number of a pull request or issue in which one comment says how the last run ended.",
    )
    commands: Literal["off", "write", "association"] = Field(
        default="off",
        description="Whose `/agent-fox` comments on our issues are carried out. `write`: of those who may push, which "
        "only a token that may push can ask; `association`: of owners, members and collaborators.",
    )
    assign: Flag = Field(
        default=False,
        description="Assign a filed issue to the owners (CODEOWNERS) of the files that the failing work touched.",
    )
    milestone: Text | None = Field(default=None, description="Milestone of filed issues, by its title.")
    issue_type: Text | None = Field(default=None, description="Type of filed issues, where the organization has it.")


class NotifySettings(Table):
    """The command that tells somebody what a run came to; see docs/notify.md."""

    command: list[str] = Field(
        default=[],
        description="Program and arguments; reads one JSON object from its input, whose `text` is a message.",
    )
    on: list[Literal["blocked", "ended"]] = Field(
        default=["blocked", "ended"],
        description="When it is run: as soon as work stops and needs a person; when the run ends or pauses.",
    )


class InfrastructureSettings(Table):
    """Waiting for rate limits, networks and full disks. Nothing here spends a node's attempts."""

    patience: Seconds = Field(
        default=14400.0, description="Seconds that one session is waited for until the run pauses (exit code 4)."
    )
    attempts: Count | None = Field(default=None, description="Launches of one session that it pauses after, too.")
    first_wait: Seconds = Field(
        default=2.0, description="Seconds before the second launch; then twice as long each time."
    )
    longest_wait: Seconds = Field(default=300.0, description="Seconds that no wait exceeds.")
    longest_asked: Seconds = Field(
        default=21600.0, description="Seconds that we wait at most where the model's side asks for it by `retry-after`."
    )


class RunSettings(Table):
    """How a run goes about its work."""

    parallel: Count = Field(default=2, description="Sessions at the same time.")


class PlaceSettings(Table):
    """Sessions that are held elsewhere: by workers of their own, in a container, over ssh. See docs/places.md."""

    archetypes: list[Archetype] = Field(default=[], description="Sessions of these only; none named: of all.")
    specs: list[Text] = Field(default=[], description="Sessions of these specs only, as names or patterns (`03_*`).")
    nodes: list[Text] = Field(default=[], description="Sessions of these nodes only, as ids or patterns (`*:2`).")
    labels: list[Text] = Field(
        default=[],
        description="Sessions of groups only whose title has one of these: `gpu` for `Train it #gpu`.",
    )
    image: str = Field(
        default="",
        description="Image of the container that agents' programs and tests run in; it is never fetched.",
    )
    program: Literal["podman", "docker"] = Field(default="podman", description="What runs containers.")
    network: Flag = Field(
        default=False,
        description="In a container, agents reach the whole network, not only the way to their model.",
    )
    ssh: str = Field(
        default="",
        description="Where sessions run over ssh (`user@host`, `user@host:PORT`), where agent-fox must be.",
    )
    command: list[Text] = Field(default=["agent-fox"], min_length=1, description="How agent-fox is called over ssh.")


class ClusterSettings(Table):
    """Sessions on other hosts. Keys of agents are never sent: each worker has its own. See docs/cluster.md."""

    engine: str = Field(
        default="",
        description="Address of who hands sessions to workers (`temporal://HOST:PORT`); empty: this machine.",
    )
    namespace: Text = Field(default="default", description="Namespace at the engine.")
    ca: str = Field(default="", description="File with the certificates that the engine's own must come from.")
    certificate: str = Field(default="", description="File with our certificate, where the engine asks for one.")
    key: str = Field(default="", description="File with the key of our certificate.")
    server_name: str = Field(default="", description="Name that the engine's certificate must bear, if not its host's.")
    api_key: str = Field(default="", description="Name of the variable that holds an API key for the engine.")
    insecure: Flag = Field(default=False, description="Talk to an engine on another host without encryption.")
    remote: str = Field(
        default="",
        description="Address of a git remote that all reach: the history goes there, and work comes back by it.",
    )
    heartbeat: Seconds = Field(default=2.0, description="Seconds between two signs of life of a session elsewhere.")
    timeout: Seconds = Field(
        default=30.0, description="Seconds without one after which a session is ended there, and run by another worker."
    )


class TrainingSettings(Table):
    """What is recorded of work so that it can be learned from, by a person's word. See docs/training.md."""

    keep: Literal["trace", "full"] = Field(
        default="trace",
        description="Of a coder's session: its trace, or all that it said, called and was shown, too, beside its log.",
    )


class LintSettings(Table):
    """What `agent-fox lint` asks for. The rules are in docs/lint.md."""

    off: list[Text] = Field(default=[], description="Ids of rules that are switched off.")
    group_subtasks: Count = Field(default=10, description="Subtasks that one group may have.")
    group_requirements: Count = Field(
        default=40, description="Criteria that a group may name which builds a part of a spec, and no tests alone."
    )
    requirement_parts: Count = Field(default=15, description="Criteria and edge cases of one requirement.")


class Settings(Table):
    """All settings of one repository."""

    plan: PlanSettings = Field(default={}, validate_default=True)
    agents: Agents = Field(default={}, validate_default=True)
    retry: RetrySettings = Field(default={}, validate_default=True)
    limits: LimitSettings = Field(default={}, validate_default=True)
    policy: PolicySettings = Field(default={}, validate_default=True)
    evidence: EvidenceSettings = Field(default={}, validate_default=True)
    memory: MemorySettings = Field(default={}, validate_default=True)
    training: TrainingSettings = Field(default={}, validate_default=True)
    verify: VerifySettings = Field(default={}, validate_default=True)
    gate: GateSettings = Field(default={}, validate_default=True)
    workspace: WorkspaceSettings = Field(default={}, validate_default=True)
    git: GitSettings = Field(default={}, validate_default=True)
    tracker: TrackerSettings = Field(default={}, validate_default=True)
    github: GitHubSettings = Field(default={}, validate_default=True)
    notify: NotifySettings = Field(default={}, validate_default=True)
    infrastructure: InfrastructureSettings = Field(default={}, validate_default=True)
    run: RunSettings = Field(default={}, validate_default=True)
    cluster: ClusterSettings = Field(default={}, validate_default=True)
    places: dict[Text, PlaceSettings] = {}
    lint: LintSettings = Field(default={}, validate_default=True)
    specs: SpecsSettings = Field(default={}, validate_default=True)
    nodes: dict[NodeKey, NodeSettings] = {}

    def agent_for(self, archetype: str, spec: str, rung: int = 0) -> AgentSettings:
        """`[agents.X]`, changed by `[specs.NAME.agents.X]`, then by the rung, with the model's variable.

        `rung` 0 is the agent itself; a rung past the last is the last.
        """
        agent = self._base(archetype, spec)
        if rung > 0 and agent.rungs:
            agent = _over(agent, agent.rungs[min(rung, len(agent.rungs)) - 1])
        model = {"AGENT_FOX_MODEL": agent.model} if isinstance(agent.model, str) else {}
        return agent.model_copy(update={"environment": model | agent.environment})

    def rungs_of(self, archetype: str, spec: str) -> int:
        """How many stronger agents stand above the first."""
        return len(self._base(archetype, spec).rungs)

    def has_second_agent(self, archetype: str, spec: str) -> bool:
        """Whether the rung above the first is another agent: by backend or model, not by limits."""
        return self.agent_for(archetype, spec, 0).who != self.agent_for(archetype, spec, 1).who

    @property
    def retries_coders(self) -> bool:
        """May a FAIL send coders back, where neither node nor spec says otherwise?"""
        by_agents = self.agents.retries_coders
        return self.retry.retry_predecessor if by_agents is None else by_agents

    @property
    def retry_overrides(self) -> dict[str, bool]:
        """Names of specs and ids of nodes with a say of their own, and what they say."""
        specs = {name: own.retries_coders for name, own in self.specs.named.items()}
        nodes = {name: own.retry_predecessor for name, own in self.nodes.items()}
        return {name: value for name, value in (specs | nodes).items() if value is not None}

    def _base(self, archetype: str, spec: str) -> AgentSettings:
        base = self.agents.of(archetype)
        own = self.specs.named.get(spec)
        return base if own is None else _over(base, own.agents.of(archetype))


class ReviewSettings(Table):
    """The independent review. It stands in the person's own `review.toml`: never in a file that an agent can change."""

    command: list[Text] = Field(
        default=[], description="The reviewer: a program and its arguments; reads a prompt, answers JSON. No shell."
    )
    timeout: Seconds = Field(default=120.0, description="Seconds until the reviewer is ended, with all it started.")
    inherit: list[Text] = Field(default=[], description="Names of variables that the reviewer is given, such as a key.")
    project_dirs: list[Text] = Field(default=[], description="Folders under review. They go before the client's roots.")
    project_dir: Text | None = Field(default=None, description="One folder, where the client has no roots.")
    diff_kib: Count = Field(default=1024, description="Kibibytes of diff that are sent; a larger one is not reviewed.")
    new_file_kib: Count = Field(
        default=256, description="Kibibytes of a new file that is shown; a larger one is named."
    )


class ReviewFile(Table):
    """The file `review.toml`."""

    review: ReviewSettings = Field(default={}, validate_default=True)


def own_folder(environ: Mapping[str, str]) -> Path:
    """Where a person's settings lie, outside of every workspace: `$XDG_CONFIG_HOME/agent-fox`, or in the home."""
    base = environ.get("XDG_CONFIG_HOME") or str(Path(environ.get("HOME", "~")).expanduser() / ".config")
    return Path(base) / "agent-fox"


def load_review(environ: Mapping[str, str]) -> ReviewSettings:
    """Read the person's `review.toml`; a missing file means defaults. Raises ConfigError."""
    file = own_folder(environ) / REVIEW_FILE
    table: Toml = {}
    try:
        table = read_table(file, shown=file)
        return ReviewFile.model_validate(table).review
    except TableError as error:
        raise ConfigError(str(error)) from error
    except ValidationError as error:
        raise ConfigError(explain(error, ReviewFile, table, {}, file)) from error


def load(root: Path, environ: Mapping[str, str]) -> Settings:
    """Read `.agent-fox/config.toml` below `root`, then `AGENT_FOX__SECTION__KEY` variables over it.

    A missing file means defaults. Raises ConfigError for what cannot be read or is not a setting.
    """
    variables: dict[Keys, str] = {}
    try:
        table = read_table(root / FILE, shown=FILE)
        variables = put_variables(table, PREFIX, environ)
        return _outside(Settings.model_validate(table), root)
    except TableError as error:
        raise ConfigError(str(error)) from error
    except ValidationError as error:
        raise ConfigError(explain(error, Settings, table, variables, FILE)) from error


def hidden_folder(settings: Settings, root: Path) -> Path | None:
    """The folder of hidden checks; a relative path starts at the repository's root."""
    named = settings.verify.hidden
    return (root / Path(named).expanduser()).resolve() if named else None


def _outside(settings: Settings, root: Path) -> Settings:
    """The same; raises ConfigError where hidden checks lie in the repository, which every agent gets."""
    folder = hidden_folder(settings, root)
    if folder is not None and (folder.is_relative_to(root.resolve()) or root.resolve().is_relative_to(folder)):
        raise ConfigError(
            f"{FILE}: [verify] hidden = {settings.verify.hidden!r}: this is in the repository, or around it, "
            "where agents see it; name a folder outside of it"
        )
    return settings


def parse(text: str) -> Settings:
    """Settings from a file's text alone, such as an older commit's: no variable counts. Raises ConfigError."""
    table: Toml = {}
    try:
        table = tomllib.loads(text)
        return Settings.model_validate(table)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{FILE}: this is not TOML: {error}") from error
    except ValidationError as error:
        raise ConfigError(explain(error, Settings, table, {}, FILE)) from error


def _narrower(narrow: bool | None, wide: bool | None) -> bool | None:
    return wide if narrow is None else narrow


def _over(base: AgentSettings, own: AgentChoice) -> AgentSettings:
    """`base` with every key that `own` sets itself; their environments are joined."""
    changed = {key: value for key, value in own if key in own.model_fields_set}
    return base.model_copy(update=changed | {"environment": base.environment | own.environment})
