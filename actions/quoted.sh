# Runs a program whose output may quote tests, agents and the change: nothing in it is a command to the runner.
quoted() {
	local token code=0
	token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
	echo "::stop-commands::${token:?no random bytes}"
	"$@" 2>&1 || code=$?
	printf '\n::%s::\n' "$token"
	return "$code"
}
