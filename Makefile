# SPDX-License-Identifier: Apache-2.0
#
# The common ways to use this tree; CMake (CMakePresets.json) does the work.
JOBS ?= $(shell nproc)
RECORDING := tests/data/traces/6.1-dspin-1cpu
VLAG := build/vlag
SOURCES = git ls-files '*.cpp' '*.hpp'

.PHONY: build command configure run test bench fidelity aarch64 mutants fuzz fuzz-readers-long \
        fuzz-long install deb deb-check host-check format format-check lint clean

# All of it: command, tests, benchmarks.
build: configure
	@cmake --build --preset release -j $(JOBS)

# The command alone, which is what a first look needs.
command: configure
	@cmake --build --preset release -j $(JOBS) --target vlag --target command_share

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

# Each reader of ours, for FUZZ_SECONDS. What is found is left in build/fuzz/findings.
FUZZ_SECONDS ?= 30
FUZZ_TARGETS := text perf_data tracing_data perfetto rtapp random_workload

fuzz:
	@scripts/setup build clang
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz -j $(JOBS) $(FUZZ_TARGETS:%=--target fuzz_%)
	@for target in $(FUZZ_TARGETS); do \
	  mkdir -p build/fuzz/findings/$$target build/fuzz/corpus/$$target; \
	  echo "fuzzing $$target for $(FUZZ_SECONDS) s"; \
	  build/fuzz/fuzz/fuzz_$$target -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=1024 \
	    -timeout=10 -max_len=65536 -print_final_stats=1 -verbosity=0 \
	    -artifact_prefix=build/fuzz/findings/$$target/ \
	    build/fuzz/corpus/$$target fuzz/corpus/$$target || exit 1; \
	done

# Ten minutes each.
fuzz-readers-long:
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=600

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

# Ten minutes a reader, and ten million random operations on trees of groups, against the exact
# model.
fuzz-long: configure fuzz-readers-long
	@cmake --build --preset release -j $(JOBS) --target eevdf_tree_test
	@scripts/fuzz-long build/release/tests/property/eevdf_tree_test

# The command with man pages and completion, and the core library, under DESTDIR and PREFIX.
PREFIX ?= /usr/local
install: command
	@DESTDIR=$(abspath $(DESTDIR)) cmake --install build/release --prefix $(PREFIX)

# build/release/packages/: vlag and libvlag-dev.
deb: command
	@scripts/setup package
	@cd build/release && cpack

# Installs both packages on this machine, tries them, and removes them.
deb-check: deb
	@scripts/deb-check build/release/packages

# Records this host with perf and compares what vlag reads with what perf prints.
host-check: command
	@scripts/host-check $(VLAG)

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
