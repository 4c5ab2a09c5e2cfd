// Vitest's runner with tests of ours around those of each file. It is copied under a name made for one run, by which the
// tests are called, with the places of Vitest's own modules and of the file that hears how ours ended. To Vitest, those
// that fail are such that are expected to: neither exit code nor `--bail` nor thresholds see that one of each pair fails.
// A test that fails is not run again by it.
import { appendFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename } from "node:path";
import { expect, test } from "AFX_VITEST/dist/index.js";
import { VitestTestRunner } from "AFX_VITEST/dist/runners.js";
import { getCurrentSuite, getHooks, setHooks } from "AFX_VITEST/dist/suite.js";

const NAME = "AFX_NAME";
const { replaced } = createRequire(import.meta.url)("./AFX_NAME_kept.cjs");
const TOLD = "AFX_TOLD";
const isOurs = (task) => task.name.startsWith(NAME);
const FALSE = [
  () => expect(0).toBe(1), () => expect([0]).toEqual([1]), () => expect({ a: 0 }).toStrictEqual({ a: 1 }),
  () => expect(0).toBeTruthy(), () => expect(1).toBeFalsy(), () => expect(0).toBeNull(), () => expect(0).not.toBe(0),
  () => expect([0]).toContain(1), () => expect("a").toMatch(/b/), () => expect(() => {}).toThrow(),
  () => expect({ a: 0 }).toMatchObject({ a: 1 }), () => expect([]).toHaveLength(1), () => expect(0).toBeGreaterThan(1),
  ...[undefined, null, Number.NaN, true, "", {}].flatMap((odd) => [() => expect(odd).toBe(0), () => expect(odd).toEqual(0)]),
];
const isRaised = (claim) => {
  try {
    claim();
  } catch {
    return true;
  }
  return false; // a claim that holds makes the test pass that must fail, which is seen
};

function pair(when, file) {
  test(`${NAME}_${when}_passes ${file}`, { retry: 0, repeats: 0 }, () => expect(replaced()).toBe(""));
  test(`${NAME}_${when}_fails ${file}`, { retry: 0, repeats: 0, fails: true }, () => {
    if (FALSE.every(isRaised)) throw new Error(NAME);
  });
}

// A suite without the hooks of the file.
function apart(file) {
  const suite = { ...file, tasks: [] };
  const none = Object.keys(getHooks(file) ?? {}).map((hook) => [hook, []]);
  setHooks(suite, Object.fromEntries(none));
  return suite;
}

export default class Controlled extends VitestTestRunner {
  async importFile(file, source) {
    const imported = await super.importFile(file, source);
    const tasks = source === "collect" ? getCurrentSuite().tasks : [];
    if (tasks.length) {
      pair("before", file);
      tasks.unshift(...tasks.splice(-2));
      pair("after", file);
    }
    return imported;
  }

  onCollected(files) {
    for (const file of files) {
      for (const task of file.tasks.filter(isOurs)) task.mode = "run";
    }
    return super.onCollected?.(files);
  }

  async onBeforeRunTask(task) {
    if (isOurs(task)) task.suite = apart(task.file);
    task.retry = 0;
    return super.onBeforeRunTask(task);
  }

  onAfterRunTask(task) {
    if (!isOurs(task)) return super.onAfterRunTask(task);
    delete task.suite;
    const isAsItShould = task.result?.state === "pass"; // of one that is to fail, if it failed
    const failed = isAsItShould === /^afx_\w+_fails /u.test(task.name);
    appendFileSync(TOLD, `${JSON.stringify({ name: task.name, failed })}\n`);
  }
}
