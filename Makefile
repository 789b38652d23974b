# SPDX-License-Identifier: GPL-2.0-or-later
#
## perf-gpu: GPU work in Linux perf
##
##   make                  build into build/
##   make install          into $(DESTDIR)$(prefix)
##   make check            install what is missing where allowed, build, run all tests;
##                         TESTS="install log" runs those with such names
##   make check-unit       only the tests that need no root, no GPU and no stand-in for it
##   make check-errors     only what reads recordings, with each call of the system failing
##                         in turn: with SAN=address,undefined, say
##   make demo             like check, but record the demo program and report
##   make soak             record 50,000 launches a second from 64 threads for SOAK_S=600
##                         seconds: is anything lost, does anything grow? SOAK="uprobe
##                         process flight files" names ways to record
##   make bench            measure what recording costs a launch, and each event a call,
##                         and how fast recordings are read and written for viewers
##   make fixtures         record the workloads on this machine's GPU
##   make update-fixtures  regenerate expected outputs; review the diff
##   make fuzz             let the fuzz targets search, FUZZ_S=60 seconds each (clang);
##                         FUZZ="elf merge" those with such names
##   make lint             look at the code with clang-tidy, cppcheck and a list of functions
##                         that aren't used here, and at scripts for pipes that may break
##   make tsan             run what has threads with ThreadSanitizer
##   make coverage         say which lines tests run, and which paths of errors none takes;
##                         TESTS= as for check
##   make reproducible     build twice, at two places, and compare
##   make format           format the C code; format-check: only look
##   make clean            remove what was built
##
## Variables:
##   V=1                   print commands
##   O=DIR                 build there (build, or build-san with SAN=)
##   prefix=DIR            /usr/local
##   DESTDIR=DIR           put before prefix when installing
##   DEBUG=1               without optimization
##   SAN=address,undefined build the command and the tests with sanitizers
##   COVERAGE=1            count which lines are run
##   WERROR=1              warnings are errors
##   CC, CLANG, BPFTOOL    the compiler, the one for BPF, and bpftool
##   CROSS_COMPILE=PREFIX  build for another machine, with PREFIX-gcc and so on, into
##                         build-ARCH: CROSS_COMPILE=aarch64-linux-gnu- on Debian, with
##                         what scripts/setup.sh installs then. check and check-unit
##                         run in EMULATOR (qemu-ARCH) what can be run there

VERSION := 0.1.0

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

ifeq ($(origin CC),default)
CC      := $(CROSS_COMPILE)gcc
endif
# The machine that is built for, as uname -m calls it
ARCH    := $(if $(CROSS_COMPILE),$(firstword $(subst -, ,$(notdir $(CROSS_COMPILE)))),\
	   $(shell uname -m))
ARCH    := $(strip $(ARCH))
ifneq ($(CROSS_COMPILE),)
AR      := $(CROSS_COMPILE)ar
LD      := $(CROSS_COMPILE)ld
EMULATOR ?= qemu-$(ARCH)
endif
OBJCOPY := $(CROSS_COMPILE)objcopy

O       ?= $(if $(SAN),build-san,build)$(if $(CROSS_COMPILE),-$(ARCH))
prefix  ?= /usr/local
CLANG   ?= clang
CLANG_FORMAT ?= clang-format

# $(call msg,CC,what) before a command, and $(Q) in front of it
ifeq ($(V),1)
Q   :=
msg :=
else
Q   := @
msg  = @printf '  %-7s %s\n' '$(1)' '$(patsubst $(O)/%,%,$(patsubst $(O)/obj/%,%,$(2)))';
MAKEFLAGS += --no-print-directory
endif

# What runs anything of the tests sets up first; what builds looks for features.
SETUP_GOALS := check check-unit demo bench soak fuzz
PLAIN_GOALS := clean help format format-check
GOALS       := $(or $(MAKECMDGOALS),all)

