# SPDX-License-Identifier: BSD-2-Clause
# One file, non-recursive. The source lists are the table of contents: a new file is one word in its
# directory's list. Nothing is generated outside $(O).

# ---- config -------------------------------------------------------------------------------------
SAN     ?=
O       ?= $(if $(SAN),build/san,build)
prefix  ?= /usr/local
bindir  ?= $(prefix)/bin
libdir  ?= $(prefix)/lib
datadir ?= $(prefix)/share
mandir  ?= $(datadir)/man
docdir  ?= $(datadir)/doc/dial9-prof
unitdir ?= $(prefix)/lib/systemd/system
incdir  ?= $(prefix)/include
CC      := $(if $(filter default,$(origin CC)),gcc,$(CC))
CXX     ?= g++
CLANG   ?= clang
RUSTC   ?= $(or $(wildcard /usr/bin/rustc),rustc)
BPFTOOL ?= $(or $(shell PATH="$$PATH:/usr/sbin:/sbin" command -v bpftool),bpftool)
INSTALL ?= install
FORMAT  ?= $(or $(shell command -v clang-format-14),clang-format)
WERROR  ?= $(DEBUG)
VERSION := $(or $(shell sed -n 's/^.define DIAL9_VERSION_[MP][A-Z]* *//p' include/dial9.h 2>/dev/null | \
	paste -sd.),0.0.0)
SOVER   := 0

# ---- flags --------------------------------------------------------------------------------------
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
BPFARCH := $(patsubst x86_64,x86,$(patsubst aarch64,arm64,$(MACHINE)))
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 \
	-Wpointer-arith -Wswitch-enum -Wno-unused-parameter
OPT  := $(if $(DEBUG)$(SAN),-O1,-O2) $(if $(WERROR),-Werror)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
CPPFLAGS += -D_GNU_SOURCE -Iinclude -Iuser -I$(O)/bpf -I$(O)/gen -DPROF_VERSION='"$(VERSION)"'
ALL_CFLAGS = -std=gnu11 -g $(OPT) $(WARN) $(SANFLAGS) -pthread -fPIC -fvisibility=hidden $(CFLAGS)
ALL_LDFLAGS = $(SANFLAGS) -pthread $(LDFLAGS)
LIBS := -lm -lbpf -lelf -lz -llzma -ltraceevent -lsnappy -lzstd -lbrotlidec -l:libiberty.a
# `make static` sets it: all libraries are linked in, and nothing is loaded at run time.
ifdef STATIC
CPPFLAGS += -DPROF_STATIC
ALL_LDFLAGS += -static-pie -Wl,--gc-sections
LIBS += -lbrotlicommon -lstdc++
endif
STRIP ?= $(or $(shell $(CC) -print-prog-name=strip),strip)
BPF_CFLAGS := -target bpf -mcpu=v3 -O2 -g -Wall -Werror -D__TARGET_ARCH_$(BPFARCH) \
	-Ivmlinux -Iinclude -Ibpf -ffile-prefix-map=$(CURDIR)=.
DEPFLAGS = -MMD -MP

SRCS_libdial9 := $(addprefix user/libdial9/, \
	copy.c decode.c encode.c event.c fd.c notes.c payload.c pool.c put.c reader.c schema.c \
	schema_set.c value.c versioned.c wire.c)
SRCS_base := $(addprefix user/base/, \
	alloc.c buf.c clock.c errname.c file.c hash.c hmap.c log.c memo.c opts.c str.c strtab.c)
SRCS_kernel := $(addprefix user/kernel/, \
	cpus.c denial.c filter.c format.c format_symbols.c irqs.c kallsyms.c perf.c perf_ring.c perf_side.c privileges.c \
	proc.c tracefs.c)
SRCS_unwind := $(addprefix user/unwind/, \
	extents.c lists.c store.c table.c waiter.c)
SRCS_symbol := $(addprefix user/symbol/, \
	budget.c busguard.c cfi.c cfi_arm64.c cfi_x86_64.c cfiarch.c cfiknown.c cfipages.c cfirow.c cfitable.c demangle.c dwabbrev.c dwfile.c \
	dwindex.c dwinfo.c dwline.c dwofiles.c dwpackage.c dwrange.c dwsplit.c dwunit.c elfimg.c minidebug.c openers.c perfmap.c \
	plt.c ranges.c sandbox.c slicesort.c spawner.c symbolizer.c symbroker.c symmodule.c \
	symopen.c symproto.c symside.c symtab.c symtable.c symtables.c symworker.c unpack.c \
	workers.c)
SRCS_record := $(addprefix user/record/, \
	capture_rings.c \
	awaited.c build_ids.c capture.c capture_configure.c capture_cpus.c capture_files.c capture_layout.c capture_load.c capture_programs.c capture_unwind.c copied.c early_records.c early_stacks.c emit.c event.c \
	eventset.c frames.c frames_kernel.c file_set.c frames_segment.c kept_names.c output.c pack.c segments.c stream.c writer.c \
	invoker.c jit.c kallsyms_thread.c \
	last_names.c launch.c lookout.c mapped.c maps.c memory.c merge.c modules.c needed.c probe.c proc_reader.c realtime.c recorder.c recorder_capture.c recorder_programs.c recorder_target.c refusal.c \
	rights.c ring.c scout.c sink.c snapshot.c stacks.c stale.c status.c targets.c tasks.c tasks_truth.c texts.c \
	tables.c tick.c translate.c unwinding.c verdicts.c)
SRCS_trace := $(addprefix user/trace/, \
	layout.c meaning.c names.c parts.c reader.c segment_end.c set_walk.c source.c source_set.c tp_symbols.c trace.c uses.c value.c)
