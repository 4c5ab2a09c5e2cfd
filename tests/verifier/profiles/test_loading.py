"""Which profiles come with the package, and what is refused when one is read."""

from __future__ import annotations

from importlib.resources import files

import pytest

from agent_fox.verifier.ground.results import Tool
from agent_fox.verifier.profiles.loading import (
    ProfileError,
    UnknownProfile,
    built_in,
    collect,
    load_profile,
)
from agent_fox.verifier.profiles.model import WITHOUT_COMMAND

IDS = {
    "java-maven", "java-gradle", "javascript-npm", "javascript-pnpm", "javascript-yarn",
    "python", "go", "rust-cargo", "c-cmake", "c-meson", "c-make",
}  # fmt: skip
SMALL = """
id = "small"
language = "c"
build_system = "make"
summary = "A small one."
limitations = ["Everything else."]
[programs]
make = ["make"]
[policy]
allow_source_mutation = true
"""
COMPILE = '[[commands.run_compile]]\nargv = ["{make}"]\nparser = "make"\n'


def test_every_build_system_has_a_built_in_profile() -> None:
    assert set(built_in()) == IDS


def test_profiles_are_data_inside_the_package() -> None:
    folder = files("agent_fox.verifier.profiles") / "data"
    assert {entry.name.removesuffix(".toml") for entry in folder.iterdir()} == IDS


@pytest.mark.parametrize("id", sorted(IDS))
def test_every_profile_states_its_limits_and_answers_for_every_tool(id: str) -> None:
    profile = load_profile(id)
    assert profile.limitations
    assert {*profile.commands, *profile.unavailable, *WITHOUT_COMMAND} == set(Tool)


def test_no_built_in_command_needs_a_network() -> None:
    needy = [
        command
        for one in built_in().values()
        for found in one.commands.values()
        for command in found
        if command.network
    ]
    assert needy == []


def test_an_unknown_profile_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownProfile, match="did you mean java-maven"):
        load_profile("java-mavn")


def test_a_sound_profile_is_read() -> None:
    assert collect({"small.toml": SMALL + COMPILE})["small"].commands[Tool.COMPILE][0].argv == ["{make}"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(COMPILE + "secnds = 3\n", r"secnds.*seconds", id="an unknown key names the nearest"),
        pytest.param('[[commands.run_compil]]\nargv = ["{make}"]\n', "run_compil", id="an unknown tool"),
        pytest.param(COMPILE.replace('"make"\n', '"mkae"\n'), "did you mean make?", id="an unknown parser"),
        pytest.param(COMPILE + "changes_source = true\n", "changes source", id="a tool that reads writes"),
        pytest.param(
            COMPILE.replace("run_compile", "run_format_apply"), "changes_source", id="a formatter that does not"
        ),
        pytest.param(COMPILE + "idle = 'x'\n", "this tool runs none", id="tests of a tool that runs none"),
        pytest.param(COMPILE + "idle = '('\n", "no regular expression", id="a pattern that is none"),
        pytest.param(COMPILE + "network = true\n", "network is none", id="a network that is not there"),
        pytest.param(COMPILE + "seconds = 9999\n", "max_seconds", id="a limit above the limit"),
        pytest.param(COMPILE.replace('"{make}"', '"make"'), "no program", id="a program that is not declared"),
        pytest.param(COMPILE.replace('"{make}"', '"{cmake}"'), "no program", id="a program that is not there"),
        pytest.param(COMPILE.replace('"{make}"', '"{make}", "{modul}"'), "modul", id="a hole nobody fills"),
        pytest.param(
            COMPILE.replace('"{make}"', '"{make}", "{module...}"'), "module is empty", id="a list without text"
        ),
        pytest.param(COMPILE + 'module = ["-C", "{module}"]\n', "not in argv", id="text without its list"),
        pytest.param(COMPILE + 'reports = ["../x.xml"]\n', "outside", id="reports outside the root"),
        pytest.param(COMPILE + 'reports = ["{reports}/x.xml"]\n', "nothing is told", id="reports that nothing writes"),
        pytest.param(
            COMPILE.replace('"{make}"', '"{make}", "{selection...}"').replace("run_compile", "run_selected_test"),
            "selector",
            id="a selected test without its selector",
        ),
        pytest.param(
            COMPILE.replace('"{make}"', '"{make}", "--dry-run", "test"').replace("run_compile", "run_unit_tests"),
            "--dry-run leaves tests out",
            id="a test command that runs nothing",
        ),
        pytest.param(
            COMPILE.replace("run_compile", "run_unit_tests") + 'environment = { MAKEFLAGS = "-n" }\n',
            "MAKEFLAGS",
            id="a variable that leaves tests out",
        ),
    ],
)
def test_a_profile_that_contradicts_itself_is_refused(text: str, said: str) -> None:
    with pytest.raises(ProfileError, match=said):
        collect({"small.toml": SMALL + text})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SMALL.replace('["make"]', '["bash"]') + COMPILE, "is a shell"),
        (SMALL.replace('["make"]', '["npx"]') + COMPILE, "downloads"),
        (SMALL.replace('["make"]', '["/usr/bin/make"]') + COMPILE, "neither a plain name"),
        (SMALL.replace('["make"]', '["./../make"]') + COMPILE, "neither a plain name"),
        (SMALL + 'write_folders = ["../out"]\n' + COMPILE, "inside the workspace"),
        (SMALL + 'write_folders = ["src"]\n' + COMPILE, "counts as source|has to name it"),
        (SMALL.replace("[programs]", "[program]") + COMPILE, "programs"),
        ("id = [", "not TOML"),
    ],
)
def test_what_opens_a_way_out_is_refused(text: str, said: str) -> None:
    with pytest.raises(ProfileError, match=said):
        collect({"small.toml": text})


def test_two_profiles_with_one_id_are_refused() -> None:
    with pytest.raises(ProfileError, match="taken already"):
        collect({"a.toml": SMALL + COMPILE, "b.toml": SMALL + COMPILE})


def test_a_profile_may_extend_another_and_replace_its_lists() -> None:
    more = 'extends = "small"\nid = "other"\nlimitations = ["Its own."]\n'
    other = collect({"a.toml": SMALL + COMPILE, "b.toml": more})["other"]
    assert (other.limitations, list(other.commands)) == (["Its own."], [Tool.COMPILE])
