# Every target does its own set-up: python3, pip and make are all it takes.
.PHONY: run test test-slow test-all structure openapi check check-code bench build docs lock clean

UV := .venv/bin/uv
BIN := .venv/bin

# uv brings certificates of its own; a proxy may have one that only the system knows.
export UV_SYSTEM_CERTS ?= 1

run: .venv/ready  ## Serve on an embedded database, logoadmin.db
	$(BIN)/logoadmin serve

test: .venv/ready  ## Pass the tests that take a minute together; those of MariaDB run where mariadbd is
	$(BIN)/pytest -n auto -m "not slow"

test-slow: .venv/ready  ## The others: killed processes, outages, long random walks, and browsers where chromium is
	$(BIN)/pytest -n auto -m slow

test-all: .venv/ready  ## Both
	$(BIN)/pytest -n auto

check: test-all check-code docs  ## All tests, and everything that reads the code and the docs

check-code: .venv/ready  ## Style, types and the import rules
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

structure: .venv/ready  ## Measure how much there is to read, and write it into docs/architecture.md
	$(BIN)/python -m benchmarks.structure

openapi: .venv/ready  ## Write docs/openapi.json, which shows in a diff how the interface changes
	$(BIN)/logoadmin openapi --access open > docs/openapi.json

bench: .venv/ready  ## Compare with a bare Starlette route and with the usual way; takes wrk and, for its part, mariadbd
	$(BIN)/python -m benchmarks

build: .venv/ready  ## Make dist/logoadmin-*.whl and .tar.gz
	rm -rf dist
	$(UV) build --quiet --no-build-isolation --python $(BIN)/python

docs: .venv/ready  ## Build docs/_build/html
	$(BIN)/sphinx-build --quiet --fail-on-warning docs docs/_build/html

lock: .venv/ready  ## Take newer versions of what we depend on into requirements.txt
	$(UV) pip compile --quiet --upgrade pyproject.toml --extra server --group dev --universal --python-version 3.11 \
		--generate-hashes --no-header --output-file requirements.txt

clean:
	rm -rf .venv dist docs/_build

# uv installs in seconds what pip takes half a minute for; a venv without pip needs no package but Debian's python3.
.venv/ready: requirements.txt pyproject.toml
	python3 -m venv --clear --without-pip .venv
	python3 -m pip --quiet --disable-pip-version-check --python $(BIN)/python install uv==0.13.8
	$(UV) pip install --quiet --python $(BIN)/python --require-hashes --requirement requirements.txt
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	touch $@
