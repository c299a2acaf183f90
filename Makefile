# Everything runs in .venv, made from the files here; nothing else needs to be installed by hand. The demo has a light
# environment of its own, without extras and tools.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO := .venv-demo
DEMO_STAMP := $(DEMO)/.installed
NEW_ENOUGH := import sys; sys.exit("sfumato needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None

.PHONY: kernels peers private help env browser screenshots demo test lint types imports repeats tests site bench release-check compat matrix false-alarms broken exposed frontier reproduce docs extras walks tables golden guide tutorial golden-reports clean bench-memory hunt stale lock
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

env: $(STAMP) ## create .venv and install sfumato with everything the tests need
$(STAMP): pyproject.toml tools/install_dev.py
	@$(PYTHON) -c '$(NEW_ENOUGH)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python tools/install_dev.py
	@touch $(STAMP)

$(DEMO_STAMP): pyproject.toml
	@$(PYTHON) -c '$(NEW_ENOUGH)'
	test -x $(DEMO)/bin/python || $(PYTHON) -m venv $(DEMO)
	@echo "installing sfumato and nothing else into $(DEMO), once"
	@$(DEMO)/bin/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $(DEMO_STAMP)

demo: $(DEMO_STAMP) ## the main job on the table that ships with sfumato, in a light environment; results in demo-output/
	@$(DEMO)/bin/python -m sfumato demo --output demo-output

test: lint imports repeats ## linters, types, import check, repeats and all tests
	@$(MAKE) --no-print-directory -j2 types kernels
	@$(MAKE) --no-print-directory tests

lint: $(STAMP) ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP) ## mypy, strict
	$(BIN)/mypy

imports: $(STAMP) ## who may import whom
	$(BIN)/python tools/check_imports.py

repeats: $(STAMP) ## nothing of ten lines stands twice
	$(BIN)/python tools/check_repeats.py

kernels: $(STAMP) # for all workers of the tests at once, on the core that mypy leaves free
	$(BIN)/python tools/compile_kernels.py

browser: $(STAMP) ## the Chromium that the studio's tests drive: install it, or say how
	$(BIN)/python tools/install_browser.py

tests: $(STAMP) browser ## the tests and the examples in docstrings and docs
	# three workers on two cores: one of them often waits, for a browser, Java or a disk; threads of the libraries would wait for one another
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 3 --dist loadgroup --durations=10

release-check: $(STAMP) ## the checklist of a release: builds, checks, clean installs (PYTHONS="python3.12 ..."), SBOM, types of the examples
	$(BIN)/python tools/install_dev.py release
	$(BIN)/python tools/release_check.py $(PYTHONS)

compat: ## smoke test with the oldest and the newest supported libraries, each in a clean environment
	$(PYTHON) tools/compat.py

bench: $(STAMP) ## the benchmark suite, or BENCH=kernels,files of it: into benchmarks/results.json and docs/benchmarks.md
	$(BIN)/python benchmarks/run.py $(BENCH)

private: $(STAMP) ## what differential privacy costs beside peers, into docs/dp.md (needs SFUMATO_DATA; benchmarks/private.py says how to get peers)
	$(BIN)/python benchmarks/private.py

bench-memory: $(STAMP) ## release a CSV file of 2 GB in less than 1 GB of memory; writes benchmarks/release_memory.json
	$(BIN)/python benchmarks/release_memory.py

matrix: $(STAMP) ## run every attack on every method and write the matrix into docs/attacks.md (needs SFUMATO_DATA)
	$(BIN)/python tools/make_matrix.py

false-alarms: $(STAMP) ## audit independent pairs of tables and write how many are graded below A into docs/attacks.md (needs SFUMATO_DATA)
	$(BIN)/python tools/make_false_alarms.py

broken: $(STAMP) ## audit releases that undo themselves, and variants of them, and write their grades into docs/attacks.md
	$(BIN)/python -m tools.make_broken

exposed: $(STAMP) ## what releases tell of the exposed few, into docs/exposed.md (JOBS=16, ONE_DRAW=700; SFUMATO_DATA adds two real tables)
	$(BIN)/python -m tools.make_exposed $(if $(JOBS),--jobs $(JOBS)) $(if $(ONE_DRAW),--one-draw $(ONE_DRAW))

frontier: $(STAMP) ## all methods on all tables, into docs/frontier.md (needs SFUMATO_DATA; more than an hour)
	$(BIN)/python tools/make_frontier.py

reproduce: $(STAMP) ## the papers' experiments in full, into docs/reproduction.md (needs SFUMATO_DATA)
	$(BIN)/python tools/make_reproduction.py --check

docs: $(STAMP) ## regenerate the README table and the pictures of the docs
	$(BIN)/python tools/make_docs.py

peers: $(STAMP) ## release the demo table with three other tools, audit them, write docs/other-tools.md (installs them from PyPI for once)
	$(BIN)/python tools/make_peers.py

extras: $(STAMP) ## measure what each extra weighs, into README.md
	$(BIN)/python tools/make_extras.py

screenshots: $(STAMP) browser ## pictures of each step of the studio, into docs/img
	$(BIN)/python tools/make_screenshots.py

site: $(STAMP) ## the documentation site, into site/: open site/index.html, no server and no network needed
	$(BIN)/python tools/make_site.py

walks: $(STAMP) ## count the files that a release, an audit, a fit and a preview enter, into DESIGN.md
	$(BIN)/python tools/count_walks.py

tables: $(STAMP) ## regenerate the tables of the random variates (must not change within a stream version)
	$(BIN)/python tools/make_tables.py

golden: $(STAMP) ## regenerate the golden digests (only with a new stream version)
	$(BIN)/python tools/make_golden.py

guide: $(STAMP) browser ## the measured parts of docs/guide: comparison on the demo table, chart, picture of a report
	$(BIN)/python tools/make_guide.py

tutorial: $(STAMP) ## what the commands of the tutorial print, and the measured parts of docs/concepts
	$(BIN)/python tools/make_tutorial.py
	$(BIN)/python tools/make_concepts.py

golden-reports: $(STAMP) ## regenerate the golden report pages (look at the difference first)
	$(BIN)/python -m tests.report.reports

SECONDS ?= 60
hunt: $(STAMP) ## odd tables, damaged files, failing system calls and allocations; SECONDS=3600 for an hour, WRITE=--write for docs/reliability.md
	$(BIN)/python -m tools.hunt.run $(SECONDS) $(WRITE)

lock: $(STAMP) ## the versions and hashes of everything that development needs, into requirements-dev.lock (needs uv)
	uv pip compile pyproject.toml --all-extras --group dev --group site --generate-hashes --no-emit-index-url \
	  --python-version 3.11 --custom-compile-command "make lock" -q -o requirements-dev.lock

stale: ## which generated pages are older than what they tell of
	@$(PYTHON) tools/stale.py

clean: ## remove the environment and everything generated
	rm -rf $(VENV) $(DEMO) demo-output site .pytest_cache .mypy_cache .ruff_cache .hypothesis
