# `make` alone lists what there is. Everything starts from nothing: Python 3.11 or newer, git and make are enough.

VENV   := .venv
BIN    := $(VENV)/bin
PYTHON := $(BIN)/python
READY  := $(VENV)/.ready
DEMO   := build/demo
GATES  := build/gates/node_modules
FAULT_ROUNDS ?= 50
SPREAD := -n 3 --dist loadfile
FAULTS := tests/engine/test_kill.py tests/engine/test_issue_histories.py tests/specs/test_made_specs.py \
	tests/stories/test_faults_outside.py tests/stories/test_faults_at_call_sites.py
MORE ?=
PYTHONS ?=
TRACKER ?= local
AGENTS  ?= claude codex gemini opencode mini claude-agent-acp codex-acp qwen
AGENT_CLIS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/agent-fox/agents

unexport PYTHONDONTWRITEBYTECODE # what pytest makes of a test file is kept: making it again takes half a minute

.DEFAULT_GOAL := help
.PHONY: help run quick test full test-mcp test-agents check bench bench-long backtest mutants planted proofs contact simulate faults acceptance release clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# With TRACKER=github: `agent-fox run --tracker github` against a stand-in for GitHub, through the whole life of an issue.
run: $(READY) ## the main job, from nothing: a whole plan over several specs of a small project (TRACKER=github)
	@rm -rf $(DEMO) build/state && mkdir -p build
ifeq ($(TRACKER),github)
	@XDG_STATE_HOME="$(CURDIR)/build/state" $(PYTHON) -m agent_fox.testing.life $(DEMO)
else
	@$(PYTHON) -m agent_fox.testing.demo $(DEMO)
	@export PATH="$(CURDIR)/$(BIN):$$PATH" XDG_STATE_HOME="$(CURDIR)/build/state"; \
	cd $(DEMO) && code=0 && { agent-fox run --parallel 3 || code=$$?; } && \
	if [ $$code -eq 2 ]; then \
		echo; echo "The demonstration ended as it should: not everything is proven, so agent-fox exited with 2."; \
		echo "Look around: cd $(DEMO); ../../$(BIN)/agent-fox status"; \
		agent-fox report | tail -1; \
	else \
		echo "make run: agent-fox exited with $$code, but the demonstration ends with 2" >&2; exit 1; \
	fi
endif

quick: $(READY) ## the core's tests, and those of what changed since the last commit (a minute)
	@$(PYTHON) -m tools.quick

test: $(READY) ## the tests, from nothing
	@$(PYTHON) -m tools.github_description || [ $$? -eq 75 ] # where it cannot be had, its tests are skipped and say so
	$(PYTHON) -m pytest $(SPREAD) -m "not agents and not slow" --budgets $(MORE)

full: $(READY) ## everything: long histories, attacks, faults, other people's checks, real agents' programs
	@$(PYTHON) -m tools.github_description || [ $$? -eq 75 ]
	$(PYTHON) -m pytest $(SPREAD) -m "not agents"
	$(MAKE) test-mcp test-agents faults

test-agents: $(READY) ## the real agents' programs (AGENTS="claude codex ...", fetched once) against a scripted model
	$(PYTHON) -m tools.agent_clis $(AGENT_CLIS) $(AGENTS)
	AGENT_FOX_TEST_CLIS=$(AGENT_CLIS) $(PYTHON) -m pytest $(SPREAD) -m agents

test-mcp: $(READY) ## other people's checks of the MCP server: conformance suite and inspector (fetched by npm)
	$(PYTHON) -m tools.third_party

check: $(READY) ## format, lint, types, architecture, own specs, docs and tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/agent-fox lint --strict
	$(MAKE) test

