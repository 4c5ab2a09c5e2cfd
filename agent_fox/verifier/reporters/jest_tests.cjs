// Four tests of ours in a file of Jest, called by the name of this file and the path of that one.
const { basename } = require("node:path");
const { expect, test } = require("@jest/globals");

const NAME = basename(__filename, "_tests.cjs");
const { replaced } = require(`./${NAME}_kept.cjs`);
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
for (const when of ["before", "after"]) {
  const name = (end) => `${NAME}_${when}_${end} ${expect.getState().testPath}`;
  test(name("passes"), () => expect(replaced()).toBe(""));
  test(name("fails"), () => {
    if (FALSE.every(isRaised)) throw new Error(NAME);
  });
}
