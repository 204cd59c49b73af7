VENV := .venv
PYTHON := $(VENV)/bin/python
STAMP := $(VENV)/.installed

$(STAMP): requirements.txt pyproject.toml
	@echo "Installing into $(VENV) (once) ..."
	@python3 -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "gpuyard needs Python 3.11 or newer; python3 here is " + sys.version.split()[0])'
	@python3 -m venv $(VENV)
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(PYTHON) tools/links.py
	@touch $@
