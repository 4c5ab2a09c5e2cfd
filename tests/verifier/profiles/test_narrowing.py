"""A repository may have less than a person allows, never more; a changed profile can be told from the old one."""

from __future__ import annotations

import pytest

from agent_fox.verifier.ground.request import Refused
from agent_fox.verifier.ground.results import Tool
from agent_fox.verifier.profiles.loading import built_in, collect, load_profile
from agent_fox.verifier.profiles.model import NetworkProfile
from agent_fox.verifier.profiles.narrowing import Allowed, difference, fingerprint, narrowed

EVERYTHING = Allowed(NetworkProfile.PACKAGE_READONLY, format_apply=True, max_seconds=1800)
PYTHON = load_profile("python")


def test_nothing_asked_and_all_allowed_is_the_profile_itself() -> None:
    assert narrowed(PYTHON, {}, EVERYTHING) == PYTHON


@pytest.mark.parametrize("id", sorted(built_in()))
def test_by_default_no_network_and_no_change_of_source_is_allowed(id: str) -> None:
    policy = narrowed(load_profile(id), {}, Allowed()).policy
    assert (policy.network, policy.allow_source_mutation) == (NetworkProfile.NONE, False)


def test_a_repository_may_ask_for_less() -> None:
    asked = {
        "without": ["run_lint"],
        "max_seconds": 100,
        "seconds": {"run_unit_tests": 50},
        "network": "none",
        "format_apply": False,
        "write_folders": ["build"],
        "include": ["generated/**"],
    }
    profile = narrowed(PYTHON, asked, EVERYTHING)
    assert Tool.LINT not in profile.commands
    assert {one.seconds for found in profile.commands.values() for one in found} == {50, 100}
    assert profile.unavailable[Tool.LINT] == "the repository's configuration leaves it out"
    assert (profile.policy.network, profile.policy.allow_source_mutation) == (NetworkProfile.NONE, False)
    assert (profile.policy.write_folders, profile.source.include) == (["build"], ["generated/**"])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"network": "package-readonly"}, "network"),
        ({"format_apply": True}, "format_apply"),
        ({"max_seconds": 301}, "max_seconds = 301 is more than 300"),
        ({"seconds": {"run_compile": 301}}, "seconds.run_compile"),
        ({"output_bytes": 10**9}, "output_bytes"),
        ({"write_folders": ["src"]}, "write_folders: src"),
        ({"exclude": ["src/**"]}, "exclude: src"),
        ({"commands": {}}, "unknown setting"),
        ({"write_folders": ["../x"]}, "inside the workspace"),
        ({"without": ["run_lnt"]}, "run_lnt"),
    ],
)
def test_a_repository_cannot_ask_for_more(asked: dict[str, object], said: str) -> None:
    with pytest.raises(Refused, match=said):
        narrowed(PYTHON, asked, Allowed(max_seconds=300))


def test_what_is_source_no_more_has_to_be_allowed_by_name() -> None:
    profile = narrowed(PYTHON, {"exclude": ["out/**"]}, Allowed(exclude=("out/**",)))
    assert profile.source.exclude == [*PYTHON.source.exclude, "out/**"]


def test_the_same_profile_has_the_same_fingerprint() -> None:
    again = narrowed(PYTHON, {}, EVERYTHING)
    assert (fingerprint(again), difference(PYTHON, again)) == (fingerprint(PYTHON), ())


def test_a_changed_profile_is_shown_in_the_words_of_its_file() -> None:
    old = 'id = "a"\nlanguage = "c"\nbuild_system = "make"\nsummary = "s"\nlimitations = ["l"]\n'
    old += '[programs]\nm = ["make"]\n'
    old += '[[commands.run_compile]]\nargv = ["{m}"]\nparser = "make"\nseconds = 60\n'
    new = old.replace("60", "90").replace('["{m}"]', '["{m}", "all"]') + 'notes = ["n"]\n'
    before, after = (collect({"a": text})["a"] for text in (old, new))
    assert fingerprint(before) != fingerprint(after)
    assert difference(before, after) == (
        'commands.run_compile[0].argv: ["{m}"] becomes ["{m}", "all"]',
        'commands.run_compile[0].notes: [] becomes ["n"]',
        "commands.run_compile[0].seconds: 60.0 becomes 90.0",
    )


def test_every_built_in_profile_has_a_fingerprint_of_its_own() -> None:
    assert len({fingerprint(one) for one in built_in().values()}) == len(built_in())
