# Two commands are enough: `make demo` and `make test`. Everything here needs only Python 3.11.5+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNS := $(VENV)/.runs
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test test-chosen test-all coverage up bench docs format lint type lock clean

help: ## This list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(RUNS): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11, 5))' || \
		{ echo "$(PYTHON) is $$($(PYTHON) -V 2>&1). Trigpoint needs Python 3.11.5 or later: make PYTHON=python3.12 …"; exit 1; }
	@echo "Installing pinned packages into $(VENV) (once; 900 MB on disk, a few minutes)…"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install -q --no-deps --require-hashes -r requirements.lock
	@$(PIP) install -q --no-deps --no-build-isolation -e .
	@touch $(RUNS)

$(STAMP): $(RUNS) requirements-dev.lock
	@echo "Installing what tests and measures need…"
	@$(PIP) install -q --no-deps --require-hashes -r requirements-dev.lock
	@touch $(STAMP)

demo: $(RUNS) ## From nothing to a finished review of a sample application
	@$(BIN)/trigpoint demo run

test: $(STAMP) lint type ## Lint, types, layers, and the tests
	@$(BIN)/python -m pytest -n 2

test-all: $(STAMP) lint type ## The same, and the slow suites: faults, soak, big corpora, browsers
	@$(BIN)/python -m pytest -n 2 -m "slow or not slow" --timeout=1200

# By value for the minutes: what is promised when stores, servers and workers die, and what a person does in a browser.
CHOSEN := tests/faults/test_damaged_stores.py tests/faults/test_edge.py tests/faults/test_outages.py \
	tests/documents/test_document_faults.py tests/passages/test_crashes.py tests/api/test_hanging_redis.py \
	tests/jobs/test_worker_faults.py tests/jobs/test_judging_killed.py tests/jobs/test_space.py \
	tests/product/test_up.py tests/product/test_letter_survives.py \
	tests/web/test_letter_in_browser.py tests/web/test_pages_in_browser.py tests/web/test_pages_watch.py

test-chosen: $(STAMP) ## The fault and browser suites that .ci/run adds to `test`: those that fit into 45 minutes on two cores
	@$(BIN)/python -m pytest -n 2 --dist loadfile -m slow --timeout=600 $(CHOSEN)

coverage: $(STAMP) ## Which lines the tests run, the thinnest files first; processes that tests start are not counted
	@status=0; $(BIN)/python -m pytest -n 2 --timeout=600 --cov=trigpoint --cov-report=json:.coverage.json || status=$$?; \
		$(BIN)/python tools/coverage_table.py .coverage.json; exit $$status

up: $(RUNS) ## Everything in one process
	@$(BIN)/trigpoint up

bench: $(STAMP) ## Measure; prints a table and writes benchmarks/results.json
	@$(BIN)/python -m benchmarks

docs: $(STAMP) ## Write docs/reference/ from the code, and the site into site/
	@$(BIN)/python tools/reference.py && $(BIN)/mkdocs build -q --strict

format: $(STAMP) ## Format the code
	@$(BIN)/ruff format src tests benchmarks tools && $(BIN)/ruff check --fix src tests benchmarks tools

lint: $(STAMP) ## Style and layers
	@$(BIN)/ruff format --check src tests benchmarks tools && $(BIN)/ruff check src tests benchmarks tools
	@$(BIN)/lint-imports

type: $(STAMP) ## mypy --strict
	@$(BIN)/mypy

lock: $(STAMP) ## Rewrite the lock files from pyproject.toml; OPTIONS=--upgrade takes the newest versions
	@$(BIN)/python tools/lock.py $(OPTIONS)

clean: ## Remove the environment and what was built
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
