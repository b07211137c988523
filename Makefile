# Every target sets up what it needs: a virtual environment from plain venv and pip, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= auto

.PHONY: designs demo test test-slow test-all test-lab test-docs test-spark test-dist lint format bench lab figures docs dist audit examples simulate mutants clean

demo: .venv-demo/.ready ## release statistics of real wages: a table and a plot; installs only what it needs
	PYTHONPATH=src .venv-demo/bin/python -m sourdine demo --out demo

# Bytecode is kept, whatever the shell says: else every process that a test starts compiles all anew.
TESTING := OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=
PYTEST := $(TESTING) $(BIN)/python -m pytest -q

# Tests without a mark are quick; tests/tiers.py says what the marks are.
TESTS := $(PYTEST) -n $(WORKERS) --dist worksteal tests

test: $(VENV)/.ready ## quick tests of every package, including doctests; run before every commit
	$(TESTS) -m "not slow and not simulation"

test-slow: $(VENV)/.ready ## slow tests of the library
	$(TESTS) -m "slow and not simulation"

test-all: test lint test-slow test-lab test-docs test-dist test-spark ## everything except simulations; what CI runs

test-lab: $(VENV)/.ready ## tests of the lab: all claims and experiments
	$(PYTEST) -n $(WORKERS) lab/tests

test-docs: $(VENV)/.ready ## tests of the manual: build, links, and every code block of README and docs
	$(PYTEST) -n $(WORKERS) --dist loadfile docs/tests

# Java is looked for, never downloaded. SOURDINE_SPARK=required makes a failure of a skip.
test-spark: ## tests with Spark, classic and Connect; needs Java 17 on the path or in JAVA_HOME
	@if command -v "$${JAVA_HOME:+$$JAVA_HOME/bin/}java" > /dev/null; then \
	  $(MAKE) --no-print-directory .venv-spark/.ready && \
	  $(TESTING) .venv-spark/bin/python -m pytest -q tests_spark -m "not simulation"; \
	else \
	  printf '\033[31m%s\033[0m\n' "test-spark needs Java 17: apt-get install openjdk-17-jre-headless, or set JAVA_HOME. Skipped."; \
	  test "$$SOURDINE_SPARK" != required; \
	fi

test-dist: dist ## tests of the built wheels in a clean environment
	$(PYTEST) tests_dist

lint: $(VENV)/.ready ## style, types and import layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

examples: $(VENV)/.ready ## three examples with a plot each, in examples/out
	$(BIN)/python examples/agent_loop.py
	$(BIN)/python examples/ten_thousand_queries.py
	$(BIN)/python examples/fooled_sketch.py

audit: $(VENV)/.ready ## exact worst case and sampling of all registered mechanisms
	$(BIN)/sourdine audit

BENCHMARKS := startup speed noise quantiles local accuracy accounting

bench: .venv-bench/.ready $(VENV)/.ready ## compare with NumPy, OpenDP, diffprivlib, pure-ldp and multi-freq-ldpy: a table and a plot
	@for name in $(BENCHMARKS); do .venv-bench/bin/python benchmarks/$$name.py || echo "$$name: a promise was missed"; done
	$(BIN)/python benchmarks/table.py

designs: $(VENV)/.ready ## compute the table of optimal local designs: hours; continues where it was stopped
	$(TESTING) $(BIN)/python benchmarks/designs.py make

lab: $(VENV)/.ready ## reproduce the figures and check the claims of the papers: lab-report/lab.html
	$(BIN)/sourdine lab all

figures: lab ## run the lab and copy its figures, numbers and verdicts into the manual
	mkdir -p docs/lab/figures docs/lab/numbers
	cp lab-report/figures/*.png docs/lab/figures
	cp lab-report/numbers/*.csv docs/lab/numbers
	cp lab-report/claims.json docs/lab

dist: $(VENV)/.ready ## wheels and source distributions of the library and the lab, in dist
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --outdir dist lab

docs: $(VENV)/.ready ## build the manual in docs/_build/html
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

simulate: $(VENV)/.ready .venv-spark/.ready ## simulations (two hours): call grids, interval coverage, surveys, densities, large tables, adversaries, fuzzing, kills
	$(BIN)/python benchmarks/coverage.py
	$(BIN)/python benchmarks/populations.py
	$(BIN)/python benchmarks/regression.py
	$(BIN)/python benchmarks/many_quantiles.py
	$(BIN)/python benchmarks/cdf.py
	$(BIN)/python benchmarks/descriptions.py
	$(BIN)/python benchmarks/surveys.py
	$(BIN)/python benchmarks/rounds.py
	$(BIN)/python benchmarks/report.py
	$(BIN)/python benchmarks/densities.py
	$(BIN)/python benchmarks/large_tables.py
	$(BIN)/python benchmarks/pima.py
	$(BIN)/python benchmarks/ledger.py
	$(BIN)/python benchmarks/guard.py
	$(BIN)/python benchmarks/growing_guard.py
	$(BIN)/python benchmarks/adversaries.py
	$(BIN)/python benchmarks/queries.py
	$(BIN)/python benchmarks/f2.py
	$(BIN)/python benchmarks/robust.py
	$(BIN)/python benchmarks/mincut.py
	SOURDINE_FUZZ=10020 $(BIN)/python -m pytest -q tests/central/test_fuzz.py
	$(TESTS) -m simulation
	$(TESTING) .venv-spark/bin/python -m pytest -q tests_spark -m simulation

mutants: $(VENV)/.ready ## hours: about 180 deliberate bugs, and which tests find each; MUTANTS="--resume" goes on after a stop
	$(BIN)/python tests/mutants/run.py $(MUTANTS)

$(VENV)/.ready: pyproject.toml lab/pyproject.toml constraints.txt
	$(call make_venv,$(VENV),-e '.[dev$(comma)plot$(comma)docs]' -e ./lab,constraints.txt)

.venv-demo/.ready: pyproject.toml constraints.txt
	$(call make_venv,.venv-demo,--no-compile attrs matplotlib narwhals numpy rich typer,constraints.txt)

.venv-bench/.ready: pyproject.toml constraints-bench.txt
	$(call make_venv,.venv-bench,-e '.[bench]',constraints-bench.txt)
	@.venv-bench/bin/python -m pip --quiet install --no-deps -c constraints-bench.txt dp-accounting # asks for an old attrs, runs with any

.venv-spark/.ready: pyproject.toml constraints-spark.txt
	$(call make_venv,.venv-spark,-e '.[spark$(comma)density]' hypothesis polars pytest,constraints-spark.txt)

comma := ,
# $(1) folder, $(2) what to install, $(3) constraints
define make_venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Sourdine needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "Setting up $(1) (a minute, once)"
	@$(PYTHON) -m venv $(1)
	@$(1)/bin/python -m pip --disable-pip-version-check --quiet install -c $(3) $(2)
	@touch $(1)/.ready
endef

clean:
	rm -rf .venv .venv-bench .venv-demo .venv-spark demo lab-report lab-report-quick docs/_build build dist
