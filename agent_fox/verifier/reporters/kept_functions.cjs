// The functions of the language by which tests work out what they expect, as they were before any file was loaded.
// Clocks and chance are asked in another way: tests put others in their place, and only the product may not.
const own = Object.getOwnPropertyDescriptor;
const kept = [];
for (const kind of [Object, Array, String, Number, Boolean, RegExp, Map, Set]) {
  for (const home of [kind, kind.prototype]) {
    for (const key of Reflect.ownKeys(home)) {
      const { value } = own(home, key);
      if (typeof value === "function") kept.push([home, key, value]);
    }
  }
}
for (const key of ["parse", "stringify"]) kept.push([JSON, key, JSON[key]]);

const textOf = Function.prototype.call.bind(Function.prototype.toString);
const clocks = [[Date, "now"], [Math, "random"], [globalThis.performance ?? {}, "now"]].map(([home, key]) => [home, key, home[key]]);
const OF_TESTS = /(?:^|[\\/._-])(?:node_modules|\.git|__\w+__|(?:tests?|specs?|mocks?|fakes?|helpers?|stubs?|fixtures?|setup)(?=[\\/._-]|$))/i;
const MOST_FILES = 2000;

// Whether the text of a function stands in a file of the project that is none of tests, as far as can be seen.
const isOfProduct = (value, fs = require("fs"), path = require("path")) => {
  const text = textOf(value), folders = [process.cwd()];
  for (let seen = 0; folders.length && seen < MOST_FILES && !/\[native code\]\s*\}$/.test(text); ) {
    const folder = folders.pop();
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      const place = path.join(folder, entry.name);
      if (OF_TESTS.test(path.relative(process.cwd(), place))) continue;
      if (entry.isDirectory()) folders.push(place);
      else if (/\.[cm]?[jt]sx?$/.test(entry.name) && seen++ < MOST_FILES && fs.readFileSync(place, "utf8").includes(text)) return true;
    }
  }
  return false;
};

// The name of one that was replaced; empty where none was.
exports.replaced = () => {
  for (const [home, key, value] of clocks) {
    try {
      if (home[key] !== value && isOfProduct(home[key])) return `${key} was replaced`;
    } catch {
      // what cannot be read tells nothing of where it comes from
    }
  }
  for (let at = 0; at < kept.length; at++) {
    const [home, key, value] = kept[at];
    if (own(home, key)?.value !== value) return `${typeof key === "symbol" ? key.description : key} was replaced`;
  }
  return "";
};
