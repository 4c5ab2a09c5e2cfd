"""The verdicts of `checks` on Go, Cargo, make with gcc, javac and Maven: passed, failed, not compiled, no tool."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent_fox.core.spec import Trace
from agent_fox.core.verdicts.verdict import Disposition
from tests.verifier.workspace import checked, words

ONE = "04-REQ-1.1"
TWO = "04-REQ-1.2"
EDGE = "04-REQ-1.E1"


def needs(*tools: str) -> pytest.MarkDecorator:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}")


GO = {"Spec tests": "go test ./..."}
GO_MODULE = "module example.com/shop\n\ngo 1.19\n"
GO_TESTS = """package cart

import "testing"

func TestReq04_1_1(t *testing.T) { t.Run("adds", func(t *testing.T) {}) }

// 04-REQ-1.2: totals are right
func TestTotal(t *testing.T) { t.Errorf("got %d", 3) }
"""


@needs("go")
def test_go_tests_are_judged_by_name_comment_and_claim(tmp_path: Path) -> None:
    files = {"go.mod": GO_MODULE, "cart/cart_test.go": GO_TESTS}
    rows = (Trace(EDGE, tests=("cart/cart_test.go::TestReq04_1_1",)),)
    report = checked(tmp_path, files, ONE, TWO, EDGE, commands=GO, traceability=rows)
    assert words(report) == {ONE: "PASS", TWO: "FAIL", EDGE: "PASS"}
    assert report.findings[1].command == "go test -count=1 '-run=^(TestTotal)$' ./..."
    assert "cart_test.go:8: got 3" in report.verdicts[1].evidence


@needs("go")
@pytest.mark.parametrize(("also", "word"), [("", "PASS"), ("t.Fatal()", "FAIL")])
def test_a_go_package_that_does_not_compile_fails_what_it_keeps_back(tmp_path: Path, also: str, word: str) -> None:
    files = {
        "go.mod": GO_MODULE,
        "a/a_test.go": f'package a\n\nimport "testing"\n\nfunc TestReq04_1_1(t *testing.T) {{ {also} }}\n',
        "b/b_test.go": 'package b\n\nimport "testing"\n\nfunc TestReq04_1_2(t *testing.T) { gone() }\n',
    }
    report = checked(tmp_path, files, ONE, TWO, commands=GO)
    assert words(report) == {ONE: word, TWO: "FAIL"}
    assert "undefined: gone" in report.verdicts[1].evidence


CARGO = {"Spec tests": "cargo test -q"}
CRATE = '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n'
RUST_TESTS = """
pub mod cart;
#[cfg(test)]
mod tests {
    #[test]
    fn test_04_req_1_1() { println!("test tests::ghost ... FAILED"); }
}
"""
RUST_CART = """
#[cfg(test)]
mod tests {
    /// 04-REQ-1.2: totals are right
    #[test]
    fn totals() { println!("test tests::test_04_req_1_1 ... FAILED"); assert_eq!(1, 2); }
}
"""


@needs("cargo")
def test_rust_tests_are_judged_by_name_comment_and_claim(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": CRATE,
        "src/lib.rs": RUST_TESTS,
        "src/cart.rs": RUST_CART,
        "tests/whole.rs": "#[test]\nfn totals() {}\n",
    }
    rows = (Trace(EDGE, tests=("tests/whole.rs::totals",)),)
    report = checked(tmp_path, files, ONE, TWO, EDGE, commands=CARGO, traceability=rows)
    assert words(report) == {ONE: "PASS", TWO: "FAIL", EDGE: "PASS"}
    assert "src/cart.rs::cart::tests::totals" in report.verdicts[1].evidence
    assert "left == right" in report.verdicts[1].evidence


@needs("cargo")
def test_rust_that_does_not_compile_is_a_fail_with_the_place(tmp_path: Path) -> None:
    files = {"Cargo.toml": CRATE, "src/lib.rs": "#[test]\nfn test_04_req_1_1() { let x: u8 = gone; }\n"}
    report = checked(tmp_path, files, ONE, commands=CARGO)
    assert words(report) == {ONE: "FAIL"}
    assert "src/lib.rs:2:" in report.verdicts[0].evidence
    assert "cannot find value `gone`" in report.verdicts[0].evidence
    assert report.findings[0].check == "cargo test -q"


MAKEFILE = "test: shop\n\t./shop\nshop: shop.c\n\tgcc -o shop shop.c\nmissing:\n\tno-such-compiler shop.c\n"


@needs("make", "gcc")
@pytest.mark.parametrize(
    ("source", "target", "word", "told"),
    [
        ("int main(void) { return 0; }\n", "test", "UNKNOWN", "no test report"),
        ("int main(void) { return 1; }\n", "test", "UNKNOWN", "Error 1"),
        ("int main(void) { return gone; }\n", "test", "FAIL", "'gone' undeclared"),
        ("int main(void) { return 0; }\n", "missing", "UNKNOWN", "no-such-compiler"),
    ],
)
def test_make_proves_nothing_without_a_report_and_fails_what_does_not_compile(
    tmp_path: Path, source: str, target: str, word: str, told: str
) -> None:
    files = {"Makefile": MAKEFILE, "shop.c": source}
    report = checked(tmp_path, files, ONE, commands={"Spec tests": f"make {target}"}, environment={"LC_ALL": "C"})
    assert words(report) == {ONE: word}
    assert told in report.verdicts[0].evidence


@needs("javac")
def test_java_that_does_not_compile_fails_what_other_commands_prove(tmp_path: Path) -> None:
    files = {"Shop.java": "class Shop { int x = gone; }\n", "test_a.py": "def test_04_req_1_1(): pass\n"}
    configured = ("python -m pytest -q", "javac -d out Shop.java")
    report = checked(tmp_path, files, ONE, configured=configured)
    assert words(report) == {ONE: "FAIL"}
    assert "Shop.java:1" in report.verdicts[0].evidence
    assert "cannot find symbol" in report.verdicts[0].evidence


@pytest.mark.parametrize(
    "line", ["no-such-go test ./...", "no-such-cargo test", "no-such-make test", "no-such-javac A.java"]
)
def test_a_compiler_that_is_not_there_is_unknown(tmp_path: Path, line: str) -> None:
    report = checked(tmp_path, {}, ONE, commands={"Spec tests": line})
    assert words(report) == {ONE: "UNKNOWN"}
    assert report.verdicts[0].disposition is Disposition.ENVIRONMENT


JAVA_TEST = """package com.shop;

