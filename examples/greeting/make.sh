#!/bin/sh
# Makes the small repository of the README's run in the folder that is named: a spec, and the tests it names.
set -eu
mkdir -p "$1/.agent-fox/specs/01_greeting" "$1/tests"
cd "$1"
git init -q -b main
cat > .agent-fox/specs/01_greeting/requirements.md <<'EOF'
### Requirement 1: Greeting
1. [01-REQ-1.1] WHEN called with a name, `greet` SHALL return "Hello, NAME!".
2. [01-REQ-1.E1] IF the name is empty, THEN `greet` SHALL return "Hello, stranger!".
EOF
cat > .agent-fox/specs/01_greeting/tasks.md <<'EOF'
## Test Commands
- Spec tests: `python -m pytest tests`

## Tasks
- [ ] 1. Write greeting.py
  - [ ] 1.1 Greet by name
    - _Requirements: 01-REQ-1.1, 01-REQ-1.E1_
EOF
cat > tests/test_greeting.py <<'EOF'
import pathlib, sys
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from greeting import greet

def test_it_greets_by_name():
    """01-REQ-1.1"""
    assert greet("Ada") == "Hello, Ada!"

def test_it_greets_a_stranger():
    """01-REQ-1.E1"""
    assert greet("") == "Hello, stranger!"
EOF
printf '[project]\nname = "greeting"\nversion = "1"\n' > pyproject.toml
git add -A
git -c user.name=you -c user.email=you@localhost commit -qm "A spec and its tests"
