"""mini-swe-agent: one tool, a shell. Started with an agent class of ours, which reports events as lines of JSON.

It has no servers of tools, no hooks, no sessions to resume, and no means to hold a session to reading: a shell writes.
So it serves coders; who judges is held by the sandbox, in which the workspace cannot be written.
"""

from __future__ import annotations

import json
from pathlib import Path

from agent_fox.session.agents.command_line import CommandLine, Facts, Reader, Start, direct
from agent_fox.session.agents.mini.reader import MiniReader
from agent_fox.session.agents.mini.reporting_agent import KEPT, KEY, MODULE, TELLING
from agent_fox.session.agents.private_files import write_new
from agent_fox.session.agents.task import AgentTask, Door, Provider, Role
from agent_fox.system.files import remove_tree

TOOL = "bash"
ATTEMPTS = 3
"""How often a request to the model is sent, with pauses of 4 seconds."""

LEAST_COMMAND = 60
"""Seconds that a command gets at least."""

FACTS = Facts(
    name="mini",
    program="mini",
    least=(2, 4, 0),
    install="pip install mini-swe-agent mcp",
    providers=(Provider.ANTHROPIC, Provider.OPENAI),
    keys={Provider.ANTHROPIC: ("ANTHROPIC_API_KEY",), Provider.OPENAI: ("OPENAI_API_KEY",)},
    tells_cost=True,
    can_resume=False,
    has_tools=False,
    roles=frozenset({Role.CODER}),
)

ENDING = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"

TASK_TEMPLATE = f"""{{{{task}}}}

## How you work here

Every answer of yours calls the tool {TOOL} at least once; what you write beside it is not read by anybody.
Each command runs in a new shell in the workspace: a folder you change to and variables you set are gone after it.
To end, call {TOOL} with a command whose first line of output is that of `{ENDING}`, such as
`{ENDING} && cat answer.txt`. All that it prints after this line is your final answer. Nothing can be done after it.
"""

OBSERVATION = """{%- if output.output | length > 20000 -%}
{"returncode": {{ output.returncode }}, "output_head": {{ output.output[:10000] | tojson }}, \
"output_tail": {{ output.output[-10000:] | tojson }}, "left_out": {{ output.output | length - 20000 }}}
{%- else -%}
{"returncode": {{ output.returncode }}, "output": {{ output.output | tojson }}}
{%- endif -%}
{%- if output.exception_info %} {{ output.exception_info }}{% endif -%}"""

FORMAT_ERROR = f'Tool call error: {{{{error}}}} Call the tool {TOOL} with {{{{ \'{{"command": "..."}}\' }}}}.'

PINNED = {
    "MSWEA_CONFIGURED": "true",
    "MSWEA_SILENT_STARTUP": "1",
    "MSWEA_COST_TRACKING": "ignore_errors",
    "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": str(ATTEMPTS),
    "MSWEA_GLOBAL_COST_LIMIT": "0",
    "MSWEA_GLOBAL_CALL_LIMIT": "0",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MODE": "PRODUCTION",
    "PYTHONSAFEPATH": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""Set for every session: nothing is asked of a person, fetched from elsewhere, or imported from the workspace."""

PYTHON = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONSAFEPATH", "PYTHONDONTWRITEBYTECODE", "HOME")
"""Variables whose own values only the commands of the session get."""


class Mini(CommandLine):
    """mini-swe-agent 2.4 and later."""

    facts = FACTS
    served = ()

    def provider(self, model: str) -> Provider:
        """By the name of the model, as litellm writes it. Raises ValueError for one that no key here is for."""
        named, slash, _ = model.partition("/")
        if model.startswith("claude") or (slash and named == "anthropic"):
            return Provider.ANTHROPIC
        if model and (not slash or named == "openai"):
            return Provider.OPENAI
        problem = f"{model!r} is of another provider" if model else "it has no usual model"
        raise ValueError(f'{problem}; set `model = "anthropic/..."` or `model = "openai/..."`')

    def prepare(self, task: AgentTask, door: Door) -> None:
        """Everything in this folder can be imported, and its `.env` is read: nothing of an earlier session stays."""
        folder = _folder(task)
        remove_tree(folder)
        write_new(folder / f"{MODULE}.py", TELLING)
        write_new(folder / "session.yaml", json.dumps(_configuration(task, door)))

    def start(self, task: AgentTask, door: Door) -> Start:
        argv = (task.program, "--config", str(_folder(task) / "session.yaml"), *task.arguments)
        return Start(argv, _environment(task, door))

    def again(self, task: AgentTask, door: Door, session: str) -> Start:
        """Never asked for: it cannot take up a session that has ended."""
        return self.start(task, door)

    def reader(self, task: AgentTask) -> Reader:
        return MiniReader()

    def own_tools(self, role: Role) -> tuple[str, ...]:
        return (TOOL,)


def _folder(task: AgentTask) -> Path:
    return task.home / ".mini"


def _environment(task: AgentTask, door: Door) -> dict[str, str]:
    kept = {name: task.environment[name] for name in PYTHON if name in task.environment} | {"HOME": str(task.home)}
    return {
        **dict.fromkeys(("PYTHONHOME", "PYTHONSTARTUP", "MSWEA_MODEL_NAME", "LITELLM_MODEL_REGISTRY_PATH"), ""),
        **PINNED,
        "HOME": str(task.home),
        "PYTHONPATH": str(_folder(task)),
        "MSWEA_GLOBAL_CONFIG_DIR": str(_folder(task)),
        "MSWEA_CONFIG_DIR": str(_folder(task)),
        **direct(task.environment),
        KEY: door.model_key,
        KEPT: json.dumps(kept),
    }


def _configuration(task: AgentTask, door: Door) -> dict[str, object]:
    """JSON, which is YAML as well. A cost ceiling is kept by whoever runs it: 0 means no ceiling."""
    return {
        "run": {"task": task.prompt},
        "agent": {
            "agent_class": f"{MODULE}.Telling",
            "system_template": "{{rules}}",
            "instance_template": TASK_TEMPLATE,
            "rules": task.system,
            "step_limit": task.limits.turns or 0,
            "cost_limit": 0,
        },
        "environment": {"environment_class": "local", "timeout": int(max(task.limits.answer, LEAST_COMMAND))},
        "model": {
            "model_class": "litellm",
            "model_name": (
                task.model if task.model.startswith(f"{task.provider}/") else f"{task.provider}/{task.model}"
            ),
            "cost_tracking": "ignore_errors",
            "observation_template": OBSERVATION,
            "format_error_template": FORMAT_ERROR,
            "model_kwargs": _requests(task, door),
        },
    }


def _requests(task: AgentTask, door: Door) -> dict[str, object]:
    base = door.model_url if task.provider is Provider.ANTHROPIC else f"{door.model_url.removesuffix('/v1')}/v1"
    effort = {"reasoning_effort": task.effort} if task.effort else {}
    limits = {"timeout": task.limits.idle, "num_retries": 0, "max_retries": 0}
    return {"drop_params": True, "api_base": base, **limits, **effort}


MINI = Mini()