bench: $(READY) ## measured figures, each beside its floor, in five minutes (QUICK=1: in one; PEERS=1: DBOS and LangGraph too)
	@$(if $(PEERS),test -x build/peers/bin/pip || $(PYTHON) -m venv build/peers; build/peers/bin/pip install -q -r bench/peers.txt)
	$(if $(PEERS),PEERS_PYTHON=build/peers/bin/python) $(PYTHON) -m bench $(if $(QUICK),--quick)

bench-long: $(READY) ## the same with the largest plans, logs and folders
	$(PYTHON) -m bench --long

backtest: $(READY) ## what policies of retrying would have solved over recorded attempts (DATA=FOLDER, see docs/retries.md)
	@test -n "$(DATA)" || { echo "make backtest: DATA=FOLDER is wanted, with recorded attempts; see docs/retries.md" >&2; exit 1; }
	@$(PYTHON) -m bench.backtest "$(DATA)"

mutants: $(READY) ## mutation tests of the core: every mutant that lives needs a written reason (JOBS=2 ONLY="waivers temporal")
	$(PYTHON) -m tools.mutants --jobs $(or $(JOBS),1) $(ONLY)

planted: $(READY) ## planted bugs: every one that the tests do not catch needs a written reason
	$(PYTHON) -m tools.planted_bugs

proofs: $(READY) $(GATES) ## may gamed, empty and honest tests be called proven? (ALL=1: each case; SEED=N: a tenth of them)
	$(PYTHON) -m tools.proofs $(if $(SEED),--part $(SEED),$(if $(ALL),,--each 1))

simulate: $(READY) ## the engine on a made world where everything goes wrong, seed by seed (SEEDS=1000 JOBS=1)
	$(PYTHON) -m tools.simulation --seeds $(or $(SEEDS),1000) --jobs $(or $(JOBS),1)

# Packages that some of the cases need; where they cannot be had, these are left out, and counted.
$(GATES):
	@mkdir -p $(@D) && cp fixtures/gates/package.json $(@D)/ && \
		(cd $(@D) && npm install --silent --no-audit --no-fund) || echo "jest and vitest cannot be had: cases that need them are left out" >&2

contact: $(READY) ## what `verify` says to real projects at first contact (CONTACT=FOLDER SOURCES=FOLDER PART=n/m ONLY="click Go")
	$(PYTHON) -m tools.contact $(if $(CONTACT),--folder "$(CONTACT)") $(if $(SOURCES),--sources "$(SOURCES)") \
		$(if $(PART),--part $(PART)) $(if $(ONLY),--only $(ONLY))

faults: $(READY) ## crash and fault injection, longer than the tests
	FAULT_ROUNDS=$(FAULT_ROUNDS) $(PYTHON) -m pytest $(SPREAD) $(FAULTS)
	$(PYTHON) -m bench.github_faults --rounds $(FAULT_ROUNDS)
	$(PYTHON) -m bench.github_faults --rounds $(FAULT_ROUNDS) --controls

acceptance: $(READY) ## black-box checks of the command line, where their folder is there
	@if [ -f ../shared/acceptance/run.py ]; then \
		PATH="$(CURDIR)/$(BIN):$$PATH" $(PYTHON) ../shared/acceptance/run.py $(NAMES); \
	else \
		echo "make acceptance: ../shared/acceptance is not here, so there is nothing to run"; \
	fi

release: $(READY) ## build what is published, and try it as strangers will have it (PYTHONS="/opt/python3.14 ...")
	$(PYTHON) -m tools.release --python $(PYTHONS)

clean: ## remove everything that was made, the virtual environment too
	rm -rf $(VENV) build dist mutants .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# A second call is quick: the environment is made again only after pyproject.toml has changed.
$(READY): pyproject.toml
	@command -v git >/dev/null || { echo "make: git is needed; install it first" >&2; exit 1; }
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "make: python3 must be Python 3.11 or newer, and is $$(python3 --version 2>&1)" >&2; exit 1; }
	@echo "setting up $(VENV) (a minute, the first time)"
	@python3 -m venv $(VENV)
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)
