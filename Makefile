# Every target sets itself up in .venv and needs nothing but Python 3.11 or later, make and git.

VENV := .venv
BIN := $(VENV)/bin
# The first Python on the path that is recent enough; PYTHON=... chooses another.
PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$python && break; done)
# Without compiling every module of every dependency: most are never imported.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

# Environments are set up one after the other; only `test` runs parts side by side, once there is one.
ifndef SIDE_BY_SIDE
.NOTPARALLEL:
endif
# Output that does not mix, where make can do that.
UNMIXED := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
.DEFAULT_GOAL := help
.PHONY: help demo test lint pytest pytest-kernels pytest-outside pytest-package test-nojit test-bounds test-thorough test-browser docs dist audit bench clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

demo: $(VENV)/ready  ## the one to show a friend
	@$(BIN)/glnn demo

# The tests of kernels compile most of what the others call, while the other core does what needs no kernels of theirs.
# Make starts the first part that is ready: what waits for the kernels comes last, or it would be passed over and run alone in the end.
test: $(VENV)/ready-test  ## all that must pass: lint, types, tests, documentation
	@echo "Lint, the tests (compiled, as plain Python, with bounds checked) and the documentation, two at a time, some minutes; each is shown when it is done."
	@$(MAKE) --no-print-directory SIDE_BY_SIDE=yes -j2 $(UNMIXED) pytest-kernels test-bounds test-nojit lint docs pytest-package pytest-outside

lint: $(VENV)/ready-test  ## ruff (rules and format) and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

pytest: $(VENV)/ready-test  ## the tests, compiled
	$(BIN)/python -m pytest

# The same in three parts, for `make test`: what compiles nearly all kernels; then side by side, with these kernels, what is seen from outside
# (commands, pages, files from strangers), and everything else.
KERNELS := $(addprefix tests/,numeric output metrics models contexts baselines network predictors codec test_naive.py)
OUTSIDE := tests/cli tests/docs tests/report tests/reproduction tests/trust
pytest-kernels: $(VENV)/ready-test
	$(BIN)/python -m pytest $(KERNELS)

pytest-outside: pytest-kernels
	$(BIN)/python -m pytest $(OUTSIDE)

pytest-package: pytest-kernels
	$(BIN)/python -m pytest $(KERNELS:%=--ignore=%) $(OUTSIDE:%=--ignore=%)

# pytest leaves with 5 when no test is marked small: then there is nothing to run, and nothing wrong.
test-nojit: $(VENV)/ready-test  ## the small tests of kernels, as plain Python
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m small || test $$? -eq 5

# Its own cache: kernels compiled without the check must not answer for those with it. Hardly optimised: they are not fast, but soon there.
test-bounds: $(VENV)/ready-test  ## the small tests of kernels, every array index checked
	NUMBA_BOUNDSCHECK=1 NUMBA_OPT=0 NUMBA_CACHE_DIR=$(CURDIR)/build/kernels-bounds $(BIN)/python -m pytest -m small -W "ignore:Cannot cache compiled function" || test $$? -eq 5

# The same property tests with twenty times as many examples, and kernels compiled anew.
test-thorough: $(VENV)/ready-test  ## the tests of trust, for longer
	GLNN_THOROUGH=20 $(BIN)/python -m pytest tests/trust

# `make pytest` runs this too and skips it where there is no browser; here that is an error.
test-browser: $(VENV)/ready-test  ## the page in a real browser, which must be installed
	@command -v chromedriver >/dev/null || { echo "Chromium and its driver were not found: apt-get install chromium chromium-driver" >&2; exit 1; }
	$(BIN)/python -m pytest -rs tests/report/test_browser.py

docs: $(VENV)/ready-test  ## the documentation, into site/, warnings as errors
	$(BIN)/zensical build --strict --clean

