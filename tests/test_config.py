"""Settings: defaults, file, environment, and what a person is told about a mistake."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from agent_fox.config import AgentSettings, ConfigError, Settings, hidden_folder, load, parse
from agent_fox.core.spec import Group, Spec
from agent_fox.engine.planning.plan_reading import shape_of
from agent_fox.specs.planner import plan_of


def settings(root: Path, text: str = "", **variables: str) -> Settings:
    file = root / ".agent-fox" / "config.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return load(root, variables)


def complaint(root: Path, text: str = "", **variables: str) -> str:
    with pytest.raises(ConfigError) as caught:
        settings(root, text, **variables)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("folder", ["hidden", "./a/../hidden", "..", "{root}/deep/er", "/"])
def test_hidden_checks_lie_outside_of_the_repository(tmp_path: Path, folder: str) -> None:
    said = complaint(tmp_path, f'[verify]\nhidden = "{folder.format(root=tmp_path)}"\n')
    assert "[verify] hidden" in said
    assert "name a folder outside of it" in said


def test_a_folder_of_hidden_checks_may_be_named_from_the_root(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    assert hidden_folder(settings(root, '[verify]\nhidden = "../hidden"\n'), root) == tmp_path / "hidden"
    assert hidden_folder(settings(root), root) is None


def test_a_time_with_a_unit_is_told_that_times_are_seconds(tmp_path: Path) -> None:
    said = complaint(tmp_path, '[infrastructure]\npatience = "4h"\n')
    assert 'infrastructure.patience = "4h": allowed is a number of seconds, without a unit' in said
    assert "a number of seconds" in complaint(tmp_path, AGENT_FOX__AGENTS__CODER__TIMEOUT="30m")


def test_without_a_file_every_default_holds(tmp_path: Path) -> None:
    assert load(tmp_path, {}) == Settings()


def test_the_defaults_are_those_of_the_design() -> None:
    fresh = Settings()
    assert (fresh.plan.pre_review, fresh.plan.audit_review, fresh.plan.verifier) == (True, True, True)
    assert (fresh.retry.attempts, fresh.retry.readings) == (3, 2)
    assert (fresh.retry.retry_predecessor, fresh.retry.stop_without_progress) == (True, True)
    assert (fresh.limits.cost_usd, fresh.limits.sessions, fresh.limits.wall_minutes) == (None, None, None)
    assert (fresh.policy.gate, fresh.policy.on_escalation, fresh.policy.final_check) == (
        "spec",
        "block",
        True,
    )
    assert (fresh.policy.required_state, fresh.verify.untested) == ("tested", "fail")
    assert (fresh.evidence.environment, fresh.evidence.rerun_fraction) == ("reopen", 0.0)
    assert fresh.git.integration_branch == "agent-fox/integration"


@pytest.mark.parametrize(
    ("archetype", "timeout", "cost"), [("coder", 3600, 1), ("reviewer", 1800, 0.5), ("verifier", 1800, 0.5)]
)
def test_coders_may_take_longer_and_cost_more_than_readers(archetype: str, timeout: float, cost: float) -> None:
    agent = Settings().agent_for(archetype, "01_any")
    assert (agent.timeout, agent.assumed_cost_usd) == (timeout, cost)


def test_the_file_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    read = settings(tmp_path, "[retry]\nattempts = 5\n")
    assert read.retry.attempts == 5
    assert read.model_copy(update={"retry": Settings().retry}) == Settings()


def test_a_file_of_another_editor_with_a_mark_in_front_is_read(tmp_path: Path) -> None:
    assert settings(tmp_path, "\ufeff[retry]\r\nattempts = 5\r\n").retry.attempts == 5


class TestEnvironment:
    def test_a_variable_counts_over_the_file(self, tmp_path: Path) -> None:
        assert settings(tmp_path, "[retry]\nattempts = 5\n", AGENT_FOX__RETRY__ATTEMPTS="7").retry.attempts == 7

    def test_a_variable_may_name_a_setting_further_down(self, tmp_path: Path) -> None:
        read = settings(tmp_path, AGENT_FOX__AGENTS__CODER__TIMEOUT="12.5", AGENT_FOX__LIMITS__SPEC__SESSIONS="4")
        assert (read.agents.coder.timeout, read.limits.spec.sessions) == (12.5, 4)

    def test_a_variable_holds_any_toml_value(self, tmp_path: Path) -> None:
        read = settings(
            tmp_path,
            AGENT_FOX__PLAN__VERIFIER="false",
            AGENT_FOX__AGENTS__CODER__COMMAND='["pi", "-p"]',
            AGENT_FOX__AGENTS__CODER__RUNGS='[{model = "large"}]',
        )
        assert (read.plan.verifier, read.agents.coder.command) == (False, ["pi", "-p"])
        assert read.agent_for("coder", "01_any", 1).model == "large"

    def test_what_is_no_toml_value_is_text(self, tmp_path: Path) -> None:
        assert settings(tmp_path, AGENT_FOX__GIT__INTEGRATION_BRANCH="work/now").git.integration_branch == "work/now"

    def test_a_date_or_a_second_line_is_text_too(self, tmp_path: Path) -> None:
        for text in ("2026-01-01", "1\n[retry]\nattempts = 9"):
            read = settings(tmp_path, AGENT_FOX__AGENTS__CODER__MODEL=text)
            assert (read.agents.coder.model, read.retry.attempts) == (text, 3)

    def test_a_session_variable_keeps_its_name_and_its_text(self, tmp_path: Path) -> None:
        read = settings(tmp_path, AGENT_FOX__AGENTS__CODER__ENVIRONMENT__Http_PORT="8080")
        assert read.agents.coder.environment == {"Http_PORT": "8080"}

    def test_a_spec_is_found_however_the_file_spells_it(self, tmp_path: Path) -> None:
        text = "[specs.01_Core]\nretry_predecessor = true\n"
        read = settings(tmp_path, text, AGENT_FOX__SPECS__01_CORE__RETRY_PREDECESSOR="false")
        assert read.retry_overrides == {"01_Core": False}

    def test_a_wrong_variable_is_named(self, tmp_path: Path) -> None:
        said = complaint(tmp_path, AGENT_FOX__RETRY__ATTEMPTS="many")
        variable = "environment variable AGENT_FOX__RETRY__ATTEMPTS"
        assert said == f'{variable}: retry.attempts = "many": allowed is a whole number'

    def test_an_unknown_variable_is_named_with_the_nearest_setting(self, tmp_path: Path) -> None:
        said = complaint(tmp_path, AGENT_FOX__RETRY__ATEMPTS="2")
        assert said.startswith("environment variable AGENT_FOX__RETRY__ATEMPTS: ")
        assert "did you mean retry.attempts" in said

    def test_a_variable_cannot_go_below_a_value(self, tmp_path: Path) -> None:
        said = complaint(tmp_path, "[retry]\nattempts = 2\n", AGENT_FOX__RETRY__ATTEMPTS__MORE="2")
        assert said == "environment variable AGENT_FOX__RETRY__ATTEMPTS__MORE: retry.attempts is a value, not a table"

    def test_variables_of_a_session_are_no_settings(self, tmp_path: Path) -> None:
        assert settings(tmp_path, AGENT_FOX_RUN="r1", AGENT_FOX_NODE="01_a:1") == Settings()


class TestMistakes:
    @pytest.mark.parametrize(
        ("text", "key", "nearest"),
        [
            ("[retry]\natempts = 2", "retry.atempts = 2", "retry.attempts"),
            ("[retyr]\nattempts = 2", "retyr = ", "retry"),
            ("[agents.codr]", "agents.codr = {}", "agents.coder"),
            (
                "[[agents.coder.rungs]]\nmodle = 'x'",
                "agents.coder.rungs[0].modle",
                "agents.coder.rungs[0].model",
            ),
            ("[specs.01_a.agents.verifier]\ntimout = 1", "specs.01_a.agents.verifier.timout", "timeout"),
            ("[workspace]\ncopies = []", "workspace.copies = []", "workspace.copy"),
            ("[nodes.'01_a:1']\nretry = true", "nodes.01_a:1.retry", "retry_predecessor"),
        ],
    )
    def test_an_unknown_key_is_named_with_the_nearest(self, tmp_path: Path, text: str, key: str, nearest: str) -> None:
        said = complaint(tmp_path, text)
        assert said.startswith(f".agent-fox/config.toml: {key}")
        assert "unknown setting; did you mean " in said
        assert nearest in said

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("[retry]\nattempts = 0", "retry.attempts = 0: allowed is greater than or equal to 1"),
            ("[retry]\nattempts = true", "retry.attempts = true: allowed is a whole number"),
            ("[retry]\nattempts = 2.5", "retry.attempts = 2.5: allowed is a whole number"),
            ("[plan]\nverifier = 'no'", 'plan.verifier = "no": allowed is true or false'),
            ("[limits]\ncost_usd = nan", "limits.cost_usd = NaN: allowed is a finite number"),
            ("[limits]\ncost_usd = -1", "limits.cost_usd = -1: allowed is greater than or equal to 0"),
            ("[agents.coder]\ntimeout = 0", "agents.coder.timeout = 0: allowed is greater than 0"),
            ("[agents.coder]\ncommand = 'pi -p'", 'agents.coder.command = "pi -p": allowed is a list'),
            ("[agents.coder]\nbackend = true", "agents.coder.backend = true: allowed is a text or a list"),
            ("[policy]\ngate = 'specs'", "policy.gate = \"specs\": allowed is 'spec' or 'group'"),
            (
                "[git]\nintegration_branch = ''",
                'git.integration_branch = "": allowed is a text that is not empty',
            ),
            ("retry = 3", "retry = 3: allowed is a table"),
        ],
    )
    def test_a_wrong_value_is_shown_with_what_is_allowed(self, tmp_path: Path, text: str, said: str) -> None:
        assert complaint(tmp_path, text) == f".agent-fox/config.toml: {said}"

    def test_a_name_that_is_no_node_is_refused(self, tmp_path: Path) -> None:
        assert "'first' is not a node id" in complaint(tmp_path, "[nodes.first]")

    def test_all_mistakes_are_told_at_once(self, tmp_path: Path) -> None:
        said = complaint(tmp_path, "[retry]\nattempts = 0\nreadings = 0\n")
        assert "retry.attempts" in said
        assert "retry.readings" in said

    def test_values_of_variables_are_never_repeated(self, tmp_path: Path) -> None:
        said = complaint(tmp_path, "[agents.coder.environment]\nTOKEN = ['s3cret']\n")
        assert "agents.coder.environment.TOKEN" in said
        assert "s3cret" not in said

    def test_a_long_value_is_cut(self, tmp_path: Path) -> None:
        assert len(complaint(tmp_path, f"[policy]\ngate = '{'x' * 5000}'")) < 200

    def test_what_is_no_toml_is_named_with_its_line(self, tmp_path: Path) -> None:
        said = complaint(tmp_path, "[retry]\nattempts = \n")
        assert said.startswith(".agent-fox/config.toml: this is not TOML: ")
        assert "line 2" in said

    def test_a_file_that_is_no_text_is_named(self, tmp_path: Path) -> None:
        (tmp_path / ".agent-fox").mkdir()
        (tmp_path / ".agent-fox" / "config.toml").write_bytes(b"\xff\xfe\x00")
        with pytest.raises(ConfigError, match=r"^\.agent-fox/config\.toml: this is not TOML"):
            load(tmp_path, {})

    def test_a_folder_in_its_place_is_named(self, tmp_path: Path) -> None:
        (tmp_path / ".agent-fox" / "config.toml").mkdir(parents=True)
        with pytest.raises(ConfigError, match=r"^\.agent-fox/config\.toml: cannot be read"):
            load(tmp_path, {})


AGENTS = """
[agents.coder]
command = ["small"]
timeout = 10
environment = { A = "base", B = "base" }
[[agents.coder.rungs]]
command = ["large"]
label = "large"
environment = { B = "rung" }
[[agents.coder.rungs]]
model = "giant"
[specs.02_hard.agents.coder]
timeout = 99
environment = { A = "spec" }
[specs.03_easy.agents.coder]
rungs = []
"""


class TestAgents:
    def test_rung_0_is_the_agent_itself(self, tmp_path: Path) -> None:
        agent = settings(tmp_path, AGENTS).agent_for("coder", "01_any", 0)
        assert (agent.command, agent.timeout, agent.label) == (["small"], 10, "")

    def test_a_rung_changes_what_it_names_and_keeps_the_rest(self, tmp_path: Path) -> None:
        agent = settings(tmp_path, AGENTS).agent_for("coder", "01_any", 1)
        assert (agent.command, agent.timeout, agent.label) == (["large"], 10, "large")
        assert agent.environment == {"A": "base", "B": "rung"}

    def test_rungs_do_not_build_on_each_other(self, tmp_path: Path) -> None:
        agent = settings(tmp_path, AGENTS).agent_for("coder", "01_any", 2)
        assert (agent.command, agent.model) == (["small"], "giant")
        assert agent.environment == {"A": "base", "B": "base", "AGENT_FOX_MODEL": "giant"}

    def test_past_the_last_rung_is_the_last(self, tmp_path: Path) -> None:
        read = settings(tmp_path, AGENTS)
        assert read.agent_for("coder", "01_any", 9) == read.agent_for("coder", "01_any", 2)

    def test_a_spec_changes_the_agent_before_a_rung_does(self, tmp_path: Path) -> None:
        agent = settings(tmp_path, AGENTS).agent_for("coder", "02_hard", 1)
        assert (agent.command, agent.timeout) == (["large"], 99)
        assert agent.environment == {"A": "spec", "B": "rung"}

    def test_a_spec_may_have_rungs_of_its_own_or_none(self, tmp_path: Path) -> None:
        read = settings(tmp_path, AGENTS)
        assert [read.rungs_of("coder", spec) for spec in ("01_any", "02_hard", "03_easy")] == [2, 2, 0]

    @pytest.mark.parametrize(
        ("agent", "rung", "is_another"),
        [
            ('backend = "claude"', 'backend = "codex"', True),
            ('backend = "claude"', 'model = "opus"', True),
            ('backend = "claude"\nmodel = "opus"', 'model = { claude = "haiku" }', True),
            ('backend = "claude"\nmodel = "opus"', 'model = { claude = "opus" }', False),
            ('backend = "claude"', 'timeout = 9\nlabel = "slow"\neffort = "high"\nmax_turns = 3', False),
            ('command = ["small"]', 'command = ["large"]', True),
            ('backend = "claude"\ncommand = ["small"]', 'command = ["large"]', False),
            ('command = ["small"]', "environment = { A = 'b' }", False),
        ],
    )
    def test_a_second_agent_is_one_of_another_backend_or_model(
        self, tmp_path: Path, agent: str, rung: str, is_another: bool
    ) -> None:
        read = settings(tmp_path, f"[agents.coder]\n{agent}\n[[agents.coder.rungs]]\n{rung}\n")
        assert read.has_second_agent("coder", "") == is_another

    def test_where_there_are_no_rungs_there_is_no_second_agent(self, tmp_path: Path) -> None:
        read = settings(tmp_path, AGENTS)
        assert [read.has_second_agent("coder", spec) for spec in ("01_any", "03_easy")] == [True, False]

    def test_an_own_value_for_the_models_variable_is_kept(self, tmp_path: Path) -> None:
        text = "[agents.coder]\nmodel = 'a'\nenvironment = { AGENT_FOX_MODEL = 'b' }\n"
        assert settings(tmp_path, text).agent_for("coder", "01_any").environment == {"AGENT_FOX_MODEL": "b"}

    def test_one_backend_and_a_list_of_them_read_alike(self) -> None:
        assert AgentSettings(backend="checks").backends == ["checks"]
        assert AgentSettings(backend=["checks", "command"]).backends == ["checks", "command"]

    def test_there_are_three_archetypes(self) -> None:
        with pytest.raises(ValueError, match="tester"):
            Settings().agent_for("tester", "01_any")


class TestRetryPredecessor:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", True),
            ("[retry]\nretry_predecessor = false", False),
            ("[agents.coder]\nretry_predecessor = false", False),
            ("[agents.verifier]\nretry_predecessor = false", False),
            ("[agents]\ncoder.retry_predecessor = true\nverifier.retry_predecessor = false", False),
            ("[retry]\nretry_predecessor = false\n[agents.coder]\nretry_predecessor = true", True),
            ("[agents.coder]\nretry_predecessor = false\n[specs.01_a]\nretry_predecessor = true", True),
            (
                "[specs.01_a]\nretry_predecessor = true\nagents.coder.retry_predecessor = false",
                False,
            ),
            ("[specs.01_a]\nretry_predecessor = true\n[nodes.'01_a:2']\nretry_predecessor = false", False),
            ("[specs.02_b]\nretry_predecessor = false\n[nodes.'01_a:1']\nretry_predecessor = false", True),
        ],
    )
    def test_the_narrowest_word_counts(self, tmp_path: Path, text: str, expected: bool) -> None:
        spec = Spec("01_a", "agent-fox", "specs/01_a", groups=(Group(1, "First"), Group(2, "Second")))
        nodes = plan_of([spec], shape=shape_of(settings(tmp_path, text))).nodes
        assert [node.retry_predecessor for node in nodes if node.id == "01_a:2"] == [expected]

    def test_a_reviewers_word_says_nothing_about_coders(self, tmp_path: Path) -> None:
        read = settings(tmp_path, "[agents.reviewer]\nretry_predecessor = false\n")
        assert read.retries_coders
        assert read.agent_for("reviewer", "01_a").retry_predecessor is False


BRANCHES = (
    *("main", "a/b", "agent-fox/integration", "a/HEAD", "x@", "@/a", "a@b", "a.b", "a-", "refs", "ü", "a.locks"),
    *("HEAD", "@", "-a", "-", "/a", "a/", "a//b", ".a", "a/.b", "a.lock", "a.lock/b", "a..b", "a.", "a@{b", "@{-1}"),
    *("a b", "a~", "a^", "a:b", "a?", "a*", "a[b", "a\\b", "a\tb", "a\x7fb"),
)


class TestBranch:
    @pytest.mark.parametrize("name", BRANCHES)
    def test_it_is_refused_where_git_refuses_it(self, tmp_path: Path, name: str) -> None:
        asked = subprocess.run(["git", "check-ref-format", "--branch", name], cwd=tmp_path, capture_output=True)
        text = f"[git]\nintegration_branch = {json.dumps(name)}\n"
        if asked.returncode == 0 and name != "@":
            assert settings(tmp_path, text).git.integration_branch == name
        else:
            assert "cannot be a branch" in complaint(tmp_path, text)

    def test_a_full_reference_is_no_branch(self, tmp_path: Path) -> None:
        said = complaint(tmp_path, "[git]\nintegration_branch = 'refs/heads/a'\n")
        assert said.endswith("write a plain name such as agent-fox/integration, without refs/")


class TestWorkspace:
    @pytest.mark.parametrize("key", ["copy", "link"])
    @pytest.mark.parametrize("path", ["/etc/passwd", "../outside", "a/../../b", ".git/config", "."])
    def test_a_path_that_leads_outside_is_refused(self, tmp_path: Path, key: str, path: str) -> None:
        said = complaint(tmp_path, f"[workspace]\n{key} = ['{path}']\n")
        assert f"workspace.{key}" in said
        assert "allowed is a path inside the repository" in said


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('allowed = ["/etc"]', "counted from its root"),
        ('forbidden = ["a/../b"]', "`..`"),
        ('commands = ["make \'"]', "split into words"),
        ('commands = [" "]', "a program in it"),
        ('off_scope = "ignore"', "block"),
    ],
)
def test_a_contract_of_the_gate_that_cannot_be_held_is_refused(line: str, why: str) -> None:
    with pytest.raises(ConfigError, match="gate") as refused:
        parse(f"[gate]\n{line}\n")
    assert why in str(refused.value)


def test_settings_from_a_text_alone_know_no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_FOX__GATE__FORBIDDEN", "[]")
    assert parse('[gate]\nforbidden = [".env"]\n').gate.forbidden == [".env"]
    with pytest.raises(ConfigError, match="this is not TOML"):
        parse("[gate")
