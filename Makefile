# Everything runs in .venv, which the first target that needs it makes. Programs that the tests use, such as the engine
# and a control plane, are found on PATH or built once into a cache outside the checkout.
VENV := .venv
PYTHON := $(VENV)/bin/python
STAMP := $(VENV)/.installed
# Tests wait for the processes that they start: one more than there are cores keeps these busy.
WORKERS = $$($(PYTHON) -c 'import os; print(len(os.sched_getaffinity(0)) + 1)')
PYTEST = $(PYTHON) -m pytest -n $(WORKERS) --no-loadscope-reorder -rs
# What the tests start, they start often: compiled modules are kept.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help review test check long programs generate bench lock clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

review: $(STAMP) ## review the shipped stacks: what they create, cost, use and break
	@$(VENV)/bin/gpuyard review

test: $(STAMP) ## the fast tests
	@$(PYTEST) -m "not long and not opa and not engine and not modules and not browser"

check: $(STAMP) ## all that CI runs: format, lint, types, tests, rules on both engines, generated files
	@$(PYTHON) -m ruff format --check --quiet . || { echo "run: .venv/bin/ruff format ."; exit 1; }
	@$(PYTHON) -m ruff check --quiet .
	@$(PYTHON) -m mypy -p gpuyard
	@$(MAKE) --no-print-directory programs
	@$(PYTEST) -m "not long"
	@$(PYTHON) tools/generate.py
	@git diff --exit-code --stat -- stacks/schema.json docs/reference || { echo "generated files were not committed: commit what make generate wrote"; exit 1; }

long: $(STAMP) programs ## the whole series of which check runs a sample
	@$(PYTEST) -m long --timeout 1800

programs: $(STAMP) ## find or build the programs that the tests use: about 25 minutes, once
	@$(PYTHON) tools/programs.py > /dev/null
	@$(PYTHON) tools/module_files.py > /dev/null

generate: $(STAMP) ## write goldens, the stack schema and the reference pages anew
	@GOLDEN=write $(PYTEST) -m golden --no-header
	@$(PYTHON) tools/generate.py

bench: $(STAMP) ## side-by-side benchmarks, each prints a ratio
	@for bench in bench/*.py; do $(PYTHON) $$bench || exit 1; done

lock: ## resolve the dependencies of pyproject.toml into requirements.txt, with hashes and no index address (needs uv)
	@uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet --upgrade -o requirements.txt

clean: ## remove what make and the tests made here
	@rm -rf $(VENV) build dist reports .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info

$(STAMP): requirements.txt pyproject.toml tools/links.py
	@python3 -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "gpuyard needs Python 3.11 or newer; python3 here is " + sys.version.split()[0])'
	@echo "Installing into $(VENV), once ..."
	@python3 -m venv $(VENV)
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(PYTHON) tools/links.py
	@touch $@
