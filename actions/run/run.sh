#!/usr/bin/env bash
# Runs the plan, and writes report, evidence and the job's summary, however it ended. The exit code of the run goes into
# the step's outputs: the job fails in its last step, after everything was uploaded.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../quoted.sh"

read -r -a options <<<"${RUN_OPTIONS:-}"
results=${RUN_RESULTS:?where the results go}
place=$results
while [[ $place != / && $place != . && $place != "${GITHUB_WORKSPACE:-/}" ]]; do
	if [ -L "$place" ]; then # what it leads to would be written to, and uploaded
		printf '::error::agent-fox run: `results` goes through a link, %q: name a folder of its own\n' "$place"
		exit 1
	fi
	place=$(dirname -- "$place")
done
mkdir -p -- "$results"
rm -f -- "$results/report.html" "$results/evidence.jsonl" # those of the checkout are none of this run

if [ "${RUN_COMMENT:-false}" = true ] && [[ ${RUN_PULL:-} =~ ^[1-9][0-9]*$ ]]; then
	export AGENT_FOX__GITHUB__COMMENT_ON=$RUN_PULL
fi
if [ "${RUN_TRACKER:-}" = github ]; then
	export AGENT_FOX__TRACKER__KIND=github AGENT_FOX__TRACKER__CREDENTIALS=environment
	export AGENT_FOX__TRACKER__REPOSITORY=${AGENT_FOX__TRACKER__REPOSITORY:-$GITHUB_REPOSITORY}
	export AGENT_FOX__TRACKER__BASE_URL=${AGENT_FOX__TRACKER__BASE_URL:-$GITHUB_API_URL}
	export AGENT_FOX__TRACKER__LOGIN=${RUN_LOGIN:-github-actions[bot]}
	export AGENT_FOX_GITHUB_TOKEN=${RUN_TOKEN:-}
	if [ -z "${AGENT_FOX_TRACKER_KEY:-}" ]; then
		unset AGENT_FOX_TRACKER_KEY
		echo "::warning::agent-fox run: no \`tracker-key\`: the next run does not know the issues and comments of this one"
	fi
fi

code=0
quoted agent-fox run ${options[@]+"${options[@]}"} || code=$?

quoted agent-fox report --output "$results/report.html" ||
	echo "::warning::agent-fox run: there is no report: see the lines above"
quoted agent-fox ledger export --unsigned "$results/evidence.jsonl" ||
	echo "::warning::agent-fox run: the evidence was not exported: see the lines above"
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
	{
		echo '### agent-fox'
		echo
		echo '```text'
		agent-fox status 2>&1 | sed 's/```/` ` `/g'
		echo '```'
	} >>"$GITHUB_STEP_SUMMARY"
fi

if [ -n "${GITHUB_OUTPUT:-}" ]; then
	{
		echo "exit-code=$code"
		if [ "$code" -eq 0 ]; then echo "proven=true"; else echo "proven=false"; fi
	} >>"$GITHUB_OUTPUT"
fi
