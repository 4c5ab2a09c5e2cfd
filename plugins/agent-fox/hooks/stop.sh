#!/bin/sh
# Holds a chat until its work is reviewed, in projects that use agent-fox: those with a folder .agent-fox.
folder=$(cd "${CLAUDE_PROJECT_DIR:-.}" && pwd) || exit 2
while [ ! -d "$folder/.agent-fox" ]; do
	[ "$folder" = / ] && exit 0
	folder=$(dirname "$folder")
done
if ! command -v agent-fox >/dev/null; then
	echo "this project uses agent-fox, which is not on the PATH: pipx install 'agent-fox[mcp]', or take the plugin out" >&2
	exit 2
fi
agent-fox hook stop --seconds 100 || exit 2 # agent-fox: stop hook
