# make run    set up what is missing and start Glassformer (without a display: draw its walk-through)
# make test   everything that has to hold before a change lands
# make check-long  what takes an hour and more: every built-in model trained anew from three seeds,
#             every single number of every gradient, training killed 20 times; ARGS="kill" picks one.
#             ARGS=soak is asked for by name: half an hour of training with the window in use, on a
#             machine that does nothing else
# make bench  speed, as ratios to PyTorch and to a bare window in the same run
# make clean  forget the set-up

PYTHON ?= python3
ARGS ?=

python := .venv/bin/python

.PHONY: run test check-long bench clean

run: .venv/installed
	@sh tools/system-libraries.sh run
	@sh tools/start.sh $(ARGS)

test: export OPENBLAS_NUM_THREADS = 1
test: export QT_QPA_PLATFORM = offscreen
test: .venv/installed-test
	@sh tools/system-libraries.sh test
	$(python) -m ruff format --check .
	$(python) -m ruff check .
	$(python) -m mypy
	$(python) -m pytest $(ARGS)

check-long: .venv/installed
	$(python) -m tests.long $(ARGS)

bench: .venv/installed
	@sh tools/system-libraries.sh run
	@sh tools/install-torch.sh
	$(python) -m tests.benchmarks $(ARGS)

clean:
	rm -rf .venv build dist walkthrough .mypy_cache .ruff_cache .pytest_cache .hypothesis

# The stamps: pip is asked again only when pyproject.toml has changed.
.venv/installed: pyproject.toml tools/set-up.sh
	@sh tools/set-up.sh "$(PYTHON)" .
	@touch $@

.venv/installed-test: pyproject.toml tools/set-up.sh
	@sh tools/set-up.sh "$(PYTHON)" '.[test]'
	@touch .venv/installed $@
