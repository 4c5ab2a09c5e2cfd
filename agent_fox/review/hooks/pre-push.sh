#!/bin/sh
# agent-fox pre-push hook: no branch, tag or other reference is pushed before the close-out gate has passed for what is
# new by it. Installed by `agent-fox gate --install-hook`. The task is `git config agent-fox.task`, else the name of the
# branch or tag; the change is counted from what the remote has, else from `git config agent-fox.base`, else from the
# remote's main branch, else from any branch of it. Of a remote that has nothing, all files are new.
remote=$1
code=0

known() { # COMMIT: what the remote has there, if it is here
	case $1 in
	*[!0]*) git rev-parse --verify --quiet "$1^{commit}" ;;
	esac
}

is_new() { # COMMIT KNOWN: whether the remote gets a commit by it; where it cannot be told, it does
	found=$(git rev-list -n 1 "$1" --not ${2:+"$2"} --remotes="$remote" --) || return 0
	[ -n "$found" ]
}

base_of() { # COMMIT KNOWN: where what is new on the remote begins
	[ -n "$2" ] && echo "$2" && return
	for name in "$(git config --get agent-fox.base)" "refs/remotes/$remote/HEAD" "refs/remotes/$remote/main" \
		"refs/remotes/$remote/master" $(git for-each-ref --format='%(refname)' "refs/remotes/$remote/"); do
		[ -n "$name" ] && git merge-base "$name^{commit}" "$1" >/dev/null 2>&1 &&
			[ "$(git rev-parse "$name^{commit}")" != "$1" ] && { echo "$name" && return; }
	done
	git hash-object -t tree /dev/null
}

judge() { # COMMIT REF KNOWN
	name=${2#refs/heads/}
	name=${name#refs/tags/}
	task=$(git config --get agent-fox.task) || task=$name
	d='[0123456789abcdef]'
	case $task in
	afx-$d$d$d$d$d$d$d$d$d$d$d$d) agent-fox gate --task-id "$task" --commit "$1" ;; # a review has a base of its own
	*) agent-fox gate --task-id "$task" --base "$(base_of "$1" "$3")" --commit "$1" ;;
	esac </dev/null >&2
}

if ! command -v agent-fox >/dev/null 2>&1; then
	echo "pre-push: agent-fox is not on PATH, so the close-out gate cannot be asked; install it, or remove this hook" >&2
	exit 1
fi
while read -r _ object ref there; do
	case $object in *[!0]*) ;; *) continue ;; esac # a branch is removed: nothing of it arrives
	if ! commit=$(git rev-parse --verify --quiet "$object^{commit}"); then
		echo "pre-push: $ref is no commit, so the close-out gate cannot judge what it brings along" >&2
		code=1
		continue
	fi
	there=$(known "$there")
	if is_new "$commit" "$there"; then
		judge "$commit" "$ref" "$there" || code=1
	fi
done
exit $code
