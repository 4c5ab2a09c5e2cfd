"""What is read of the script `test` of a package.json: its runner, and what builds before it."""

from __future__ import annotations

import pytest

from agent_fox.verifier.projects.scripts import read_script


@pytest.mark.parametrize(
    ("script", "runner", "options", "targets"),
    [
        ("jest", "jest", (), ()),
        ("jest --runInBand src", "jest", ("--runInBand",), ("src",)),
        ("cross-env NODE_ENV=test jest --ci", "jest", ("--ci",), ()),
        ("vitest run --config v.ts", "vitest", ("--config", "v.ts"), ()),
        (
            "npm run lint && mocha -r ts-node/register 'test/**/*.ts'",
            "mocha",
            ("-r", "ts-node/register"),
            ("test/**/*.ts",),
        ),
        ("node --import tsx --test src/a.test.ts", "node-test", ("--import", "tsx"), ("src/a.test.ts",)),
        ("./node_modules/.bin/jest", "jest", (), ()),
        ("nyc tape 'test/**/*.js'", "tape", (), ("test/**/*.js",)),
        ("uvu -r esm test -i fixtures", "uvu", ("-r", "esm", "-i", "fixtures"), ("test",)),
        ("cross-env A=1 react-scripts test --env=jsdom --watchAll=false", "react-scripts", ("--env=jsdom",), ()),
        ("craco test src --coverage", "craco", ("--coverage",), ("src",)),
        ("c8 ava --tap --serial", "ava", ("--serial",), ()),
        ("jasmine --config=jasmine.json", "jasmine", ("--config=jasmine.json",), ()),
        ("qunit test/**/*.js", "qunit", (), ("test/**/*.js",)),
        ("tap -R spec test", "tap", (), ("test",)),
        ("mocha --ignore test/old.js test", "mocha", (), ("test",)),
    ],
)
def test_a_test_script_is_read_for_its_runner(
    script: str, runner: str, options: tuple[str, ...], targets: tuple[str, ...]
) -> None:
    read = read_script(script)
    assert read is not None
    assert (read.runner, read.options, read.targets) == (runner, options, targets)


OTHERS = {
    "lint": "eslint .",
    "unit": "nyc --reporter=lcov --reporter text mocha --require test/support/env",
    "test:types": "tsc --noEmit",
    "test:spec": "vitest run",
    "api": "node --conditions development test/index.js",
    "cover": "c8 --100 --reporter lcov -- npm run api",
    "round": "npm run round",
}


@pytest.mark.parametrize(
    ("script", "runner", "options", "targets"),
    [
        ("npm run lint && npm run unit", "mocha", ("--require", "test/support/env"), ()),
        ("npm run unit -- --exit", "mocha", ("--require", "test/support/env", "--exit"), ()),
        ('pnpm run "/^test:.*/"', "vitest", (), ()),
        ("pnpm run /^test:/", "vitest", (), ()),
        ("yarn unit", "mocha", ("--require", "test/support/env"), ()),
        ("pnpm lint && pnpm vitest run", "vitest", (), ()),
        ("npm run lint && npm run cover", "node-test", ("--conditions", "development"), ("test/index.js",)),
        ("node test.js", "node-test", (), ("test.js",)),
    ],
)
def test_a_script_that_calls_others_is_followed(
    script: str, runner: str, options: tuple[str, ...], targets: tuple[str, ...]
) -> None:
    read = read_script(script, OTHERS)
    assert read is not None
    assert (read.runner, read.options, read.targets) == (runner, options, targets)


PARTS = {
    "test:unit": "mocha --exit",
    "test:types": "tsc --noEmit",
    "unit": "vitest run",
    "lint": "eslint .",
    "esm": "node --experimental-vm-modules node_modules/jest/bin/jest.js",
}
MODULES = (("NODE_OPTIONS", "--experimental-vm-modules"),)


