"""What `doctor` finds missing, and what it says to do."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from agent_fox.cli.setup.health import Check, State, surroundings
from agent_fox.system.sandbox.bubblewrap import why_missing
from tests.cli.program import repository, start
from tests.cli.specs.test_plan import write_spec

CONFIG = f"""
[agents.coder]
command = ["{sys.executable}"]
[agents.reviewer]
command = ["sh"]
[agents.verifier]
backend = "checks"
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_spec(tmp_path / ".agent-fox" / "specs" / "01_sum")
    (tmp_path / ".agent-fox" / "config.toml").write_text(CONFIG)
    return repository(tmp_path)


def change(root: Path, old: str, new: str) -> None:
    file = root / ".agent-fox" / "config.toml"
    file.write_text(file.read_text().replace(old, new))


def lacking(root: Path, **variables: str) -> dict[str, dict[str, str]]:
    """The checks that are not ok, by name; but for the sandbox, which not every machine has."""
    done = start(root, "doctor", "--json", **variables)
    document = json.loads(done.stdout)
    missing = [check for check in document["checks"] if check["state"] == "missing"]
    assert (done.returncode, document["ok"]) == (1 if missing else 0, not missing)
    return {c["name"]: c for c in document["checks"] if c["state"] != "ok" and c["name"] != "sandbox"}


@pytest.mark.parametrize(
    ("settings", "what", "remedy"),
    [
        ("[github]\nchecks = true\n", "counts for nothing", 'set [tracker] kind = "github"'),
        (
            '[tracker]\nkind = "github"\n[github]\nchecks = true\n',
            "nothing pushes agent-fox/integration",
            "set [git] push",
        ),
    ],
)
def test_what_github_is_to_show_and_cannot_is_a_warning(root: Path, settings: str, what: str, remedy: str) -> None:
    file = root / ".agent-fox" / "config.toml"
    file.write_text(file.read_text() + settings)
    check = lacking(root)["github"]
    assert (check["state"], what in check["what"], remedy in check["remedy"]) == ("warning", True, True)


def test_where_all_is_well_every_line_is_ok(root: Path) -> None:
    done = start(root, "doctor")
    assert done.returncode == 0, done.stdout
    about_the_sandbox = ("sandbox", "bubblewrap", "-> see there")  # not every machine has one
    lines = [line for line in done.stdout.splitlines() if not any(word in line for word in about_the_sandbox)]
    assert [line.split()[0] for line in lines] == ["ok"] * len(lines)
    assert len(lines) > 5
    assert any(" 1 spec, " in line and " 0 errors, " in line for line in lines), lines


