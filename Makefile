.PHONY: check docs full fuzz test

FUZZ_EXECUTIONS ?= 1000000
FUZZ_JOBS ?= 2

check:
	ruff format --check .
	ruff check .
	mypy ncc fuzz datasets benchmarks tests
	pytest -q tests/test_docstrings.py

test:
	pytest

full:
	pytest -m full

fuzz:
	python -m fuzz --executions $(FUZZ_EXECUTIONS) --jobs $(FUZZ_JOBS)

docs:
	NO_MKDOCS_2_WARNING=1 mkdocs build --strict