SRCS_profile := $(addprefix user/profile/, \
	account.c causes.c cpu_load.c cpu_log.c cpu_strip.c cpu_time.c delays.c delta.c \
	event_counts.c explain.c family.c followed.c gaps.c hops.c interval_words.c intervals.c live.c \
	off_stack.c polled.c profile.c quantile.c rivals.c row_table.c spans.c stack_ends.c stack_table.c \
	thread_times.c tree.c waits.c workers.c)
SRCS_export := $(addprefix user/export/, \
	chrome.c csv.c ends.c exporter.c firefox.c firefox_tables.c folded.c folded_lines.c formats.c gzip.c jsonl.c \
	perf_script.c perfetto.c perfetto_packet.c perfetto_stacks.c perfetto_tracks.c pprof.c proto.c script_line.c script_stream.c speedscope.c \
	spill.c stack_tree.c text.c)
SRCS_formats := $(addprefix user/formats/, \
	container.c foreign.c snapblock.c \
	$(addprefix apitrace/, build.c dial9_value.c dump.c emit.c export.c format.c \
		generic_export.c import.c json.c layout.c order.c parse.c print.c signatures.c \
		stream.c value.c vocabulary.c write.c) \
	$(addprefix heph/, attributes.c counters.c dump.c export.c format.c import.c layout.c \
		mapping.c open_spans.c replay.c scan.c wire.c) \
	$(addprefix tonbandgeraet/, dump.c encoding.c event.c export.c format.c frames.c \
		import.c markers.c state.c write.c))
SRCS_cmd := $(addprefix user/cmd/, \
	explain.c explain_json.c explain_print.c explain_slowest.c explain_slowest_print.c polls.c polls_print.c export.c wakeup.c wakeup_chain.c \
	anonymize.c cut.c cut_copy.c cut_needs.c diff.c diff_print.c diff_read.c \
	live_view.c screen.c top.c \
	check.c check_probes.c check_programs.c cause.c convert.c dump.c dump_json.c dump_text.c info.c \
	info_json.c info_verify.c input.c list.c page.c paint.c progress.c record.c report.c \
	report_exact.c report_head.c report_json.c report_print.c report_tree.c script.c select.c shorten.c show_foreign.c summary.c \
	text.c timeline.c view.c \
	callchain.c offcpu.c sched.c sched_latency.c sched_map.c sched_summary.c sched_timehist.c)
SRCS_main := user/main.c

SRCS_kernel += user/kernel/format_known.c
SRCS_export += user/export/html.c user/export/page.c
SRCS_cmd += user/cmd/output_opts.c user/cmd/serve.c user/cmd/whole.c
SRCS_cmd += user/cmd/info_cost.c user/cmd/info_stacks.c user/cmd/info_account.c
SRCS_cmd += $(addprefix user/cmd/, \
	app_trace.c merge.c merge_align.c merge_cmd.c merge_inputs.c merge_missing.c merge_plan.c merge_record.c merge_same.c merge_sort.c reread.c)
SRCS_record += $(addprefix user/record/,code_names.c capture_filter.c capture_orc.c capture_select.c detach.c selection.c)
SRCS_profile += $(addprefix user/profile/,machine.c observed.c recorded.c thread.c waker.c)
SRCS_symbol += user/symbol/debuginfod.c
SRCS_cmd += $(addprefix user/cmd/, symbolize.c symbolize_copy.c symbolize_find.c \
	symbolize_paths.c)

# What fields are, said in traces.
SRCS_cmd += user/cmd/notes_copy.c user/cmd/record_signals.c user/cmd/target.c user/cmd/thin_opts.c
SRCS_record += $(addprefix user/record/,annotate.c field_notes.c words.c)

# When is recorded.
SRCS_record += $(addprefix user/record/,control.c flight.c gate.c meta.c notify.c trigger.c when.c)
SRCS_cmd += user/cmd/flight_opts.c user/cmd/info_triggers.c user/cmd/start_at.c

