# make demo: train, certify and report on an embedded data set.   make test: lint, types, tests, wheel.
# Both do all set-up themselves; they need Python 3.11 or newer, pip and make.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= 2

.PHONY: demo test test-long test-wheel docs lint format bench clean

demo: $(VENV)/.ready
	$(BIN)/abnet demo

# A thread for each worker: libraries that start more wait for each other, several times as long as they compute.
test: lint
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -q
	$(MAKE) docs
	$(MAKE) test-wheel

test-long: $(VENV)/.ready-dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -q tests/long \
	  --override-ini addopts="--import-mode=importlib"

# The wheel is what users get: build it, unpack it beside nothing else of ours, and run tests against it.
test-wheel: $(VENV)/.ready-dev
	rm -rf build dist
	$(BIN)/python -m build --wheel --no-isolation --outdir dist . > /dev/null
	$(BIN)/python -m pip install -q --no-deps --target build/wheel dist/abnet-*.whl
	ABNET_EXPECTED_HOME=$(CURDIR)/build/wheel PYTHONPATH=$(CURDIR)/build/wheel \
	  $(BIN)/python -m pytest -q tests/test_wheel.py tests/test_cube.py tests/predictors tests/files

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
