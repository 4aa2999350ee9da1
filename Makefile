# `make` alone lists the targets.  Each target installs what it needs, once, in $(VENV).
# Only `make servers` installs anything outside this folder.

PYTHON ?= $(shell for p in python3 python python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; raise SystemExit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
# More than processors, as tests of servers wait.
JOBS ?= 3
PYTEST ?= -n $(JOBS) --dist worksteal

BIN := $(VENV)/bin
PROJECTS := $(wildcard packages/*/pyproject.toml)
PACKAGES := $(PROJECTS:/pyproject.toml=)
TYPED := benchmarks demo scripts
# What is to reach every line of the core; under coverage, tests take twice as long.
COVERING := tests/registry_rules/ tests/zarr-core/
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input

# The tests of zarr-core need few packages; `make pytest` installs no more if PYTEST names only them.
CORE := $(addprefix packages/zarr-,core codecs conformance display dtypes formats grids sharding stores transfer)
TESTS := $(strip $(foreach word,$(PYTEST),$(if $(findstring /,$(word)),$(word))))
OTHER_TESTS := $(filter-out tests/zarr-core tests/zarr-core/%,$(TESTS))
ONLY_CORE := $(and $(TESTS),$(if $(OTHER_TESTS),,yes))

.PHONY: help demo test test-long pytest lint types format bench docs schemas packages wheels corpus \
    old-writers servers clean

help:
	@echo "make demo         write real data with this library, read it with others, draw it"
	@echo "make test         style, types, imports, tests with coverage"
	@echo "make test-long    the same, with the tests that take long"
	@echo "make pytest       tests only; PYTEST='tests/zarr-core -x' for some of them"
	@echo "make servers      install the servers and the browser that tests use: with pip and npm in"
	@echo "                  .servers, the rest with apt if this runs as root"
	@echo "make old-writers  install the libraries that wrote older formats; make test does it, too"
	@echo "make lint         style and imports only"
	@echo "make types        types only"
	@echo "make format       put the code into the common form"
	@echo "make bench        compare the speed with other libraries (BENCH='--quick' for less)"
	@echo "make wheels       build wheels and source distributions of all packages in dist"
	@echo "make corpus       build the archive of the conformance corpus in dist"
	@echo "make docs         build the documentation in build/docs"
	@echo "make schemas      publish the packages' JSON Schemas in schemas/"
	@echo "make clean        remove everything that these targets create"
	@echo
	@echo "PYTHON=python3.13 VENV=.venv-3.13 selects another Python, 3.11 or newer."
	@echo "Tests whose server is not installed are skipped."

demo: $(VENV)/.demo
	@$(BIN)/python -m demo

test: lint types $(VENV)/.old-writers
	@$(BIN)/python -m pytest $(PYTEST) $(COVERING) --cov --cov-report=term --cov-fail-under=95
	@$(BIN)/python -m pytest $(PYTEST) $(filter-out $(COVERING),$(wildcard tests/*/))

test-long: export ZARR_CORE_SLOW_TESTS = 1
test-long: test

pytest: $(if $(ONLY_CORE),$(VENV)/.core,$(VENV)/.test $(VENV)/.old-writers)
	@$(BIN)/python -m pytest $(PYTEST)

lint: $(VENV)/.dev
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/lint-imports --no-logo

types: $(VENV)/.dev
	@$(BIN)/mypy
	@$(BIN)/mypy $(TYPED)

format: $(VENV)/.dev
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

bench: $(VENV)/.dev
	@$(BIN)/python -m benchmarks $(BENCH)

schemas: $(VENV)/.dev
	@$(BIN)/python scripts/publish_schemas.py

docs: $(VENV)/.docs
	@$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs
	@echo "build/docs/index.html"

wheels: $(VENV)/.wheels
	@$(BIN)/python scripts/build_wheels.py dist

corpus: $(VENV)/.packages
	@mkdir -p dist
	@$(BIN)/python -m zarr_conformance build dist/zarr-conformance-corpus-{version}.tar.gz

# Unlike the stamp below, this retries what failed before.
old-writers: $(VENV)/.python
	@$(BIN)/python scripts/old_writers.py

servers: $(VENV)/.python
	@$(BIN)/python scripts/install_servers.py

clean:
	rm -rf .servers .venv .venv-* demo-output build dist .coverage .coverage.* \
	    .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# --- set-up: a stamp is a file as old as what it stands for; newer inputs make it again ---

packages: $(VENV)/.packages

$(VENV)/.python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; none was found. Say where: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "setting up $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) || { echo "the venv module of $(PYTHON) does not work; on Debian it is the package python3-venv" >&2; exit 1; }
	@$(PIP) install --quiet --upgrade "pip>=25.1"
	@touch $@

$(VENV)/.build: $(VENV)/.python
	@$(PIP) install --quiet --group build
	@touch $@

# Entry points are read when a package is installed, so a changed pyproject.toml installs it again.
$(VENV)/.packages: $(VENV)/.build $(PROJECTS)
	@echo "installing $(notdir $(PACKAGES))"
	@$(PIP) install --quiet --no-build-isolation $(foreach package,$(PACKAGES),--editable $(package))
	@touch $@

$(VENV)/.core: $(VENV)/.build $(PROJECTS) pyproject.toml
	@echo "installing $(notdir $(CORE)) with what the tests of zarr-core need"
	@$(PIP) install --quiet --no-build-isolation --group test-core \
	    $(foreach package,$(CORE),--editable $(package))
	@touch $@

$(VENV)/.wheels: $(VENV)/.build pyproject.toml
	@echo "installing what builds and checks packages"
	@$(PIP) install --quiet --group wheels
	@touch $@

$(VENV)/.demo: $(VENV)/.packages pyproject.toml
	@echo "installing what the demonstration needs"
	@$(PIP) install --quiet --group demo
	@touch $@

$(VENV)/.docs: $(VENV)/.packages pyproject.toml
	@echo "installing what the documentation needs"
	@$(PIP) install --quiet --group docs
	@touch $@

$(VENV)/.test: $(VENV)/.packages pyproject.toml
	@echo "installing what the tests need"
	@$(PIP) install --quiet --group test
	@touch $@ $(VENV)/.core $(VENV)/.demo $(VENV)/.docs

$(VENV)/.dev: $(VENV)/.packages pyproject.toml
	@echo "installing what development needs"
	@$(PIP) install --quiet --group dev
	@touch $@ $(VENV)/.test $(VENV)/.core $(VENV)/.demo $(VENV)/.docs

# Libraries that wrote older formats, in .venv-zarr2, .venv-zarr1, .venv-zarr1.0, whatever $(VENV).
$(VENV)/.old-writers: $(VENV)/.python scripts/old_writers.py
	@$(BIN)/python scripts/old_writers.py --optional
	@touch $@