# What `export html` and `view` show.
PAGE_PARTS := $(addprefix tools/page/,assemble.sh page.html style.css) $(addprefix tools/js/,decode.js lean.js) \
	$(wildcard tools/page/*.js)

BPF_SRCS := $(addprefix bpf/, \
	core.bpf.c filter.bpf.c interrupt.bpf.c orc.bpf.c process.bpf.c reuse.bpf.c sample.bpf.c sched.bpf.c \
	select.bpf.c tracepoint.bpf.c \
	unwind.bpf.c)

# Each is one criterion binary; those below tests/bpf need root and a kernel with BTF.
TESTS := $(addprefix tests/, \
	$(addprefix base/, alloc_test.c buf_test.c clock_test.c errname_test.c file_test.c hash_test.c hmap_test.c log_test.c \
		memo_test.c opts_test.c str_test.c strtab_test.c) \
	$(addprefix kernel/, cpus_test.c filter_test.c format_symbols_test.c format_test.c irqs_test.c kallsyms_test.c \
		perf_side_test.c perf_test.c proc_test.c tracefs_test.c) \
	$(addprefix libdial9/, alloc_test.c copy_test.c decode_test.c encode_test.c event_test.c fd_test.c \
		golden_test.c nomem_test.c notes_test.c payload_test.c pool_test.c property_test.c put_test.c \
		reader_test.c schema_set_test.c schema_test.c value_test.c versioned_test.c \
		wire_test.c) \
	$(addprefix unwind/, extents_test.c lists_test.c store_test.c table_test.c waiter_test.c walk_arm64_test.c) \
	$(addprefix symbol/, budget_test.c cfi_arm64_test.c cfi_test.c cfitable_test.c cie_test.c demangle_test.c \
		dwforged_test.c dwinfo_test.c hostile_test.c openers_test.c perfmap_test.c ranges_test.c \
		sandbox_test.c slicesort_test.c spawner_test.c symbolizer_test.c \
		symbroker_test.c symmodule_test.c symopen_test.c symproto_test.c symtab_test.c symtables_test.c symworker_test.c) \
	$(addprefix record/, build_ids_test.c copied_test.c early_records_test.c emit_test.c event_test.c eventset_test.c frames_test.c jit_test.c kallsyms_thread_test.c launch_test.c lookout_test.c \
		mapped_test.c maps_test.c memory_test.c merge_test.c modules_test.c needed_test.c proc_reader_test.c \
		ring_test.c scout_test.c sink_test.c snapshot_test.c stacks_test.c staged_test.c stale_test.c status_test.c tables_test.c targets_test.c tasks_scan_test.c tasks_test.c \
		tasks_truth_test.c texts_test.c tick_test.c translate_test.c unwinding_test.c) \
	$(addprefix trace/, layout_test.c meaning_test.c names_test.c parts_test.c reader_test.c segment_end_test.c source_test.c tp_symbols_test.c \
		trace_test.c value_test.c) \
	$(addprefix profile/, delta_test.c live_test.c quantile_test.c rivals_test.c) \
	$(addprefix profile/, account_test.c cpu_load_test.c cpu_log_test.c cpu_strip_test.c cpu_time_test.c delays_test.c event_counts_test.c family_test.c followed_test.c gaps_test.c hops_test.c \
		intervals_test.c off_stack_test.c profile_test.c stack_table_test.c \
		stack_ends_test.c thread_times_test.c tree_test.c waits_test.c) \
	$(addprefix cmd/, top_test.c) \
	$(addprefix profile/, causes_test.c explain_test.c polled_test.c spans_test.c) \
	$(addprefix cmd/, explain_test.c wakeup_test.c) \
	$(addprefix cmd/, check_test.c cut_test.c diff_test.c hostile_test.c info_test.c page_test.c paint_test.c parts_test.c polls_test.c \
		progress_test.c report_test.c script_test.c select_test.c sets_test.c shorten_test.c summary_test.c \
		text_test.c timeline_test.c callchain_test.c offcpu_test.c sched_test.c) \
	$(addprefix export/, chrome_test.c csv_test.c ends_test.c firefox_test.c folded_test.c gzip_test.c jsonl_test.c perf_script_test.c perfetto_test.c pprof_test.c proto_test.c speedscope_test.c spill_test.c stack_tree_test.c text_test.c) \
	$(addprefix cmd/, export_test.c) \
	$(addprefix formats/, container_test.c foreign_test.c) \
	$(addprefix formats/apitrace/, export_test.c format_test.c random_test.c) \
	$(addprefix formats/heph/, attributes_test.c counters_test.c export_test.c format_test.c import_test.c \
		layout_test.c open_spans_test.c scan_test.c) \
	$(addprefix formats/tonbandgeraet/, encoding_test.c event_test.c export_test.c format_test.c import_test.c))
TESTS += tests/symbol/split_test.c
TESTS += tests/cmd/symbolize_test.c tests/cmd/symbolize_copy_test.c tests/symbol/debuginfod_test.c
TESTS += tests/export/html_test.c
TESTS += tests/profile/workers_test.c tests/cmd/merge_test.c tests/cmd/merge_same_test.c
TESTS += tests/kernel/format_known_test.c tests/record/code_names_test.c $(addprefix tests/record/,output_test.c pack_test.c segments_test.c stream_test.c writer_test.c)
TESTS += tests/record/last_names_test.c
TESTS_ROOT := $(addprefix tests/bpf/, \
	explain_test.c polls_test.c top_test.c wakeup_test.c \
	check_test.c command_test.c events_test.c fault_elf_test.c fault_files_test.c \
	fault_maps_test.c fault_storm_test.c fault_workers_test.c generic_test.c intervals_test.c jit_test.c \
	loss_test.c perf_sched_test.c perf_test.c privileges_test.c realtime_test.c sample_test.c san_test.c \
	kill_test.c sched_test.c sent_test.c segments_test.c stream_test.c tasks_test.c unwind_dwfl_test.c unwind_hostile_test.c \
	unwind_jit_test.c unwind_process_test.c unwind_reuse_test.c unwind_rooted_test.c unwind_stress_test.c unwind_walk_test.c) \
	tests/kernel/format_live_test.c tests/kernel/perf_live_test.c \
	tests/kernel/privileges_test.c tests/record/as_user_test.c tests/record/realtime_test.c

TESTS_ROOT += tests/bpf/neighbours_test.c tests/bpf/symbolize_test.c

TESTS += $(addprefix tests/record/,annotate_test.c field_notes_test.c file_set_test.c) tests/cmd/notes_copy_test.c
TESTS_ROOT += tests/record/field_notes_live_test.c
TESTS += $(addprefix tests/record/,control_test.c gate_test.c meta_test.c notify_test.c) tests/cmd/start_at_test.c
TESTS_ROOT += tests/bpf/notify_test.c tests/bpf/when_test.c tests/bpf/flight_test.c
TESTS += tests/record/flight_test.c tests/record/trigger_test.c tests/cmd/flight_opts_test.c
TESTS_ROOT += tests/bpf/app_trace_test.c tests/bpf/full_test.c tests/bpf/hotplug_test.c
TESTS_ROOT += tests/bpf/filter_test.c
TESTS_ROOT += tests/bpf/kernel_stacks_test.c
TESTS_ROOT += tests/bpf/select_test.c
TESTS += tests/record/selection_test.c tests/profile/recorded_test.c
TESTS_ROOT += tests/bpf/event_stacks_test.c

# Whole stays off the CPU.
BPF_SRCS += bpf/offcpu.bpf.c
SRCS_record += user/record/capture_offcpu.c
SRCS_profile += user/profile/stay.c
SRCS_profile += user/profile/recorder_tasks.c
SRCS_cmd += user/cmd/block_opts.c
TESTS += tests/profile/stay_test.c tests/cmd/self_test.c
TESTS_ROOT += tests/bpf/offcpu_test.c

# Programs that a kernel may refuse.
SRCS_record += user/record/capture_features.c user/record/given_btf.c
SRCS_cmd += user/cmd/check_features.c user/cmd/check_rows.c
TESTS += tests/cmd/check_programs_test.c $(addprefix tests/record/,capture_configure_test.c capture_features_test.c capture_load_test.c refusal_test.c)
TESTS += tests/kernel/denial_test.c
TESTS_ROOT += tests/bpf/refusal_test.c tests/bpf/bad_input_test.c

# Waits that are too long.
BPF_SRCS += bpf/latency.bpf.c

# Records made from the arguments of tracepoints.
BPF_SRCS += bpf/recipe.bpf.c
SRCS_record += $(addprefix user/record/,capture_recipes.c recipe.c recipe_rules.c)
TESTS += tests/record/recipe_test.c
TESTS_ROOT += tests/bpf/recipe_test.c

# Sums in place of events.
BPF_SRCS += bpf/summary.bpf.c
SRCS_record += $(addprefix user/record/,announce.c capture_summary.c summary.c thin.c)
SRCS_profile += user/profile/summed.c
SRCS_cmd += user/cmd/summed_print.c
TESTS += tests/record/summary_test.c tests/profile/summed_test.c
TESTS_ROOT += tests/bpf/memfd_test.c tests/bpf/summary_test.c

# What is left out to cost less.
TESTS += tests/record/thin_test.c
TESTS_ROOT += tests/bpf/overhead_test.c

# Workloads of known truth; X.c -> $(O)/stimuli/X (X.cpp by $(CXX)).
STIMULI := $(addprefix tests/stimuli/, \
	calls.c cxx.cpp demo.c enemy_elf.c enemy_fuse.c enemy_maps.c enemy_swap.c family.c \
	crowd.c forkchain.c inlined.c jit.c numbers.c pingpong.c poller.c ring.c shortlived.c sleeper.c spinner.c stalls.c storm.c threads.c \
	unwind_chain.c unwind_jit.c unwind_maze.c unwind_naps.c unwind_rust.rs unwind_signals.c unwind_throw.cpp walked.c)
STIMULI += tests/stimuli/waiter.c
STIMULI += tests/stimuli/filtered.c
STIMULI += tests/stimuli/mixed.c
STIMULI += tests/stimuli/memfd.c
STIMULI += tests/stimuli/ticks.c
# inlined.c, cxx.cpp and crate.rs as several compilers and linkers leave them, for the symbolizer.
STIMULI_SYMBOL := c-gcc c-dwarf4 c-dwarf64 c-nopie c-gz c-zstd c-clang c-clang4 c-link c-dynsym cxx-gcc cxx-clang4 \
	rust

FUZZ := $(addprefix tests/fuzz/, \
	apitrace_fuzz.c decode_fuzz.c heph_fuzz.c intervals_fuzz.c kernel_fuzz.c perfmap_fuzz.c record_fuzz.c \
	roundtrip_fuzz.c sideband_fuzz.c symbol_fuzz.c symbolize_fuzz.c symproto_fuzz.c tonband_fuzz.c trace_fuzz.c \
	unwind_fuzz.c)
FUZZ += tests/fuzz/merge_fuzz.c tests/fuzz/filter_fuzz.c
# What a target starts from: its directory below tests/fuzz/corpus, unless it is told here.
CORPUS_decode_fuzz := tests/fuzz/corpus/decode_fuzz $(addprefix tests/golden/dial9/,core ext hostile)
CORPUS_intervals_fuzz := tests/fuzz/corpus/trace_fuzz
corpus = $(or $(CORPUS_$(1)),tests/fuzz/corpus/$(1))

# ---- what is needed -----------------------------------------------------------------------------
# Asked before anything is compiled. A C compiler is enough for libdial9.
NEED_LITTLE := lib %/libdial9.a %/libdial9.so clean help fmt fmt-check uninstall check-deps rpm-check
ifneq ($(filter-out $(NEED_LITTLE),$(or $(MAKECMDGOALS),all)),)
MISSING := $(shell sh tools/have-deps.sh '$(O)/deps' '$(CC)' '$(CLANG)' '$(BPFTOOL)' '$(LIBS)')
$(if $(MISSING),$(error missing: $(MISSING); run: sh tools/deps.sh && make))
endif

# ---- derived ------------------------------------------------------------------------------------
# Lists may run a moment ahead of the tree: only what exists is built; `make lint` reports the rest.
have = $(wildcard $(1))
obj  = $(patsubst %.c,$(O)/obj/%.o,$(call have,$(1)))

LAYERS    := libdial9 base kernel unwind symbol record trace profile export formats cmd
OBJS_lib  := $(call obj,$(SRCS_libdial9))
SRCS_all  := $(foreach l,$(LAYERS),$(SRCS_$(l)))
OBJS_all  := $(call obj,$(SRCS_all))
OBJS_main := $(call obj,$(SRCS_main))
BPF_OBJS  := $(patsubst %.bpf.c,$(O)/%.bpf.o,$(call have,$(BPF_SRCS)))
SKEL      := $(if $(BPF_OBJS),$(O)/bpf/prof.skel.h)
TEST_BINS := $(patsubst %.c,$(O)/%,$(call have,$(TESTS)))
ROOT_BINS := $(patsubst %.c,$(O)/%,$(call have,$(TESTS_ROOT)))
stim = $(patsubst tests/stimuli/%,$(O)/stimuli/%,$(basename $(call have,$(1))))
STIM_BINS := $(call stim,$(STIMULI)) $(addprefix $(O)/stimuli/symbol/,$(STIMULI_SYMBOL)) \
	$(addprefix $(O)/stimuli/unwind_maze_,a.so b.so c.so)
FUZZ_BINS := $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(call have,$(FUZZ)))
REPLAY_BINS := $(patsubst tests/fuzz/%.c,$(O)/replay/%,$(call have,$(FUZZ)))
PROGRAM   := $(O)/dial9-prof
LIB_A     := $(O)/libdial9.a
LIB_SO    := $(O)/libdial9.so
ALL_A     := $(O)/obj/user.a
# Nothing that runs tests may hang; tests/limit.sh is the scripts' own.
LIMIT      = timeout -k 10 $(1)
TEST_ENV   = D9_TOP="$(CURDIR)" D9_BUILD="$(abspath $(O))" \
	ASAN_OPTIONS=abort_on_error=1:detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1

# ---- rules --------------------------------------------------------------------------------------
ifeq ($(V),1)
Q :=
msg =
else
Q := @
msg = @printf '  %-8s %s\n' '$(1)' '$(2)'
MAKEFLAGS += --no-print-directory
endif
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:

.PHONY: all lib stimuli tests replay FORCE
all: lib $(if $(OBJS_main),$(PROGRAM))
lib: $(if $(OBJS_lib),$(LIB_A) $(LIB_SO))
stimuli: $(STIM_BINS)
tests: $(TEST_BINS) $(ROOT_BINS) $(STIM_BINS)
replay: $(REPLAY_BINS)

# Rewritten only when a flag changes, so that a change of flags rebuilds what they apply to.
FLAGS_NOW = $(CC) $(ALL_CFLAGS) $(CPPFLAGS) | $(STIM_CFLAGS) | $(BPF_CFLAGS)
$(O)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','"'"',$(FLAGS_NOW))' | cmp -s - $@ || \
		printf '%s\n' '$(subst ','"'"',$(FLAGS_NOW))' > $@
FORCE:

$(O)/obj/%.o: %.c $(O)/flags
	$(call msg,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) $(DEPFLAGS) -c -o $@ $<

# Only the recorder includes the skeleton, and it must exist before the first dependency file does.
$(call obj,$(SRCS_record) $(addprefix tests/record/,capture_configure_test.c capture_features_test.c)): | $(SKEL)

$(O)/bpf/%.bpf.o: bpf/%.bpf.c $(O)/flags
	$(call msg,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) $(DEPFLAGS) -c -o $@ $<

$(O)/bpf/prof.bpf.o: $(BPF_OBJS)
	$(call msg,GENOBJ,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

$(O)/bpf/prof.skel.h: $(O)/bpf/prof.bpf.o
	$(call msg,GENSKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name prof > $@

$(O)/gen/syscall_names.h: tools/gen-syscalls.sh $(O)/flags
	$(call msg,GEN,$@)
	@mkdir -p $(@D)
	$(Q)sh tools/gen-syscalls.sh $(CC) > $@.$$$$ && mv $@.$$$$ $@
$(O)/obj/user/kernel/format_known.o: $(O)/gen/syscall_names.h

$(O)/gen/errno_names.h: tools/gen-errnos.sh $(O)/flags
	$(call msg,GEN,$@)
	@mkdir -p $(@D)
	$(Q)sh tools/gen-errnos.sh $(CC) > $@.$$$$ && mv $@.$$$$ $@
$(O)/obj/user/base/errname.o: $(O)/gen/errno_names.h

# Keys that are the recorder's own, as the header has them.
$(O)/gen/meta_keys.h: include/prof_events.h
	$(call msg,GEN,$@)
	@mkdir -p $(@D)
	$(Q)sed -n 's/^#define \(PROF_META_[A-Z_]*\).*/\1,/p' $< > $@.$$$$ && mv $@.$$$$ $@
$(O)/obj/user/record/meta.o: $(O)/gen/meta_keys.h

$(O)/gen/page_html.h: tools/page/embed.sh $(PAGE_PARTS) $(O)/flags
	$(call msg,GEN,$@)
	@mkdir -p $(@D)
	$(Q)sh tools/page/embed.sh > $@.$$$$ && mv $@.$$$$ $@
$(O)/obj/user/export/page.o: $(O)/gen/page_html.h

$(LIB_A): $(OBJS_lib)
	$(call msg,AR,$@)
	$(Q)$(AR) rcsD $@.$$$$ $^ && mv $@.$$$$ $@

LIB_MAP := $(call have,user/libdial9/libdial9.map)
$(LIB_SO): $(OBJS_lib) $(LIB_MAP)
	$(call msg,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,libdial9.so.$(SOVER) \
		$(if $(LIB_MAP),-Wl$(comma)--version-script=$(LIB_MAP)) \
		$(ALL_LDFLAGS) -o $@ $(OBJS_lib)
comma := ,

$(ALL_A): $(OBJS_all)
	@mkdir -p $(@D)
	$(Q)$(AR) rcs $@.$$$$ $^ && mv $@.$$$$ $@

ifdef STATIC
$(PROGRAM): $(PROGRAM).debug
	$(Q)$(STRIP) -o $@ $<

# The linker warns of NSS, which main.c configures: its messages are printed only if it fails.
$(PROGRAM).debug: $(OBJS_main) $(ALL_A)
	$(call msg,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS) 2>$@.log || { cat $@.log >&2; exit 1; }
else
$(PROGRAM): $(OBJS_main) $(ALL_A)
	$(call msg,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)
endif

# Code that several tests share is one more prerequisite: $(O)/tests/DIR/X_test: $(O)/obj/tests/DIR/Y.o
$(O)/tests/%: $(O)/obj/tests/%.o $(O)/obj/tests/support/limit.o $(ALL_A)
	$(call msg,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(ALL_A) -lcriterion $(LIBS)

$(addprefix $(O)/tests/symbol/,debuginfod_test dwinfo_test hostile_test ranges_test slicesort_test \
	split_test symbolizer_test symbroker_test symtab_test symtables_test symworker_test): \
	$(O)/obj/tests/symbol/support.o
$(addprefix $(O)/tests/cmd/,symbolize_test symbolize_copy_test): $(O)/obj/tests/symbol/support.o
$(addprefix $(O)/tests/symbol/,cfi_arm64_test cfi_test dwforged_test hostile_test split_test): $(O)/obj/tests/symbol/forge.o
# It asks libdw what it should say.
$(O)/tests/symbol/cfi_arm64_test $(O)/tests/symbol/cfitable_test: LIBS += -ldw
$(filter $(O)/tests/record/%,$(TEST_BINS) $(ROOT_BINS)): $(O)/obj/tests/record/support.o
$(filter $(O)/tests/bpf/%,$(ROOT_BINS)): $(O)/obj/tests/bpf/support.o
$(filter $(O)/tests/bpf/fault_%,$(ROOT_BINS)): $(O)/obj/tests/bpf/fault.o
$(addprefix $(O)/tests/bpf/unwind_,dwfl_test jit_test rooted_test stress_test): $(O)/obj/tests/bpf/workload.o
$(addprefix $(O)/tests/bpf/,explain_test polls_test): $(O)/obj/tests/bpf/stalled.o
# The other unwinder.
$(O)/tests/bpf/unwind_dwfl_test: LIBS += -ldw
# Its allocations can be made to fail.
$(O)/tests/libdial9/nomem_test: ALL_LDFLAGS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
# Reading a process can be made to wait.
$(O)/tests/record/tasks_scan_test: ALL_LDFLAGS += -Wl,--wrap=snapshot_read
# It notes who reads /proc.
$(O)/tests/record/tasks_truth_test: ALL_LDFLAGS += \
	-Wl,--wrap=proc_read_status,--wrap=proc_read_exe,--wrap=proc_read_cgroup
# Its rings are its own.
$(O)/tests/record/lookout_test: ALL_LDFLAGS += -Wl,--wrap=perf_ring_look,--wrap=perf_ring_fd
# Their brokers only note what they are asked.
$(O)/tests/unwind/waiter_test: ALL_LDFLAGS += -Wl,--wrap=privileges_drop_all_but
$(O)/tests/record/tick_test: ALL_LDFLAGS += \
	-Wl,--wrap=symbroker_step,--wrap=symbroker_send,--wrap=symbroker_fd,--wrap=symbroker_has_table \
	-Wl,--wrap=unwinding_look,--wrap=unwinding_fd,--wrap=targets_pollfds \
	-Wl,--wrap=capture_wakeups_fd,--wrap=capture_take_wakeups,--wrap=lookout_fd
$(O)/tests/record/tables_test: ALL_LDFLAGS += \
	-Wl,--wrap=symbroker_add_module,--wrap=symbroker_ask_table,--wrap=symbroker_drop,--wrap=proc_realm
$(O)/tests/record/last_names_test: ALL_LDFLAGS += \
	-Wl,--wrap=symbroker_idle,--wrap=symbroker_wait,--wrap=symbroker_answered,--wrap=symbroker_hurry \
	-Wl,--wrap=symbroker_close_questions,--wrap=frames_ask_again,--wrap=frames_take_names \
	-Wl,--wrap=frames_tell_unnamed,--wrap=frames_label_unnamed
$(O)/tests/record/build_ids_test: ALL_LDFLAGS += -Wl,--wrap=symbroker_add_module
$(O)/tests/record/jit_test: ALL_LDFLAGS += \
	-Wl,--wrap=symbroker_add_module,--wrap=symbroker_ask,--wrap=symbroker_asking,--wrap=symbroker_drop
$(O)/tests/kernel/format_test $(O)/tests/kernel/format_live_test: \
	$(O)/obj/tests/kernel/format_check.o

STIM_CFLAGS := -g -O1 -fno-omit-frame-pointer -Wall -Wextra -pthread -D_GNU_SOURCE
# Those whose stacks are to be unwound are built as distributions build.
STIM_SIGN_aarch64 := -mbranch-protection=standard
$(O)/stimuli/unwind_%: STIM_MORE := -O2 -fomit-frame-pointer -Wno-unused-parameter $(STIM_SIGN_$(MACHINE))
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

$(O)/stimuli/%: tests/stimuli/%.cpp $(O)/flags
	$(call msg,STIM,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=gnu++17 $(STIM_CFLAGS) $(STIM_MORE) $(DEPFLAGS) -MF $@.d -o $@ $<

$(O)/stimuli/%: tests/stimuli/%.rs $(O)/flags
	$(call msg,STIM,$<)
	@mkdir -p $(@D)
	$(Q)$(RUSTC) --edition 2021 -O -o $@ $<

SYM   := $(O)/stimuli/symbol
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
$(SYM)/c-%: tests/stimuli/inlined.c $(O)/flags
	$(call msg,STIM,$@)
	@mkdir -p $(@D)
	$(Q)$(SYM_CC) -std=gnu11 -o $@ $<
$(SYM)/cxx-%: tests/stimuli/cxx.cpp $(O)/flags
	$(call msg,STIM,$@)
	@mkdir -p $(@D)
	$(Q)$(SYM_CC) -std=gnu++17 -o $@ $<
$(SYM)/rust: tests/stimuli/crate.rs $(O)/flags
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

# What the guests of other kernels run: tools/kernels.sh.
GUEST_STIMULI := $(addprefix $(O)/stimuli/,sleeper spinner unwind_chain)
# ---- packages -----------------------------------------------------------------------------------
.PHONY: static deb image rpm-check check-packages
static:
	$(Q)$(MAKE) STATIC=1 O=$(O)/static $(O)/static/dial9-prof

deb:
	$(Q)sh tools/package/deb.sh $(O)/deb

image: static
	$(Q)sh tools/package/container/image.sh $(O)/static/dial9-prof $(O)/dial9-prof.oci.tar

rpm-check:
	$(Q)$(TEST_ENV) sh tests/run-packages.sh rpm

PACKAGES := static deb image
check-packages: $(PACKAGES)
	$(Q)$(TEST_ENV) CC=$(CC) sh tests/run-packages.sh $(PACKAGES) rpm

# ---- targets ------------------------------------------------------------------------------------
.PHONY: check check-unit check-root check-san check-cli check-docs check-install check-tutorial check-js check-page \
	check-consumers aarch64 check-aarch64 check-deps check-musl check-kernels check-kernels-quick check-systemd check-self fuzz fuzz-replay lint fmt fmt-check \
	bench bench-codec bench-read bench-export install uninstall clean help demo
check: check-unit check-san check-cli check-docs check-install check-tutorial check-js check-page check-consumers check-aarch64 check-deps rpm-check check-musl check-self \
	fuzz-replay \
	check-root

check-unit: $(TEST_BINS) $(STIM_BINS)
	$(Q)$(TEST_ENV) sh tests/run.sh unit $(TEST_BINS)

# One of them runs the recorder under the sanitizers.
check-root: $(ROOT_BINS) $(STIM_BINS) all
	$(Q)$(MAKE) SAN=address,undefined O=$(O)/san all
	$(Q)$(TEST_ENV) sh tests/run.sh root $(ROOT_BINS) tools/bench/soak.sh

check-san:
	$(Q)$(MAKE) SAN=address,undefined O=$(O)/san check-unit

check-cli: all
	$(Q)$(TEST_ENV) sh tests/run-cli.sh $(PROGRAM)

check-docs: all
	$(Q)$(TEST_ENV) CC=$(CC) sh tests/run-docs.sh $(PROGRAM)

check-install: all
	$(Q)$(TEST_ENV) CC=$(CC) CXX=$(CXX) MAKE="$(MAKE)" sh tests/run-install.sh

check-tutorial: lib
	$(Q)$(TEST_ENV) CC=$(CC) CXX=$(CXX) sh tests/run-tutorial.sh $(O)

# With node 18 or later.
JS_TESTS := $(call have,tests/js/*.test.js)
JS_TOOLS := $(addprefix $(O)/tests/js/,random_trace sched_trace)
check-js: all $(JS_TOOLS)
	$(Q)$(TEST_ENV) $(call LIMIT,300) node --test $(JS_TESTS) > $(O)/js.log || { cat $(O)/js.log; echo FAILED js; exit 1; }
	@echo "js: passed"

# In a headless Chromium, where there is one.
check-page: all $(JS_TOOLS)
	$(Q)$(TEST_ENV) $(call LIMIT,300) node --test tests/page/*.test.js > $(O)/page.log || { cat $(O)/page.log; echo FAILED page; exit 1; }
	@sed -n 's/^# opened/page: opened/p; s/^# skipped [1-9].*/page: no browser here/p' $(O)/page.log
	@echo "page: passed"

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

check-musl: all
	$(Q)sh tools/check-musl.sh $(O) || [ $$? -eq 77 ]

$(JS_TOOLS): $(O)/tests/js/%: $(O)/obj/tests/js/%.o $(LIB_A)
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
$(O)/fuzz/%: tests/fuzz/%.c $(call have,$(SRCS_all)) | $(SKEL) $(O)/gen/syscall_names.h $(O)/gen/errno_names.h $(O)/gen/page_html.h $(O)/gen/meta_keys.h
	$(call msg,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all $(CPPFLAGS) -o $@ $< $(call have,$(SRCS_all)) $(LIBS)

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

C_FILES = $(shell find include user bpf tests -name '*.[ch]')
lint: all fmt-check
	$(Q)sh tools/check-lists.sh $(SRCS_all) $(SRCS_main) $(BPF_SRCS) $(TESTS) $(TESTS_ROOT) \
		$(STIMULI) $(FUZZ)
	$(Q)sh tools/check-includes.sh
	$(Q)sh tools/check-bounds.sh
	$(Q)CC=$(CC) sh tools/check-headers.sh $(O)
	$(Q)sh tools/check-symbols.sh $(O)
	$(Q)sh tools/check-circles.sh $(O)
	$(Q)sh tools/check-sizes.sh
	$(Q)shellcheck -s sh $(wildcard tools/*.sh tools/*/*.sh tools/package/*/*.sh tests/*.sh tests/kernels/*.sh tests/systemd/*.sh) tests/kernels/init \
		tests/systemd/init .ci/run tools/package/debian/tests/record tools/package/debian/tests/library

fmt:
	$(Q)$(FORMAT) -i $(C_FILES)
fmt-check:
	$(Q)$(FORMAT) --dry-run -Werror $(C_FILES)

demo:
	$(Q)sh tools/demo.sh

$(O)/bench/%: tools/bench/%.c $(ALL_A)
	$(call msg,BENCH,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) $(DEPFLAGS) -o $@ $< $(ALL_A) $(ALL_LDFLAGS) $(LIBS)

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

D := $(DESTDIR)
define PC
prefix=$(prefix)
libdir=$(libdir)
includedir=$(incdir)

Name: libdial9
Description: Codec for dial9 traces
Version: $(VERSION)
Libs: -L$${libdir} -ldial9
Cflags: -I$${includedir}
endef
export PC
MANS := $(call have,tools/man/*.[1-8])
UNITS := $(call have,tools/package/systemd/*.service)

install: all
	$(INSTALL) -d $(D)$(bindir) $(D)$(libdir)/pkgconfig $(D)$(incdir) $(D)$(datadir)/dial9-prof $(D)$(docdir) \
		$(addprefix $(D)$(mandir)/man,$(patsubst .%,%,$(sort $(suffix $(MANS))))) \
		$(D)$(datadir)/bash-completion/completions $(D)$(datadir)/zsh/site-functions \
		$(D)$(datadir)/fish/vendor_completions.d $(if $(UNITS),$(D)$(unitdir))
	$(INSTALL) -m 755 $(PROGRAM) $(D)$(bindir)/dial9-prof
	$(INSTALL) -m 644 include/dial9.h include/dial9_event.h $(D)$(incdir)/
	$(INSTALL) -m 644 $(LIB_A) $(D)$(libdir)/libdial9.a
	$(INSTALL) -m 755 $(LIB_SO) $(D)$(libdir)/libdial9.so.$(VERSION)
	ln -sf libdial9.so.$(VERSION) $(D)$(libdir)/libdial9.so.$(SOVER)
	ln -sf libdial9.so.$(SOVER) $(D)$(libdir)/libdial9.so
	printf '%s\n' "$$PC" > $(D)$(libdir)/pkgconfig/libdial9.pc
	$(INSTALL) -m 644 tools/js/decode.js $(D)$(datadir)/dial9-prof/
	$(INSTALL) -m 644 user/libdial9/FORMAT.md $(D)$(docdir)/
	$(foreach m,$(MANS),$(INSTALL) -m 644 $(m) $(D)$(mandir)/man$(patsubst .%,%,$(suffix $(m)))/ &&) :
	$(INSTALL) -m 644 tools/completion/dial9-prof.bash \
		$(D)$(datadir)/bash-completion/completions/dial9-prof
	$(INSTALL) -m 644 tools/completion/_dial9-prof $(D)$(datadir)/zsh/site-functions/
	$(INSTALL) -m 644 tools/completion/dial9-prof.fish $(D)$(datadir)/fish/vendor_completions.d/
	$(foreach u,$(UNITS),sed 's,/usr/bin/dial9-prof,$(bindir)/dial9-prof,' $(u) > $(D)$(unitdir)/$(notdir $(u)) && \
		chmod 644 $(D)$(unitdir)/$(notdir $(u)) &&) :

uninstall:
	rm -f $(D)$(bindir)/dial9-prof $(D)$(incdir)/dial9.h $(D)$(incdir)/dial9_event.h $(D)$(libdir)/libdial9.a \
		$(addprefix $(D)$(libdir)/libdial9.so,.$(VERSION) .$(SOVER)) $(D)$(libdir)/libdial9.so \
		$(D)$(libdir)/pkgconfig/libdial9.pc \
		$(foreach m,$(MANS),$(D)$(mandir)/man$(patsubst .%,%,$(suffix $(m)))/$(notdir $(m))) \
		$(D)$(datadir)/dial9-prof/decode.js $(D)$(docdir)/FORMAT.md \
		$(D)$(datadir)/bash-completion/completions/dial9-prof \
		$(D)$(datadir)/zsh/site-functions/_dial9-prof \
		$(D)$(datadir)/fish/vendor_completions.d/dial9-prof.fish \
		$(addprefix $(D)$(unitdir)/,$(notdir $(UNITS)))
	rmdir $(D)$(datadir)/dial9-prof $(D)$(docdir) 2>/dev/null || :

clean:
	rm -rf $(O)

help:
	@sed -n 's/^##H //p' $(MAKEFILE_LIST)
##H make               build/dial9-prof, build/libdial9.a, build/libdial9.so
##H make lib           libdial9 alone: needs a C compiler, neither clang nor libbpf
##H make tests         build every test program and run none
##H make check         every test: unit, sanitizers, command line, fuzz corpus, live kernel (root)
##H make check-unit    the unit tests: no root, under a minute
##H make check-root    the tests on the live kernel
##H make check-san     the unit tests under ASan and UBSan
##H make check-js      the JavaScript reader and the page's engine under node, against the C ones
##H make check-page    the page of export html in a headless Chromium
##H make check-consumers  exports, read by speedscope, the Firefox Profiler, pprof and others
##H make check-aarch64  the program built for aarch64, and its command lines in an emulator
##H make check-kernels  the program on other kernels in an emulator: some 10 minutes
##H make check-deps    what a machine lacks is named, and tools/deps.sh installs it
##H make check-systemd  the units, with systemd in an emulator: some 20 minutes (root)
##H make check-musl    all of user/ compiles with musl's headers
##H make static        build/static/dial9-prof: one file that needs no library
##H make deb           Debian packages in build/deb
##H make image         build/dial9-prof.oci.tar: a container image of the static program alone
##H make rpm-check     rpm can read the spec
##H make check-packages  builds and tests all packages (root)
##H make lint          layering, symbol names, headers, sizes, shell scripts, formatting
##H make fuzz          libFuzzer on each target for FUZZ_TIME seconds (60)
##H make fmt           reformat with clang-format 14
##H make bench-codec   events a second through libdial9
##H make bench-read    events a second through the commands that read, beside perf
##H make bench-export  events a second through the formats of export, of a trace of 10 M events
##H make bench         figures for the encoder, the decoder and the recorder
##H make demo          record the bundled workload and print its report (root)
##H make install       DESTDIR, prefix (/usr/local), unitdir (prefix/lib/systemd/system); uninstall takes it away again
##H Variables: V=1 commands shown, O=DIR output, DEBUG=1 -O1 -Werror, SAN=address,undefined, CC=clang

-include $(shell find $(addprefix $(O)/,obj bpf stimuli) -name '*.d' 2>/dev/null)
