# The words that people and .ci/run share. They work in the active virtual environment; `make venv` makes one.
PYTHON ?= python
VENV ?= .venv

.PHONY: help venv build fmt fmt-check lint doc deny msrv workflows test statistics fuzz sanitize bench bench-check bench-record bench-once docs dist ci clean

help:  ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

venv:  ## Make .venv with everything a developer needs, the package built in place
	python3 -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --upgrade pip "maturin>=1.9,<2"
	$(VENV)/bin/python -m pip install --quiet --editable ".[dev]"
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

workflows:  ## Check the release and CI workflows against their schema and for rights given away
	check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	zizmor --offline --quiet .github

lint: fmt-check doc deny msrv workflows  ## Check format, clippy, ruff, imports, types, docs of Rust, licences, workflows, stub
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(PYTHON) -m ruff check .
	lint-imports --no-cache
	$(PYTHON) -m mypy
	$(PYTHON) -m mypy.stubtest itoscope._core

doc:  ## Build the documentation of the Rust crates, warnings are errors
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --quiet

deny:  ## Check licences, doubles and sources of the Rust dependencies; advisories if their database is reached
	@cargo deny --version >/dev/null || { echo "get cargo-deny: cargo install --locked cargo-deny" >&2; exit 1; }
	cargo deny --locked --log-level error check licenses bans sources
	@if cargo deny fetch db >/dev/null 2>&1; then cargo deny --locked check advisories; \
	else echo "advisories not checked: their database cannot be reached"; fi

msrv:  ## Check the oldest Rust that Cargo.toml promises
	$(PYTHON) tools/msrv.py

test:  ## Run all tests but the slow statistics
	cargo test --quiet
	$(PYTHON) -m pytest --numprocesses auto -m "not slow"

statistics:  ## Run the slow statistical tests
	cargo test --quiet --release -- --ignored
	$(PYTHON) -m pytest --numprocesses auto -m slow --timeout 1800

SECONDS ?= 600
fuzz:  ## Make hostile calls for SECONDS=600, from SEED or the clock; all that may come of one is an answer or an error of itoscope
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PYTHON) tools/fuzzing/runner.py $(SECONDS) $(SEED)

# AddressSanitizer and Miri need a nightly Rust. Under Miri run the tests that go through unsafe code, by the rules of tree
# borrows (a library below breaks those of stacked borrows); the threads of a pool outlive them.
NIGHTLY = cargo +nightly
UNSAFE = filter::whitened program:: regression::products sampler::factor sampler::lanes simulate::normals table::
sanitize:  ## Test the core with overflow checks and debug assertions and, where a nightly Rust is, under AddressSanitizer and Miri (tree borrows)
	cargo test --quiet --package itoscope-core --profile checked
	@if $(NIGHTLY) --version >/dev/null 2>&1; then set -e; \
	echo "AddressSanitizer"; RUSTFLAGS=-Zsanitizer=address CARGO_TARGET_DIR=target/address \
	$(NIGHTLY) test --quiet --package itoscope-core --lib --tests --profile checked --target $$(rustc -vV | sed -n 's/host: //p'); \
	else echo "no nightly Rust: AddressSanitizer and Miri are left out"; exit 0; fi; \
	if $(NIGHTLY) miri --version >/dev/null 2>&1; then \
	echo "Miri"; MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks -Zmiri-tree-borrows" CARGO_TARGET_DIR=target/miri \
	$(NIGHTLY) miri test --quiet --package itoscope-core --lib -- $(UNSAFE); \
	else echo "no Miri: rustup +nightly component add miri"; fi

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

# Zig links against the glibc of 2014, so the wheel that is built here runs wherever a released one does.
dist:  ## Build and check wheel (manylinux2014, stable ABI) and source archive into dist/
	rm -rf dist
	PATH="$$($(PYTHON) -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))'):$$PATH" \
	maturin build --release --locked --zig --compatibility manylinux2014 --out dist
	maturin sdist --out dist
	auditwheel show dist/*.whl
	abi3audit --strict --report dist/*.whl >/dev/null
	twine check --strict dist/*

ci:  ## Run what continuous integration runs, in a fresh environment
	bash .ci/run

clean:
	rm -rf target dist site .pytest_cache .mypy_cache .ruff_cache
