#!/usr/bin/env bash
# Asks the gate about one task, or about HEAD by a signed statement; its exit code is the job's. The history must be fetched
# (actions/checkout with fetch-depth: 0). What is judged is what is committed: that is what will be merged. Findings and
# warnings go to the summary of the job.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../quoted.sh"

if ! command -v agent-fox >/dev/null; then
	echo "::error::agent-fox gate: agent-fox is not on the PATH; install it in a step before this one" >&2
	exit 1
fi

base_of_change() {
	if [ -n "${GITHUB_BASE_REF:-}" ]; then
		echo "refs/remotes/origin/$GITHUB_BASE_REF" # in full: a tag may be called origin/main
	elif [[ ${GATE_BEFORE:-} =~ [1-9a-f] ]]; then # zeros: the branch is new
		echo "$GATE_BEFORE"
	fi
}

judge_task() {
	task=${GATE_TASK_ID:-${GITHUB_REF_NAME:-}}
	if [ -z "$task" ]; then
		echo "::error::agent-fox gate: no task is named: give \`task-id\` (\`github.head_ref\` is empty on a push)" >&2
		exit 1
	fi
	base=${GATE_BASE:-}
	if [[ -z $base && ! $task =~ ^afx-[0-9a-f]{12}$ ]]; then # a review task has a base of its own
		base=$(base_of_change)
	fi
	quoted agent-fox gate --task-id "$task" --commit HEAD --output-dir "${GATE_OUTPUT_DIR:-outputs/verification}" \
		${GATE_INPUT_DIR:+--input-dir "$GATE_INPUT_DIR"} ${base:+--base "$base"} \
		${GATE_SARIF:+--sarif "$GATE_SARIF"} \
		${GITHUB_STEP_SUMMARY:+--summary "$GITHUB_STEP_SUMMARY"}
}

# A key inside of the checkout counts as the base of the change has it: a change could bring its own.
key_of_base() {
	local top real base kept
	top=$(git rev-parse --show-toplevel) || return 1
	real=$(realpath -- "$GATE_KEY" 2>/dev/null)
	if [ ! -e "$GATE_KEY" ] || [[ $real != "$top"/* && $GATE_KEY =~ ^(/|\.\./) ]]; then
		echo "$GATE_KEY"
		return
	fi
	base=${GATE_BASE:-$(base_of_change)}
	kept=$(mktemp "${RUNNER_TEMP:-/tmp}/agent-fox-key.XXXXXX") || return 1
	if [ -z "$base" ] || ! git cat-file blob "$base:${real#"$top"/}" >"$kept" 2>/dev/null; then
		printf '::error::agent-fox gate: the key %q lies in the checkout, and the base of this change does not have it: %s\n' \
			"$GATE_KEY" 'commit it before, or write it to $RUNNER_TEMP from a variable of the repository' >&2
		return 1
	fi
	echo "$kept"
}

judge_commit() {
	key=
	if [ -n "${GATE_KEY:-}" ]; then key=$(key_of_base) || return 1; fi
	quoted agent-fox gate --commit HEAD --evidence "$GATE_EVIDENCE" ${key:+--key "$key"} \
		${GITHUB_STEP_SUMMARY:+--summary "$GITHUB_STEP_SUMMARY"}
}

code=0
if [ -n "${GATE_EVIDENCE:-}" ]; then judge_commit; else judge_task; fi || code=$?

if [ -n "${GITHUB_OUTPUT:-}" ]; then
	if [ "$code" -eq 0 ]; then echo "passed=true"; else echo "passed=false"; fi >>"$GITHUB_OUTPUT"
fi
exit "$code"
