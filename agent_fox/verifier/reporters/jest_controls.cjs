// Jest's test runner with tests of ours around those of each file. It is copied under a name made for one run, by which
// the tests are called, beside `NAME_tests.cjs`, which writes them. Jest is told of them and does not count them: neither
// exit code nor `--bail` nor thresholds see that one of each pair fails. A test that fails is not run again by Jest.
const { createRequire } = require("node:module");
const path = require("node:path");

const NAME = path.basename(__filename, ".cjs");
const isOurs = (test) => typeof test?.name === "string" && test.name.startsWith(NAME);

function found(root) {
  for (const [first, ...others] of [["jest-circus/runner"], ["jest", "@jest/core", "jest-config", "jest-circus/runner"]]) {
    for (const from of [path.join(root, "package.json"), require.main?.filename ?? __filename]) {
      try {
        const last = [first, ...others].reduce((at, name) => createRequire(at).resolve(name), from);
        const module = require(last);
        return module.default ?? module;
      } catch {
        continue; // it is installed elsewhere
      }
    }
  }
  throw new Error("jest-circus, the test runner of Jest, is not found");
}

// Without the hooks of the file, first and last, whatever the file chooses.
function arrange(state) {
  const root = state.rootDescribeBlock;
  const ours = root.children.filter(isOurs);
  const others = root.children.filter((child) => !isOurs(child));
  root.tests = root.tests.filter((test) => !isOurs(test));
  root.children = others.length ? [...ours.slice(0, 2), ...others, ...ours.slice(2)] : [];
  const apart = { ...root, children: ours, tests: ours, hooks: [], parent: undefined };
  for (const test of ours) {
    test.parent = apart;
    test.mode = state.hasFocusedTests ? "only" : undefined;
  }
  const chosen = state.testNamePattern;
  if (chosen) state.testNamePattern = { test: (id) => id.startsWith(NAME) || chosen.test(id) };
}

function watched(environment) {
  const own = environment.handleTestEvent;
  environment.handleTestEvent = function (event, state) {
    if (event.name === "run_start") arrange(state);
    if (event.name === "run_describe_start") delete environment.global[Symbol.for("RETRY_TIMES")];
    if (event.name === "hook_failure" && event.hook.type === "beforeAll") {
      for (const test of state.rootDescribeBlock.children.filter(isOurs)) test.errors = [];
    }
    return isOurs(event.test) || (event.testName ?? "").startsWith(NAME) ? undefined : own?.call(this, event, state);
  };
}

function uncounted(result) {
  const ours = result.testResults.filter((one) => one.title.startsWith(NAME));
  result.numPassingTests -= ours.filter((one) => one.status === "passed").length;
  result.numFailingTests -= ours.filter((one) => one.status === "failed").length;
  const said = (result.failureMessage ?? "").split(/^(?= {2}● )/mu).filter((part) => !part.includes(NAME));
  result.failureMessage = result.numFailingTests ? said.join("") : null;
  return result;
}

module.exports = async (globalConfig, config, environment, runtime, testPath, tell, ...more) => {
  watched(environment);
  const setupFilesAfterEnv = [path.join(__dirname, `${NAME}_tests.cjs`), ...config.setupFilesAfterEnv];
  const told = tell && ((event, [file, one]) => (one?.title?.startsWith(NAME) ? undefined : tell(event, [file, one])));
  const own = { ...config, setupFilesAfterEnv };
  return uncounted(await found(config.rootDir)(globalConfig, own, environment, runtime, testPath, told, ...more));
};