ifneq ($(filter-out $(PLAIN_GOALS),$(GOALS)),)
include $(O)/features.mk
endif
ifneq ($(filter $(SETUP_GOALS),$(GOALS)),)
$(O)/features.mk: | setup
endif

export CC CLANG CROSS_COMPILE
$(O)/features.mk: scripts/features.sh
	@BPFTOOL='$(BPFTOOL)' scripts/features.sh $(O)

.PHONY: setup
setup:
	@scripts/setup.sh

# --- flags ---------------------------------------------------------------------

# The last is clang's, about records that a test builds in place; gcc has no such.
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	    -Wformat-security -Wno-gnu-variable-sized-type-not-at-end \
	    $(if $(WERROR),-Werror)

# What distributions build everything with
HARDENING := -fstack-protector-strong -fstack-clash-protection
HARDENING += $(if $(filter x86_64,$(ARCH)),-fcf-protection)
HARDENING += $(if $(filter aarch64,$(ARCH)),-mbranch-protection=standard)
HARDENING_LD := -Wl,-z,relro,-z,now
ifeq ($(SAN)$(DEBUG),)
# Needs an optimizer, and hides from sanitizers what it checks itself
HARDENING += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
endif

# Where it is built makes no difference to what is built (make reproducible).
PREFIX_MAP := -ffile-prefix-map=$(abspath $(O))=build -ffile-prefix-map=$(CURDIR)=.

COMMON_CFLAGS := -std=gnu11 -g $(if $(DEBUG),-O0,-O2) -D_GNU_SOURCE $(WARNINGS) \
		 $(HARDENING) $(PREFIX_MAP) $(CFLAGS)
SAN_FLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
# ThreadSanitizer says of each fence that it doesn't know any.
SAN_FLAGS += $(if $(filter thread,$(SAN)),-Wno-tsan)
# NULL + 0, which clang before 20 objects to, nobody suffers from; ASan sees real overflows.
SAN_FLAGS += $(if $(findstring fuzzer,$(SAN)),-fno-sanitize=pointer-overflow)

COVERAGE_FLAGS := $(if $(COVERAGE),--coverage)

LIBPERF_DIR ?= $(O)/libperf
ifndef LIBPERF_PACKAGE
LIBPERF        := $(LIBPERF_DIR)/lib/libperf.a
LIBPERF_CFLAGS := -I$(LIBPERF_DIR)/include
LIBPERF_LIBS   := $(LIBPERF) $(LIBPERF_DIR)/lib/libapi.a
endif

INCLUDES    := -Iperf-gpu -Icupti_inject -Ibpf -I$(O)/bpf -I$(O)/include -I$(O)/proto
PERF_CFLAGS := $(COMMON_CFLAGS) $(SAN_FLAGS) $(COVERAGE_FLAGS) -fPIE $(INCLUDES) $(LIBPERF_CFLAGS) \
	       $(LIB_CFLAGS) $(CUDA_CFLAGS) -DPERF_GPU_VERSION='"$(VERSION)"' \
	       $(if $(SAN),-DPERF_GPU_SAN='"$(SAN)"')
PERF_LDFLAGS := -pie $(HARDENING_LD) -Wl,--as-needed $(SAN_FLAGS) \
	       $(COVERAGE_FLAGS) $(LDFLAGS)
PERF_LIBS   := $(LIBPERF_LIBS) $(LIB_LIBS) -ldl -lm -lpthread

# The injected library goes into processes that aren't sanitized, and a sanitizer's
# run-time library refuses to be loaded late: SAN leaves it alone, SAN_INJECT=1
# doesn't. Frame pointers: the kernel walks through it with --call-graph fp.
INJECT_CFLAGS := $(COMMON_CFLAGS) $(if $(SAN_INJECT),$(SAN_FLAGS)) $(COVERAGE_FLAGS) -fPIC \
		 -fvisibility=hidden -fno-omit-frame-pointer -Icupti_inject $(CUDA_CFLAGS)
