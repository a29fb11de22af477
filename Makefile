# A thin front for Meson and scripts/.  `make help` lists the targets.

PREFIX ?= /usr/local
DESTDIR ?=
FUZZ ?=
FUZZ_SECONDS ?=
BENCH ?=
PARTS ?=
ROUNDS ?=
LOOPS ?=
AGENTS ?=
MUTANTS ?= 200
SEED ?= 1
FOLDERS ?=
TESTS ?=
AGAIN ?= all
BUDGET ?= 60

.PHONY: all
all: ## build the library, the command and the examples into build/
	@scripts/setup build
	@scripts/build build

.PHONY: run
run: all ## build, then show a client and an agent talking to each other
	@scripts/run-demo

.PHONY: test
test: ## run every test; PARTS="unit asan fuzz style" chooses
	@FUZZ_SECONDS=$(or $(FUZZ_SECONDS),3) scripts/test $(PARTS)

.PHONY: test-busy
test-busy: ## run the tests ROUNDS=10 times beside LOOPS=4 busy loops
	@scripts/setup test
	@scripts/build build -Dtests=enabled
	@scripts/setup-npm
	@scripts/test-busy $(or $(ROUNDS),10) $(or $(LOOPS),4)

.PHONY: test-peers
test-peers: ## let the command talk to agents of others; AGENTS="claude" chooses
	@scripts/test-peers $(AGENTS)

.PHONY: bench
bench: ## measure against other libraries; BENCH=name chooses one
	@scripts/bench $(BENCH)

.PHONY: fuzz
fuzz: ## run the fuzzers for FUZZ_SECONDS=60 each; FUZZ=name chooses one
	@scripts/fuzz --seconds $(or $(FUZZ_SECONDS),60) $(FUZZ)

.PHONY: mutants
mutants: ## put MUTANTS=200 mistakes into the code and see which the tests notice; see docs/mutants.md
	@scripts/setup test
	@scripts/setup-npm
	@tools/mutants/acp-mutants --mutants $(MUTANTS) --seed $(SEED) --folders "$(FOLDERS)" \
		--tests "$(TESTS)" --again $(AGAIN) --budget $(BUDGET)

.PHONY: install
install: ## build, then install below PREFIX=/usr/local, staged in DESTDIR
	@scripts/setup build
	@scripts/build build -Dprefix='$(abspath $(PREFIX))'
	@meson install -C build --no-rebuild $(if $(DESTDIR),--destdir '$(abspath $(DESTDIR))')

.PHONY: uninstall
uninstall: ## remove what make install has installed, with the same PREFIX and DESTDIR
	@scripts/setup build
	@scripts/build build -Dprefix='$(abspath $(PREFIX))'
	@scripts/uninstall build $(if $(DESTDIR),'$(abspath $(DESTDIR))')

.PHONY: dist
dist: ## write a tarball of the last commit into build-dist/, then build and test it
	@scripts/dist

.PHONY: deb
deb: ## make Debian packages in build-deb/ and check them with lintian
	@scripts/setup build deb
	@scripts/deb

.PHONY: test-deb
test-deb: deb ## install the Debian packages in a new root, and use them there
	@scripts/setup test-deb
	@scripts/test-deb

.PHONY: static
static: ## build build-static/acp, without shared libraries; docs/install.md says what it cannot do
	@scripts/setup build
	@scripts/static

.PHONY: format
format: ## lay out all C files by .clang-format
	@scripts/setup lint
	@scripts/lint --format

.PHONY: lint
lint: ## check layout, clang-tidy, cppcheck, shell scripts and man pages
	@scripts/setup lint
	@scripts/build build -Dtests=enabled
	@scripts/lint

.PHONY: abi-accept
abi-accept: all ## record the public ABI as the headers have it now, and print what changed
	@tools/abi/acp-abi accept lib/libacp.abi build
	@tools/abi/acp-abi accept lib/libacp-io.abi build

.PHONY: picture
picture: all ## make docs/picture.svg, the picture of the README, from a run of the built command
	@tools/picture/acp-picture build/acp docs/picture.svg

.PHONY: clean
clean: ## remove everything that was built
	rm -rf build build-*

.PHONY: help
help: ## this list
	@awk -F ':[^#]*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile
