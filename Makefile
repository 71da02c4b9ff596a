# make demo: train, certify and report on an embedded data set.   make test: lint, types, tests, site, as installed.
# Both do all set-up themselves; they need Python 3.11 or newer, pip and make.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= 2

.PHONY: demo test test-long test-installed docs lint format bench release clean

demo: $(VENV)/.ready
	$(BIN)/abnet demo

# A thread for each worker: libraries that start more wait for each other, several times as long as they compute.
test: lint
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -q
	$(MAKE) docs
	$(MAKE) test-installed

test-long: $(VENV)/.ready-dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -q tests/long \
	  --override-ini addopts="--import-mode=importlib"

# The wheel is what users get: install it with its declared dependencies alone, and run the demo and the README there.
test-installed: $(VENV)/.ready-dev
	$(BIN)/python tests/as_installed.py

# The site: build/site/index.html. Warnings and links that lead nowhere are errors.
docs: $(VENV)/.ready-dev
	$(BIN)/python docs/site/build.py build/site

lint: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.ready-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.ready-dev
	$(BIN)/python benchmarks/run.py

# What is published: both distributions in dist, and the list of dependencies that they were tested with.
release: $(VENV)/.ready-dev
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[release]'
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/promise.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	$(BIN)/zizmor --offline .github
	rm -rf dist build
	$(BIN)/python -m build
	$(BIN)/python -m build --wheel --outdir dist predict
	$(BIN)/twine check --strict dist/*
	$(BIN)/uv venv -q --clear build/environment
	$(BIN)/uv pip install -q -c constraints.txt --python build/environment/bin/python dist/abnet-[0-9]*.whl
	$(BIN)/cyclonedx-py environment build/environment/bin/python --pyproject pyproject.toml --output-reproducible -o build/sbom.json

$(VENV)/.ready: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -c constraints.txt -e .
	$(BIN)/python -m compileall -q src
	touch $@

$(VENV)/.ready-dev: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -c constraints.txt setuptools -e '.[dev]'
	$(BIN)/python -m compileall -q src
	touch $@ $(VENV)/.ready

clean:
	rm -rf $(VENV) build dist demo .pytest_cache .mypy_cache .ruff_cache
