# SPDX-License-Identifier: BSD-2-Clause
# Tests, workloads and fuzz targets. tests/DIR/X_test.c mirrors user/DIR/X.c. The tests of a folder are one criterion
# program, DIR/all_tests. A program of its own has each test in tests/bpf and each X_live_test.c, which need root and a
# kernel with BTF, and each test that replaces functions of user/: by linker flags in its source (/* LINK: FLAGS */), or
# by defining them (/* ALONE: WHICH */). Live tests run one at a time; with D9_JOBS=2 two, but for those that measure what
# the machine gives (/* ALONE: WHAT */).

ALL_TESTS  := $(call below,tests,*_test.c)
TESTS_ROOT := $(filter tests/bpf/% %_live_test.c,$(ALL_TESTS))
TESTS      := $(filter-out $(TESTS_ROOT),$(ALL_TESTS))
# Part of each test program.
IN_ALL     := tests/support/limit.c
HELPERS    := $(filter-out %_test.c tests/stimuli/% tests/fixtures/% tests/fuzz/% tests/web/% tests/fleet/clock_step.c $(IN_ALL),$(call below,tests,*.c))

# Workloads of known truth; X.c -> $(O)/stimuli/X (X.cpp by $(CXX)).
STIMULI := $(filter-out tests/stimuli/crate.rs,$(wildcard tests/stimuli/*.c tests/stimuli/*.cpp tests/stimuli/*.rs))
# inlined.c, cxx.cpp and crate.rs as several compilers and linkers leave them, for the symbolizer.
STIMULI_SYMBOL := c-gcc c-dwarf4 c-dwarf64 c-nopie c-gz c-zstd c-clang c-clang4 c-link c-dynsym cxx-gcc cxx-clang4 \
	rust $(addprefix split-,c-4/split c-5/split c-5-O1/split)
# The other flavours of tests/stimuli/split.sh, for one test.
STIMULI_SPLIT := $(patsubst %,split-%/split,gcc-5 gcc-4 gcc-5-types gcc-4-types gcc-5-types-gz clang-5 clang-4)

FUZZ := $(wildcard tests/fuzz/*_fuzz.c)
# Programs for the symbolizer. They depend on no flag of user/: a build with sanitizers shares those of another one.
SYM   ?= $(O)/stimuli/symbol
SYM_BINS   := $(addprefix $(SYM)/,$(STIMULI_SYMBOL))
SPLIT_BINS := $(addprefix $(SYM)/,$(STIMULI_SPLIT))

# What a target starts from: its directory below tests/fuzz/corpus, unless a line here names others.
CORPUS_decode_fuzz := tests/fuzz/corpus/decode_fuzz $(addprefix tests/golden/dial9/,core ext hostile)
CORPUS_intervals_fuzz := tests/fuzz/corpus/trace_fuzz
CORPUS_perfdata_fuzz := tests/fuzz/corpus/perfdata_fuzz tests/golden/perfdata tests/fuzz/corpus/trace_fuzz
corpus = $(or $(CORPUS_$(1)),tests/fuzz/corpus/$(1))

ALONE     := $(shell grep -lE '^/[*] (LINK|ALONE): ' $(ALL_TESTS))
TOGETHER  := $(filter-out $(ALONE),$(TESTS))
TEST_DIRS := $(patsubst %/,%,$(sort $(dir $(TOGETHER))))
# What takes longest starts first; a later run goes by the durations of the one before it: tests/run.sh.
SLOW_DIRS := $(filter $(TEST_DIRS),$(patsubst %,tests/%,cmd/common symbol/dwarf formats/apitrace cmd/rewrite ship \
	symbol/sandbox formats/heph))
SLOW_LIVE := $(O)/tests/bpf/refusal_test
TEST_BINS := $(patsubst %,$(O)/%/all_tests,$(SLOW_DIRS) $(filter-out $(SLOW_DIRS),$(TEST_DIRS))) \
	$(patsubst %.c,$(O)/%,$(filter $(ALONE),$(TESTS)))
ROOT_BINS := $(patsubst %.c,$(O)/%,$(TESTS_ROOT))
ROOT_ALONE := $(patsubst %.c,$(O)/%,$(filter $(ALONE),$(TESTS_ROOT)))
STIM_BINS := $(patsubst tests/stimuli/%,$(O)/stimuli/%,$(basename $(STIMULI))) \
	$(SYM_BINS) $(addprefix $(O)/stimuli/unwind_,maze_a.so maze_b.so maze_c.so lazy.so)
FUZZ_BINS := $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(FUZZ))
REPLAY_BINS := $(patsubst tests/fuzz/%.c,$(O)/replay/%,$(FUZZ))
TESTS_A   := $(O)/obj/tests.a
# Nothing that runs tests may hang; tests/limit.sh is the scripts' own.
LIMIT      = timeout -k 10 $(1)
TEST_ENV   = D9_TOP="$(CURDIR)" D9_BUILD="$(abspath $(O))" D9_SYMBOL="$(abspath $(SYM))" \
	ASAN_OPTIONS=abort_on_error=1:detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1

# ---- test programs ------------------------------------------------------------------------------
.PHONY: stimuli tests replay
stimuli: $(STIM_BINS)
tests: unit-tests $(ROOT_BINS) $(STIM_BINS)
replay: $(REPLAY_BINS)

# Tests are compiled without optimization: half of the time of a build was theirs.
$(O)/obj/tests/%.o: private CPPFLAGS += -I.
$(O)/obj/tests/%.o: private OPT := -O0
$(call obj,$(filter tests/record/%,$(ALL_TESTS))): | $(SKEL)

NO_GIT := $(O)/no_git/options
$(NO_GIT): tests/support/no_git.sh
	@mkdir -p $(@D)
	$(Q)sh $< $(abspath $(@D)) '$(CC)' > $@

$(TESTS_A): $(call obj,$(HELPERS))
	@mkdir -p $(@D)
	$(Q)$(AR) rcs $@.$$$$ $^ && mv $@.$$$$ $@

$(O)/tests/%: $(O)/obj/tests/%.o $(call obj,$(IN_ALL)) $(TESTS_A) $(ALL_A) | $(NO_GIT)
	$(call msg,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) @$(NO_GIT) -o $@ $^ -lcriterion $(LIBS) \
		$$(sed -n 's,^/\* LINK: \(.*\) \*/$$,\1,p' tests/$*.c)

define folder_tests
$(O)/$(1)/all_tests: $(call obj,$(foreach t,$(TOGETHER),$(if $(filter $(1)/,$(dir $(t))),$(t)))) \
		$(call obj,$(IN_ALL)) $(TESTS_A) $(ALL_A) | $(NO_GIT)
	$$(call msg,LD,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(ALL_LDFLAGS) @$(NO_GIT) -o $$@ $$^ -lcriterion $$(LIBS)
endef
$(foreach d,$(TEST_DIRS),$(eval $(call folder_tests,$(d))))

# The linker takes no object of the archive for a function that a test has defined: the other tests of the program would
# test that one.
OWN := $(O)/tests/own_functions
$(OWN): $(call obj,$(TOGETHER)) $(ALL_A)
	@mkdir -p $(@D)
	$(Q)nm -gP --defined-only $(ALL_A) | awk 'NF > 1 { print $$1 }' | LC_ALL=C sort -u > $@.user
	$(Q)nm -gP --defined-only $(filter %.o,$^) | awk 'NF > 1 { print $$1 }' | LC_ALL=C sort -u | \
		LC_ALL=C comm -12 - $@.user > $@.both
	$(Q)[ ! -s $@.both ] || { echo "tests define functions of user/: see ALONE in tests/tests.mk:" && cat $@.both && exit 1; }
	$(Q)touch $@

# ---- workloads ----------------------------------------------------------------------------------
STIM_CFLAGS := -g -O1 -fno-omit-frame-pointer -Wall -Wextra -pthread -D_GNU_SOURCE
# Those whose stacks are to be unwound are built as distributions build.
STIM_SIGN_aarch64 := -mbranch-protection=standard
$(O)/stimuli/unwind_%: STIM_MORE := -O2 -fomit-frame-pointer -Wno-unused-parameter $(STIM_SIGN_$(MACHINE))
$(O)/stimuli/unwind_bare: STIM_MORE += -fno-asynchronous-unwind-tables -fno-exceptions -fcf-protection=none
$(O)/stimuli/unwind_framed: STIM_MORE += -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fcf-protection=none
$(O)/stimuli/%: tests/stimuli/%.c $(O)/flags
	$(call msg,STIM,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(STIM_CFLAGS) $(STIM_MORE) $(DEPFLAGS) -MF $@.d -o $@ $< $(STIM_LIBS)
$(O)/stimuli/enemy_elf: STIM_LIBS := -lz -llzma
# It writes a trace of its own.
$(O)/stimuli/poller: STIM_MORE := -Iinclude
$(O)/stimuli/poller: STIM_LIBS := $(LIB_A) $(SANFLAGS)
$(O)/stimuli/poller: $(LIB_A)

$(O)/stimuli/unwind_maze_%.so: tests/stimuli/unwind_maze.c $(O)/flags
	$(call msg,STIM,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(STIM_CFLAGS) $(STIM_MORE) -DMAZE_LETTER=$* -fPIC -fno-stack-protector \
		-ffreestanding -nostdlib -shared -o $@ $<

$(O)/stimuli/unwind_lazy.so: tests/stimuli/unwind_lazy.c $(O)/flags
	$(call msg,STIM,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(STIM_CFLAGS) $(STIM_MORE) -DLAZY_LIBRARY -fPIC -shared -Wl,-z,lazy -o $@ $<

$(O)/stimuli/%: tests/stimuli/%.cpp $(O)/flags
	$(call msg,STIM,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=gnu++17 $(STIM_CFLAGS) $(STIM_MORE) $(DEPFLAGS) -MF $@.d -o $@ $<

$(O)/stimuli/%: tests/stimuli/%.rs $(O)/flags
	$(call msg,STIM,$<)
	@mkdir -p $(@D)
	$(Q)$(RUSTC) --edition 2021 -O -o $@ $<

SYM_FLAGS = gcc | $(CXX) | $(CLANG) | $(RUSTC)
$(SYM)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(SYM_FLAGS)' | cmp -s - $@ || echo '$(SYM_FLAGS)' > $@
$(SYM)/c-gcc:      SYM_CC := gcc -O2 -g
$(SYM)/c-dwarf4:   SYM_CC := gcc -O2 -g -gdwarf-4
$(SYM)/c-dwarf64:  SYM_CC := gcc -O2 -g -gdwarf64
$(SYM)/c-nopie:    SYM_CC := gcc -O2 -g -no-pie
$(SYM)/c-gz:       SYM_CC := gcc -O2 -g -gz
$(SYM)/c-dynsym:   SYM_CC := gcc -O2 -rdynamic -s
$(SYM)/c-clang:    SYM_CC := $(CLANG) -O2 -g
$(SYM)/c-clang4:   SYM_CC := $(CLANG) -O2 -g -gdwarf-4
$(SYM)/cxx-gcc:    SYM_CC := $(CXX) -O2 -g
$(SYM)/cxx-clang4: SYM_CC := $(CLANG)++ -O2 -g -gdwarf-4
$(SYM)/c-%: tests/stimuli/inlined.c $(SYM)/flags
	$(call msg,STIM,$@)
	@mkdir -p $(@D)
	$(Q)$(SYM_CC) -std=gnu11 -o $@ $<
$(SYM)/cxx-%: tests/stimuli/cxx.cpp $(SYM)/flags
	$(call msg,STIM,$@)
	@mkdir -p $(@D)
	$(Q)$(SYM_CC) -std=gnu++17 -o $@ $<
$(SYM)/rust: tests/stimuli/crate.rs $(SYM)/flags
	$(call msg,STIM,$@)
	@mkdir -p $(@D)
	$(Q)$(RUSTC) -O -g -o $@ $<
# binutils of 2.40 compress so; gcc 12 does not yet.
$(SYM)/c-zstd: $(SYM)/c-gcc
	$(call msg,STIM,$@)
	$(Q)objcopy --compress-debug-sections=zstd $< $@
$(SYM)/c-link: $(SYM)/c-gcc
	$(call msg,STIM,$@)
	$(Q)objcopy --only-keep-debug $< $@.debug
	$(Q)objcopy --strip-all --add-gnu-debuglink=$@.debug $< $@

SPLIT_C   := gcc none
SPLIT_CXX  = gcc $(CXX)
SPLIT_CLANG = $(CLANG) $(CLANG)++
$(SYM)/split-c-4/split:            SPLIT = $(SPLIT_C) -O2 -gdwarf-4
$(SYM)/split-c-5/split:            SPLIT = $(SPLIT_C) -O2 -gdwarf-5
$(SYM)/split-c-5-O1/split:         SPLIT = $(SPLIT_C) -O1 -gdwarf-5
$(SYM)/split-gcc-4/split:          SPLIT = $(SPLIT_CXX) -O2 -gdwarf-4
$(SYM)/split-gcc-5/split:          SPLIT = $(SPLIT_CXX) -O2 -gdwarf-5
$(SYM)/split-gcc-4-types/split:    SPLIT = $(SPLIT_CXX) -O2 -gdwarf-4 -fdebug-types-section
$(SYM)/split-gcc-5-types/split:    SPLIT = $(SPLIT_CXX) -O2 -gdwarf-5 -fdebug-types-section
$(SYM)/split-gcc-5-types-gz/split: SPLIT = $(SPLIT_CXX) -O2 -gdwarf-5 -gz -fdebug-types-section
$(SYM)/split-clang-4/split:        SPLIT = $(SPLIT_CLANG) -O2 -gdwarf-4
$(SYM)/split-clang-5/split:        SPLIT = $(SPLIT_CLANG) -O2 -gdwarf-5
$(SYM)/split-%/split: tests/stimuli/split.sh tests/stimuli/inlined.c tests/stimuli/numbers.c tests/stimuli/cxx.cpp \
		tests/stimuli/stimulus.h $(SYM)/flags
	$(call msg,STIM,$(@D))
	$(Q)sh $< $(@D) $(SPLIT)

# What the guests of other kernels run: tools/kernels.sh.
GUEST_STIMULI := $(addprefix $(O)/stimuli/,sleeper spinner unwind_chain)
# ---- targets ------------------------------------------------------------------------------------
.PHONY: t test unit-tests check check-unit check-root check-san check-cli check-docs check-install check-tutorial check-js check-page \
	check-consumers check-fleet aarch64 check-aarch64 check-deps check-musl check-static check-kernels check-kernels-quick check-systemd check-steady check-stacks check-self fuzz fuzz-replay \
	bench benches bench-codec bench-read bench-export
check: check-unit check-san check-cli check-docs check-install check-tutorial check-js check-page check-consumers check-aarch64 check-deps rpm-check check-musl check-static check-self \
	fuzz-replay \
	check-root

# One test: make t T=base/str. Those of tests/bpf run the program.
t: $(O)/tests/$(T)_test $(STIM_BINS) $(if $(filter bpf/%,$(T)),all) $(if $(filter symbol/dwarf/split,$(T)),$(SPLIT_BINS))
	$(Q)$(TEST_ENV) V=1 sh tests/run.sh $(T) $<

test: check-unit check-cli

unit-tests: $(OWN) $(TEST_BINS) $(SYM_BINS) $(SPLIT_BINS)

check-unit: unit-tests
	$(Q)$(TEST_ENV) D9_JOBS=$${D9_JOBS:-$$(nproc)} D9_TIMES=$(O)/times sh tests/run.sh unit $(TEST_BINS)

# One of them runs the recorder under the sanitizers.
check-root: $(ROOT_BINS) $(STIM_BINS) all
	$(Q)$(MAKE) SAN=address,undefined O=$(O)/san all
	$(Q)$(TEST_ENV) D9_TEST_TIMEOUT=900 D9_JOBS=$${D9_JOBS:-$$(($$(nproc) + 1))} D9_TIMES=$(O)/times-root \
		sh tests/run.sh root $(SLOW_LIVE) $(filter-out $(SLOW_LIVE) $(ROOT_ALONE),$(ROOT_BINS))
	$(Q)$(TEST_ENV) D9_TEST_TIMEOUT=900 D9_JOBS=1 sh tests/run.sh root-alone $(ROOT_ALONE) tools/bench/soak.sh

check-san: $(SYM_BINS) $(SPLIT_BINS)
	$(Q)$(MAKE) SAN=address,undefined O=$(O)/san SYM=$(SYM) check-unit

# Half an hour of hostile programs next to innocent ones.
check-steady: stimuli all
	$(Q)D9_BUILD=$(O) sh tools/bench/steady.sh $(or $(SECONDS),1800)

check-stacks: stimuli all
	$(Q)D9_BUILD=$(O) sh tools/bench/stacks.sh $(or $(SWITCHES),10000000)

check-cli: all
	$(Q)$(TEST_ENV) sh tests/run-cli.sh $(PROGRAM)

check-docs: all
	$(Q)$(TEST_ENV) CC=$(CC) sh tests/run-docs.sh $(PROGRAM)

check-install: all
	$(Q)$(TEST_ENV) CC=$(CC) CXX=$(CXX) MAKE="$(MAKE)" sh tests/run-install.sh

check-tutorial: lib
	$(Q)$(TEST_ENV) CC=$(CC) CXX=$(CXX) sh tests/run-tutorial.sh $(O)

# With node 18 or later.
JS_TESTS := $(filter-out tests/web/view/%,$(wildcard tests/web/*.test.js tests/web/*/*.test.js))
JS_TOOLS := $(addprefix $(O)/tests/web/,random_trace sched_trace exec_trace)
check-js: all $(JS_TOOLS)
	$(Q)$(TEST_ENV) $(call LIMIT,300) node --test $(JS_TESTS) > $(O)/js.log || { cat $(O)/js.log; echo FAILED js; exit 1; }
	@echo "js: passed"

# In a headless Chromium, where there is one.
check-page: all $(JS_TOOLS)
	$(Q)$(TEST_ENV) $(call LIMIT,300) node --test tests/web/view/*.test.js > $(O)/page.log || { cat $(O)/page.log; echo FAILED page; exit 1; }
	@sed -n 's/^# opened/page: opened/p; s/^# skipped [1-9].*/page: no browser here/p' $(O)/page.log
	@echo "page: passed"

# Rows at real ClickHouse servers equal rows sent, whatever fails; needs root.
FLEET_ROUNDS ?= 300
$(O)/tests/fleet/clock_step.so: tests/fleet/clock_step.c $(O)/flags
	$(call msg,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(STIM_CFLAGS) -fPIC -shared -o $@ $<

check-fleet: all $(O)/tests/fleet/clock_step.so
	$(Q)$(TEST_ENV) python3 tests/fleet/faults.py $(O)/dial9-prof $(FLEET_ROUNDS)

# Exports, read by the programs that they are made for; those that cannot be had from here are skipped.
check-consumers: all $(JS_TOOLS)
	$(Q)sh tools/consumers.sh $(O)/consumers || [ $$? -eq 77 ]
	$(Q)$(TEST_ENV) $(call LIMIT,300) node --test tests/consumers/*.test.js > $(O)/consumers.log || \
		{ cat $(O)/consumers.log; echo FAILED consumers; exit 1; }
	@sed -n 's/^# skipped \([1-9].*\)/consumers: \1 tests SKIPPED: see $(subst /,\/,$(O))\/consumers.log/p' $(O)/consumers.log
	@echo "consumers: passed"

# For another machine, as far as it goes without its kernel: the program and the BPF objects are built, and
# command lines that read and write traces are run in an emulator.
ARM := $(O)/aarch64/packages
ARM_MAKE = CC="aarch64-linux-gnu-gcc --sysroot=$(abspath $(ARM))/root" LDFLAGS=
ARM_CASES := $(patsubst %,tests/cli/%.t,cut dump newer verify)
aarch64:
	$(Q)sh tools/aarch64.sh $(ARM) || [ $$? -eq 77 ]
	$(Q)[ ! -e $(ARM)/whole ] || \
		$(MAKE) O=$(O)/aarch64 $(ARM_MAKE) all

check-aarch64: aarch64
	$(Q)if [ -e $(ARM)/whole ]; then \
		$(TEST_ENV) sh tests/run-cli.sh $(ARM)/dial9-prof $(ARM_CASES); \
	else \
		echo "aarch64: SKIPPED"; [ "$$D9_REQUIRE_AARCH64" != 1 ]; \
	fi

check-deps:
	$(Q)$(TEST_ENV) CC="$(CC)" CLANG="$(CLANG)" MAKE="$(MAKE)" sh tests/run-deps.sh

# That the static libraries are enough, in a second; `make static` also compiles for them.
check-static: $(OBJS_main) $(ALL_A)
	$(Q)$(CC) $(ALL_LDFLAGS) -static-pie -o $(O)/static-link $^ $(LIBS) $(STATIC_LIBS) 2>$(O)/static-link.log || \
		{ cat $(O)/static-link.log; echo FAILED static; exit 1; }
	@echo "static: linked"

check-musl: all
	$(Q)sh tools/check-musl.sh $(O) || [ $$? -eq 77 ]

$(JS_TOOLS): $(O)/tests/web/%: $(O)/obj/tests/web/%.o $(LIB_A)
	$(call msg,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^

# The built program on other kernels, in an emulator; KERNELS names some of them, as `sh tools/kernels.sh --list` does.
check-kernels: all static $(GUEST_STIMULI)
	$(Q)sh tools/aarch64.sh $(ARM) || [ $$? -eq 77 ]
	$(Q)[ ! -e $(ARM)/whole ] || { \
		$(MAKE) O=$(O)/aarch64 $(ARM_MAKE) $(patsubst $(O)/%,$(O)/aarch64/%,$(GUEST_STIMULI)) && \
		$(MAKE) STATIC=1 O=$(O)/aarch64/static $(ARM_MAKE) $(O)/aarch64/static/dial9-prof; }
	$(Q)sh tools/kernels.sh --static --out $(O)/kernels $(KERNELS)

# The units with Debian's systemd as the first process of an emulated machine.
check-systemd: all
	$(Q)sh tools/systemd-guest.sh $(O)/systemd || [ $$? -eq 77 ]

# The two that Debian's stable release has, and what differs most: quick enough for each change.
QUICK_CONFIGURATIONS := fp,neighbours-all,events,filter,min-block,summary,flight-event,selected-all
check-kernels-quick: all $(GUEST_STIMULI)
	$(Q)sh tools/kernels.sh --out $(O)/kernels --configurations "$(QUICK_CONFIGURATIONS)" 6.1-cloud-amd64 6.12-cloud-amd64 || [ $$? -eq 77 ]

check-self:
	$(Q)$(TEST_ENV) CC=$(CC) sh tests/run-self.sh

FUZZ_TIME ?= 60
$(O)/fuzz/%: tests/fuzz/%.c $(SRCS_all) | $(SKEL) $(GENERATED)
	$(call msg,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all $(CPPFLAGS) -I. -o $@ $< $(SRCS_all) $(LIBS)

fuzz: $(FUZZ_BINS)
	$(Q)$(foreach f,$(notdir $(FUZZ_BINS)),mkdir -p $(O)/fuzz/corpus/$(f) && \
		ASAN_OPTIONS=abort_on_error=1 $(O)/fuzz/$(f) -max_total_time=$(FUZZ_TIME) \
		-rss_limit_mb=2048 $(O)/fuzz/corpus/$(f) $(call corpus,$(f)) &&) :

# All of the archive, as the fuzzers are linked: a target that defines what it holds is found here.
$(O)/replay/%: $(O)/obj/tests/fuzz/%.o $(O)/obj/tests/fuzz/replay.o $(ALL_A)
	$(call msg,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) -Wl,--whole-archive $(ALL_A) \
		-Wl,--no-whole-archive $(LIBS)

fuzz-replay: $(REPLAY_BINS)
	$(Q)$(foreach f,$(notdir $(REPLAY_BINS)),$(TEST_ENV) $(call LIMIT,300) $(O)/replay/$(f) $(call corpus,$(f)) &&) :

$(O)/bench/%: tools/bench/%.c $(ALL_A)
	$(call msg,BENCH,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -I. $(DEPFLAGS) -o $@ $< $(ALL_A) $(ALL_LDFLAGS) $(LIBS)

benches: $(patsubst tools/bench/%.c,$(O)/bench/%,$(wildcard tools/bench/*.c))

bench-codec: $(O)/bench/codec_bench
	$(Q)$(O)/bench/codec_bench

# libdial9 alone, as those get it who link the archive.
$(O)/bench/codec_bench: tools/bench/codec_bench.c $(LIB_A)
	$(call msg,BENCH,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) $(DEPFLAGS) -o $@ $< $(LIB_A) $(ALL_LDFLAGS)

bench-read: all $(O)/bench/repeat_trace
	$(Q)D9_BUILD="$(abspath $(O))" sh tools/bench/read.sh

bench-export: all $(O)/bench/repeat_trace
	$(Q)D9_BUILD="$(abspath $(O))" sh tools/bench/export.sh

bench: all $(O)/bench/drain_bench $(O)/bench/intervals_bench
	$(Q)$(O)/bench/drain_bench
	$(Q)$(O)/bench/intervals_bench
	$(Q)D9_BUILD="$(abspath $(O))" sh tools/bench/overhead.sh

