# Everything runs in .venv, made once with the first python3 that is 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src examples -type f -not -name '*.pyc' -not -path '*/.*') pyproject.toml examples/pyproject.toml README.md

.PHONY: demo test check bench count docs format clean

demo: $(VENV)/.installed
	$(BIN)/python -m calendar_server.demo

# A process for each core, and each file in one of them, since its tests share servers.
test: $(VENV)/.installed
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile --cov --cov-report=term

check: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright

# The site, in build/site. A dead link, an anchor that is not there or a name without docstring ends it.
docs: $(VENV)/.installed
	$(BIN)/zensical build --strict --clean
	$(BIN)/python docs/llms.py

bench: $(VENV)/.installed
	$(BIN)/python benchmarks/run.py --json build/bench.json
	$(BIN)/python benchmarks/pages.py
	$(BIN)/python benchmarks/calendars.py
	$(BIN)/python benchmarks/documents.py

# Ends with 1 where an answer takes a tenth more instructions than it did; without valgrind nothing is counted.
count: $(VENV)/.installed
	$(BIN)/python benchmarks/instructions.py

format: $(VENV)/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/.tools: pyproject.toml examples/pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1' hatchling
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group dev
	touch $@

# Tests run against the wheels, installed as a user would install them.
$(VENV)/.installed: $(VENV)/.tools $(SOURCES)
	rm -rf build/wheels
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/wheels . ./examples
	$(BIN)/python -m pip install --quiet --constraint constraints.txt build/wheels/*.whl
	$(BIN)/python -m pip install --quiet --no-deps --force-reinstall build/wheels/*.whl
	touch $@

clean:
	rm -rf $(VENV) build dist .cache .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
