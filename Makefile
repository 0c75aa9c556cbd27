# make run     set up and open the window (without a display: the guided tour on a virtual screen)
# make test    set up and run every test; ARGS="-k name" narrows it
# make bench   run every benchmark; make bench-NAME one suite: agent, app, cache, embedded, knowledge, memory, retrieval, sound, trust
# make faults  fail the disk, and kill a real process, at every write of a harvest, its undo and a recovery; kill a whole
#              program at every write of a queue, an export and a first start; send 100,000 vendors' streams with fields
#              of other types, and 40,000 files of other programs and documents to their readers
# make bench-peers   real clients of other programs on one tool day beside this one, billed alike; needs npm and a network
# make optional   tests with the real Claude Code, which npm installs into .optional
# make wheels  build the three wheels and the sdist into build/wheels, install them with plain pip, and run them
# make check ROOM=harvest   lint, contracts, types and quick tests of one room: a folder of core, panels or gui by its name or path
# make fmt | fmt-check | lint | types    the checks of CI
# make site    build the documents as a site into build/site
# make codemap   write docs/codemap.md, one line a module; it is made, not committed
# make pictures  take the tour and renew the pictures of README and the guide in docs/ (Linux, about a minute)
# make lock-check  see that requirements.lock has wheels for each system and Python that the program names
# make lock | fonts | docs | models   for maintainers: pin packages, rebuild fonts, renew what is generated in docs/,
#              compare the table of models with the newest SDKs of the vendors
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=
# One more than two cores: a worker waits for a fifth of its time.
WORKERS ?= 3

# Images of containers set this: each of the thousand processes that the tests start would compile all it imports anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run test check bench bench-peers optional faults wheels fmt fmt-check lint types lock lock-check fonts codemap words docs pictures site models clean

run: set-up-run
	@if [ "$$(uname)" != Linux ] || [ -n "$$DISPLAY" ]; then exec $(BIN)/manual-slop $(ARGS); \
	else echo "No display here: running the guided tour on a virtual screen instead."; exec $(BIN)/manual-slop tour $(ARGS); fi

test: set-up-test
	@$(BIN)/python -m compileall -q core panels gui scripts tests # once, not in each worker at the same time
	@$(BIN)/python -m pytest -n $(WORKERS) --dist load $(ARGS)

check: set-up-test
	@$(BIN)/python -m scripts.check_room "$(ROOM)"

bench: set-up-test
	@$(BIN)/python -m tests.bench $(ARGS)

bench-%: set-up-test
	@$(BIN)/python -m tests.bench $* $(ARGS)

CLAUDE_CODE ?= 2.1.197
PEER_CLAUDE_CODE ?= 2.1.332
PEER_OPENCODE ?= 1.18.33
PEER_PYDANTIC_AI ?= 2.68.0
PEER_LLM ?= 0.30
PEER_AIDER ?= 0.86.2
# Not pinned by a lock: another program's newest version is what it is held against. Writes out/bench/peers.md.
bench-peers: set-up-test
	@npm install --silent --prefix .optional @anthropic-ai/claude-code@$(PEER_CLAUDE_CODE) opencode-ai@$(PEER_OPENCODE)
	@test -x .optional/peers/bin/python || $(PYTHON) -m venv .optional/peers
	@.optional/peers/bin/pip install --quiet "pydantic-ai-slim[anthropic]==$(PEER_PYDANTIC_AI)" llm "llm-anthropic==$(PEER_LLM)"
	@test -x .optional/aider/bin/python || $(PYTHON) -m venv .optional/aider # it pins nearly a hundred packages
	@.optional/aider/bin/pip install --quiet "aider-chat==$(PEER_AIDER)"
	@NO_PROXY=127.0.0.1 $(BIN)/python -m tests.bench.peers $(ARGS)

optional: set-up-test
	@npm install --silent --prefix .optional @anthropic-ai/claude-code@$(CLAUDE_CODE)
	@PATH="$$PWD/.optional/node_modules/.bin:$$PATH" $(BIN)/python -m pytest tests/optional $(ARGS)

faults: set-up-test
	@$(BIN)/python -m scripts.faults $(ARGS)
	@case "$(ARGS)" in *--kills-only*) ;; *) $(BIN)/python -m scripts.stream_faults && $(BIN)/python -m scripts.world_faults && $(BIN)/python -m scripts.import_faults ;; esac

wheels: set-up-run
	@$(BIN)/python -m scripts.try_wheels build/wheels

fmt: set-up-check
	@$(BIN)/ruff check --quiet --select I --fix .
	@$(BIN)/ruff format .

fmt-check: set-up-check
	@$(BIN)/ruff format --check .

lint: set-up-check
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports
	@$(BIN)/python -m scripts.check_values

types: set-up-check
	@$(BIN)/mypy

lock: set-up-check
	@PATH="$$PATH:$(BIN)" uv pip compile --quiet pyproject.toml --extra tour --group dev --universal --generate-hashes \
		--no-header --no-annotate --output-file requirements.lock $(ARGS)

lock-check: set-up-check
	@PATH="$$PATH:$(BIN)" $(BIN)/python -m scripts.check_lock

fonts: set-up-check
	@$(BIN)/python -m scripts.build_fonts $(ARGS)

models: set-up-check
	@$(BIN)/python -m scripts.model_ids $(ARGS)

docs: set-up-check
	@$(BIN)/python -m scripts.help_text
	@$(BIN)/python -m scripts.codemap
	@$(BIN)/python -P -m core.front.hooks.openapi > docs/openapi.json
	@$(BIN)/python -P -m core.services.settings.settings_page > docs/settings.md

pictures: set-up-run
	@$(BIN)/python -P -m scripts.pictures

site: set-up-test
	@$(BIN)/sphinx-build -q -W --keep-going -b html -d build/site-trees docs build/site

codemap: set-up-check
	@$(BIN)/python -m scripts.codemap

words: set-up-check
	@$(BIN)/python -m scripts.words

clean:
	@rm -rf .venv .optional build out *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

set-up-%:
	@$(PYTHON) scripts/bootstrap.py $*
