// Required by Mocha into each process that runs tests: two pairs of tests whose outcome is known run before and after its
// own, by a runner of the same class, with hooks and settings of nobody. It is copied under a name made for one run, and
// writes how they ended into the file beside it: Mocha is told nothing of them. A test that fails is not run again by it.
const assert = require("node:assert");
const { appendFileSync } = require("node:fs");
const path = require("node:path");

const NAME = path.basename(__filename, ".cjs");
const { replaced } = require(`./${NAME}_kept.cjs`);
const TOLD = path.join(__dirname, `${NAME}.jsonl`);

const loaded = (end) => Object.keys(require.cache).find((file) => file.endsWith(end.replaceAll("/", path.sep)));
const { Runner, Suite, Test } = require.cache[loaded("/mocha/lib/mocha.cjs") ?? loaded("/mocha/lib/mocha.js")].exports;

const ODD = [undefined, null, Number.NaN, true, {}];

function claims() {
  const { expect } = require.cache[loaded("/chai/index.js") ?? loaded("/chai/lib/chai.js")]?.exports ?? {};
  const byChai = expect
    ? [
        () => expect(0).to.equal(1), () => expect([0]).to.deep.equal([1]), () => expect(false).to.be.true,
        ...ODD.flatMap((odd) => [() => expect(odd).to.equal(0), () => expect(odd).to.eql(0)]),
      ]
    : [];
  return [
    () => assert(false), () => assert.ok(0), () => assert.equal(0, 1), () => assert.strictEqual(0, 1),
    () => assert.notStrictEqual(0, 0), () => assert.deepEqual([0], [1]), () => assert.deepStrictEqual([0], [1]),
    () => assert.match("a", /b/u), () => assert.throws(() => {}), ...byChai,
    ...ODD.flatMap((odd) => [() => assert.strictEqual(odd, 0), () => assert.deepStrictEqual(odd, 0)]),
  ];
}

const isRaised = (claim) => {
  try {
    claim();
  } catch {
    return true;
  }
  return false; // a claim that holds makes the test pass that must fail, which is seen
};

function pair(when, then) {
  const suite = new Suite("", {}, true);
  suite.addTest(new Test(`${NAME}_${when}_passes`, () => assert.strictEqual(replaced(), "")));
  suite.addTest(
    new Test(`${NAME}_${when}_fails`, () => {
      if (claims().every(isRaised)) throw new Error(NAME);
    }),
  );
  const runner = new Runner(suite);
  const tell = (test, failed) => appendFileSync(TOLD, `${JSON.stringify({ name: test.title, failed })}\n`);
  runner.on("pass", (test) => tell(test, false));
  runner.on("fail", (test) => tell(test, true));
  run.call(runner, then, {});
}

Test.prototype.retries = () => 0;
const run = Runner.prototype.run;
Runner.prototype.run = function (then, options) {
  const has = this.suite.total() > 0;
  const before = has ? (next) => pair("before", next) : (next) => next();
  const after = has ? (next) => pair("after", next) : (next) => next();
  before(() => run.call(this, (failures) => after(() => then?.(failures)), options));
  return this;
};
