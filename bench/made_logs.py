"""Logs and reports of any size, in the words of real tools: mostly what passes, now and then a failure."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FAIL_EVERY = 500  # blocks


@dataclass(frozen=True, slots=True)
class Kind:
    """How a log is made: `passing` and `failing` blocks, with `@` for a number that differs in each."""

    tool: str
    passing: str
    failing: str
    head: str = ""
    tail: str = ""


PYTEST = Kind(
    "pytest",
    "tests/unit/test_orders.py::TestCart::test_totals[case-@] PASSED           [ 41%]\n",
    "tests/unit/test_orders.py::TestCart::test_rounds[case-@] FAILED           [ 41%]\n",
    "============================= test session starts ==============================\n"
    "platform linux -- Python 3.11.7\n"
    "rootdir: /w\ncollected 99 items\n\n",
    "\n=================================== FAILURES ===================================\n"
    "_________________________________ test_rounds __________________________________\n\n    def test_rounds():\n"
    ">       assert 1 == 2\nE       assert 1 == 2\n\ntests/unit/test_orders.py:9: AssertionError\n"
    "=========================== short test summary info ============================\n"
    "FAILED tests/unit/test_orders.py::test_rounds - assert 1 == 2\n"
    "========================= 1 failed, 98 passed in 0.12s =========================\n",
)
UNITTEST = Kind(
    "unittest",
    "test_totals_@ (tests.test_orders.TestCart.test_totals_@) ... ok\n",
    "test_rounds_@ (tests.test_orders.TestCart.test_rounds_@) ... FAIL\n",
    tail="\n" + "=" * 70 + "\nFAIL: test_rounds (tests.test_orders.TestCart.test_rounds)\n" + "-" * 70 + "\n"
    'Traceback (most recent call last):\n  File "/w/tests/test_orders.py", line 9, in test_rounds\n'
    "    self.assertEqual(1, 2)\nAssertionError: 1 != 2\n\n"
    + "-" * 70
    + "\nRan 99 tests in 0.1s\n\nFAILED (failures=1)\n",
)
MAVEN = Kind(
    "maven",
    "[INFO] Running com.acme.orders.Cart@Test\n"
    "12:00:01.123 [main] INFO  com.acme.orders.Cart - total of order @ is 12.50 EUR, 3 items in the cart\n"
    "12:00:01.124 [main] DEBUG com.acme.orders.Store - select * from orders where id = @ took 3 ms\n"
    "[INFO] Tests run: 7, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.021 s -- in com.acme.orders.Cart@Test\n",
    "[INFO] Running com.acme.orders.Odd@Test\n"
    "[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.09 s <<< FAILURE! "
    "-- in com.acme.orders.Odd@Test\n"
    "[ERROR] com.acme.orders.Odd@Test.rounds -- Time elapsed: 0.04 s <<< FAILURE!\n"
    "org.opentest4j.AssertionFailedError: expected: <1> but was: <2>\n"
    "\tat org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:55)\n"
    "\tat com.acme.orders.Odd@Test.rounds(Odd@Test.java:14)\n\n",
    "[INFO] Scanning for projects...\n[INFO] --- surefire:3.2.5:test (default-test) @ orders ---\n",
    "[INFO] BUILD FAILURE\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test "
    "(default-test) on project orders: There are test failures.\n",
)
GRADLE = Kind(
    "gradle",
    "com.acme.orders.Cart@Test > totals() PASSED\n\ncom.acme.orders.Cart@Test > rounds() STANDARD_OUT\n"
    "    12:00:01.124 [main] DEBUG com.acme.orders.Store - select * from orders where id = @ took 3 ms\n\n",
    "com.acme.orders.Cart@Test > empties() FAILED\n"
    "    org.opentest4j.AssertionFailedError: expected: <1> but was: <2>\n"
    "        at com.acme.orders.Cart@Test.empties(Cart@Test.java:14)\n\n",
    "> Task :compileJava UP-TO-DATE\n> Task :test\n\n",
    "99 tests completed, 2 failed\n\nFAILURE: Build failed with an exception.\n\nBUILD FAILED in 3s\n",
)
GCC = Kind(
    "gcc",
    "gcc -Wall -Wextra -O2 -Iinclude -DVERSION=@ -MMD -MP -c -o build/part_@.o src/part_@.c\n"
    "[ 41%] Building C object lib/CMakeFiles/orders.dir/part_@.c.o\n",
    "src/part_@.c: In function 'total':\nsrc/part_@.c:12:9: error: 'sum' undeclared (first use in this function)\n"
    "   12 |         sum = 1;\n      |         ^~~\n"
    "src/part_@.c:30:5: warning: unused variable 'x' [-Wunused-variable]\n"
    "   30 |     int x;\n      |         ^\n",
    "make: Entering directory '/w'\n",
    "make: *** [Makefile:3: all] Error 1\n",
)
GO = Kind(
    "go",
    "=== RUN   TestTotals@\n    cart_test.go:20: total of order @ is 12.50\n--- PASS: TestTotals@ (0.00s)\n",
    "=== RUN   TestRounds@\n    cart_test.go:31: got 1, want 2\n--- FAIL: TestRounds@ (0.00s)\n",
    tail="FAIL\nFAIL\texample.com/orders/cart\t0.009s\nFAIL\n",
)
GO_JSON = Kind(
    "go",
    '{"Time":"2026-01-01T00:00:00.000000001Z","Action":"run","Package":"example.com/orders","Test":"TestTotals@"}\n'
    '{"Time":"2026-01-01T00:00:00.000000001Z","Action":"output","Package":"example.com/orders","Test":"TestTotals@",'
    '"Output":"=== RUN   TestTotals@\\n"}\n'
    '{"Time":"2026-01-01T00:00:00.000000001Z","Action":"output","Package":"example.com/orders","Test":"TestTotals@",'
    '"Output":"--- PASS: TestTotals@ (0.00s)\\n"}\n'
    '{"Time":"2026-01-01T00:00:00.000000001Z","Action":"pass","Package":"example.com/orders","Test":"TestTotals@",'
    '"Elapsed":0}\n',
    '{"Time":"2026-01-01T00:00:00.000000001Z","Action":"run","Package":"example.com/orders","Test":"TestRounds@"}\n'
    '{"Time":"2026-01-01T00:00:00.000000001Z","Action":"output","Package":"example.com/orders","Test":"TestRounds@",'
    '"Output":"    cart_test.go:31: got 1, want 2\\n"}\n'
    '{"Time":"2026-01-01T00:00:00.000000001Z","Action":"fail","Package":"example.com/orders","Test":"TestRounds@",'
    '"Elapsed":0}\n',
    tail='{"Time":"2026-01-01T00:00:00.000000001Z","Action":"fail","Package":"example.com/orders","Elapsed":0.01}\n',
)
CARGO = Kind(
    "cargo",
    "test cart::tests::totals_@ ... ok\ntest store::tests::finds_what_was_kept_@ ... ok\n",
    "test cart::tests::rounds_@ ... FAILED\n",
    "   Compiling orders v0.1.0 (/w)\n     Running unittests src/lib.rs (target/debug/deps/orders-78dd2cda144aa888)\n\n"
    "running 99 tests\n",
    "\nfailures:\n\n---- cart::tests::rounds_1 stdout ----\n\n"
    "thread 'cart::tests::rounds_1' panicked at src/cart.rs:9:5:\n"
    "assertion `left == right` failed\n  left: 1\n right: 2\n\n\nfailures:\n    cart::tests::rounds_1\n\n"
    "test result: FAILED. 98 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
)
TSC = Kind(
    "tsc",
    "[12:00:01] Starting 'build:orders-@'...\n[12:00:02] Finished 'build:orders-@' after 812 ms\n",
    "src/orders/cart_@.ts(12,9): error TS2322: Type 'number' is not assignable to type 'string'.\n",
)
MYPY = Kind(
    "mypy",
    "TRACE: Parsing /w/orders/part_@.py (orders.part_@)\nLOG:  Found source: BuildSource(path='orders/part_@.py')\n",
    'orders/part_@.py:12: error: Incompatible return value type (got "int", expected "str")  [return-value]\n',
    tail="Found 99 errors in 9 files (checked 999 source files)\n",
)
RUFF = Kind(
    "ruff",
    "[2026-01-01][12:00:01][ruff::commands::check][DEBUG] Checking: /w/orders/part_@.py\n",
    "orders/part_@.py:1:8: F401 [*] `os` imported but unused\n",
    tail="Found 99 errors.\n",
)
ESLINT = Kind(
    "eslint",
    "2026-01-01T12:00:01.123Z eslint:cli-engine Lint /w/src/orders/part_@.js\n",
    "\n/w/src/orders/part_@.js\n  1:7  error  'x' is assigned a value but never used  no-unused-vars\n\n",
    tail="✖ 99 problems (99 errors, 0 warnings)\n",
)
JEST = Kind(
    "jest",
    "PASS src/orders/cart_@.test.js\n  cart\n    ✓ totals (3 ms)\n    ✓ keeps what was put in (1 ms)\n",
    "FAIL src/orders/odd_@.test.js\n  ● cart › rounds\n\n    expect(received).toBe(expected)\n\n    Expected: 1\n"
    "    Received: 2\n\n      at Object.toBe (src/orders/odd_@.test.js:4:23)\n\n",
    tail="Test Suites: 1 failed, 9 passed, 10 total\nTests:       1 failed, 98 passed, 99 total\n",
)
VITEST = Kind(
    "vitest",
    " ✓ src/orders/cart_@.test.ts (3 tests) 2ms\n   ✓ cart > totals 1ms\n   ✓ cart > keeps what was put in 1ms\n",
    " ❯ src/orders/odd_@.test.ts (1 test | 1 failed) 3ms\n   × cart > rounds 2ms\n     → expected 1 to be 2\n",
    "\n RUN  v3.2.7 /w\n\n",
    "\n⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯\n\n FAIL  src/orders/odd_1.test.ts > cart > rounds\n"
    "AssertionError: expected 1 to be 2\n ❯ src/orders/odd_1.test.ts:4:23\n\n⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/1]⎯\n\n"
    " Test Files  1 failed | 9 passed (10)\n      Tests  1 failed | 98 passed (99)\n",
)
MOCHA = Kind(
    "mocha",
    "  cart @\n    ✔ totals\n    ✔ keeps what was put in (12ms)\n",
    "    1) rounds @\n",
    tail="\n\n  98 passing (92ms)\n  1 failing\n\n  1) cart\n       rounds:\n\n      AssertionError: 1 == 2\n"
    "      at Context.<anonymous> (test/a.js:19:26)\n",
)
TAP = Kind(
    "node-test",
    "# Subtest: totals of order @\nok @ - totals of order @\n  ---\n  duration_ms: 0.12\n  type: 'test'\n  ...\n",
    "# Subtest: rounds of order @\nnot ok @ - rounds of order @\n  ---\n  duration_ms: 0.12\n"
    "  location: '/w/test/cart.test.js:9:1'\n  failureType: 'testCodeFailure'\n  error: '1 == 2'\n"
    "  code: 'ERR_ASSERTION'\n  ...\n",
    "TAP version 13\n",
    "1..99\n# tests 99\n# pass 98\n# fail 1\n",
)
JUNIT = Kind(
    "junit",
    '    <testcase classname="com.acme.orders.Cart@Test" name="totals of order @" time="0.012"/>\n',
    '    <testcase classname="com.acme.orders.Odd@Test" name="rounds @" time="0.012">\n'
    '      <failure message="expected: &lt;1&gt; but was: &lt;2&gt;" type="org.opentest4j.AssertionFailedError">'
    "org.opentest4j.AssertionFailedError: expected: &lt;1&gt; but was: &lt;2&gt;\n"
    "\tat com.acme.orders.Odd@Test.rounds(Odd@Test.java:14)\n</failure>\n    </testcase>\n",
    '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n  <testsuite name="com.acme.orders">\n',
    "  </testsuite>\n</testsuites>\n",
)
KINDS = {
    "pytest -v": PYTEST, "unittest -v": UNITTEST, "maven": MAVEN, "gradle": GRADLE, "gcc under make": GCC,
    "go test -v": GO, "go test -json": GO_JSON, "cargo test": CARGO, "tsc": TSC, "mypy": MYPY, "ruff": RUFF,
    "eslint": ESLINT, "jest": JEST, "vitest": VITEST, "mocha": MOCHA, "TAP": TAP, "JUnit XML": JUNIT,
}  # fmt: skip


def write(path: Path, kind: Kind, size: int) -> None:
    """A log of about `size` bytes."""
    with path.open("w", encoding="utf-8") as file:
        file.write(kind.head)
        written = 0
        for text in _blocks(kind):
            written += file.write(text)
            if written >= size:
                break
        file.write(kind.tail)


def _blocks(kind: Kind) -> Iterator[str]:
    """Blocks without end, a failing one among every so many."""
    for number in itertools.count():
        yield (kind.passing if number % FAIL_EVERY else kind.failing).replace("@", str(number))