@pytest.mark.parametrize(
    ("script", "runner", "options", "targets", "variables"),
    [
        ("tape test/*.js | tap-spec", "tape", (), ("test/*.js",), ()),
        ("standard && tape test/*.js | tap-min", "tape", (), ("test/*.js",), ()),
        ("jest | tee log", "jest", (), (), ()),
        ("mocha 2>&1 | bunyan", "mocha", (), (), ()),
        ("mocha > out.txt", "mocha", (), (), ()),
        ("standard | snazzy && tap", "tap", (), (), ()),
        ("tsx --test test/*.ts", "node-test", ("--import", "tsx"), ("test/*.ts",), ()),
        ("tsx --test --test-concurrency 1", "node-test", ("--import", "tsx", "--test-concurrency", "1"), (), ()),
        ("node node_modules/mocha/bin/_mocha -t 500", "mocha", ("-t", "500"), (), ()),
        ("node ./node_modules/mocha/bin/mocha.js", "mocha", (), (), ()),
        ("node --experimental-vm-modules node_modules/jest/bin/jest.js src", "jest", (), ("src",), MODULES),
        ("node --experimental-vm-modules node_modules/.bin/jest --ci", "jest", ("--ci",), (), MODULES),
        ("npm run esm -- --runInBand", "jest", ("--runInBand",), (), MODULES),
        ("node --no-warnings --experimental-vm-modules ./node_modules/vitest/vitest.mjs run", "vitest", (), (),
         (("NODE_OPTIONS", "--no-warnings --experimental-vm-modules"),)),
        ("env NODE_ENV=test mocha", "mocha", (), (), (("NODE_ENV", "test"),)),
        ("run-s test:*", "mocha", ("--exit",), (), ()),
        ("run-p lint unit", "vitest", (), (), ()),
        ("npm-run-all --parallel lint test:unit", "mocha", ("--exit",), (), ()),
        ("npm-run-all -s lint 'test:**'", "mocha", ("--exit",), (), ()),
        ("concurrently npm:lint npm:unit", "vitest", (), (), ()),
        ("concurrently 'npm run lint' 'npm run unit'", "vitest", (), (), ()),
        ("concurrently \"npm:test:*\"", "mocha", ("--exit",), (), ()),
        ("npm t", None, (), (), ()),
        ("nyc --silent node node_modules/mocha/bin/mocha test", "mocha", (), ("test",), ()),
        ("ts-node node_modules/tape/bin/tape test/*.ts", None, (), (), ()),
        ("mocha --ui 'a|b' || true", "mocha", ("--ui", "a|b"), (), ()),
        ("node scripts/jest.js", None, (), (), ()),
        ("cat mocha | node", None, (), (), ()),
        ("tsx scripts/mocha.ts", None, (), (), ()),
        ("run-s lint", None, (), (), ()),
        ("echo 'jest > all'", None, (), (), ()),
    ],
)  # fmt: skip
def test_a_script_is_read_through_what_stands_around_its_runner(
    script: str,
    runner: str | None,
    options: tuple[str, ...],
    targets: tuple[str, ...],
    variables: tuple[tuple[str, str], ...],
) -> None:
    read = read_script(script, PARTS)
    assert (read.runner if read else None) == runner
    if read:
        assert (read.options, read.targets, read.variables) == (options, targets, variables)


@pytest.mark.parametrize("script", ["npm run round", "npm run lint", "npm run", "node scripts/check.js test/a.js"])
def test_a_script_that_leads_to_no_runner_is_not_guessed(script: str) -> None:
    assert read_script(script, OTHERS) is None


@pytest.mark.parametrize(
    "others",
    [
        {"": "npm run x", "x": ""},
        {f"x{number}": 'npm run "/^x/"' for number in range(1_000)},
        {"x": "npm run y;" * 20_000, "y": "npm run z;" * 20_000, "z": ""},
    ],
)
def test_scripts_that_call_one_another_without_end_are_given_up(others: dict[str, str]) -> None:
    assert read_script('npm run x; npm run "/^x/"', others) is None


@pytest.mark.parametrize("script", ["", "make test", "tsc", "echo $(jest)", "karma start"])
def test_a_script_without_a_known_runner_is_not_guessed(script: str) -> None:
    assert read_script(script) is None


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("jest --passWithNoTests", "--passWithNoTests"),
        ("jest --testPathIgnorePatterns=slow", "--testPathIgnorePatterns=slow"),
        ("mocha --grep fast", "--grep"),
        ("NODE_OPTIONS='--require ./x.js' jest", "NODE_OPTIONS"),
        ("eslint . && jest", "does more than"),
        ("ava --match=*fast*", "--match=*fast*"),
        ("tape --ignore .skipped", "--ignore"),
        ("tap --bail", "--bail"),
        ("uvu --bail", "--bail"),
        ("jasmine --filter=adds", "--filter=adds"),
    ],
)
def test_what_a_script_says_to_leave_tests_out_is_left_aside_and_told(script: str, said: str) -> None:
    read = read_script(script)
    assert read is not None
    assert (read.options, read.targets, read.variables) == ((), (), ())
    assert any(said in note for note in read.notes)


