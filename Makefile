.PHONY: check fuzz test

FUZZ_EXECUTIONS ?= 1000000
FUZZ_JOBS ?= 2

check:
	ruff format --check .
	ruff check .
	mypy ncc fuzz datasets

test:
	pytest

fuzz:
	python -m fuzz --executions $(FUZZ_EXECUTIONS) --jobs $(FUZZ_JOBS)
