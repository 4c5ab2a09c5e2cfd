// A reporter of `node --test` that writes JUnit XML with the file of each test, which Node's own leaves out.
const LONGEST_TEXT = 20000;

const escape = (text) =>
  String(text)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
    .replace(/[&<>"\n\t]/g, (letter) => `&#${letter.charCodeAt(0)};`);

const attribute = (name, value) => ` ${name}="${escape(value ?? "")}"`;

function ending(type, data, said) {
  if (data.skip !== undefined && data.skip !== false) return `<skipped${attribute("message", data.skip)}/>`;
  const isExpected = data.todo !== undefined && data.todo !== false;
  if (isExpected) return `<skipped${attribute("type", "pytest.xfail")}/>`;
  if (type === "test:pass") return "";
  const error = data.details?.error;
  const cause = error?.cause ?? error;
  const text = `${cause?.stack ?? cause?.message ?? cause ?? ""}\n${said}`.slice(0, LONGEST_TEXT);
  const message = said ? "collection failure" : (cause?.message ?? cause ?? "failed");
  return `<failure${attribute("message", String(message).slice(0, 500))}>${escape(text)}</failure>`;
}

function shown(type, data, around, said) {
  const isFile = data.name === data.file || (data.file ?? "").endsWith(`/${data.name}`);
  const names = isFile && data.nesting === 0 ? [data.file] : [...around, data.name];
  const places = isFile ? attribute("classname", "") : attribute("classname", around.join(" > "));
  const inner = ending(type, data, isFile ? said || "its process failed" : "");
  return `<testcase${places}${attribute("name", names.at(-1))}${attribute("file", data.file)}>${inner}</testcase>\n`;
}

export default async function* report(source) {
  const around = [];
  const said = new Map();
  yield '<?xml version="1.0" encoding="utf-8"?>\n<testsuite name="node">\n';
  for await (const { type, data } of source) {
    if (type === "test:start") {
      around.length = data.nesting;
      around[data.nesting] = data.name;
    } else if (type === "test:stderr") {
      said.set(data.file, ((said.get(data.file) ?? "") + data.message).slice(-LONGEST_TEXT));
    } else if (type === "test:pass" || type === "test:fail") {
      const kind = data.details?.type;
      const isParent = data.details?.error?.failureType === "subtestsFailed";
      const isPassedFile = type === "test:pass" && data.name === data.file;
      if (kind === "suite" || isParent || isPassedFile) continue;
      const inside = around.slice(0, data.nesting).filter((name) => name !== data.file);
      yield shown(type, data, inside, said.get(data.file) ?? "");
    }
  }
  yield "</testsuite>\n";
}
