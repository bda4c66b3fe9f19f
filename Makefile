# Everything is made under .venv; `make help` lists the targets.
# Every path here is relative, and tools run as modules, so that a checkout in a folder with blanks works.

SHELL := /bin/sh
.DEFAULT_GOAL := help

# The first one that will do: a version manager may leave shims that do not start, a system a Python without venv.
PYTHON ?= $(shell for p in python3.11 python3; do \
    $$p -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; exit; }; \
    done; echo python3)
PORT ?= 7777
BIN := .venv/bin
RUN := $(BIN)/python

# Set-up is keyed on what the files say, not on their times, which every checkout changes.
LOCK_KEY := $(shell cksum < requirements.lock 2>/dev/null | cut -d ' ' -f 1)
PROJECT_KEY := $(shell cksum < pyproject.toml | cut -d ' ' -f 1)
LOCKED := .venv/.locked-$(LOCK_KEY)
INSTALLED := .venv/.installed-$(LOCK_KEY)-$(PROJECT_KEY)

UV := uv==0.13.9
LOCK_VENV := build/lock-venv

# Each loads an embedding model of its own, and each file stays with one, for what it shares.
WORKERS ?= 4

# Checks of the site run as if it were served over TLS, in a home of their own.
LINT_ENV := env HERMES_HOME=build/lint-home MEMSUITE_CONSOLE_HTTPS=on

.PHONY: help install run demo test screenshots lint lock

define CHECK_PYTHON
if ! command -v $(PYTHON) >/dev/null; then \
    echo 'There is no $(PYTHON) here. Install Python 3.11 or newer, or say make PYTHON=<path>.' >&2; exit 1; \
elif ! $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then \
    echo 'Python 3.11 or newer is needed and $(PYTHON) is not. Say make PYTHON=<path>.' >&2; exit 1; \
elif ! $(PYTHON) -c 'import ensurepip, venv'; then \
    echo '$(PYTHON) has no venv. Install the package python3-venv of your system.' >&2; exit 1; \
fi
endef

help:
	@echo 'make install   the virtual environment .venv, with the locked dependencies and this project'
	@echo 'make run       the web console over your own memories, on http://127.0.0.1:$(PORT)'
	@echo 'make demo      the same over a sample database in .demo'
	@echo 'make test      every test'
	@echo 'make screenshots  every page, wide and narrow, light and dark, in build/screenshots'
	@echo 'make lint      style, types, import rules, Django checks'
	@echo 'make lock      requirements.lock anew, from pyproject.toml'

install: $(INSTALLED)

run: install
	$(RUN) manage.py serve --first-run --port $(PORT)

demo: install
	$(RUN) manage.py demo_data --hermes-home .demo --walk
	$(RUN) manage.py serve --hermes-home .demo --fresh-login --port $(PORT)

test: install
	$(RUN) -m pytest --numprocesses auto --maxprocesses $(WORKERS) --dist loadfile

screenshots: install
	$(RUN) tests/browser/screenshots.py build/screenshots

lint: install
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(BIN)/lint-imports --no-logo
	@if [ -d templates ]; then $(RUN) -m djlint --lint templates; fi
	$(LINT_ENV) $(RUN) manage.py check --deploy --fail-level WARNING
	$(LINT_ENV) $(RUN) manage.py makemigrations --check --dry-run

lock:
	@$(CHECK_PYTHON)
	$(PYTHON) -m venv $(LOCK_VENV)
	$(LOCK_VENV)/bin/python -m pip install --quiet $(UV)
	$(LOCK_VENV)/bin/python -m uv pip compile pyproject.toml --all-extras --group dev \
	    --universal --python-version 3.11 --generate-hashes --no-config --no-emit-index-url \
	    --custom-compile-command 'make lock' --quiet $(if $(UPGRADE),--upgrade) --output-file requirements.lock

$(LOCKED):
	@$(CHECK_PYTHON)
	test -x $(RUN) || $(PYTHON) -m venv .venv
	$(RUN) -m pip install --quiet --require-hashes -r requirements.lock
	@rm -f .venv/.locked-* .venv/.installed-*
	@touch $@

$(INSTALLED): $(LOCKED)
	$(RUN) -m pip install --quiet --no-deps --no-build-isolation --no-index -e .
	@rm -f .venv/.installed-*
	@touch $@
