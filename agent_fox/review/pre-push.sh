#!/bin/sh
# agent-fox pre-push hook: no branch is pushed before the close-out gate has passed for what is new on it.
# Installed by `agent-fox gate --install-hook`. The task is `git config agent-fox.task`, else the branch's name; the
# change is counted from what the remote has, else from `git config agent-fox.base`, else from the remote's main branch.
remote=$1
code=0

base_of() { # COMMIT KNOWN: where what is new on the remote begins
	known=$2
	case $known in
	*[!0]*) git cat-file -e "$known^{commit}" 2>/dev/null && { echo "$known" && return; } ;;
	esac
	for name in "$(git config --get agent-fox.base)" "refs/remotes/$remote/HEAD" "refs/remotes/$remote/main" \
		"refs/remotes/$remote/master" main master; do
		[ -n "$name" ] && git rev-parse --verify --quiet "$name^{commit}" >/dev/null &&
			[ "$(git rev-parse "$name^{commit}")" != "$1" ] && { echo "$name" && return; }
	done
	git rev-list --max-parents=0 "$1" | tail -n 1
}

if ! command -v agent-fox >/dev/null 2>&1; then
	echo "pre-push: agent-fox is not on PATH, so the close-out gate cannot be asked; install it, or remove this hook" >&2
	exit 1
fi
while read -r _ commit ref known; do
	case $commit in *[!0]*) ;; *) continue ;; esac # a branch is removed: nothing of it arrives
	case $ref in refs/heads/*) ;; *) continue ;; esac
	task=$(git config --get agent-fox.task) || task=${ref#refs/heads/}
	agent-fox gate --task-id "$task" --base "$(base_of "$commit" "$known")" --commit "$commit" </dev/null >&2 || code=1
done
exit $code
