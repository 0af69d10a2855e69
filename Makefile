# Two commands do everything on a fresh machine: `make run` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

LOWEST := .venv-lowest
# In an environment where nothing is compiled yet, the kernels of hard negatives alone take most of a minute.
LOWEST_WITHOUT := tests/analysis/test_tables.py::test_what_one_seed_claims_five_seeds_do_not_take_back[heart]
# Every imported name, the command line, what is closest to numpy, scipy and rich, and the server; without torch.
LOWEST_TESTS := tests/house/test_dependencies.py tests/house/test_light_import.py tests/cli/test_showing.py \
	tests/cli/test_counts.py tests/graph/test_graph_storage.py \
	tests/methods/test_spectral_embeddings.py tests/statistics/test_rank_overlap.py tests/analysis/test_tables.py \
	tests/results/test_store.py tests/audit/test_leaks.py tests/report/test_charts.py \
	tests/leaderboard/test_server.py tests/leaderboard/test_live_server.py

.PHONY: run test test-all test-lowest lint docs tables bench clean

run: $(VENV)/.installed  ## a verdict on a small model, beside eleven heuristics under three protocols
	$(BIN)/trueedge judge cora examples/my_model.py:fit --page verdict.html --runs runs
	@echo
	@echo "How to go on"
	@echo "  . $(BIN)/activate                     puts the command trueedge on the path"
	@echo "  trueedge judge cora mine.py:fit          judges a model of your own: examples/my_model.py shows how"
	@echo "  trueedge judge graph.csv mine.py:fit     judges it on a graph of your own"
	@echo "  trueedge report runs -o report.html      makes a page about all records in runs/"

test: $(VENV)/.installed-dev  ## the quick test suite on all cores, with coverage of the package
	BIN=$(BIN) bash tests/run

test-all: $(VENV)/.installed-dev  ## every test: every case of the long matrices, many examples of each property
	BIN=$(BIN) bash tests/run --all

test-lowest: $(LOWEST)/.installed  ## a short test with the lowest versions that pyproject.toml allows
	NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/compiled $(LOWEST)/bin/python -m pytest -n auto -p no:cacheprovider \
		--deselect '$(LOWEST_WITHOUT)' $(LOWEST_TESTS)

lint: $(VENV)/.installed-dev  ## the linter, the formatter and the type checker
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.installed-dev  ## the documentation, into site/, after running every example in it
	$(BIN)/python -m pytest --all -n auto --dist worksteal -q tests/house/test_docs.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

tables: $(VENV)/.installed-dev  ## write the generated tables of README and docs anew
	$(BIN)/python tools/catalogue.py

bench: $(VENV)/.installed-bench  ## every kernel beside its peers, into benchmarks/results/ (20 minutes)
	$(BIN)/python -m benchmarks.run

$(VENV)/.installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[dev]'
	touch $(VENV)/.installed $@

$(LOWEST)/.installed: pyproject.toml tools/lowest.py
	$(PYTHON) -m venv --clear $(LOWEST)
	$(PYTHON) tools/lowest.py > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check -c $(LOWEST)/constraints.txt \
		-e '.[serve]' 'coverage[toml]' httpx hypothesis pytest pytest-timeout pytest-xdist
	touch $@

$(VENV)/.installed-bench: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[bench]'
	touch $(VENV)/.installed $@

clean:
	rm -rf $(VENV) $(LOWEST) site runs build dist
