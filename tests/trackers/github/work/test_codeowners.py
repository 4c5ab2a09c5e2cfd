"""CODEOWNERS as GitHub documents it; the cases are those of its page, with their comments as names."""

from __future__ import annotations

import pytest

from agent_fox.trackers.github.work.codeowners import ranked, read_owners

PAGE = """
# This is a comment.
*       @global-owner1 @global-owner2
*.js    @js-owner #This is an inline comment.
*.go docs@example.com
*.txt @octo-org/octocats
/build/logs/ @doctocat
docs/* docs@example.com
apps/ @octocat
/docs/ @doctocat
/scripts/ @doctocat @octocat
**/logs @octocat
/apps/ @octocat
/apps/github
"""

MATCHES = {
    "README": ("@global-owner1", "@global-owner2"),
    "src/deep/a.js": ("@js-owner",),
    "main.go": ("docs@example.com",),
    "a/b.txt": ("@octo-org/octocats",),
    "docs/a.md": ("@doctocat",),
    "docs/deep/a.md": ("@doctocat",),
    "scripts/x": ("@doctocat", "@octocat"),
    "build/logs": ("@octocat",),
    "build/logs/a": ("@octocat",),
    "deeply/nested/logs/a": ("@octocat",),
    "apps/x": ("@octocat",),
    "some/apps/x": ("@octocat",),
    "apps/github": (),
    "apps/github/deep": (),
    "logs/x.js": ("@octocat",),
}


@pytest.mark.parametrize("path", MATCHES)
def test_the_last_rule_that_matches_decides(path: str) -> None:
    assert read_owners(PAGE).of(path) == MATCHES[path]


PATTERNS = {
    "docs/*": (["docs/a.md"], ["docs/deep/a.md", "x/docs/a.md", "docs"]),
    "/docs": (["docs", "docs/a", "docs/b/c"], ["x/docs", "docsa"]),
    "docs": (["docs", "docs/a", "x/docs/b"], ["docsa"]),
    "a/**/z": (["a/z", "a/b/z", "a/b/c/z/d"], ["a/bz", "x/a/z"]),
    "a/**": (["a/b", "a/b/c"], ["a", "xa/b"]),
    "*.py": (["a.py", "x/a.py"], ["a.pyc", "apy"]),
    "/*.py": (["a.py"], ["x/a.py"]),
    "a?.c": (["ab.c"], ["a.c", "a/.c"]),
    "a\\ b/": (["a b/c", "x/a b/c"], ["a b", "a"]),
    "src/*/test": (["src/a/test", "src/a/test/b"], ["src/test", "src/a/b/test"]),
    "(a|b)+.c": (["(a|b)+.c"], ["a.c"]),
    "Case": (["Case"], ["case"]),
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_matches_what_github_matches(pattern: str) -> None:
    hits, misses = PATTERNS[pattern]
    owners = read_owners(f"{pattern} @alex")
    assert {path: owners.of(path) for path in (*hits, *misses)} == {
        **dict.fromkeys(hits, ("@alex",)),
        **dict.fromkeys(misses, ()),
    }


@pytest.mark.parametrize("line", ["!a @alex", "\\#a @alex", "[ab] @alex", "a alex", "/ @alex", "a @", "a @a/b/c"])
def test_a_line_that_github_does_not_read_is_left_out_and_counted(line: str) -> None:
    owners = read_owners(f"* @sam\n{line}\n")
    assert (owners.of("a"), owners.left_out) == (("@sam",), 1)


def test_who_owns_most_comes_first() -> None:
    owners = read_owners("*.py @pat\n*.md @mo @pat\n")
    assert ranked(owners, ["a.md", "b.py", "c"]) == ("@pat", "@mo")
    assert ranked(owners, ["a.md"]) == ("@mo", "@pat")
    assert ranked(owners, []) == ()