@pytest.fixture
def programs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH with all there is but bubblewrap."""
    folder = tmp_path_factory.mktemp("programs")
    for place in reversed(os.environ["PATH"].split(os.pathsep)):
        for program in Path(place).glob("*"):
            (folder / program.name).unlink(missing_ok=True)
            (folder / program.name).symlink_to(program)
    (folder / "bwrap").unlink(missing_ok=True)
    return str(folder)


def sandbox(root: Path, **variables: str) -> tuple[str, str]:
    """How the check of the sandbox went, and what it says."""
    document = json.loads(start(root, "doctor", "--json", **variables).stdout)
    (check,) = (check for check in document["checks"] if check["name"] == "sandbox")
    return check["state"], check["what"]


def test_a_machine_without_a_sandbox_is_warned_of_and_refused_where_one_is_required(root: Path, programs: str) -> None:
    state, what = sandbox(root, PATH=programs)
    assert state == "warning"
    assert "bubblewrap is not installed" in what
    assert sandbox(root, PATH=programs, AGENT_FOX__VERIFY__SANDBOX="require")[0] == "missing"
    assert sandbox(root, AGENT_FOX__VERIFY__SANDBOX="off")[1] == "switched off by [verify] sandbox"
    refused = start(root, "run", PATH=programs, AGENT_FOX__VERIFY__SANDBOX="require")
    assert refused.returncode == 1
    assert '[verify] sandbox = "require", but bubblewrap is not installed' in refused.stderr


def test_outside_a_repository_the_rest_is_still_checked(root: Path) -> None:
    shutil.rmtree(root / ".git")
    found = lacking(root)
    assert found["repository"]["remedy"] == "run `git init` and commit"
    assert list(found) == ["repository"]


def test_without_git_the_rest_is_still_checked(root: Path) -> None:
    assert list(lacking(root, PATH="/nowhere")) == ["git", "agents.reviewer"]


def test_a_repository_without_a_commit_is_missing_one(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert "commit" in lacking(tmp_path)


def test_a_folder_inside_another_repository_is_not_its_root(tmp_path: Path) -> None:
    (repository(tmp_path) / "inner" / ".agent-fox").mkdir(parents=True)
    assert lacking(tmp_path / "inner")["repository"]["state"] == "missing"


def test_a_dirty_checkout_is_a_warning(root: Path) -> None:
    (root / "README.md").write_text("changed\n")
    assert lacking(root)["checkout"]["what"] == "not committed: README.md"


def test_files_for_agents_in_a_chat_that_no_session_reads_are_named(root: Path) -> None:
    change(root, f'command = ["{sys.executable}"]', 'backend = "claude"')
    for name in ("AGENTS.md", "packages/a/CLAUDE.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("Use tabs.\n")
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "x"], cwd=root, check=True)
    found = lacking(root)["steering"]
    assert (found["state"], found["what"]) == ("warning", "AGENTS.md, packages/a/CLAUDE.md: not given to sessions")
    assert "agent-fox init --steering AGENTS.md" in found["remedy"]
    (root / ".agent-fox/steering.md").write_text("Use tabs.\n")
    assert "steering" not in lacking(root)


def test_an_integration_branch_that_is_checked_out_is_in_the_way(root: Path) -> None:
    subprocess.run(["git", "switch", "-qc", "agent-fox/integration"], cwd=root, check=True)
    found = lacking(root)["integration branch"]
    assert found["state"] == "missing"
    assert "git -C" in found["remedy"]


def test_no_settings_file_is_a_warning_and_an_agent_without_a_command_is_missing(root: Path) -> None:
    (root / ".agent-fox" / "config.toml").unlink()
    found = lacking(root)
    assert found["settings"]["state"] == "warning"
    assert {name for name, check in found.items() if check["state"] == "missing"} >= {
        "agents.coder",
        "agents.verifier",
    }


def test_a_wrong_setting_is_told_with_the_nearest(root: Path) -> None:
    change(root, "[agents.coder]", "[agents.codr]")
    assert "agents.coder" in lacking(root)["settings"]["what"]


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ('["sh"]', '["no-such-agent"]', "agents.reviewer"),
        (
            '["sh"]',
            '["sh"]\n[[agents.reviewer.rungs]]\ncommand = ["no-such-agent"]',
            "agents.reviewer.rungs[0]",
        ),
        (
            '["sh"]',
            '["sh"]\n[specs.01_sum.agents.coder]\ncommand = ["no-such-agent"]',
            "specs.01_sum.agents.coder",
        ),
        ('"checks"', '["checks", "no-such-agent"]', "agents.verifier"),
    ],
)
def test_an_agent_that_is_not_here_is_named(root: Path, old: str, new: str, name: str) -> None:
    change(root, old, new)
    found = {name: check["what"] for name, check in lacking(root).items() if check["state"] == "missing"}
    assert list(found) == [name]
    assert "no-such-agent" in found[name]


def test_an_archetype_that_the_plan_does_not_use_needs_no_agent(root: Path) -> None:
    change(root, '["sh"]', '["no-such-agent"]')
    variables = {"AGENT_FOX__PLAN__PRE_REVIEW": "false", "AGENT_FOX__PLAN__AUDIT_REVIEW": "false"}
    assert "agents.reviewer" not in lacking(root, **variables)


def test_specs_with_errors_are_missing_something(root: Path) -> None:
    write_spec(root / ".agent-fox" / "specs" / "02_bad", tasks="<<<<<<< ours\n")
    assert lacking(root)["specs"]["remedy"] == "see `agent-fox plan`"


@pytest.mark.parametrize("content", [b"no database at all" * 100, b""])
def test_a_state_file_is_opened(root: Path, content: bytes) -> None:
    (root / ".agent-fox" / "state.db").write_bytes(content)
    assert ("state" in lacking(root)) is bool(content)


def test_a_state_file_from_a_newer_version_is_told(root: Path) -> None:
    db = sqlite3.connect(root / ".agent-fox" / "state.db")
    db.execute("PRAGMA user_version = 9999")
    db.close()
    assert "newer" in lacking(root)["state"]["what"]


def test_checks_come_as_values(root: Path) -> None:
    first = next(iter(surroundings(root)))
    assert first == Check("python", State.OK, ".".join(map(str, sys.version_info[:3])))


AGENT = """
[plan]
pre_review = false
audit_review = false
[agents.coder]
backend = "claude"
[agents.verifier]
backend = {verifier}
{more}
"""


def with_agent(root: Path, version: str = "2.9.0", verifier: str = '["checks", "claude"]', more: str = "") -> str:
    """PATH with a program named claude that only tells a version."""
    folder = root.parent / "programs"
    folder.mkdir(exist_ok=True)
    program = folder / "claude"
    program.write_text(f"#!/bin/sh\necho '{version} (Claude Code)'\n")
    program.chmod(0o755)
    (root / ".agent-fox" / "config.toml").write_text(AGENT.format(verifier=verifier, more=more))
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def doctor(root: Path, **variables: str) -> dict[str, dict[str, str]]:
    found = json.loads(start(root, "doctor", "--json", **variables).stdout)
    return {check["name"]: check for check in found["checks"]}


def test_an_agents_program_must_be_there(root: Path) -> None:
    with_agent(root)
    check = doctor(root, ANTHROPIC_API_KEY="k", PATH="/usr/bin:/bin")["agents.coder"]
    assert check["state"] == "missing"
    assert "npm install --global @anthropic-ai/claude-code" in check["what"]


def test_an_agents_program_must_be_new_enough(root: Path) -> None:
    check = doctor(root, ANTHROPIC_API_KEY="k", PATH=with_agent(root, "1.0.128"))["agents.coder"]
    assert (check["state"], "1.0.128" in check["what"]) == ("missing", True)


def test_an_agent_must_have_a_key(root: Path) -> None:
    path = with_agent(root)
    assert "there is no key" in doctor(root, PATH=path, ANTHROPIC_API_KEY="")["agents.coder"]["what"]
    assert doctor(root, PATH=path, ANTHROPIC_API_KEY="k")["agents.coder"]["state"] == "ok"


def test_who_writes_and_judges_with_the_same_model_is_warned(root: Path) -> None:
    check = doctor(root, PATH=with_agent(root), ANTHROPIC_API_KEY="k")["independent verifier"]
    assert (check["state"], "both writes and judges" in check["what"]) == ("warning", True)
    other = with_agent(root, more='model = "another"')
    assert doctor(root, PATH=other, ANTHROPIC_API_KEY="k")["independent verifier"]["state"] == "ok"


def test_who_only_asks_a_model_is_warned(root: Path) -> None:
    path = with_agent(root, verifier='"claude"', more='model = "another"')
    found = json.loads(start(root, "doctor", "--json", PATH=path, ANTHROPIC_API_KEY="k").stdout)["checks"]
    assert [check["what"] for check in found if check["state"] == "warning" and "model judges" in check["what"]]


def test_hidden_checks_that_an_agent_could_read_are_warned_of(root: Path) -> None:
    folder = root.parent / f"{root.name}-hidden"
    named = f'\n[verify]\nhidden = "{folder}"\n'
    path = with_agent(root, more=named)
    assert doctor(root, PATH=path)["hidden checks"]["state"] == "missing"
    folder.mkdir()
    (folder / "test_sum.py").write_text("")
    is_enclosed = doctor(root, PATH=path)["hidden checks"]["state"] == "ok"
    assert is_enclosed is not bool(why_missing())
    with_agent(root, more=named + '[agents.reviewer]\ncommand = ["sh"]\n')
    check = doctor(root, PATH=path)["hidden checks"]
    assert (check["state"], "[agents.reviewer] command" in check["what"]) == ("warning", True)


def test_prompts_and_prices_of_ones_own_must_be_usable(root: Path) -> None:
    path = with_agent(root)
    (root / ".agent-fox/prompts").mkdir()
    (root / ".agent-fox/prompts/coder.md").write_text("do it")
    (root / ".agent-fox/prices.toml").write_text("nonsense = 1\n")
    check = doctor(root, PATH=path, ANTHROPIC_API_KEY="k")["prompts"]
    assert check["state"] == "missing"
    assert "coder.md" in check["what"]
    assert "prices.toml" in check["what"]


def test_who_has_only_a_shell_cannot_judge_without_a_sandbox(root: Path) -> None:
    path = with_agent(
        root, verifier='["checks", "mini"]', more='model = "openai/gpt-5.3-codex"\nsandbox = "off"\ntools = false'
    )
    program = root.parent / "programs" / "mini"
    program.write_text("#!/bin/sh\necho 2.4.6\n")
    program.chmod(0o755)
    check = doctor(root, PATH=path, ANTHROPIC_API_KEY="k", OPENAI_API_KEY="k")["agents.verifier"]
    assert (check["state"], "its only tool is a shell" in check["what"]) == ("missing", True)


@pytest.mark.parametrize(
    ("verifier", "coder", "words"),
    [
        ("[]", '"claude"', "name at least one"),
        ('["checks", "checks"]', '"claude"', "each once"),
        ('"checks"', '["claude", "codex"]', "a coder is one agent"),
        ('"checks"', '"checks"', "a coder is one agent"),
    ],
)
def test_backends_that_cannot_be_an_archetypes_are_refused(root: Path, verifier: str, coder: str, words: str) -> None:
    path = with_agent(root, verifier=verifier)
    change(root, 'backend = "claude"', f"backend = {coder}")
    found = json.loads(start(root, "doctor", "--json", PATH=path, ANTHROPIC_API_KEY="k").stdout)["checks"]
    assert [check["what"] for check in found if check["state"] == "missing" and words in check["what"]]


def test_an_address_of_the_model_that_is_none_is_refused(root: Path) -> None:
    check = doctor(root, PATH=with_agent(root), ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL="notaurl")["agents.coder"]
    assert (check["state"], "is no address" in check["what"]) == ("missing", True)


def test_an_agent_whose_requests_nobody_counts_is_told_and_one_that_speaks_no_protocol_refused(root: Path) -> None:
    path = with_agent(root, more='\ncommand = ["cat"]\ntools = false\n')
    change(root, 'backend = "claude"', 'backend = "acp"\ncommand = ["cat"]\ntools = false')
    checks = doctor(root, PATH=path, ANTHROPIC_API_KEY="k")
    assert checks["money"]["state"] == "warning"
    assert "[agents.coder] acp: its requests to the model are not metered" in checks["money"]["what"]
    assert "so no ceiling of money is promised" in checks["money"]["what"]
    assert "`/usr/bin/cat`: it is no ACP agent" in checks["agents.coder"]["what"]
    change(root, 'backend = "acp"', 'backend = "acp"\nprovider = "anthropic"')
    assert "money" not in doctor(root, PATH=path, ANTHROPIC_API_KEY="k")


def test_what_is_filled_in_needs_somebodys_models(root: Path) -> None:
    path = with_agent(root)
    change(root, 'backend = "claude"', 'backend = "command"\nlike = "agent"\ncommand = ["sh", "{model_key}"]')
    check = doctor(root, PATH=path)["agents.coder"]
    assert (check["state"], 'set `provider`: "anthropic", "openai", "gemini"' in check["what"]) == ("missing", True)


def test_two_agents_of_the_protocol_are_two_minds_and_one_is_one(root: Path) -> None:
    path = with_agent(root, verifier='["checks", "acp"]', more='command = ["true"]\ntools = false\n')
    change(root, 'backend = "claude"', 'backend = "acp"\ncommand = ["cat"]\ntools = false')
    assert doctor(root, PATH=path)["independent verifier"]["state"] == "ok"
    change(root, '["cat"]', '["true"]')
    check = doctor(root, PATH=path)["independent verifier"]
    assert (check["state"], "acp true with its usual model both" in check["what"]) == ("warning", True)


def test_what_opens_a_model_is_told_and_whether_the_agent_can_read_it(root: Path) -> None:
    path = with_agent(root)
    assert doctor(root, PATH=path, ANTHROPIC_API_KEY="k")["keys"]["what"] == "claude: ANTHROPIC_API_KEY, kept from it"
    check = doctor(root, PATH=path, CLAUDE_CODE_USE_FOUNDRY="1", ANTHROPIC_FOUNDRY_API_KEY="s")["keys"]
    assert (check["state"], "can read ANTHROPIC_FOUNDRY_API_KEY" in check["what"]) == ("warning", True)
    nowhere = doctor(root, PATH=path, CLAUDE_CODE_USE_BEDROCK="1")["agents.coder"]
    assert (nowhere["state"], "set AWS_REGION" in nowhere["what"]) == ("missing", True)
    home = root.parent / "home"
    (home / ".claude").mkdir(parents=True)
    (home / ".claude" / ".credentials.json").write_text('{"claudeAiOauth": {"accessToken": "a-token-of-mine"}}')
    shown = doctor(root, PATH=path, HOME=str(home))
    assert shown["agents.coder"]["state"] == "ok"
    assert "the Claude login in " in shown["keys"]["what"]
    assert "a-token-of-mine" not in str(shown)
