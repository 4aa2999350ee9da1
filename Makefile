# `make` without a target lists the targets.  Each target installs what it needs, once, in $(VENV).
# Only `make servers` installs anything outside this folder.

ifndef PYTHON
PYTHON := $(shell for p in python3 python python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; raise SystemExit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
endif
VENV ?= .venv
# More than the usual number of processors, because tests with servers wait.
JOBS ?= 3
PYTEST ?= -n $(JOBS) --dist worksteal
# Versions of what pip installs; empty for the newest.
CONSTRAINTS ?= constraints.txt

# Tests start hundreds of interpreters: they share compiled modules.
unexport PYTHONDONTWRITEBYTECODE

BIN := $(VENV)/bin
# The only package that needs a compiler; it is optional.
NATIVE := packages/zarr-native
PROJECTS := $(filter-out $(NATIVE)/%,$(wildcard packages/*/pyproject.toml))
PACKAGES := $(PROJECTS:/pyproject.toml=)
TYPED := benchmarks demo scripts
# The tests that cover the core.  Coverage doubles their time, so the others run without it.
COVERING := tests/registry_rules/ tests/zarr-core/
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
INSTALL := $(PIP) install --quiet $(addprefix --constraint ,$(CONSTRAINTS))

# The tests of zarr-core need few packages; `make pytest` installs only these if PYTEST names no others.
CORE := $(addprefix packages/zarr-,core codecs conformance display dtypes formats grids sharding stores transfer)
TESTS := $(strip $(foreach word,$(PYTEST),$(if $(findstring /,$(word)),$(word))))
OTHER_TESTS := $(filter-out tests/zarr-core tests/zarr-core/%,$(TESTS))
ONLY_CORE := $(and $(TESTS),$(if $(OTHER_TESTS),,yes))

.PHONY: help demo test test-long pytest lowest lint types format bench docs schemas packages wheels \
    sanitize fuzz corpus conformance old-writers constraints release-check servers downstream plugins clean

help:
	@echo "make demo         write real data with this library, read it with others, draw it"
	@echo "make test         style, types, imports, tests with coverage"
	@echo "make test-long    make test, the slow tests, and make downstream"
	@echo "make pytest       tests only; PYTEST='tests/zarr-core -x' for some of them"
	@echo "make lowest       the tests of zarr-core with the lowest versions that the packages declare"
	@echo "make servers      install the servers and the browser that tests use: with pip and npm in"
	@echo "                  .servers, the rest with apt if this runs as root"
	@echo "make old-writers  install the libraries that wrote older formats; those for Python 3.6 are"
	@echo "                  compiled, which takes many minutes"
	@echo "make downstream   run the tests of packages that use zarr-python with both libraries;"
	@echo "                  DOWNSTREAM=small for those that continuous integration runs"
	@echo "make plugins      test published packages with extensions for zarr-python and numcodecs"
	@echo "make lint         style and imports only"
	@echo "make types        types only"
	@echo "make format       format the code"
	@echo "make bench        compare the speed with other libraries (BENCH='--quick' for less)"
	@echo "make wheels       build wheels and source distributions of all packages in dist"
	@echo "make sanitize     tests and fuzzer of zarr-native with three sanitizers of the compiler"
	@echo "make fuzz         coverage-guided fuzzer of zarr-native; needs clang; FUZZ_SECONDS=3600"
	@echo "make corpus       build the archive of the conformance corpus in dist"
	@echo "make conformance  test all implementations, in pinned versions, and write docs/conformance.md"
	@echo "make constraints  write the newest versions of all dependencies to constraints.txt"
	@echo "make release-check  check everything that a release needs, slow tests of packages included"
	@echo "make docs         build the documentation in build/docs"
	@echo "make schemas      publish the packages' JSON Schemas in schemas/"
	@echo "make clean        remove everything that these targets create"
	@echo
	@echo "PYTHON=python3.13 VENV=.venv-3.13 selects another Python, 3.11 or newer."
	@echo "Tests whose server is not installed are skipped."

demo: $(VENV)/.demo
	@$(BIN)/python -m demo

test: lint types $(VENV)/.zarr-2
	@$(BIN)/python -m pytest $(PYTEST) $(COVERING) --cov --cov-report=term --cov-fail-under=95
	@$(BIN)/python -m pytest $(PYTEST) $(filter-out $(COVERING),$(wildcard tests/*/))

test-long: export ZARR_CORE_SLOW_TESTS = 1
test-long: test downstream

pytest: $(if $(ONLY_CORE),$(VENV)/.core,$(VENV)/.test $(VENV)/.zarr-2)
	@$(BIN)/python -m pytest $(PYTEST)

lowest:
	@mkdir -p build
	@$(PYTHON) scripts/constraints.py lowest >build/lowest.txt
	@$(MAKE) --no-print-directory pytest VENV=.venv-lowest CONSTRAINTS=build/lowest.txt \
	    PYTEST="$(PYTEST) $(if $(TESTS),,tests/zarr-core)"

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

# Pages that autosummary has written for names that were removed since would be errors.
docs: $(VENV)/.docs
	@rm -rf docs/reference/made
	@$(BIN)/python -m sphinx -W --keep-going -q -j auto -b html docs build/docs
	@echo "build/docs/index.html"

wheels: $(VENV)/.wheels
	@$(BIN)/python scripts/build_wheels.py dist

COMMA := ,
SANITIZED := $(CURDIR)/build/sanitized
SANITIZE = cd $(NATIVE) && ZARR_NATIVE_CFLAGS="-g -O1 -fno-omit-frame-pointer $(2)" \
    $(abspath $(BIN))/python setup.py -q build --build-base $(SANITIZED)/$(1)-objects --build-lib $(SANITIZED)/$(1)
sanitize: $(VENV)/.test
	@$(call SANITIZE,addresses,-fsanitize=address$(COMMA)undefined -fno-sanitize-recover=undefined)
	@export LD_PRELOAD="$$(cc -print-file-name=libasan.so) $$(cc -print-file-name=libubsan.so)" \
	    ASAN_OPTIONS=detect_leaks=0 PYTHONPATH=$(SANITIZED)/addresses; \
	    $(BIN)/python scripts/fuzz_native.py --seconds 120 && \
	    $(BIN)/python -m pytest -n 0 tests/zarr-native
	@$(call SANITIZE,threads,-fsanitize=thread)
	@LD_PRELOAD="$$(cc -print-file-name=libtsan.so)" TSAN_OPTIONS=halt_on_error=1 \
	    PYTHONPATH=$(SANITIZED)/threads $(BIN)/python -m pytest -n 0 tests/zarr-native/test_chunks.py

# Guided by coverage, if there is clang.
fuzz:
	@python3 scripts/fuzz_target.py --seconds $(or $(FUZZ_SECONDS),60)

corpus: $(VENV)/.packages
	@mkdir -p dist
	@$(BIN)/python -m zarr_conformance build dist/zarr-conformance-corpus-{version}.tar.gz

conformance: $(VENV)/.packages
	@$(BIN)/python scripts/run_conformance.py

release-check: export ZARR_CORE_SLOW_TESTS = 1
release-check: $(VENV)/.dev
	-@$(BIN)/python scripts/check_release.py $(TAG)
	@$(MAKE) --no-print-directory wheels docs
	@$(BIN)/python -m pytest -n $(JOBS) tests/packaging tests/docs tests/interop/test_fixtures.py
	@$(BIN)/python scripts/check_release.py $(TAG)

old-writers: $(VENV)/.python
	@$(BIN)/python scripts/old_writers.py

constraints: $(VENV)/.python
	@$(PIP) install --quiet uv
	@$(BIN)/python scripts/constraints.py tested

servers: $(VENV)/.python
	@$(BIN)/python scripts/install_servers.py

# In Python environments of its own, below .venv-downstream.
downstream: $(VENV)/.python
	@$(BIN)/python scripts/downstream.py

# The newest versions, in an environment of their own; PYTHON=python3.13 for those of zarr-python.
PLUGIN_TESTS := core codecs dtypes formats grids sharding stores transfer compat bridge
plugins: $(VENV)/.python
	@$(PYTHON) -m venv .venv-plugins
	@.venv-plugins/bin/pip install --quiet -r tests/zarr-bridge/published_packages.txt \
	    $(addprefix -e packages/zarr-,$(PLUGIN_TESTS))
	@ZARR_CORE_REQUIRE_PLUGINS=1 ZARR_CORE_SLOW_TESTS=1 .venv-plugins/bin/python -m pytest -q \
	    -c /dev/null --rootdir . tests/zarr-bridge/test_published_packages.py

clean:
	rm -rf .servers .venv .venv-* demo-output build dist .coverage .coverage.* \
	    .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# --- set-up: a stamp file marks a finished installation; newer inputs repeat it ---

packages: $(VENV)/.native

$(VENV)/.python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is required and was not found. Pass its path: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "setting up $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) || { echo "the venv module of $(PYTHON) does not work; on Debian, install python3-venv" >&2; exit 1; }
	@$(PIP) install --quiet --upgrade "pip>=25.1"
	@touch $@

$(VENV)/.build: $(VENV)/.python $(CONSTRAINTS)
	@$(INSTALL) --group build
	@touch $@

# Installing a package registers its entry points, so a changed pyproject.toml reinstalls it.
$(VENV)/.packages: $(VENV)/.build $(PROJECTS)
	@echo "installing $(notdir $(PACKAGES))"
	@$(INSTALL) --no-build-isolation $(foreach package,$(PACKAGES),--editable $(package))
	@touch $@

# Without a C compiler or the headers of Python, everything works without this package.
$(VENV)/.native: $(VENV)/.packages $(wildcard $(NATIVE)/*.* $(NATIVE)/src/zarr_native/c/* $(NATIVE)/src/zarr_native/include/*)
	@$(PIP) install --quiet --group build
	@echo "installing $(notdir $(NATIVE))"
	@$(PIP) install --verbose --no-build-isolation --editable $(NATIVE) >$(VENV)/native.log 2>&1 \
	    || { cat $(VENV)/native.log >&2; exit 1; }
	@$(BIN)/python -c "import zarr_native._native" 2>/dev/null || echo "without its compiled module, \
	as there is no C compiler or no Python.h; see $(VENV)/native.log"
	@touch $@

$(VENV)/.core: $(VENV)/.build $(PROJECTS) pyproject.toml
	@echo "installing $(notdir $(CORE)) and the dependencies of their tests"
	@$(INSTALL) --no-build-isolation --group test-core \
	    $(foreach package,$(CORE),--editable $(package))
	@touch $@

$(VENV)/.wheels: $(VENV)/.build pyproject.toml
	@echo "installing the tools that build and check packages"
	@$(INSTALL) --group wheels
	@touch $@

$(VENV)/.demo: $(VENV)/.native pyproject.toml
	@echo "installing the dependencies of the demonstration"
	@$(INSTALL) --group demo
	@touch $@

$(VENV)/.docs: $(VENV)/.native pyproject.toml
	@echo "installing the tools for the documentation"
	@$(INSTALL) --group docs
	@touch $@

$(VENV)/.test: $(VENV)/.native pyproject.toml
	@echo "installing the dependencies of the tests"
	@$(INSTALL) --group test
	@touch $@ $(VENV)/.core $(VENV)/.demo $(VENV)/.docs

$(VENV)/.dev: $(VENV)/.native pyproject.toml
	@echo "installing the tools for development"
	@$(INSTALL) --group dev
	@touch $@ $(VENV)/.test $(VENV)/.core $(VENV)/.demo $(VENV)/.docs

# zarr-python 2 in .venv-zarr2, whatever $(VENV); nothing is compiled.
$(VENV)/.zarr-2: $(VENV)/.python scripts/old_writers.py
	@$(BIN)/python scripts/old_writers.py --optional .venv-zarr2
	@touch $@
