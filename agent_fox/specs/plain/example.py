"""The spec that `agent-fox init --spec` begins with, in both forms. How it is read is not here."""

MARKDOWN = """\
# Spec: Greeting

<!-- One file is one spec; its name is the file's. Comments such as this one are not read: take them out.
     Everything about this form: docs/plain.md. -->

A small program that greets people by name.

## Requirements

<!-- What must hold. A heading is a requirement, and each item below it is proven on its own.
     Ids are made from places (1, 1.1, 1.E1); write your own in front if you like: `- [GREET-1] WHEN ...`. -->

### A greeting by name

- WHEN the program is given a name, THE program SHALL print `Hello, NAME!` and exit with code 0.
- WHEN the program is given several names, THE program SHALL print one greeting for each, in their order.

#### Edge cases

- IF the program is given no name, THEN THE program SHALL print its usage to standard error and exit with code 2.

## Tasks

<!-- Each item at the left edge is a task group: one session of a coder, in this order. A ticked box proves nothing. -->

- [ ] Write failing tests
  - _Requirements: 1.1, 1.2, 1.E1_
- [ ] Greet people
  - [ ] Greet each name
    - _Requirements: 1.1, 1.2_
  - [ ] Refuse to greet nobody
    - _Requirements: 1.E1_

## Test commands

<!-- What shows that it holds: change these to your project's own. -->

- all tests: `python -m pytest -q`

<!-- A spec that waits for another says so:

## Depends on

- other-spec
-->
"""

TOML = """\
# One file is one spec; its name is the file's. Everything about this form: docs/plain.md.
title = "Greeting"

# A spec that waits for others names them:
# depends_on = ["other-spec"]

# What must hold. Each criterion and edge case is proven on its own. Ids are made from places (1, 1.1, 1.E1);
# write your own if you like: { id = "GREET-1", text = "WHEN ..." }.
[[requirements]]
title = "A greeting by name"
criteria = [
  "WHEN the program is given a name, THE program SHALL print `Hello, NAME!` and exit with code 0.",
  "WHEN the program is given several names, THE program SHALL print one greeting for each, in their order.",
]
edge_cases = [
  "IF the program is given no name, THEN THE program SHALL print its usage to standard error and exit with code 2.",
]

# Task groups: each is one session of a coder, in this order.
[[groups]]
title = "Write failing tests"
requirements = ["1.1", "1.2", "1.E1"]

[[groups]]
title = "Greet people"
tasks = [
  { title = "Greet each name", requirements = ["1.1", "1.2"] },
  { title = "Refuse to greet nobody", requirements = ["1.E1"] },
]

# What shows that it holds: change these to your project's own.
[test_commands]
all_tests = "python -m pytest -q"
"""
