# Razão. `make serve` and `make test` are all that a newcomer needs.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PARALLEL ?= 2

.PHONY: setup serve test lint bench screenshots lock browser clean

setup: .venv/.installed

.venv/.installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

serve: setup
	$(BIN)/razao serve --demo

test: lint browser
	$(BIN)/pytest -n $(PARALLEL)

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

browser: setup
	sh tests/browser/find_chromium.sh

bench: setup
	$(BIN)/python -m bench

screenshots: browser
	$(BIN)/python -m tests.browser.screenshots

# Pins every dependency, with hashes. Run it after a change in pyproject.toml.
lock: setup
	$(BIN)/uv pip compile pyproject.toml --extra dev --universal --generate-hashes --quiet --output-file requirements.lock

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
