# Everything a developer or a first-time user does here. `make` alone lists it.
SHELL := /bin/bash
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

UV_VERSION := 0.13.9
# A uv that is on the PATH but does not run is as good as none.
UV := $(or $(shell uv --version >/dev/null 2>&1 && command -v uv),.uv/uv)
BIN := .venv/bin
SPEED ?= 10
FUNCTION ?= evaluate
PORT ?= 8080
FUNCTIONS := evaluate scale_up scale_down refresh status

export PYTHONDONTWRITEBYTECODE ?=
# uv brings its own list of certificate authorities, which lacks that of a company's proxy; the machine's list has it.
export UV_SYSTEM_CERTS ?= true
# Every target looks for the environment here.
export UV_PROJECT_ENVIRONMENT := .venv

.PHONY: help
help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  \033[1m%-12s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.uv/uv:
	@python3 infra/toolchain/install_uv.py .uv $(UV_VERSION)

# The lock file decides every version; the stamp says for which lock file the environment was made.
.venv/.for-lock: uv.lock pyproject.toml | $(UV)
	@echo "Making the environment in .venv (downloads about 60 MB the first time)" >&2
	@$(UV) sync --frozen --quiet
	@touch $@

.PHONY: install
install: .venv/.for-lock ## make the environment in .venv (every other target does it by itself)

.PHONY: demo
demo: install ## watch a cluster grow and shrink, in a sandbox, in about a minute (SPEED=10)
	@$(BIN)/exoscaler demo --speed $(SPEED) --report demo-report.html

.PHONY: test
test: check ## lint, types, import rules and tests
	@$(BIN)/python -m pytest -n auto --dist loadgroup

.PHONY: explore
explore: install ## property tests on other examples than every day's, and more of them
	@HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest -n auto tests/core tests/settings tests/adapters tests/app

.PHONY: check
check: install ## lint, format, types, import rules, shell scripts; changes nothing
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/shellcheck infra/*.sh .ci/run

.PHONY: fix
fix: install ## mend what lint and format can mend by themselves
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

.PHONY: bench
bench: install ## measure what has a figure to beat; prints counts and ratios
	@$(BIN)/python -m tests.bench

.PHONY: serve
serve: SCRIPT = $(subst -,_,$(FUNCTION))
serve: install ## one function on this machine (FUNCTION=evaluate PORT=8080)
	@test -f functions/$(SCRIPT).py || { echo "no function $(FUNCTION); there are: $(FUNCTIONS)" >&2; exit 2; }
	@echo "Starting $(FUNCTION) on http://127.0.0.1:$(PORT)/" >&2
	@exec $(BIN)/functions-framework --source functions/$(SCRIPT).py --target $(SCRIPT) --host 127.0.0.1 --port $(PORT)

.PHONY: docs
docs: install ## write the reference of all settings anew
	@$(BIN)/python -m exoscaler.settings.reference > docs/settings.md

.PHONY: clean
clean: ## remove what the other targets made
	@rm -rf .venv .uv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist demo-report.html
