// The functions of the language by which tests work out what they expect, as they were before any file was loaded.
// Clocks, chance and output are not among them: tests put others in their place.
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

// The name of one that was replaced; empty where none was.
exports.replaced = () => {
  for (let at = 0; at < kept.length; at++) {
    const [home, key, value] = kept[at];
    if (own(home, key)?.value !== value) return `${typeof key === "symbol" ? key.description : key} was replaced`;
  }
  return "";
};