class CartTest {
    // 04-REQ-1.2: totals are right
    @Test
    void totals() {}
}
"""
REPORT = (
    '<testsuite name="com.shop.CartTest"><testcase classname="com.shop.CartTest" name="req04_1_1Adds"/>'
    '<testcase classname="com.shop.CartTest" name="totals"><failure message="expected 3"/></testcase></testsuite>'
)
OLD_REPORT = '<testsuite><testcase classname="com.shop.OldTest" name="test_04_req_1_e1"/></testsuite>'


def wrapper(report: str, exit_code: int) -> str:
    """A double of Maven's wrapper: it writes the report that Surefire would, and ends so. It runs no test."""
    place = "target/surefire-reports/TEST-com.shop.CartTest.xml"
    return f"#!/bin/sh\ncat > {place} <<'END'\n{report}\nEND\nexit {exit_code}\n"


def test_surefires_reports_are_found_at_their_place_and_older_ones_do_not_count(tmp_path: Path) -> None:
    files = {
        "mvnw": wrapper(REPORT, 1),
        "src/test/java/com/shop/CartTest.java": JAVA_TEST,
        "target/surefire-reports/TEST-com.shop.OldTest.xml": OLD_REPORT,
    }
    (tmp_path / "mvnw").touch(mode=0o755)
    rows = (Trace(ONE, tests=("CartTest#req04_1_1Adds", "src/test/java/com/shop/CartTest.java::req04_1_1Adds")),)
    report = checked(tmp_path, files, ONE, TWO, EDGE, commands={"Spec tests": "./mvnw test"}, traceability=rows)
    assert words(report) == {ONE: "PASS", TWO: "FAIL", EDGE: "FAIL"}
    assert "no test that ran names" in report.verdicts[2].evidence
    assert report.findings[1].command.startswith("./mvnw test '-Dtest=com.shop.CartTest#totals'")


@needs("mvn")
def test_a_plugin_that_maven_cant_resolve_is_not_the_coders_fault(tmp_path: Path) -> None:
    pom = (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>a</groupId>'
        "<artifactId>b</artifactId><version>1</version><parent><groupId>gone</groupId><artifactId>gone</artifactId>"
        "<version>1</version></parent></project>"
    )
    report = checked(tmp_path, {"pom.xml": pom}, ONE, commands={"Spec tests": "mvn -o -q test"})
    assert words(report) == {ONE: "UNKNOWN"}
    assert "gone:gone:pom:1" in report.verdicts[0].evidence
