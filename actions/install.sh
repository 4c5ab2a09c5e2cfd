#!/usr/bin/env bash
# Puts the agent-fox of this very tag on the PATH of the steps that follow, in an environment of its own. One that is on
# the PATH already is used as it is. Python runs isolated (-I): the checkout that this starts in may hold a `venv.py`.
set -euo pipefail

if command -v agent-fox >/dev/null; then
	exit 0
fi
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
home=${RUNNER_TEMP:?this script runs in a job of GitHub Actions}/agent-fox
if ! python3 -I -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
	echo "::error::agent-fox needs Python 3.11 or newer: put actions/setup-python in a step before this one" >&2
	exit 1
fi
unset PYTHONPATH PYTHONHOME # what pip starts is not isolated
python3 -I -m venv "$home"
"$home/bin/python" -I -m pip install --quiet --disable-pip-version-check "$source"
echo "$home/bin" >>"$GITHUB_PATH"
