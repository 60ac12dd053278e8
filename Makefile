# The words that people and .ci/run share. They work in the active virtual environment; `make venv` makes one.
PYTHON ?= python
VENV ?= .venv

.PHONY: help venv build fmt fmt-check lint test statistics bench bench-check bench-record bench-once docs dist ci clean

help:  ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

venv:  ## Make .venv with everything a developer needs, the package built in place
	python3 -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet "maturin>=1.9,<2"
	VIRTUAL_ENV=$(abspath $(VENV)) $(VENV)/bin/maturin develop --release --extras dev
	@echo "now: . $(VENV)/bin/activate"

build:  ## Rebuild the Rust core in place, optimised
	maturin develop --release --skip-install || maturin develop --release

fmt:  ## Format Rust and Python
	cargo fmt
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .

fmt-check:
	cargo fmt --check
	$(PYTHON) -m ruff format --check .

lint: fmt-check  ## Check format, clippy, ruff, types and the stub of the compiled module
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(PYTHON) -m ruff check .
	lint-imports --no-cache
	$(PYTHON) -m mypy
	$(PYTHON) -m mypy.stubtest itoscope._core

test:  ## Run all tests but the slow statistics
	cargo test --quiet
	$(PYTHON) -m pytest --numprocesses auto -m "not slow"

statistics:  ## Run the slow statistical tests
	cargo test --quiet --release -- --ignored
	$(PYTHON) -m pytest --numprocesses auto -m slow

bench:  ## Measure speed
	cargo bench

bench-check:  ## Fail if a kernel needs over 5 % more instructions than recorded (needs valgrind)
	$(PYTHON) benches/counts/check.py

bench-record:  ## Record the instruction counts of all kernels
	$(PYTHON) benches/counts/check.py --record

bench-once:  ## Run every benchmark once, without measuring
	cargo bench --quiet -- --test

docs:  ## Build the documentation into site/
	$(PYTHON) -m sphinx -W --keep-going -b html docs site

dist:  ## Build wheel and source archive into dist/
	$(PYTHON) -m pip wheel --no-deps --wheel-dir dist .
	maturin sdist --out dist

ci:  ## Run what continuous integration runs, in a fresh environment
	bash .ci/run

clean:
	rm -rf target dist site .pytest_cache .mypy_cache .ruff_cache
