.PHONY: check docs full fuzz fuzz-reader page test wheels

FUZZ_EXECUTIONS ?= 1000000
FUZZ_JOBS ?= 2
FUZZ_SECONDS ?= 3600

check:
	ruff format --check .
	ruff check .
	mypy ncc lab/ncc_lab fuzz datasets benchmarks tests lab/tests
	python docs/docstrings.py

test:
	pytest

full:
	pytest -m full

fuzz:
	python -m fuzz --executions $(FUZZ_EXECUTIONS) --jobs $(FUZZ_JOBS)

fuzz-reader:
	python -m fuzz.coverage --seconds $(FUZZ_SECONDS) --jobs $(FUZZ_JOBS)

docs:
	NO_MKDOCS_2_WARNING=1 mkdocs build --strict

page:
	cd .ci/page && npm ci --no-fund --no-audit && npm run check

wheels:
	python benchmarks/wheels.py dist