@pytest.mark.parametrize(
    ("script", "runner", "options", "targets"),
    [
        ("jest test/zone.test --coverage=false && jest --coverage", "jest", ("--coverage",), ()),
        ("TZ=A jest zone && TZ=B jest zone && jest", "jest", (), ()),
        ("node --test --test-reporter=spec a.js && node --test b/*.js", "node-test", (), ("a.js", "b/*.js")),
        ("tape a.js && tape b.js && tape a.js", "tape", (), ("a.js", "b.js")),
        ("mocha --config a x && mocha y", "mocha", ("--config", "a"), ("x",)),
        ("vitest run && vitest run --config b.ts", "vitest", (), ()),
        ("ava && tap x", "ava", (), ()),
        ("mocha x && jest && mocha y", "mocha", (), ("x", "y")),
        ("run-s one two", "node-test", (), ("test/one.js", "test/two.js")),
    ],
)
def test_several_calls_of_a_runner_are_one_that_runs_as_much(
    script: str, runner: str, options: tuple[str, ...], targets: tuple[str, ...]
) -> None:
    read = read_script(script, {"one": "node --test test/one.js", "two": "node --test test/two.js"})
    assert read is not None
    assert (read.runner, read.options, read.targets) == (runner, options, targets)


STEPS = {
    "prebuild": "rimraf lib",
    "build": "tsc -p tsconfig.build.json",
    "bundle": "shx rm -rf out && rollup -c",
    "lint": "eslint . && prettier --check .",
}


@pytest.mark.parametrize(
    ("script", "before"),
    [
        ("tsc && node --test dist/test/*.js", ["tsc"]),
        ("npm run build && mocha", ["rimraf lib", "tsc -p tsconfig.build.json"]),
        ("npm run build --silent && mocha", ["rimraf lib", "tsc -p tsconfig.build.json"]),
        ("npm run bundle && npm run lint && tap", ["shx rm -rf out", "rollup -c"]),
        ("run-s lint bundle && ava", ["shx rm -rf out", "rollup -c"]),
        ("eslint . && tsc --noEmit && jest", []),
        ("xo && ava && tsd", []),
        ("jest && tsc", []),
        ("tsc -w && mocha", []),
        ("tsc -p . && mocha", ["tsc -p ."]),
        ("babel . -d lib --ignore node_modules && mocha", ["babel . -d lib --ignore node_modules"]),
        ("tsc --build --verbose && mocha", ["tsc --build --verbose"]),
        ("NODE_ENV=test babel src -d lib && tape test/*.js", ["env NODE_ENV=test babel src -d lib"]),
        ("cross-env A=b tsup && vitest run", ["env A=b tsup"]),
        ("rm -rf out && mkdir out && esbuild a.ts && uvu", ["rm -rf out", "mkdir out", "esbuild a.ts"]),
        ("rm -rf ../other && tsc && tap", ["tsc"]),
        ("rm -rf / && rm -rf node_modules && tap", []),
        ("rm -rf ./.git && rm -rf * && rm -rf ./node_modules/ && rimraf ./lib && tap", ["rimraf ./lib"]),
        ("cp -r /etc build && tap", []),
        ("node scripts/build.mjs && node --test", ["node scripts/build.mjs"]),
        ("node server.js && node --test", []),
        ("./scripts/build.sh && ./scripts/deploy.sh && node --test", ["./scripts/build.sh"]),
        ("vite build && vitest run", ["vite build"]),
        ("vite && vitest run", []),
        ("webpack serve && mocha", []),
        ("npx tsc && npx mocha", ["tsc"]),
        ("yarn build && yarn jest", ["rimraf lib", "tsc -p tsconfig.build.json"]),
        ("npm publish && npm version patch && tap", []),
        ("nyc tsc | tee log && tap", ["tsc"]),
        ("docker compose up && tap", []),
        ("npm run build --workspaces --if-present && tap", []),
        ("npm run build -w packages/a && pnpm --filter a build && tap", []),
        ("npm run build && npm run build && tap", ["rimraf lib", "tsc -p tsconfig.build.json"]),
    ],
)  # fmt: skip
def test_what_builds_before_the_tests_is_run_and_nothing_else(script: str, before: list[str]) -> None:
    read = read_script(script, STEPS)
    assert read is not None
    assert [" ".join(argv) for argv in read.before] == before


def test_what_npm_runs_before_the_tests_by_itself_is_read_too() -> None:
    read = read_script("tap", {"pretest": "npm run lint && npm run build", **STEPS})
    assert read is not None
    assert read.before == (("rimraf", "lib"), ("tsc", "-p", "tsconfig.build.json"))
    assert any("the rest is not run" in note for note in read.notes)
