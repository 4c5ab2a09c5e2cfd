#!/usr/bin/env bash
# Asks the gate about one task, or about HEAD by a signed statement; its exit code is the job's. The history must be fetched
# (actions/checkout with fetch-depth: 0). What is judged is what is committed: that is what will be merged. Findings and
# warnings go to the summary of the job.
set -uo pipefail

if ! command -v agent-fox >/dev/null; then
	echo "::error::agent-fox gate: agent-fox is not on the PATH; install it in a step before this one" >&2
	exit 1
fi

judge_task() {
	task=${GATE_TASK_ID:-${GITHUB_REF_NAME:-}}
	if [ -z "$task" ]; then
		echo "::error::agent-fox gate: no task is named: give \`task-id\` (\`github.head_ref\` is empty on a push)" >&2
		exit 1
	fi
	base=${GATE_BASE:-}
	if [[ -z $base && ! $task =~ ^afx-[0-9a-f]{12}$ ]]; then # a review task has a base of its own
		if [ -n "${GITHUB_BASE_REF:-}" ]; then
			base=origin/$GITHUB_BASE_REF
		elif [[ ${GATE_BEFORE:-} =~ [1-9a-f] ]]; then # zeros: the branch is new
			base=$GATE_BEFORE
		fi
	fi
	agent-fox gate --task-id "$task" --commit HEAD --output-dir "${GATE_OUTPUT_DIR:-outputs/verification}" \
		${GATE_INPUT_DIR:+--input-dir "$GATE_INPUT_DIR"} ${base:+--base "$base"} \
		${GATE_SARIF:+--sarif "$GATE_SARIF"} \
		${GITHUB_STEP_SUMMARY:+--summary "$GITHUB_STEP_SUMMARY"}
}

judge_commit() {
	agent-fox gate --commit HEAD --evidence "$GATE_EVIDENCE" ${GATE_KEY:+--key "$GATE_KEY"} \
		${GITHUB_STEP_SUMMARY:+--summary "$GITHUB_STEP_SUMMARY"}
}

code=0
if [ -n "${GATE_EVIDENCE:-}" ]; then judge_commit; else judge_task; fi || code=$?

if [ -n "${GITHUB_OUTPUT:-}" ]; then
	if [ "$code" -eq 0 ]; then echo "passed=true"; else echo "passed=false"; fi >>"$GITHUB_OUTPUT"
fi
exit "$code"