# An environment of its own for the tools, and a new one for the wheel: it must work with nothing else installed.
DIST := build/dist
dist: | $(BIN)/python  ## the wheel and the source archive, into dist/, built, checked and tried
	rm -rf dist $(DIST)
	$(PYTHON) -m venv $(DIST)/tools
	$(DIST)/tools/bin/python -m pip install --quiet --disable-pip-version-check "build>=1.2,<2" "twine>=6,<8"
	$(DIST)/tools/bin/python -m build --outdir dist .
	$(DIST)/tools/bin/python -m twine check --strict dist/*
	$(PYTHON) -m venv $(DIST)/new
	$(DIST)/new/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd $(DIST) && new/bin/python -c "import glnn; glnn.ContextTree(depth=2, verbose=0).fit('abracadabra'); print('glnn', glnn.__version__, 'works from its wheel')" \
		&& new/bin/glnn --version

# Its own environment, so that what audits is not audited. What could not be looked up is named with its version and is no error.
AUDIT := build/audit
audit: $(VENV)/ready-test  ## known vulnerabilities of everything that is installed here
	@mkdir -p $(AUDIT)
	@test -x $(AUDIT)/bin/pip-audit || { $(PYTHON) -m venv $(AUDIT) && $(AUDIT)/bin/python -m pip install --quiet --disable-pip-version-check "pip-audit>=2.7,<3"; } || true
	@$(BIN)/python -m pip freeze --exclude-editable --disable-pip-version-check > $(AUDIT)/installed.txt; \
	not_audited() { echo "NOT AUDITED: $$1. Installed here:"; cat $(AUDIT)/installed.txt; exit 0; }; \
	test -x $(AUDIT)/bin/pip-audit || not_audited "pip-audit could not be installed (no network?)"; \
	$(AUDIT)/bin/pip-audit --skip-editable --progress-spinner off --path "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
		> $(AUDIT)/found.txt 2> $(AUDIT)/messages.txt; code=$$?; \
	skipped=$$(grep -c "could not be audited" $(AUDIT)/found.txt); all=$$(grep -c . $(AUDIT)/installed.txt); \
	if test $$code -ne 0 && ! test -s $(AUDIT)/found.txt; then not_audited "the list of vulnerabilities could not be reached ($$(tail -n 1 $(AUDIT)/messages.txt | cut -c 1-200))"; fi; \
	if test $$skipped -ge $$all; then not_audited "the list of vulnerabilities knows none of the $$all packages (no network?)"; fi; \
	grep -v "could not be audited\|^Name .*Skip Reason\|^-* -*$$" $(AUDIT)/found.txt; tail -n 1 $(AUDIT)/messages.txt; \
	if test $$skipped -gt 0; then echo "NOT AUDITED: $$skipped of $$all packages, which the list does not know:"; grep "could not be audited" $(AUDIT)/found.txt; fi; exit $$code

bench: $(VENV)/ready-bench  ## speed against plain C++ and against what people would use instead
	$(BIN)/python benchmarks/run.py

clean:  ## remove everything that was made, the environment too
	rm -rf $(VENV) build dist site .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later is needed and was not found: install it, or say make PYTHON=/path/to/python" >&2; exit 1; }
	@echo "Setting up $(VENV) with $$($(PYTHON) --version) ..."
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "$(PYTHON) -m venv failed: install Python's venv module (python3-venv on Debian and Ubuntu)" >&2; exit 1; }

$(VENV)/ready: pyproject.toml | $(BIN)/python
	@echo "Installing glnn into $(VENV) ..."
	@$(INSTALL) -e .
	@touch $@

$(VENV)/ready-test: pyproject.toml | $(BIN)/python
	@echo "Installing glnn with what its tests and documentation need into $(VENV) ..."
	@$(INSTALL) -e ".[test,docs]"
	@touch $@ $(VENV)/ready

$(VENV)/ready-bench: pyproject.toml | $(BIN)/python
	@echo "Installing glnn with what its benchmarks need into $(VENV) ..."
	@$(INSTALL) -e ".[bench]"
	@touch $@ $(VENV)/ready
