"""What the tools themselves print when something other than the code is wrong: signs, and what each of them means.

Only lines that a tool wrote may be shown to `sign_of`; keeping the output of tests away from it is the caller's part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.verdict import Disposition


class Weight(StrEnum):
    """What can still show that the change caused the trouble, against what the sign alone suggests."""

    NOTHING = "nothing"
    BUILD_FILE = "a build file that the change edited"
    BUILD_FILE_AND_BASE = "an edited build file, and the base tree where it does not happen"
    REPEATS = "that it happens again"
    REPEATS_AND_BASE = "that it happens again, and not on the base tree"


@dataclass(frozen=True, slots=True)
class Sign:
    """One kind of trouble. `needs_network`: without a network it only means that nothing could be looked up."""

    name: str
    disposition: Disposition
    pattern: re.Pattern[str]
    weight: Weight = Weight.NOTHING
    needs_network: bool = False


def _sign(name: str, disposition: Disposition, weight: Weight, *patterns: str, needs_network: bool = False) -> Sign:
    return Sign(name, disposition, re.compile("|".join(patterns), re.IGNORECASE), weight, needs_network)


_ENVIRONMENT, _INFRASTRUCTURE = Disposition.ENVIRONMENT, Disposition.INFRASTRUCTURE

DISK_FULL = _sign(
    "the disk is full",
    _INFRASTRUCTURE,
    Weight.NOTHING,
    r"No space left on device|\bENOSPC\b|Disk quota exceeded|not enough space on the disk",
)
READ_ONLY = _sign(
    "a place that has to be written cannot be",
    _ENVIRONMENT,
    Weight.NOTHING,
    r"Read-only file system|\bEROFS\b|an error writing to the directory",
    r"creating work dir: .*(?:no such file|permission denied)",
    r"No usable temporary directory|cannot create temporary (?:file|directory)",
)
BUSY = _sign(
    "something else on the machine held a lock",
    _INFRASTRUCTURE,
    Weight.NOTHING,
    r"Timeout waiting to lock|Could not acquire lock|lock file .* held by|Another process is using",
)
NETWORK = _sign(
    "the network, or a server beyond it, failed",
    _INFRASTRUCTURE,
    Weight.NOTHING,
    r"Temporary failure in name resolution|Name or service not known|Unknown ?host|No such host|Could not resolve host",
    r"\b(?:EAI_AGAIN|ENOTFOUND|ECONNRESET|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)\b",
    r"Connection (?:was )?(?:reset|refused|timed out|aborted|closed)|Connect(?:ion)? timed out|Read timed out",
    r"i/o timeout|TLS handshake timeout|Timeout was reached|connection broken by|spurious network error|dial tcp",
    r"Network is unreachable|No route to host|dns error|error sending request|Premature end of",
    r"Bad Gateway|Service Unavailable|Gateway Time-?out|Too Many Requests|rate limit exceeded",
    r"status (?:code|of)?:? ?(?:429|5\d\d)\b|\bE(?:429|5\d\d)\b|ERR_PNPM_(?:META_)?FETCH_(?:429|5\d\d|FAIL)",
    r"HTTP error (?:429|5\d\d)|returned error: (?:429|5\d\d)",
    needs_network=True,
)
TRY_AGAIN = _sign(
    "the machine had no process or memory to give",
    _INFRASTRUCTURE,
    Weight.REPEATS_AND_BASE,
    r"Resource temporarily unavailable|Cannot allocate memory|virtual memory exhausted|out of memory allocating",
    r"insufficient memory for the Java|commit_memory.* failed",
    r"unable to create (?:new )?native thread|fork: retry|cannot fork\b",
    r"failed to map segment from shared object|^memory allocation of \d+ bytes failed",
    r"^(?:fatal error: )?(?:runtime: (?:out of memory|cannot allocate)|failed to reserve page summary memory)",
)
KILLED = _sign(
    "a process was killed from outside",
    _INFRASTRUCTURE,
    Weight.REPEATS_AND_BASE,
    r"Killed signal terminated|signal: killed$|signal: 9\b|\bSIGKILL\b|Exit Code: 1(?:37|43)\b",
    r"\] (?:Error 137|Killed)$|^[\w./-]+: Killed$",
    r"forked VM terminated|daemon disappeared unexpectedly|signal: terminated$|signal: 15\b",
)
HEAP = _sign(
    "the heap or the number of open files was not enough",
    _INFRASTRUCTURE,
    Weight.REPEATS,
    r"heap out of memory|FATAL ERROR: .*Allocation failed|OutOfMemoryError|\bEMFILE\b|GC overhead limit",
    r"too many open files|ran out of memory and crashed",
)
AUTHENTICATION = _sign(
    "a server wanted other credentials, or had no trusted certificate",
    _ENVIRONMENT,
    Weight.NOTHING,
    r"status code: (?:401|403|407)\b|\bE(?:401|403)\b|NEEDAUTH|FETCH_40[13]|Unauthorized|(?-i:Forbidden)",
    r"Proxy Authentication Required|Incorrect or missing password|Authentication failed|could not read Username",
    r"PKIX path|certificate (?:verify|signed|has expired)|CERT_\w+|\w+_SIGNED_CERT\b|UNABLE_TO_(?:VERIFY|GET)",
    r"self[- ]signed certificate|SSLCertVerification",
)
OFFLINE = _sign(
    "a package is not on this machine, and none may be fetched",
    _ENVIRONMENT,
    Weight.NOTHING,
    r"\boffline mode\b|GOPROXY=off|only-if-cached|ENOTCACHED|NO_OFFLINE_|--offline was specified|because --offline",
)
MALFORMED = _sign(
    "a manifest that cannot be read",
    Disposition.REPAIRABLE,
    Weight.NOTHING,
    r"Invalid requirement|\bEJSONPARSE\b|EINVALIDPACKAGENAME|missing go\.sum entry|no required module provides package",
    r"cannot find module providing package|Non-parseable POM|invalid: must be of the form",
)
LOCAL = _sign(
    "what the project asks for is not there, or does not fit together",
    _ENVIRONMENT,
    Weight.BUILD_FILE,
    r"location searched: /|failed to read `|ERESOLVE|PEER_DEP|conflicting dependencies|ResolutionImpossible",
    r"By not providing \"Find|Could not find a package configuration file|(?-i:Could NOT find )|cannot find -l",
    r"unable to find library -l|library not found for -l|A required package was not found",
    r"Could not find \S+ using the following (?:names|files)|No package '[^']+' found",
    r"None of the required '[^']+' found",
    r"failed to run custom build command for `[^`(]+`",
    r"Could not find directory of|The system library `|was not found in the pkg-config",
    r"Could not open requirements file|No solution found|version solving failed",
)
CHECKSUM = _sign(
    "what was fetched is not what the lock file names",
    _INFRASTRUCTURE,
    Weight.BUILD_FILE,
    r"checksum mismatch|changed between lock files|EINTEGRITY|DO NOT MATCH THE HASHES",
    r"integrity check failed|TARBALL_INTEGRITY",
)
LOCK = _sign(
    "the lock file is missing or out of step",
    Disposition.VERIFIER_FAULT,
    Weight.BUILD_FILE,
    r"in sync\. Please update|from lock file|OUTDATED_LOCKFILE|NO_LOCKFILE|FROZEN_LOCKFILE|--locked was passed",
    r"with an existing package-lock|lockfile would have been modified",
    r"inconsistent vendoring|lockfile needs to be updated|lock file .* needs to be updated",
)
NO_ANSWER = _sign(
    "no version of a package was found, not even another one",
    _INFRASTRUCTURE,
    Weight.BUILD_FILE_AND_BASE,
    r"from versions: none",
    needs_network=True,
)
UNRESOLVED = _sign(
    "a package or version that nobody has",
    _ENVIRONMENT,
    Weight.BUILD_FILE,
    r"Could not find artifact|Could not find \S+:\S+:|No matching (?:distribution|version)|NO_MATCHING|\bETARGET\b",
    r"\bE404\b|FETCH_404|unknown revision|no matching package|failed to select a version|Couldn't find any versions",
    r"is not in this registry|Couldn't find package|not found: module|candidate versions found which didn't match",
    needs_network=True,
)
WRONG_VERSION = _sign(
    "a tool of another version is wanted",
    _ENVIRONMENT,
    Weight.BUILD_FILE_AND_BASE,
    r"release version \S+ not supported|invalid (?:source|target) release|requires a different Python|EBADENGINE",
    r"Unsupported engine|UNSUPPORTED_ENGINE|Incompatible module|incompatible with this module|No matching toolchains",
    r"No interpreter found",
    r"requires rustc|rustc \S+ is not supported|module requires Go|requires go >=|or higher is required",
    r"invalid go version '|toolchain not available|Could not determine java version|could not choose a version of",
    r"'minversion' requires |Required version `[^`]+` does not match the running|is older than the `\d+` edition",
    r"feature `edition\d+` is required|unrecognized command[- ]line option|clang: error: unknown argument",
    r"package (?:cmp|iter|log/slog|maps|math/rand/v2|slices|testing/synctest|unique|weak) is not in (?:GOROOT|std)\b",
    r"Unsupported class file|UnsupportedClassVersionError|compiled by a more recent version",
)
MISSING_TOOL = _sign(
    "a tool is missing or cannot be run",
    _ENVIRONMENT,
    Weight.BUILD_FILE_AND_BASE,
    r":(?: command)? not found$|command not found|executable file not found|no such command|linker `\S+` not found",
    r"\bpython[\d.]*: No module named|can't open file|is not recognized as|could not determine executable",
    r"cannot execute|Exec format error|bad interpreter|^env: .*No such file|\(never executed\)",
    r"Permission denied|EACCES",
    r"No compiler is provided|JAVA_HOME is not|JAVA_HOME environment|Unable to locate a Java|can't find crate for `",
    r"Missing required plugins: |Test environment \S+ cannot be found|Preset \S+ not found relative",
    r"(?:Could not|Can't) find a (?:config file|root directory)",
    r"Module [^.\s/<]\S* in the \w+ option was not found|Cannot find dependency '",
    r"main class org\.gradle\.wrapper|GOCACHE is not defined|Executable doesn't exist at",
    r"^ModuleNotFoundError: No module named '(?:_?pytest|pluggy|coverage|mypy|black|ruff)'",
    r"Could not find any Python|error while loading shared libraries|`GLIBC\w*_[\d.]+' not found",
    r"target may not be installed|CMAKE_\w+_COMPILER|Could not find (?:tools\.jar|compiler)|couldn't find the plugin",
)
SANDBOX = _sign("the sandbox could not be set up", _ENVIRONMENT, Weight.NOTHING, r"^bwrap: ")
TOOL_BROKE = _sign(
    "the tool itself broke",
    _ENVIRONMENT,
    Weight.NOTHING,
    r"^(?:\S+:\d+(?::\d+)?: )?(?:error: )?internal compiler error: |the compiler unexpectedly panicked",
    r"^INTERNAL ERROR -- Please|^Fatal Python error: init_|Ruff crashed",
    r"process didn't exit successfully: `\S*rustc .*\(signal: (?:4|6|7|11)\b",
)
USAGE = _sign(
    "the tool does not take what the profile asks of it",
    Disposition.VERIFIER_FAULT,
    Weight.BUILD_FILE_AND_BASE,
    r"unrecognized arguments?|unexpected argument|Unrecognized option|unknown option|invalid (?:flag|option)|^usage: ",
    r"no such option|Missing script|Task '.*' not found|no makefile found|No rule to make target '[^']+'\.(?:\s|$)",
    r"matched no packages|no packages to test|Cannot read file: No such|Non-readable POM .*\(No such file",
    r"POM file .* does not exist|no POM in this directory|Unknown lifecycle phase",
)
UNKNOWN_FLAG = _sign(
    "the test runner does not know a flag that the profile gives",
    Disposition.VERIFIER_FAULT,
    Weight.BUILD_FILE_AND_BASE,
    r"^Usage of \S+\.test:",
)
CRASH = _sign(
    "the code crashed",
    Disposition.REPAIRABLE,
    Weight.NOTHING,
    r"signal: (?:4|6|7|8|11)\b|signal: (?:aborted|segmentation fault|illegal instruction)",
)

OWN_SCRIPT = _sign(
    "the project's own build script fails",
    _ENVIRONMENT,
    Weight.BUILD_FILE_AND_BASE,
    r"^╰─> from file:///",
)
NO_SUCH_IMPORT = _sign(
    "an import names a package that the language does not have",
    Disposition.REPAIRABLE,
    Weight.NOTHING,
    r"package \S+ is not in (?:GOROOT|std)\b",
)

_OF_RESOLVERS = (OFFLINE, MALFORMED, AUTHENTICATION, NETWORK, CHECKSUM, WRONG_VERSION, LOCK, NO_ANSWER, UNRESOLVED)
_OF_MACHINE = (SANDBOX, DISK_FULL, READ_ONLY, BUSY, TOOL_BROKE, TRY_AGAIN, KILLED, HEAP)
_OF_TOOLS = (WRONG_VERSION, LOCK, USAGE, MALFORMED, LOCAL, MISSING_TOOL, CRASH)

OF_DEPENDENCIES = (DISK_FULL, READ_ONLY, LOCAL, *_OF_RESOLVERS, *_OF_MACHINE, *_OF_TOOLS, OWN_SCRIPT)
OF_OTHERS = (*_OF_MACHINE, *_OF_TOOLS)

_A_RESOLVERS_LINE = regex(
    r"(?:\[(?:ERROR|WARNING)\]|npm (?:error|ERR!)|\s*> |(?:error|warning|fatal|ERROR|WARNING): |error |go: |Caused by:"
    r"|\s+Caused by: |\s*\[\d+\] | ?ERR_PNPM|➤ |Exception in thread \"main\" java\.net\."
    r"|\S+\.go:\d+:\d+: |verifying \S+@)"
)


def sign_of(lines: Iterable[str], signs: Iterable[Sign]) -> Sign | None:
    """The first of `signs` that any of the lines bears: the order is that of `signs`, not that of the lines."""
    known_lines = list(lines)
    return next((sign for sign in signs if any(sign.pattern.search(line) for line in known_lines)), None)


def resolver_sign(lines: Iterable[str]) -> Sign | None:
    """What lines in the form of a package manager's own complaint say of packages and of the way to them."""
    return sign_of((line for line in lines if _A_RESOLVERS_LINE.match(line)), _OF_RESOLVERS)