INJECT_LDFLAGS := -shared -Wl,-z,defs -Wl,-Bsymbolic -Wl,--exclude-libs,ALL -Wl,--as-needed \
		  $(HARDENING_LD) $(if $(SAN_INJECT),$(SAN_FLAGS)) $(COVERAGE_FLAGS) $(LDFLAGS)
# zlib is linked in: the target may have another one of its own.
INJECT_LIBS := -l:libz.a -ldl -lpthread

BPF_ARCH   := $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(ARCH)))
BPF_CFLAGS := -target bpf -g -O2 -Wall $(if $(WERROR),-Werror) -D__TARGET_ARCH_$(BPF_ARCH) \
	      $(PREFIX_MAP) -Ibpf $(if $(MULTIARCH),-idirafter /usr/include/$(MULTIARCH))

# --- files ---------------------------------------------------------------------

PERF_SRCS   := perf-gpu/main.c $(wildcard perf-gpu/builtin-*.c perf-gpu/*/*.c)
ifndef HAVE_SQLITE3
PERF_SRCS   := $(filter-out perf-gpu/sink/nsys_%.c,$(PERF_SRCS))
endif
ifndef HAVE_PROTOBUF_C
PERF_SRCS   := $(filter-out $(addprefix perf-gpu/sink/,perfetto.c pprof.c pprof_labels.c proto_file.c),$(PERF_SRCS))
else
PROTOS      := $(wildcard perf-gpu/proto/*.proto)
PROTO_HDRS  := $(PROTOS:perf-gpu/proto/%.proto=$(O)/proto/%.pb-c.h)
PROTO_OBJS  := $(PROTOS:perf-gpu/proto/%.proto=$(O)/obj/proto/%.o)
endif
ifdef HAVE_LIBARCHIVE
PERF_SRCS   := $(filter-out perf-gpu/archive/no_tar_zst.c,$(PERF_SRCS))
else
PERF_SRCS   := $(filter-out $(addprefix perf-gpu/archive/,tar_zst_reader.c tar_zst_writer.c),$(PERF_SRCS))
endif
INJECT_SRCS := $(wildcard cupti_inject/*.c)
BPF_SRCS    := $(wildcard bpf/*.bpf.c)
UNIT_SRCS   := $(wildcard tests/unit/test_*.c)
FUZZ_SRCS   := $(wildcard tests/fuzz/fuzz_*.c)

# check looks for CUPTI as the injected library does, and record reads what JIT
# compilers write: by the same code
PERF_OBJS   := $(PERF_SRCS:%.c=$(O)/obj/%.o) \
	       $(addprefix $(O)/obj/cupti_inject/,api_name.o cfi_code.o cupti_gaps.o cupti_table.o holder.o library.o \
		 jit_file.o) $(PROTO_OBJS)
INJECT_OBJS := $(INJECT_SRCS:%.c=$(O)/obj/%.o)
SKELETONS   := $(BPF_SRCS:bpf/%.bpf.c=$(O)/bpf/%.skel.h)
# What tests are linked with: everything below the commands
MODULE_OBJS := $(filter-out $(O)/obj/perf-gpu/main.o $(O)/obj/perf-gpu/builtin-%,$(PERF_OBJS))
UNIT_TESTS  := $(UNIT_SRCS:%.c=$(O)/%)
FUZZ_TESTS  := $(FUZZ_SRCS:%.c=$(O)/%)

PERF_GPU    := $(O)/perf-gpu
LIBDIR      := $(O)/lib/perf-gpu
INJECT_LIB  := $(LIBDIR)/libperf-gpu-inject.so
UNWIND_LIBS := $(addprefix $(LIBDIR)/,$(notdir $(LIBUNWIND_SO)))

.PHONY: all
all: $(PERF_GPU) $(INJECT_LIB) $(UNWIND_LIBS)

# The doubles of CUDA and the programs that tests record; they add to TEST_ALL.
TEST_ALL :=
-include tests/fake_cuda/Makefile.inc
-include tests/workloads/Makefile.inc
-include tests/tools/Makefile.inc
-include tests/bench/Makefile.inc
-include tests/lint/Makefile.inc

# --- building --------------------------------------------------------------------

# Changes when a command line does, so that what it made is made anew. How O is
# written, and -Werror, make no difference to it.
FLAGS_TEXT = $(subst $(O)/,,$(filter-out -Werror -ffile-prefix-map=%,$(CC) $(PERF_CFLAGS) $(INJECT_CFLAGS) \
	     $(PERF_LDFLAGS) $(INJECT_LDFLAGS) $(CLANG) $(BPF_CFLAGS)))
$(O)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS_TEXT))' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
.PHONY: FORCE
FORCE:

$(O)/obj/perf-gpu/%.o: perf-gpu/%.c $(O)/flags | $(SKELETONS) $(LIBPERF) $(PROTO_HDRS)
	@mkdir -p $(@D)
	$(call msg,CC,$@)
	$(Q)$(CC) $(PERF_CFLAGS) -MMD -MP -c $< -o $@

# protoc-c makes both files at once.
.PRECIOUS: $(O)/proto/%.pb-c.c $(O)/proto/%.pb-c.h
$(O)/proto/%.pb-c.c $(O)/proto/%.pb-c.h: perf-gpu/proto/%.proto
	@mkdir -p $(O)/proto
	$(call msg,PROTOC,$@)
	$(Q)protoc-c --proto_path=perf-gpu/proto --c_out=$(O)/proto $<

$(O)/obj/proto/%.o: $(O)/proto/%.pb-c.c $(O)/flags
	@mkdir -p $(@D)
	$(call msg,CC,$@)
	$(Q)$(CC) $(filter-out $(WARNINGS),$(PERF_CFLAGS)) -MMD -MP -c $< -o $@

$(O)/obj/cupti_inject/%.o: cupti_inject/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call msg,CC,$@)
	$(Q)$(CC) $(INJECT_CFLAGS) -MMD -MP -c $< -o $@

$(O)/bpf/%.bpf.o: bpf/%.bpf.c $(O)/flags
	@mkdir -p $(@D)
	$(call msg,BPF,$@)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c $< -o $@

.PRECIOUS: $(O)/bpf/%.bpf.o $(O)/bpf/%.skel.h $(O)/obj/tests/%.o
$(O)/bpf/%.skel.h: $(O)/bpf/%.bpf.o
	$(call msg,SKEL,$@)
	$(Q){ echo '/* NOLINTBEGIN: this is bpftool'"'"'s */' && $(BPFTOOL) gen skeleton $< name $* && \
		echo '/* NOLINTEND */'; } >$@

# The page of perf-gpu flamegraph, or, without npm, why there is none
FLAME_PAGE := $(O)/include/flamegraph_page.h
$(FLAME_PAGE): $(wildcard perf-gpu/flamegraph/page/*) scripts/build-flamegraph-page.sh \
		$(O)/features.mk
	$(call msg,PAGE,$@)
	$(Q)NPM='$(NPM)' NODE='$(NODE)' scripts/build-flamegraph-page.sh $(O)/flamegraph $@
$(O)/obj/perf-gpu/flamegraph/page.o: $(FLAME_PAGE)

$(PERF_GPU): $(PERF_OBJS)
	$(call msg,LD,$@)
	$(Q)$(CC) $(PERF_LDFLAGS) $^ $(PERF_LIBS) -o $@

$(INJECT_LIB): $(INJECT_OBJS)
	@mkdir -p $(@D)
	$(call msg,LD,$@)
	$(Q)$(CC) $(INJECT_LDFLAGS) $^ $(INJECT_LIBS) -o $@

# The library opens these copies, and only these, by their path: libunwind must not
# get into the target's global scope.
$(UNWIND_LIBS): $(LIBUNWIND_SO)
	@mkdir -p $(@D)
	$(call msg,COPY,$@)
	$(Q)install -m 755 $(filter %/$(@F),$(LIBUNWIND_SO)) $@

ifndef LIBPERF_PACKAGE
$(LIBPERF): scripts/build-libperf.sh
	$(call msg,LIBPERF,$@)
	$(Q)scripts/build-libperf.sh $(LIBPERF_DIR)
endif

# --- tests -----------------------------------------------------------------------

# An archive, so that each test carries only what it uses
$(O)/obj/modules.a: $(MODULE_OBJS)
	$(call msg,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/obj/tests/%.o: tests/%.c $(O)/flags | $(SKELETONS) $(LIBPERF) $(PROTO_HDRS)
	@mkdir -p $(@D)
	$(call msg,CC,$@)
	$(Q)$(CC) $(PERF_CFLAGS) -Itests/unit -MMD -MP -c $< -o $@

# The injected library's parts, for their own tests
$(O)/obj/inject.a: $(INJECT_OBJS)
	$(call msg,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(UNIT_TESTS): $(O)/tests/%: $(O)/obj/tests/%.o $(O)/obj/modules.a $(O)/obj/inject.a
	@mkdir -p $(@D)
	$(call msg,LD,$@)
	$(Q)$(CC) $(PERF_LDFLAGS) $^ $(PERF_LIBS) -o $@

# The commands themselves, for a fuzz target that runs them whole
$(O)/obj/commands.a: $(filter $(O)/obj/perf-gpu/builtin-%,$(PERF_OBJS))
	$(call msg,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# In check, a fuzz target reads its corpus once; `make fuzz` makes it search.
$(FUZZ_TESTS): $(O)/tests/%: $(O)/obj/tests/%.o $(O)/obj/tests/fuzz/corpus_main.o $(O)/obj/commands.a \
		$(O)/obj/modules.a
	@mkdir -p $(@D)
	$(call msg,LD,$@)
	$(Q)$(CC) $(PERF_LDFLAGS) $^ $(PERF_LIBS) -o $@

TEST_ENV := O=$(abspath $(O)) SAN='$(SAN)' CC='$(CC)' EMULATOR='$(EMULATOR)'

.PHONY: build-tests
build-tests: $(TEST_ALL)

.PHONY: check check-unit check-errors demo bench soak fixtures update-fixtures
# The recorder needs a kernel of its own architecture, and stock perf beside it.
ifneq ($(CROSS_COMPILE),)
check: all $(UNIT_TESTS) $(FUZZ_TESTS) $(TEST_ALL)
	$(Q)$(TEST_ENV) tests/run.sh $(or $(TESTS),unit/ fuzz/ shell/test_emulated \
		shell/test_fake_cuda)
else
check: all $(UNIT_TESTS) $(FUZZ_TESTS) $(TEST_ALL)
	$(Q)$(TEST_ENV) tests/run.sh $(TESTS)
endif

check-unit: all $(UNIT_TESTS) $(FUZZ_TESTS)
	$(Q)$(TEST_ENV) tests/run.sh unit/ fuzz/

check-errors: all $(TOOL_LIBS)
	$(Q)$(TEST_ENV) tests/run.sh faults/test_errors_offline

demo: all $(TEST_ALL)
	$(Q)$(TEST_ENV) scripts/demo.sh

bench: all $(TEST_ALL)
	$(Q)$(TEST_ENV) tests/bench/run.sh
	$(Q)$(TEST_ENV) tests/bench/events.sh
	$(Q)$(TEST_ENV) tests/bench/exports.sh
	$(Q)$(TEST_ENV) tests/bench/scale.sh

# An hour in ten minutes; SOAK_S=3600 is the hour.
SOAK_S ?= 600

soak: all $(TEST_ALL)
	$(Q)$(TEST_ENV) tests/bench/soak.sh $(SOAK_S) $(SOAK)

fixtures: all $(TEST_ALL)
	$(Q)$(TEST_ENV) scripts/gpu-run.sh

update-fixtures: all $(TEST_ALL)
	$(Q)$(TEST_ENV) scripts/update-fixtures.sh

# The targets in a build of their own, with libFuzzer's main() in the place of the one that
# reads a corpus, and what holds each input to its bounds (tests/fuzz/bounds.c)
FUZZ_S        ?= 60
FUZZ_O        := build-fuzz
FUZZ_PROGRAMS := $(FUZZ_SRCS:tests/fuzz/%.c=$(O)/fuzz/%)

.PHONY: fuzz fuzz-build
fuzz: $(LIBPERF)
	+$(Q)$(MAKE) O=$(FUZZ_O) CC=$(CLANG) SAN=fuzzer-no-link,address,undefined \
		LIBPERF_DIR=$(abspath $(LIBPERF_DIR)) fuzz-build
	$(Q)scripts/fuzz.sh $(FUZZ_O) $(FUZZ_S) $(FUZZ)

fuzz-build: $(FUZZ_PROGRAMS)

$(FUZZ_PROGRAMS): $(O)/fuzz/%: $(O)/obj/tests/fuzz/%.o $(O)/obj/tests/fuzz/bounds.o \
		$(O)/obj/commands.a $(O)/obj/modules.a
	@mkdir -p $(@D)
	$(call msg,LD,$@)
	$(Q)$(CC) $(PERF_LDFLAGS) -fsanitize=fuzzer -Wl,--wrap=LLVMFuzzerTestOneInput $^ \
		$(PERF_LIBS) -o $@

# --- installing --------------------------------------------------------------------

MAN_PAGES := $(wildcard man/*.[1-8])

.PHONY: install
install: all
	$(call msg,INSTALL,$(DESTDIR)$(prefix))
	$(Q)install -d $(DESTDIR)$(prefix)/bin $(DESTDIR)$(prefix)/lib/perf-gpu \
		$(DESTDIR)$(prefix)/share/bash-completion/completions
	$(Q)install -m 755 $(PERF_GPU) $(DESTDIR)$(prefix)/bin/
	$(Q)install -m 755 $(INJECT_LIB) $(UNWIND_LIBS) $(DESTDIR)$(prefix)/lib/perf-gpu/
	$(Q)for page in $(MAN_PAGES); do \
		install -D -m 644 -t $(DESTDIR)$(prefix)/share/man/man$${page##*.} $$page || exit 1; \
	done
	$(Q)install -D -m 644 -t $(DESTDIR)$(prefix)/libexec/perf-gpu/scripts/python \
		scripts/python/gpu-flamegraph.py
	$(Q)install -D -m 755 -t $(DESTDIR)$(prefix)/libexec/perf-gpu/scripts/python/bin \
		scripts/python/bin/gpu-flamegraph-record scripts/python/bin/gpu-flamegraph-report
	$(Q)install -m 644 scripts/perf-gpu-completion.bash \
		$(DESTDIR)$(prefix)/share/bash-completion/completions/perf-gpu

# --- the rest ------------------------------------------------------------------------

C_FILES = $(shell find perf-gpu bpf cupti_inject tests -name '*.[ch]')

.PHONY: format format-check clean help
format:
	$(Q)$(CLANG_FORMAT) -i $(C_FILES)

format-check:
	$(Q)$(CLANG_FORMAT) --dry-run --Werror $(C_FILES)

# By name: O may be a folder with other things in it.
clean:
	$(Q)rm -rf $(addprefix $(O)/,bpf bundle demo fake_cuda flamegraph fuzz gpu-run include lib libperf \
		obj proto tidy tests perf-gpu features.mk flags)
	$(Q)if [ -d $(O) ]; then rmdir --ignore-fail-on-non-empty $(O); fi

help:
	@sed -n 's/^## \{0,1\}//p' Makefile

-include $(shell find $(O)/obj $(O)/bpf -name '*.d' 2>/dev/null)
