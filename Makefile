.PHONY: check test

check:
	ruff format --check .
	ruff check .
	mypy ncc

test:
	pytest
