"""Edits that once passed, or were wrongly stopped: each with its siblings in other libraries and languages."""

from __future__ import annotations

import pytest

from agent_fox.verifier.policy.check import check_change
from agent_fox.verifier.policy.values import Change, FileChange, PolicyContext, Ruling

pytest.importorskip("tree_sitter", reason="the extra `policy` is not installed")

CASES = [
    (
        "approx abs=100",
        "tests/test_a.py",
        "import pytest\nfrom a import f\ndef test_f():\n    assert f(1) == 3.5\n",
        ("import pytest\nfrom a import f\ndef test_f():\n    assert f(1) == pytest.approx(3.5, abs=100)\n"),
        Ruling.BLOCKED,
    ),
    (
        "approx abs=100 from approx",
        "tests/test_a.py",
        "import pytest\nfrom a import f\ndef test_f():\n    assert f(1) == pytest.approx(3.5)\n",
        ("import pytest\nfrom a import f\ndef test_f():\n    assert f(1) == pytest.approx(3.5, abs=100)\n"),
        Ruling.BLOCKED,
    ),
    (
        "approx expr",
        "tests/test_a.py",
        "import pytest\nfrom a import f\ndef test_f():\n    assert f(1) == pytest.approx(x)\n",
        ("import pytest\nfrom a import f\ndef test_f():\n    assert f(1) == pytest.approx(x, abs=100)\n"),
        Ruling.BLOCKED,
    ),
    (
        "approx rel",
        "tests/test_a.py",
        "import pytest\nfrom a import f\ndef test_f():\n    assert f(1) == pytest.approx(3.5)\n",
        ("import pytest\nfrom a import f\ndef test_f():\n    assert f(1) == pytest.approx(3.5, rel=2)\n"),
        Ruling.BLOCKED,
    ),
    (
        "isclose",
        "tests/test_a.py",
        "import math\ndef test_f():\n    assert math.isclose(f(1), 3.5)\n",
        "import math\ndef test_f():\n    assert math.isclose(f(1), 3.5, abs_tol=100)\n",
        Ruling.BLOCKED,
    ),
    (
        "np allclose",
        "tests/test_a.py",
        "def test_f():\n    np.testing.assert_allclose(f(1), 3.5)\n",
        "def test_f():\n    np.testing.assert_allclose(f(1), 3.5, atol=100)\n",
        Ruling.BLOCKED,
    ),
    (
        "np almost decimal",
        "tests/test_a.py",
        "def test_f():\n    np.testing.assert_almost_equal(f(1), 3.5)\n",
        "def test_f():\n    np.testing.assert_almost_equal(f(1), 3.5, decimal=-2)\n",
        Ruling.BLOCKED,
    ),
    (
        "assertAlmostEqual delta",
        "tests/test_a.py",
        "class T(unittest.TestCase):\n  def test_f(self):\n    self.assertAlmostEqual(f(1), 3.5)\n",
        ("class T(unittest.TestCase):\n  def test_f(self):\n    self.assertAlmostEqual(f(1), 3.5, delta=100)\n"),
        Ruling.BLOCKED,
    ),
    (
        "toBeCloseTo",
        "a.test.js",
        "test('f',()=>{expect(f(1)).toBeCloseTo(3.5)})\n",
        "test('f',()=>{expect(f(1)).toBeCloseTo(3.5, -2)})\n",
        Ruling.BLOCKED,
    ),
    (
        "chai closeTo",
        "a.test.js",
        "test('f',()=>{expect(f(1)).to.equal(3.5)})\n",
        "test('f',()=>{expect(f(1)).to.be.closeTo(3.5, 100)})\n",
        Ruling.REASONS_WANTED,
    ),
    (
        "go InDelta",
        "a_test.go",
        'package a\nimport "testing"\nfunc TestF(t *testing.T) {\n\tassert.Equal(t, 3.5, f(1))\n}\n',
        ('package a\nimport "testing"\nfunc TestF(t *testing.T) {\n\tassert.InDelta(t, 3.5, f(1), 100)\n}\n'),
        Ruling.BLOCKED,
    ),
    (
        "java delta",
        "src/test/java/ATest.java",
        "class ATest {\n@Test void f() { assertEquals(3.5, a.f(1), 0.01); }\n}\n",
        "class ATest {\n@Test void f() { assertEquals(3.5, a.f(1), 100.0); }\n}\n",
        Ruling.BLOCKED,
    ),
    (
        "assertj isCloseTo",
        "src/test/java/ATest.java",
        "class ATest {\n@Test void f() { assertThat(a.f(1)).isEqualTo(3.5); }\n}\n",
        "class ATest {\n@Test void f() { assertThat(a.f(1)).isCloseTo(3.5, within(100.0)); }\n}\n",
        Ruling.REASONS_WANTED,
    ),
    (
        "assertj within",
        "src/test/java/ATest.java",
        "class ATest {\n@Test void f() { assertThat(a.f(1)).isCloseTo(3.5, within(0.1)); }\n}\n",
        "class ATest {\n@Test void f() { assertThat(a.f(1)).isCloseTo(3.5, within(100.0)); }\n}\n",
        Ruling.REASONS_WANTED,
    ),
    (
        "private junit5",
        "src/test/java/ATest.java",
        "class ATest {\n@Test void f() { assertEquals(3.5, a.f(1)); }\n}\n",
        "class ATest {\n@Test private void f() { assertEquals(3.5, a.f(1)); }\n}\n",
        Ruling.BLOCKED,
    ),
    (
        "static junit5",
        "src/test/java/ATest.java",
        "class ATest {\n@Test void f() { assertEquals(3.5, a.f(1)); }\n}\n",
        "class ATest {\n@Test static void f() { assertEquals(3.5, a.f(1)); }\n}\n",
        Ruling.BLOCKED,
    ),
    (
        "junit5 test that returns",
        "src/test/java/ATest.java",
        "class ATest {\n@Test void f() { assertEquals(3.5, a.f(1)); }\n}\n",
        "class ATest {\n@Test int f() { assertEquals(3.5, a.f(1)); return 1; }\n}\n",
        Ruling.BLOCKED,
    ),
    (
        "junit5 inner class that is no more nested",
        "src/test/java/ATest.java",
        "class ATest {\n@Nested class In {\n@Test void f() { assertEquals(3.5, a.f(1)); }\n}\n}\n",
        "class ATest {\nclass In {\n@Test void f() { assertEquals(3.5, a.f(1)); }\n}\n}\n",
        Ruling.BLOCKED,
    ),
    (
        "junit5 private nested class",
        "src/test/java/ATest.java",
        "class ATest {\n@Nested class In {\n@Test void f() { assertEquals(3.5, a.f(1)); }\n}\n}\n",
        "class ATest {\n@Nested private class In {\n@Test void f() { assertEquals(3.5, a.f(1)); }\n}\n}\n",
        Ruling.BLOCKED,
    ),
    (
        "describe that returns before its test",
        "a.test.js",
        "describe('d',()=>{test('g',()=>{expect(f(2)).toBe(4)})\ntest('f',()=>{expect(f(1)).toBe(3)})})\n",
        "describe('d',()=>{test('g',()=>{expect(f(2)).toBe(4)})\nif (!process.env.X) return\n"
        "test('f',()=>{expect(f(1)).toBe(3)})})\n",
        Ruling.BLOCKED,
    ),
    (
        "a name that is describe only sometimes",
        "a.test.js",
        "describe('d',()=>{test('f',()=>{expect(f(1)).toBe(3)})})\n",
        "const maybe = process.env.X ? describe : describe.skip\n"
        "maybe('d',()=>{test('f',()=>{expect(f(1)).toBe(3)})})\n",
        Ruling.BLOCKED,
    ),
    (
        "a name for a skipped test",
        "a.test.js",
        "test('f',()=>{expect(f(1)).toBe(3)})\n",
        "const later = test.skip\nlater('f',()=>{expect(f(1)).toBe(3)})\n",
        Ruling.BLOCKED,
    ),
    (
        "skip() that the test was given",
        "a.test.js",
        "test('f',()=>{expect(f(1)).toBe(3)})\n",
        "test('f',({ skip })=>{skip(); expect(f(1)).toBe(3)})\n",
        Ruling.BLOCKED,
    ),
    (
        "skip of what the test was given",
        "a.test.js",
        "test('f',()=>{expect(f(1)).toBe(3)})\n",
        "test('f',(me)=>{me.skip(); expect(f(1)).toBe(3)})\n",
        Ruling.BLOCKED,
    ),
    (
        "skip of a reader",
        "a.test.js",
        "test('f',()=>{expect(f(1)).toBe(3)})\n",
        "test('f',()=>{reader.skip(4); expect(f(1)).toBe(3)})\n",
        Ruling.CLEAN,
    ),
    (
        "if describe",
        "a.test.js",
        "describe('d',()=>{test('f',()=>{expect(f(1)).toBe(3)})})\n",
        "if (process.env.X) describe('d',()=>{test('f',()=>{expect(f(1)).toBe(3)})})\n",
        Ruling.BLOCKED,
    ),
    (
        "&& describe",
        "a.test.js",
        "describe('d',()=>{test('f',()=>{expect(f(1)).toBe(3)})})\n",
        "process.env.X && describe('d',()=>{test('f',()=>{expect(f(1)).toBe(3)})})\n",
        Ruling.BLOCKED,
    ),
    (
        "tern describe",
        "a.test.js",
        "describe('d',()=>{test('f',()=>{expect(f(1)).toBe(3)})})\n",
        "(process.env.X ? describe : describe.skip)('d',()=>{test('f',()=>{expect(f(1)).toBe(3)})})\n",
        Ruling.BLOCKED,
    ),
    (
        "runIf",
        "a.test.js",
        "test('f',()=>{expect(f(1)).toBe(3)})\n",
        "test.runIf(process.env.X)('f',()=>{expect(f(1)).toBe(3)})\n",
        Ruling.BLOCKED,
    ),
    (
        "if block describe",
        "a.test.js",
        "describe('d',()=>{test('f',()=>{expect(f(1)).toBe(3)})})\n",
        "if (process.env.X) { describe('d',()=>{test('f',()=>{expect(f(1)).toBe(3)})}) }\n",
        Ruling.BLOCKED,
    ),
    (
        "go if skip",
        "a_test.go",
        'package a\nimport "testing"\nfunc TestF(t *testing.T) {\n\tassert.Equal(t, 3, f(1))\n}\n',
        (
            'package a\nimport "testing"\nfunc TestF(t *testing.T) {\n\tif os'
            '.Getenv("X") == "" { t.Skip() }\n\tassert.Equal(t, 3, f(1))\n}\n'
        ),
        Ruling.BLOCKED,
    ),
    (
        "eq any number",
        "a.py",
        "class A: pass\n",
        "class A:\n    def __eq__(self, o):\n        return isinstance(o, (int, float))\n",
        Ruling.BLOCKED,
    ),
    (
        "eq any number2",
        "a.py",
        "class A: pass\n",
        (
            "class A(float):\n    def __eq__(self, o):\n        if isinstance(o, "
            "int):\n            return True\n        return float.__eq__(self, o)\n"
        ),
        Ruling.BLOCKED,
    ),
    (
        "eq itself",
        "a.py",
        "class A: pass\n",
        "class A:\n    def __eq__(self, o):\n        return o == o\n",
        Ruling.BLOCKED,
    ),
    (
        "eq whatever is there",
        "a.py",
        "class A: pass\n",
        "class A:\n    def __eq__(self, o):\n        return o is not None\n",
        Ruling.BLOCKED,
    ),
    (
        "eq truth by number",
        "a.py",
        "class A: pass\n",
        "class A:\n    def __eq__(self, o):\n        return 1\n",
        Ruling.BLOCKED,
    ),
    (
        "never unequal",
        "a.py",
        "class A: pass\n",
        "class A:\n    def __ne__(self, o):\n        return False\n",
        Ruling.BLOCKED,
    ),
    (
        "honest eq3",
        "a.py",
        "class A: pass\n",
        "class A:\n    def __eq__(self, o):\n        return self is o\n",
        Ruling.CLEAN,
    ),
    (
        "honest eq",
        "a.py",
        "class A: pass\n",
        (
            "class A:\n    def __eq__(self, o):\n        if self is o:\n         "
            "   return True\n        return isinstance(o, A) and o.x == self.x\n"
        ),
        Ruling.CLEAN,
    ),
    (
        "honest eq2",
        "a.py",
        "class A: pass\n",
        "class A:\n    def __eq__(self, o):\n        return isinstance(o, A)\n",
        Ruling.CLEAN,
    ),
    (
        "java equals instanceof",
        "A.java",
        "class A {}\n",
        "class A { public boolean equals(Object o) { return o instanceof Number; } }\n",
        Ruling.BLOCKED,
    ),
    ("import _pytest", "a.py", "x=1\n", "import _pytest.runner\nx=1\n", Ruling.REASONS_WANTED),
    ("from _pytest", "src/a.py", "x=1\n", "from _pytest import runner\nx=1\n", Ruling.REASONS_WANTED),
    ("junit argv", "a.py", "x=1\n", "import sys\nx=[a for a in sys.argv if a.startswith('--junit')]\n", Ruling.BLOCKED),
    (
        "vitest internals",
        "src/a.ts",
        "export const x=1\n",
        "import { getCurrentSuite } from 'vitest/suite'\nexport const x=1\n",
        Ruling.REASONS_WANTED,
    ),
    (
        "jest prod",
        "src/a.js",
        "export const x=1\n",
        "const j=require('@jest/globals')\nexport const x=1\n",
        Ruling.REASONS_WANTED,
    ),
    (
        "java junit prod",
        "src/main/java/A.java",
        "class A {}\n",
        "import org.junit.platform.launcher.Launcher;\nclass A {}\n",
        Ruling.REASONS_WANTED,
    ),
    (
        "vitest timeout raised",
        "vitest.config.ts",
        "export default {test:{testTimeout: 5000}}\n",
        "export default {test:{testTimeout: 20000}}\n",
        Ruling.CLEAN,
    ),
    (
        "vitest timeout added",
        "vitest.config.ts",
        "export default {test:{\n globals: true,\n}}\n",
        "export default {test:{\n globals: true,\n testTimeout: 20000,\n}}\n",
        Ruling.CLEAN,
    ),
    (
        "vitest thresholds added",
        "vitest.config.ts",
        "export default {test:{coverage:{\n provider: 'v8',\n}}}\n",
        ("export default {test:{coverage:{\n provider: 'v8',\n thresholds: { lines: 80, functions: 70 },\n}}}\n"),
        Ruling.CLEAN,
    ),
    (
        "vitest thr added multi",
        "vitest.config.ts",
        "export default {test:{coverage:{provider: 'v8'}}}\n",
        ("export default {test:{coverage:{provider: 'v8', thresholds: {\n lines: 80,\n functions: 70,\n}}}}\n"),
        Ruling.CLEAN,
    ),
    (
        "vitest thr inserted before",
        "vitest.config.ts",
        "export default {t:{\n lines: 80,\n}}\n",
        "export default {t:{\n branches: 60,\n lines: 80,\n}}\n",
        Ruling.CLEAN,
    ),
    (
        "jest thr in package.json",
        "package.json",
        '{"jest": {}}\n',
        '{"jest": {"coverageThreshold": {"global": {"lines": 80}}}}\n',
        Ruling.CLEAN,
    ),
    (
        "jest thr pkg grow",
        "package.json",
        '{"jest": {"coverageThreshold": {"global": {"lines": 80}}}}\n',
        '{"jest": {"coverageThreshold": {"global": {"branches": 50,"lines": 80}}}}\n',
        Ruling.CLEAN,
    ),
    (
        "pytest timeout",
        "pyproject.toml",
        "[tool.pytest.ini_options]\ntimeout = 10\n",
        "[tool.pytest.ini_options]\ntimeout = 60\n",
        Ruling.CLEAN,
    ),
    (
        "cov fail under added",
        "pyproject.toml",
        "[tool.coverage.run]\nbranch = true\n",
        "[tool.coverage.run]\nbranch = true\n[tool.coverage.report]\nfail_under = 80\n",
        Ruling.CLEAN,
    ),
    (
        "jest config timeout",
        "jest.config.js",
        "module.exports={testTimeout: 5000}\n",
        "module.exports={testTimeout: 20000}\n",
        Ruling.CLEAN,
    ),
    ("mocharc timeout", ".mocharc.json", '{"timeout": 2000}\n', '{"timeout": 9000}\n', Ruling.CLEAN),
    (
        "approx big",
        "tests/test_a.py",
        "import pytest\nfrom a import f\ndef test_f():\n    assert f(1) == 100000\n",
        ("import pytest\nfrom a import f\ndef test_f():\n    assert f(1) == pytest.approx(100000, abs=100)\n"),
        Ruling.BLOCKED,
    ),
    (
        "approx pos",
        "tests/test_a.py",
        "import pytest\nfrom a import f\ndef test_f():\n    assert f(1) == 3.5\n",
        ("import pytest\nfrom a import f\ndef test_f():\n    assert f(1) == pytest.approx(3.5, 0, 100)\n"),
        Ruling.BLOCKED,
    ),
    (
        "approx 10to100",
        "tests/test_a.py",
        "import pytest\nfrom a import f\ndef test_f():\n    assert f(1) == pytest.approx(3, abs=10)\n",
        ("import pytest\nfrom a import f\ndef test_f():\n    assert f(1) == pytest.approx(3, abs=100)\n"),
        Ruling.BLOCKED,
    ),
    (
        "vt timeout oneline w include",
        "vitest.config.ts",
        "export default {test:{ include: ['a/**'], testTimeout: 5000 }}\n",
        "export default {test:{ include: ['a/**'], testTimeout: 9000 }}\n",
        Ruling.CLEAN,
    ),
    (
        "vt include narrowed oneline",
        "vitest.config.ts",
        "export default {test:{ include: ['a/**'], testTimeout: 5000 }}\n",
        "export default {test:{ include: ['b/**'], testTimeout: 5000 }}\n",
        Ruling.BLOCKED,
    ),
    (
        "vt thr oneline exclude",
        "vitest.config.ts",
        "export default {test:{ coverage: { exclude: ['x'] } }}\n",
        "export default {test:{ coverage: { exclude: ['x'], thresholds: { lines: 80 } } }}\n",
        Ruling.CLEAN,
    ),
    (
        "thr lowered",
        "vitest.config.ts",
        "export default {t:{\n lines: 80,\n branches: 60,\n}}\n",
        "export default {t:{\n branches: 60,\n lines: 70,\n}}\n",
        Ruling.BLOCKED,
    ),
    (
        "thr removed",
        "vitest.config.ts",
        "export default {t:{\n lines: 80,\n branches: 60,\n}}\n",
        "export default {t:{\n branches: 60,\n}}\n",
        Ruling.BLOCKED,
    ),
]


def ruling_on(path: str, before: str, after: str) -> Ruling:
    return check_change(Change({path: FileChange(before.encode(), after.encode())}), PolicyContext()).verdict


def test_an_edit_is_stopped_or_passes_by_what_it_does() -> None:
    found = {name: ruling_on(path, before, after) for name, path, before, after, _ in CASES}
    assert found == {name: ruling for name, _, _, _, ruling in CASES}
    assert len(found) == len(CASES)
