# SPDX-License-Identifier: BSD-2-Clause
# Non-recursive. Sources are found by wildcards: a new file in an existing folder needs no line here. Nothing is
# generated outside $(O). tests/tests.mk has the rules of the tests, tools/package/package.mk those of packages.

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
LIBS := -lbpf -lelf -lz -llzma -ltraceevent -lsqlite3 -lsnappy -lzstd -lbrotlidec -l:libiberty.a -lm
STATIC_LIBS := -lbrotlicommon -lstdc++
# `make static` sets it: all libraries are linked in, and nothing is loaded at run time.
ifdef STATIC
CPPFLAGS += -DPROF_STATIC
ALL_LDFLAGS += -static-pie -Wl,--gc-sections
LIBS += $(STATIC_LIBS)
endif
STRIP ?= $(or $(shell $(CC) -print-prog-name=strip),strip)
BPF_CFLAGS := -target bpf -mcpu=v3 -O2 -g -Wall -Werror -D__TARGET_ARCH_$(BPFARCH) \
	-Ivmlinux -Iinclude -Ibpf -ffile-prefix-map=$(CURDIR)=.
DEPFLAGS = -MMD -MP

# ---- sources ------------------------------------------------------------------------------------
below     = $(sort $(wildcard $(1)/$(2) $(1)/*/$(2) $(1)/*/*/$(2)))
LAYERS   := libdial9 base kernel unwind symbol events record trace profile export formats rewrite query ship fleet cmd
SRCS_all := $(foreach l,$(LAYERS),$(call below,user/$(l),*.c))
# libbpf's linker wants maps defined before a file that declares them extern. Programs are loaded in this order: those
# that threads load come first.
BPF_FIRST := $(addprefix bpf/,core.bpf.c sample.bpf.c sched.bpf.c)
BPF_LAST := $(addprefix bpf/,offcpu.bpf.c latency.bpf.c extract.bpf.c summary.bpf.c)
BPF_SRCS := $(BPF_FIRST) $(filter-out $(BPF_FIRST) $(BPF_LAST),$(sort $(wildcard bpf/*.bpf.c))) $(BPF_LAST)
# What `export html` and `view` show.
PAGE_PARTS := user/web/assemble.sh $(wildcard user/web/*/*.js user/web/view/page.html user/web/view/style.css)

# ---- what is needed -----------------------------------------------------------------------------
# Asked before anything is compiled. A C compiler is enough for libdial9.
NEED_LITTLE := lib %/libdial9.a %/libdial9.so clean help fmt fmt-check uninstall check-deps rpm-check
ifneq ($(filter-out $(NEED_LITTLE),$(or $(MAKECMDGOALS),all)),)
MISSING := $(shell sh tools/have-deps.sh '$(O)/deps' '$(CC)' '$(CLANG)' '$(BPFTOOL)' '$(LIBS)')
$(if $(MISSING),$(error missing: $(MISSING); run: sh tools/deps.sh && make))
endif

# ---- derived ------------------------------------------------------------------------------------
obj       = $(patsubst %.c,$(O)/obj/%.o,$(1))
OBJS_lib := $(call obj,$(call below,user/libdial9,*.c))
OBJS_all := $(call obj,$(SRCS_all))
OBJS_main := $(call obj,user/main.c)
BPF_OBJS := $(patsubst %.bpf.c,$(O)/%.bpf.o,$(BPF_SRCS))
SKEL     := $(O)/bpf/prof.skel.h
PROGRAM  := $(O)/dial9-prof
LIB_A    := $(O)/libdial9.a
LIB_SO   := $(O)/libdial9.so
ALL_A    := $(O)/obj/user.a

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

.PHONY: all lib FORCE
all: lib $(PROGRAM)
lib: $(LIB_A) $(LIB_SO)

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
$(call obj,$(call below,user/record,*.c)): | $(SKEL)

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
$(O)/obj/user/kernel/tracefs/format_known.o: $(O)/gen/syscall_names.h

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
$(O)/obj/user/record/encode/user_metadata.o: $(O)/gen/meta_keys.h

GENERATED := $(addprefix $(O)/gen/,syscall_names.h errno_names.h meta_keys.h page_html.h)
$(O)/gen/page_html.h: user/web/embed.sh $(PAGE_PARTS) $(O)/flags
	$(call msg,GEN,$@)
	@mkdir -p $(@D)
	$(Q)sh user/web/embed.sh > $@.$$$$ && mv $@.$$$$ $@
$(O)/obj/user/export/html/page.o: $(O)/gen/page_html.h

$(LIB_A): $(OBJS_lib)
	$(call msg,AR,$@)
	$(Q)$(AR) rcsD $@.$$$$ $^ && mv $@.$$$$ $@

LIB_MAP := user/libdial9/libdial9.map
$(LIB_SO): $(OBJS_lib) $(LIB_MAP)
	$(call msg,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,libdial9.so.$(SOVER) \
		-Wl,--version-script=$(LIB_MAP) \
		$(ALL_LDFLAGS) -o $@ $(OBJS_lib)

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

include tests/tests.mk tools/package/package.mk

# ---- targets ------------------------------------------------------------------------------------
.PHONY: lint check-clang fmt fmt-check clean help demo
C_FILES = $(shell find include user bpf tests -name '*.[ch]')
lint: all fmt-check
	$(Q)sh tools/check-includes.sh
	$(Q)sh tools/check-bounds.sh
	$(Q)CC=$(CC) sh tools/check-headers.sh $(O)
	$(Q)sh tools/check-symbols.sh $(O)
	$(Q)sh tools/check-circles.sh $(O)
	$(Q)sh tools/check-sizes.sh
	$(Q)sh tools/check-words.sh
	$(Q)shellcheck -s sh $(wildcard user/web/*.sh tools/*.sh tools/*/*.sh tools/package/*/*.sh tests/*.sh tests/kernels/*.sh tests/systemd/*.sh tests/stimuli/*.sh tests/support/*.sh) tests/kernels/init \
		tests/systemd/init .ci/run tools/package/debian/tests/record tools/package/debian/tests/library

# For what the other compiler warns of: nothing is built.
check-clang: $(SKEL) $(GENERATED)
	$(Q)printf '%s\n' $(SRCS_all) user/main.c $(filter-out tests/stimuli/% tests/fixtures/%,$(call below,tests,*.c)) | \
		xargs -n 16 -P $$(nproc) $(CLANG) -fsyntax-only -std=gnu11 -Werror $(WARN) $(CPPFLAGS) -I.

fmt:
	$(Q)$(FORMAT) -i $(C_FILES)
fmt-check:
	$(Q)$(FORMAT) --dry-run -Werror $(C_FILES)

demo:
	$(Q)sh tools/demo.sh

clean:
	rm -rf $(O)

help:
	@sed -n 's/^##H //p' $(MAKEFILE_LIST)
##H make               build/dial9-prof, build/libdial9.a, build/libdial9.so
##H make lib           libdial9 alone: needs a C compiler, neither clang nor libbpf
##H make tests         build every test program and run none
##H make check         every test: unit, sanitizers, command line, fuzz corpus, live kernel (root)
##H make t T=base/str   build and run one test
##H make test          unit tests and command lines: no root
##H make check-unit    the unit tests: no root, under a minute
##H make check-root    the tests on the live kernel
##H make check-san     the unit tests under ASan and UBSan
##H make check-js      the JavaScript reader and the page's engine under node, against the C ones
##H make check-page    the page of export html in a headless Chromium
##H make check-fleet   ship against real ClickHouse servers that fail: FLEET_ROUNDS=300 (root)
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
##H make check-clang   clang compiles everything without a warning
##H make lint          layering, symbol names, headers, sizes, plain English, shell scripts, formatting
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
