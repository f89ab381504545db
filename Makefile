# SPDX-License-Identifier: Apache-2.0
#
# The common ways to use this tree; CMake (CMakePresets.json) does the work.
JOBS ?= $(shell nproc)
RECORDING := tests/data/traces/6.1-dspin-1cpu
VLAG := build/vlag
SOURCES = git ls-files '*.cpp' '*.hpp'

.PHONY: build command configure run test bench fidelity aarch64 mutants fuzz-long format format-check \
        lint clean

# All of it: command, tests, benchmarks.
build: configure
	@cmake --build --preset release -j $(JOBS)

# The command alone, which is what a first look needs.
command: configure
	@cmake --build --preset release -j $(JOBS) --target vlag

configure:
	@scripts/setup
	@cmake --preset release >/dev/null
	@ln -sfn release/apps/vlag/vlag build/vlag

run: command
	@mkdir -p out
	$(VLAG) replay $(RECORDING).trace.xz --attrs $(RECORDING).json --policy linux-6.1 \
	  --policy linux-6.12 --policy linux-6.12,frame.slice=0.1ms --json out/6.1-dspin.json \
	  $$(test ! -e build/release/web/fetched || echo --html out/6.1-dspin.html)

test: build
	@RC_PARAMS="$${RC_PARAMS:-seed=1}" ctest --preset release -j $(JOBS)

bench: build
	@for program in $$(find build/release/bench -maxdepth 1 -type f -executable | sort); do \
	  $$program || exit 1; done
	@if command -v node chromium chromedriver >/dev/null; then \
	  $(MAKE) --no-print-directory run >/dev/null && node bench/page_paint.mjs out/6.1-dspin.html; fi

fidelity: build
	@mkdir -p out
	build/release/tests/fidelity/fidelity > out/fidelity.md
	@mv out/fidelity.md docs/fidelity.md

# The core library and its tests for 64-bit ARM, under qemu-user.
aarch64:
	@scripts/setup aarch64
	@cmake --preset aarch64 >/dev/null
	@cmake --build --preset aarch64 -j $(JOBS)
	@ctest --preset aarch64 -j $(JOBS)
# Which test notices each known fault: some minutes, so CI does not run it.
mutants:
	@scripts/setup
	@scripts/mutants > docs/mutants.md.new && mv docs/mutants.md.new docs/mutants.md && \
	  cat docs/mutants.md

# Ten million random operations on trees of groups, against the exact model.
fuzz-long: configure
	@cmake --build --preset release -j $(JOBS) --target eevdf_tree_test
	@scripts/fuzz-long build/release/tests/property/eevdf_tree_test

format:
	@scripts/setup lint
	@$(SOURCES) | xargs clang-format-19 -i

format-check:
	@scripts/setup lint
	@$(SOURCES) | xargs clang-format-19 --dry-run -Werror

# Building checks that each header compiles alone.
lint: format-check build
	@ctest --preset release -R '^layers\.'
	@git ls-files 'src/*.cpp' 'apps/*.cpp' 'bench/*.cpp' | \
	  xargs -P $(JOBS) -n 1 clang-tidy-19 -p build/release --quiet --warnings-as-errors='*'

clean:
	rm -rf build out
