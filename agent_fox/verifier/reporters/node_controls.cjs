// Preloaded by `node --test` into each file's process: two pairs of tests whose outcome is known, around its own.
// It is copied under a name made for one run, and the tests are called by that name and the file's.
if ((process.env.NODE_TEST_CONTEXT ?? "").startsWith("child")) {
  const name = require("node:path").basename(__filename, ".cjs");
  const { replaced } = require(`./${name}_kept.cjs`);
  const options = process.execArgv.includes("--test-only") ? { only: true } : {};
  const pair = (when) => {
    const { test } = require("node:test");
    const assert = require("node:assert");
    const isRaised = ([name, ...given]) => {
      try {
        assert[name](...given);
      } catch {
        return true;
      }
      return false; // an assertion that holds makes the test pass that must fail, which is seen
    };
    test(`${name}_${when}_passes ${process.argv[1]}`, options, () => assert.strictEqual(replaced(), ""));
    test(`${name}_${when}_fails ${process.argv[1]}`, options, () => FALSE.every(isRaised) && assert.fail(name));
  };
  const FALSE = [
    ["ok", false], ["equal", 0, 1], ["strictEqual", 0, 1], ["notStrictEqual", 0, 0], ["deepEqual", [0], [1]],
    ["deepStrictEqual", [0], [1]], ["match", "a", /b/], ["throws", () => {}],
    ...[undefined, null, NaN, true, {}].flatMap((odd) => [["strictEqual", odd, 0], ["deepStrictEqual", odd, 0]]),
  ];
  const { emit } = process;
  process.emit = function (event, ...rest) {
    if (event !== "beforeExit") return emit.call(this, event, ...rest);
    process.emit = emit;
    pair("after");
    setTimeout(() => {}, 1); // with something left to do the event comes again, and node:test hears it then
    return true;
  };
  pair("before");
}
