# Everything a person or CI runs. `make demo` and `make test` set up all they need.

PYTHON ?= python3
SOAK_MINUTES ?= 60
DIR ?= tests/cases
ONLY ?=

UV_FOUND := $(shell command -v uv 2>/dev/null)
UV := $(if $(UV_FOUND),$(UV_FOUND),.tools/bin/uv)
RUN := .venv/bin/
PYTEST := $(RUN)python -m pytest
# Two workers. Thousands of small tests are dealt out in heaps; of those on an API server, of
# which each worker has its own, what shares a scene stays in one.
HEAPS := -n 2 --dist worksteal
SCENES := -n 2 --dist loadgroup
ELSEWHERE := cluster or foreign or browser

# Each of the many processes that tests start would compile the whole program anew.
unexport PYTHONDONTWRITEBYTECODE
# A kubeconfig of the person who runs this is never used; ROADSTEAD_TEST_KUBECONFIG is the way.
unexport KUBECONFIG
export UV_PYTHON_DOWNLOADS := never

.DEFAULT_GOAL := help
.PHONY: help demo test test-offline quick soak check bench mutants cases accept manifests docs \
  controlplane foreign browser dist format image bom changelog

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.tools/bin/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "error: $(PYTHON) is older than Python 3.11" >&2; \
	  echo "hint: make PYTHON=/path/to/python3.11 (or newer)" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "error: $(PYTHON) cannot make virtual environments" >&2; \
	  echo "hint: install the system package python3-venv (Debian, Ubuntu)" >&2; exit 2; }
	$(PYTHON) -m venv .tools
	.tools/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.9,<1'

.venv/.synced: pyproject.toml uv.lock | $(if $(UV_FOUND),,.tools/bin/uv)
	$(UV) sync --quiet --frozen --extra up --group docs --python $(PYTHON)
	@touch $@

controlplane: .venv/.synced ## compile Kubernetes' control plane, once
	$(RUN)python -m roadstead.testbed.build

foreign: .venv/.synced ## compile what judges the rendered output, once
	$(RUN)python -m roadstead.testbed.foreign

demo: .venv/.synced ## render and plan examples at once, then run them on a real API server
	$(RUN)roadstead render examples/services --platform examples/platform.yaml --out .roadstead/rendered
	$(RUN)roadstead service explain gitea gitea-allow-flux-system-ingress -f examples/services --platform examples/platform.yaml
	$(RUN)roadstead plan -f src/roadstead/examples/anchors --fail-on never
	$(RUN)roadstead up --example all --once

browser: .venv/.synced ## fetch Chromium from Debian's packages, once, for the test of the status page
	$(RUN)python tests/chromium.py

test: .venv/.synced controlplane foreign browser ## all tests, those on a real API server included
	$(PYTEST) $(HEAPS) -m 'not soak and not ($(ELSEWHERE))'
	$(PYTEST) $(SCENES) -m 'not soak and ($(ELSEWHERE))'

test-offline: .venv/.synced ## all tests that need no program compiled from Go
	$(PYTEST) $(HEAPS) -m 'not soak and not ($(ELSEWHERE))'

quick: .venv/.synced ## offline tests, under a minute, for every commit
	ROADSTEAD_HYPOTHESIS=quick $(PYTEST) $(HEAPS) -q -m 'not slow and not soak and not ($(ELSEWHERE))' --no-header

soak: .venv/.synced controlplane ## the long forms, for SOAK_MINUTES
	$(RUN)python tests/soak.py $(SOAK_MINUTES)

check: .venv/.synced ## format, lint, types, imports, docs, stale generated files; no tests
	$(RUN)ruff format --check .
	$(RUN)ruff check .
	$(RUN)mypy
	$(RUN)lint-imports --no-cache
	$(RUN)python -m release.licences
	$(RUN)python -m roadstead.deploy.generate --check
	$(RUN)sphinx-build -q -W --keep-going -b html docs docs/_build/html

format: .venv/.synced ## format and mend what can be mended
	$(RUN)ruff format .
	$(RUN)ruff check --fix .

bench: .venv/.synced controlplane ## the figures of docs/reference/bench.md; ONLY=anchors for one part
	$(RUN)python -m bench $(if $(ONLY),--only $(ONLY))

mutants: .venv/.synced ## each rule inverted, each guard dropped: a test must notice; ONLY=gateways
	$(RUN)python tests/mutants.py $(if $(ONLY),--only $(ONLY))

cases: .venv/.synced ## run a folder of cases: make cases DIR=path
	$(RUN)python -m roadstead.sim.cases $(DIR)

accept: .venv/.synced ## rewrite want.yaml of the cases below DIR from what happens
	$(RUN)python -m roadstead.sim.cases --accept $(DIR)
	$(RUN)python tests/service_cases.py

manifests: .venv/.synced ## write deploy/ and the generated reference
	$(RUN)python -m roadstead.deploy.generate

docs: .venv/.synced ## build the documentation
	$(RUN)python -m roadstead.deploy.generate
	$(RUN)sphinx-build -q -W --keep-going -b html docs docs/_build/html

image: .venv/.synced ## build the OCI image into dist/image, without root or Docker
	$(RUN)python -m release.image $(if $(DEBS),--debs $(DEBS))

dist: .venv/.synced controlplane ## build wheel and source archive, then install and try each
	$(RUN)python -m release.dist

bom: .venv/.synced ## write the bills of materials into dist/, CycloneDX
	$(RUN)python -m release.bom

changelog: .venv/.synced ## move the fragments into CHANGELOG.md: make changelog VERSION=0.2.0
	$(RUN)python -m release.changelog $(VERSION)
