# SPDX-License-Identifier: MIT
# The one way in: `make help` tells what there is.
#
# Everything that is built lies in out/.  Variables: V=1 shows the commands, WERROR=1 makes warnings
# errors, SAN=1 builds with checks for undefined behaviour (into out/san/), CLANG=1 with clang instead
# of gcc (into out/clang/), FAST=1 compiles the kernel file by file, so that a change is built at once
# (into out/fast/), CROSS= is the cross compiler's prefix, MIG_OUTPUT= a folder that `make mig-output`
# has made elsewhere, for a host without MIG.

CROSS   ?= i686-linux-gnu-
HOSTCC  ?= gcc
HOSTOBJCOPY ?= objcopy
PYTHON  ?= /usr/bin/python3
Q       := $(if $(V),,@)
OUT     := out$(if $(SAN),/san)$(if $(CLANG),/clang)$(if $(FAST),/fast)
OBJ     := $(OUT)/obj
GEN     := $(OUT)/gen

.PHONY: all kernel programs unix unix-tests sdk mig-output disk host-tests plugin gprof iso qemu qemu-grub qemu-gdb gdb test nightly fuzz fuzz-gprof seeds bench bench-gprof lines hot perf profile-view grade bundle clean help
.DELETE_ON_ERROR:
.SECONDARY:
.SECONDEXPANSION:

export ASSAY_OUT := $(OUT)

# As many commands at a time as there are CPUs, if nobody says -j.
$(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,$(eval MAKEFLAGS += -j$(shell nproc)))

all: kernel programs unix unix-tests disk plugin gprof host-tests mig-output

# ---------------- Compilers ----------------

CC      := $(if $(CLANG),clang --target=i686-linux-gnu,$(CROSS)gcc)
LD      := $(CROSS)gcc
AR      := $(CROSS)ar
NM      := $(CROSS)nm
MIG     := i686-gnu-mig
OBJDUMP := $(CROSS)objdump
# The kernel is compiled as one unit when it is linked, unless whoever changes it would rather not
# wait; clang's way of doing so needs a linker that we do not ask for.
LTO     := $(if $(CLANG)$(FAST),,-flto=2)

# One line instead of a screen of errors when a tool is not there.
TOOLS := $(firstword $(CC)) $(LD) $(HOSTCC) $(if $(MIG_OUTPUT),,$(MIG)) $(PYTHON)
ifneq ($(filter-out clean help,$(or $(MAKECMDGOALS),all)),)
MISSING := $(strip $(foreach tool,$(TOOLS),$(if $(shell command -v $(tool)),,$(tool))))
$(if $(MISSING),$(error not installed: $(MISSING).  Run ./setup, which installs what is \
	missing$(if $(filter $(MIG),$(MISSING)),; or have MIG's output made elsewhere: MIG_OUTPUT= in `make help`)))
endif

WARNINGS := -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes $(if $(WERROR),-Werror)
# Also headers of the C library, which are the system's to the compiler.
DEPS     := -MD -MP
TARGET   := -std=gnu11 -O2 -g -march=i686 -ffreestanding -fno-pic -fno-stack-protector \
	    -fcf-protection=none -fno-asynchronous-unwind-tables -fno-omit-frame-pointer \
	    -ffile-prefix-map=$(CURDIR)=. -Iinclude $(WARNINGS)
# Structures are cleared and copied by a string instruction: gcc's loops take five instructions for
# what that does in one or two.
STRINGS  := $(foreach what,memset memcpy,-m$(what)-strategy=rep_4byte:-1:noalign)
KERNEL   := $(TARGET) -mtune=generic -mgeneral-regs-only -mregparm=3 -fno-strict-aliasing \
	    $(if $(CLANG),,$(STRINGS)) \
	    -fno-delete-null-pointer-checks -Ikernel -I$(GEN)/kernel -DKERNEL \
	    $(if $(SAN),-fsanitize=undefined -DKERNEL_SAN)
USER     := $(TARGET) -Ilib -Itests/lib -I$(GEN)/user $(if $(SAN),-DKERNEL_SAN)
LIBC     := $(filter-out -ffreestanding,$(TARGET)) -nostdinc -isystem lib/libc/include \
	    -isystem $(shell $(CC) -print-file-name=include) -Ilib/libc -Ilib/threads -Ilib \
	    -I$(GEN)/user -fno-builtin -ffunction-sections
HOST     := -std=gnu11 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all \
	    -Itests/lib/host -Itests/lib -Ikernel -idirafter include $(WARNINGS)

compile = $(Q)mkdir -p $(@D) && echo "  CC      $<" && $(1) $(DEPS) -c -o $@ $<

# ---------------- What there is ----------------

# Interfaces that the kernel serves, those that it calls and programs serve, and further ways for
# programs to call it.
SERVERS  := mach_port mach mach_host mach4 gnumach mach_i386 device assay
CATCHERS := exc notify task_notify memory_object memory_object_default device_reply prof
CALLERS  := device_request
# Interfaces between programs.
SERVICES := $(wildcard defs/servers/*.defs)

KERNEL_SOURCES := $(sort $(filter-out $(if $(SAN),,%/ubsan.c),$(wildcard kernel/*/*.[cS] kernel/*/*/*.[cS])))
KERNEL_OBJECTS := $(KERNEL_SOURCES:%=$(OBJ)/%.o) $(SERVERS:%=$(OBJ)/gen/%_server.o)
STUB_OBJECTS   := $(patsubst %,$(OBJ)/gen/%_user.o,$(SERVERS) $(CALLERS)) \
		  $(CATCHERS:%=$(OBJ)/gen/%_catch.o)
LIB_OBJECTS    := $(patsubst %,$(OBJ)/%.o,$(filter-out lib/crt0.S,$(sort $(wildcard lib/*.[cS])))) \
		  $(STUB_OBJECTS)
CHECK_OBJECTS  := $(patsubst %,$(OBJ)/%.o,$(sort $(wildcard tests/lib/*.c)))
UNIX_FOLDERS   := user/bin user/kgmon user/monctl user/sbin user/work user/sh servers/snames
USER_PROGRAMS  := $(patsubst %,$(OUT)/%,$(sort $(filter-out $(UNIX_FOLDERS),$(wildcard user/* servers/*))))
TEST_PROGRAMS  := $(patsubst %.c,$(OUT)/%,$(sort $(filter-out tests/lib/%,$(wildcard tests/*/*.c))))
HOST_TESTS     := $(sort $(filter-out tests/lib/%,$(wildcard tests/*/host/*.c)))
HOST_PROGRAMS  := $(patsubst tests/%.c,$(OUT)/host/%,$(subst /host/,/,$(HOST_TESTS)))

kernel: $(OUT)/mach_kernel $(OUT)/mach_kernel.sym $(OUT)/mach_kernel.asm
programs: $(USER_PROGRAMS) $(TEST_PROGRAMS)
host-tests: $(HOST_PROGRAMS)
plugin: out/plugin/hot.so

# ---------------- Interfaces ----------------

# What MIG's output depends on: the definitions, and how they are made into files, from here on to
# where the kernel begins.
MADE_FROM = $(shell { cat defs/*/*.defs; sed -n '/^. -* Interfaces/,/^. -* The kernel/p' Makefile; } | \
	      sha256sum | cut -d ' ' -f 1)

ifeq ($(MIG_OUTPUT),)
# defs/mach/NAME.defs becomes the kernel's half and its header (NAME_server), the caller's half and
# its header <mach/NAME.h>, and for what programs serve that half and its header (NAME_catch).
mig = $(Q)mkdir -p $(@D) && echo "  MIG     $<" && \
      CC=$(CROSS)gcc $(MIG) -n -Idefs $(1) $<
DEFS := $(wildcard defs/mach/*.defs) Makefile

# A routine that fails leaves its results as they are; the linker, which sees both stub and routine,
# cannot know that the stub does not use them then.
$(GEN)/kernel/mach/%_server.c $(GEN)/kernel/mach/%_server.h: defs/mach/%.defs $(DEFS)
	$(call mig,-DKERNEL_SERVER=1 -DKERNEL=1 -server $(@D)/$*_server.c -sheader $(@D)/$*_server.h)
	$(Q)sed -i 's/^\t\(\w*_t \w*\);$$/\t\1 = 0;/' $(@D)/$*_server.c

$(GEN)/user/mach/%_user.c $(GEN)/user/mach/%.h: defs/mach/%.defs $(DEFS)
	$(call mig,-user $(@D)/$*_user.c -header $(@D)/$*.h)

$(GEN)/user/mach/%_catch.c $(GEN)/user/mach/%_catch.h: defs/mach/%.defs $(DEFS)
	$(call mig,-server $(@D)/$*_catch.c -sheader $(@D)/$*_catch.h)

# defs/ux/bsd.defs: Unix calls, for the C library and for the Unix server.
$(GEN)/user/ux/%_user.c $(GEN)/user/ux/%.h: defs/ux/%.defs $(DEFS)
	$(call mig,-user $(@D)/$*_user.c -header $(@D)/$*.h)

$(GEN)/user/ux/%_server.c $(GEN)/user/ux/%_server.h: defs/ux/%.defs $(DEFS)
	$(call mig,-DUX_SERVER=1 -server $(@D)/$*_server.c -sheader $(@D)/$*_server.h)

# defs/servers/NAME.defs: what servers other than Unix's serve, for them and for who calls them.
$(GEN)/user/servers/%_user.c $(GEN)/user/servers/%.h: defs/servers/%.defs $(DEFS)
	$(call mig,-user $(@D)/$*_user.c -header $(@D)/$*.h)

$(GEN)/user/servers/%_server.c $(GEN)/user/servers/%_server.h: defs/servers/%.defs $(DEFS)
	$(call mig,-D$$(echo $* | tr a-z A-Z)_SERVER=1 -server $(@D)/$*_server.c -sheader $(@D)/$*_server.h)

else
# Made elsewhere, of the same definitions.
ifneq ($(filter-out clean help,$(or $(MAKECMDGOALS),all)),)
$(if $(wildcard $(MIG_OUTPUT)/made-from),,$(error MIG_OUTPUT=$(MIG_OUTPUT) is no folder with MIG's \
	output: unpack what `make mig-output` makes on a host with MIG))
$(if $(filter $(MADE_FROM),$(file <$(MIG_OUTPUT)/made-from)),,$(error MIG_OUTPUT=$(MIG_OUTPUT) was \
	made of other definitions than those in defs/: run `make mig-output` again on a host with MIG))
endif

$(GEN)/%: $(MIG_OUTPUT)/%
	$(Q)mkdir -p $(@D) && echo "  COPY    $<" && cp $< $@
endif

# Generated code is compiled as ours is, but for what MIG is known to write: it adds to message ids
# that may be any number.
GENERATED := -fwrapv -Wno-missing-prototypes -Wno-unused -Wno-sign-compare -Wno-uninitialized -Wno-cast-function-type \
	     $(if $(CLANG),-Wno-self-assign,-Wno-init-self -Wno-maybe-uninitialized)

$(OBJ)/gen/%_server.o: $(GEN)/kernel/mach/%_server.c Makefile
	$(call compile,$(CC) $(KERNEL) $(LTO) $(GENERATED))

$(OBJ)/gen/%_user.o: $(GEN)/user/mach/%_user.c Makefile
	$(call compile,$(CC) $(USER) $(GENERATED))

$(OBJ)/gen/%_catch.o: $(GEN)/user/mach/%_catch.c Makefile
	$(call compile,$(CC) $(USER) $(GENERATED))

$(OBJ)/gen/%_user.o: $(GEN)/user/ux/%_user.c Makefile
	$(call compile,$(CC) $(LIBC) $(GENERATED))

$(OBJ)/gen/ux/%_server.o: $(GEN)/user/ux/%_server.c Makefile
	$(call compile,$(CC) $(USER) $(UX) $(GENERATED))

$(OBJ)/gen/servers/%.o: $(GEN)/user/servers/%.c Makefile
	$(call compile,$(CC) $(LIBC) $(GENERATED))

# Whoever includes a generated header needs it before the compiler has said so.
KERNEL_HEADERS := $(SERVERS:%=$(GEN)/kernel/mach/%_server.h)
USER_HEADERS   := $(patsubst %,$(GEN)/user/mach/%.h,$(SERVERS) $(CALLERS)) \
		  $(CATCHERS:%=$(GEN)/user/mach/%_catch.h) \
		  $(GEN)/user/ux/bsd.h $(GEN)/user/ux/bsd_server.h \
		  $(patsubst defs/servers/%.defs,$(GEN)/user/servers/%.h,$(SERVICES)) \
		  $(patsubst defs/servers/%.defs,$(GEN)/user/servers/%_server.h,$(SERVICES))

# Named in a rule of their own, all are files that make knows of when it chooses a pattern.
.PHONY: headers
headers: $(KERNEL_HEADERS) $(USER_HEADERS)

# For hosts without MIG: the same archive, byte for byte, for the same definitions.
MIG_FILES := $(KERNEL_HEADERS) $(KERNEL_HEADERS:.h=.c) $(USER_HEADERS) \
	     $(foreach header,$(USER_HEADERS),$(if $(filter %_catch.h %_server.h,$(header)),\
	       $(header:.h=.c),$(header:.h=_user.c)))

mig-output: $(OUT)/mig-output.tar

$(OUT)/mig-output.tar: $(MIG_FILES)
	$(Q)echo "  TAR     $@" && echo $(MADE_FROM) > $(GEN)/made-from
	$(Q)tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=a=r,u+wX \
	    --transform 's,^,mig-output/,' -C $(GEN) -cf $@ \
	    made-from $(sort $(MIG_FILES:$(GEN)/%=%))

# ---------------- The kernel ----------------

$(OBJ)/kernel/%.c.o: kernel/%.c Makefile | $(KERNEL_HEADERS)
	$(call compile,$(CC) $(KERNEL) $(LTO))

# What reports undefined behaviour is not itself checked for it.
$(OBJ)/kernel/base/ubsan.c.o: KERNEL += -fno-sanitize=undefined

$(OBJ)/kernel/%.S.o: kernel/%.S Makefile
	$(call compile,$(CC) $(KERNEL))

# Linked twice: the second time with the names of what the first put where.
link_kernel = $(LD) $(if $(CLANG),,$(KERNEL) $(LTO)) -nostdlib -static -no-pie \
	      -Wl,-T,kernel/kernel.ld,--build-id=none,-z,noexecstack,-z,max-page-size=4096

$(OBJ)/kernel/unnamed: $(KERNEL_OBJECTS) kernel/kernel.ld
	$(Q)echo "  LINK    $@"
	$(Q)$(link_kernel) -o $@ $(KERNEL_OBJECTS)

$(OBJ)/kernel/ksyms.S: $(OBJ)/kernel/unnamed tools/ksyms
	$(Q)$(NM) -n $< > $<.sym && tools/ksyms $<.sym > $@

$(OUT)/mach_kernel: $(OBJ)/kernel/unnamed $(OBJ)/kernel/ksyms.S
	$(Q)echo "  LINK    $@"
	$(Q)$(CC) $(KERNEL) -c -o $(OBJ)/kernel/ksyms.o $(OBJ)/kernel/ksyms.S
	$(Q)$(link_kernel) -o $@ $(KERNEL_OBJECTS) $(OBJ)/kernel/ksyms.o

%.sym: %
	$(Q)$(NM) -n $< > $@

%.asm: %
	$(Q)$(OBJDUMP) -d $< > $@

# ---------------- Programs for the guest that need no Unix server ----------------

# The server itself is such a program, with folders of its own.
UX := -DUX_SERVER -Iservers/ux -Ilibprof

$(OBJ)/%.c.o: %.c Makefile | $(USER_HEADERS)
	$(call compile,$(CC) $(USER) $(if $(filter servers/ux/%,$<),$(UX)))

$(OBJ)/%.S.o: %.S Makefile
	$(call compile,$(CC) $(USER))

$(OUT)/lib/libassay.a: $(LIB_OBJECTS)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcsD $@ $^

# A library, so that a program with a main() of its own links without the one that runs the tests.
$(OUT)/lib/libcheck.a: $(CHECK_OBJECTS)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcsD $@ $^

$(OUT)/lib/crt0.o: $(OBJ)/lib/crt0.S.o
	$(Q)mkdir -p $(@D) && cp $< $@

RUNTIME := $(OUT)/lib/crt0.o $(OUT)/lib/libassay.a

# Static, where Mach's programs lie; each with its symbols and its disassembly.
define link_program
	$(Q)mkdir -p $(@D) && echo "  LINK    $@"
	$(Q)$(LD) -nostdlib -static -no-pie -Wl,--build-id=none,-z,noexecstack \
	    -Wl,-Ttext-segment=0x08048000 $(LINK) -o $@ $(OUT)/lib/crt0.o $(filter $(OBJ)/%,$^) \
	    $(filter %/libcheck.a %/libprof1.a,$^) $(OUT)/lib/libassay.a
	$(Q)$(NM) -n $@ > $@.sym && $(OBJDUMP) -d $@ > $@.asm
endef

objects_of = $(patsubst %,$(OBJ)/%.o,$(sort $(wildcard $(1)/*.[cS] $(1)/*/*.[cS])))
$(filter-out %/ux,$(USER_PROGRAMS)): $(OUT)/%: $$(call objects_of,$$*) $(RUNTIME)
	$(link_program)

# One of the benchmarks collects samples as profiled programs do.
$(OUT)/user/bench: $(OUT)/lib/libprof1.a
$(OBJ)/user/bench/profile.c.o: USER += -I.

# The Unix server, so that it can profile itself (UX_PROFILE=sample), counts its calls too (pg), or
# knows nothing of profiles (none).  All three can be made; out/servers/ux is one of them.
UX_PROFILE ?= sample
$(if $(filter none sample pg,$(UX_PROFILE)),,$(error UX_PROFILE=$(UX_PROFILE): there are none, sample and pg))

UX_OBJECTS  := $(call objects_of,servers/ux) $(OBJ)/gen/ux/bsd_server.o
UX_VARIANTS := $(OUT)/servers/ux-none $(OUT)/servers/ux-sample $(OUT)/servers/ux-pg

$(OBJ)/ux-pg/%.c.o: %.c Makefile | $(USER_HEADERS)
	$(call compile,$(CC) $(USER) $(UX) -pg)

$(OUT)/servers/ux-sample $(OUT)/servers/ux-pg: LINK := -Wl,-u,do_gprof_mon_switch
$(OUT)/servers/ux-sample $(OUT)/servers/ux-pg: $(OUT)/lib/libprof1.a
$(OUT)/servers/ux-none $(OUT)/servers/ux-sample: $(UX_OBJECTS)
$(OUT)/servers/ux-pg: $(patsubst $(OBJ)/servers/%,$(OBJ)/ux-pg/servers/%,$(UX_OBJECTS))

$(UX_VARIANTS): $(RUNTIME)
	$(link_program)

# A file that is newer than out/servers/ux when another one is wanted than last time.
UX_CHOICE := $(OBJ)/ux-profile
ifneq ($(filter-out clean help,$(or $(MAKECMDGOALS),all)),)
ifneq ($(file <$(UX_CHOICE)),$(UX_PROFILE))
$(shell mkdir -p $(dir $(UX_CHOICE)) && echo $(UX_PROFILE) > $(UX_CHOICE))
endif
endif

$(OUT)/servers/ux: $(OUT)/servers/ux-$(UX_PROFILE) $(UX_CHOICE)
	$(Q)for end in '' .sym .asm; do cp $<$$end $@$$end; done

# As root's process it asks the Unix server for ports.
$(OUT)/servers/pager: $(OBJ)/gen/bsd_user.o

$(TEST_PROGRAMS): $(OUT)/tests/%: $(OBJ)/tests/%.c.o $(OUT)/lib/libcheck.a $(RUNTIME)
	$(link_program)

# ---------------- Libraries and programs for the Unix server ----------------

# What the SDK holds is what our own programs are built with.
SDK       := $(OUT)/sdk
# For -pg: the library, what its programs begin with, and the others compiled with -pg too.
PROFILED  := $(SDK)/lib/gcrt0.o $(SDK)/lib/moncrt0.o $(SDK)/lib/libprof1.a $(SDK)/lib/libc_p.a \
	     $(SDK)/lib/libthreads_p.a $(SDK)/lib/libmach_p.a
EMPTY_LIBRARIES := $(SDK)/lib/libm.a $(SDK)/lib/libpthread.a
LIBRARIES := $(SDK)/lib/crt0.o $(SDK)/lib/libc.a $(SDK)/lib/libthreads.a $(SDK)/lib/libmach.a \
	     $(SDK)/lib/libcpuprofile.a $(SDK)/lib/libnetname.a $(SDK)/lib/libgprof.a $(EMPTY_LIBRARIES) \
	     $(PROFILED)
UX_CC     := $(SDK)/bin/ux-cc

$(OBJ)/lib/libc/%.c.o: lib/libc/%.c Makefile | $(USER_HEADERS)
	$(call compile,$(CC) $(LIBC))

$(OBJ)/lib/libc/%.S.o: lib/libc/%.S Makefile
	$(call compile,$(CC) $(LIBC))

$(OBJ)/lib/threads/%.c.o: lib/threads/%.c Makefile | $(USER_HEADERS)
	$(call compile,$(CC) $(LIBC))

$(OBJ)/lib/threads/%.S.o: lib/threads/%.S Makefile
	$(call compile,$(CC) $(LIBC))

$(OBJ)/lib/cpuprofile/%.c.o: lib/cpuprofile/%.c Makefile | $(USER_HEADERS)
	$(call compile,$(CC) $(LIBC))

$(OBJ)/libprof/%.c.o: libprof/%.c Makefile | $(USER_HEADERS)
	$(call compile,$(CC) $(LIBC) -Ilibprof)

$(OBJ)/libprof/%.S.o: libprof/%.S Makefile
	$(call compile,$(CC) $(LIBC))

$(OBJ)/pg/gen/%.o: $(GEN)/user/ux/%.c Makefile
	$(call compile,$(CC) $(LIBC) $(GENERATED) -pg)

$(OBJ)/pg/gen/%.o: $(GEN)/user/mach/%.c Makefile
	$(call compile,$(CC) $(LIBC) $(GENERATED) -pg)

$(OBJ)/pg/%.c.o: %.c Makefile | $(USER_HEADERS)
	$(call compile,$(CC) $(LIBC) -pg)

$(OBJ)/pg/%.S.o: %.S Makefile
	$(call compile,$(CC) $(LIBC))

$(OBJ)/lib/netname/%.c.o: lib/netname/%.c Makefile | $(USER_HEADERS)
	$(call compile,$(CC) $(LIBC))

archive = $(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcsD $@ $(filter %.o,$^)
objects_below = $(patsubst %,$(OBJ)/%.o,$(sort $(filter-out lib/libc/start/crt0.S,\
		$(wildcard $(1)/*.[cS] $(1)/*/*.[cS]))))

$(SDK)/lib/crt0.o $(SDK)/lib/gcrt0.o $(SDK)/lib/moncrt0.o: $(OBJ)/lib/libc/start/crt0.S.o
	$(Q)mkdir -p $(@D) && cp $< $@

$(SDK)/lib/libc.a: $(call objects_below,lib/libc) $(OBJ)/gen/bsd_user.o
	$(archive)

$(SDK)/lib/libthreads.a: $(call objects_below,lib/threads)
	$(archive)

$(SDK)/lib/libcpuprofile.a: $(call objects_below,lib/cpuprofile)
	$(archive)

# Of what programs without libc link too.
MACH_OBJECTS := $(patsubst %,$(OBJ)/lib/%.c.o,destroy mach sample traps) $(STUB_OBJECTS)

$(SDK)/lib/libmach.a: $(MACH_OBJECTS)
	$(archive)

$(SDK)/lib/libnetname.a: $(call objects_below,lib/netname) $(OBJ)/gen/servers/netname_user.o
	$(archive)

# For programs that ask others for their profiles: libprof1.a has it, too, and much beside it.
$(SDK)/lib/libgprof.a: $(OBJ)/gen/servers/gprof_user.o
	$(archive)

# Its core knows neither libc nor Unix: the Unix server, and whatever has no libc, links that.
PROF_CORE := $(call objects_below,libprof/core) $(OBJ)/gen/servers/gprof_user.o $(OBJ)/gen/servers/gprof_server.o

$(SDK)/lib/libprof1.a: $(patsubst %,$(OBJ)/%.o,$(wildcard libprof/*.c)) $(PROF_CORE)
	$(archive)

$(OUT)/lib/libprof1.a: $(PROF_CORE)
	$(archive)

with_pg = $(patsubst $(OBJ)/%,$(OBJ)/pg/%,$(1))

$(SDK)/lib/libc_p.a: $(call with_pg,$(call objects_below,lib/libc) $(OBJ)/gen/bsd_user.o)
	$(archive)

$(SDK)/lib/libthreads_p.a: $(call with_pg,$(call objects_below,lib/threads))
	$(archive)

$(SDK)/lib/libmach_p.a: $(call with_pg,$(MACH_OBJECTS))
	$(archive)

# What other systems have apart: here it is in libc.a, or in libthreads.a.
$(EMPTY_LIBRARIES):
	$(archive)

# Headers where programs look for them: the C library's, Mach's, those of the libraries.
SDK_HEADERS := $(shell find include lib/libc/include -name '*.h') $(wildcard lib/mach.h lib/assay.h lib/*/*.h) libprof/gprof.h

$(SDK)/include/stamp: $(SDK_HEADERS) $(USER_HEADERS) Makefile
	$(Q)rm -rf $(@D) && mkdir -p $(@D)/ux && cp -r include/. lib/libc/include/. lib/mach.h lib/assay.h \
	    $(wildcard lib/threads/*.h lib/cpuprofile/*.h) libprof/gprof.h $(GEN)/user/mach $(@D)
	$(Q)cp defs/mach/*.defs $(@D)/mach && cp $(GEN)/user/ux/bsd.h $(@D)/ux && cp $(GEN)/user/servers/*.h $(@D)/servers && find $(@D) -name '*.[co]' -delete && touch $@

$(UX_CC): tools/ux-cc $(SDK)/include/stamp $(LIBRARIES)
	$(Q)mkdir -p $(@D) && cp $< $@ && touch $@

sdk: $(UX_CC)

# gprof is a program of the host and of the guest; each has some sources of its own.
GPROF_SOURCES := $(sort $(wildcard tools/gprof/*.c lib/elfsym/*.c lib/rollup/*.c))
GPROF_HEADERS := $(wildcard tools/gprof/*.h tools/gprof/*/*.h lib/elfsym/*.h lib/rollup/*.h)

# monctl and kgmon read symbols as gprof does, and collect samples as profiled programs do.
$(OUT)/user/monctl $(OUT)/user/kgmon: $(wildcard lib/elfsym/*.[ch] lib/rollup/*.[ch] libprof/core/*.h)
$(OUT)/user/monctl $(OUT)/user/kgmon $(OUT)/user/top: compile_unix += -I.
$(OUT)/user/monctl $(OUT)/user/kgmon: UNIX_LIBRARIES := -lprof1 -lnetname

# top samples the machine by itself, and adds up as the others do.
$(OUT)/user/top: $(wildcard lib/rollup/*.[ch])

$(OUT)/user/gprof: compile_unix += -Ilib
$(OUT)/user/gprof: $(GPROF_HEADERS)

# Every program is a file of its name, or a folder; user/bin/common is what they share.
UNIX_SOURCES  := $(wildcard user/bin/*.c user/sbin/*.c user/work/*.c) user/sh user/monctl user/kgmon \
		 $(filter-out user/bin/common,$(patsubst %/,%,$(wildcard user/bin/*/ user/work/*/)))
UNIX_PROGRAMS := $(patsubst %,$(OUT)/user/%,$(sort gprof $(basename $(notdir $(UNIX_SOURCES)))))
UNIX_COMMON   := $(OBJ)/user/bin/libcommon.a
UNIX_HEADERS  := $(wildcard user/bin/*/*.h user/sh/*.h user/monctl/*.h user/kgmon/*.h user/work/*/*.h)

unix: $(UNIX_PROGRAMS)

compile_unix = $(UX_CC) -std=gnu11 -O2 -g -ffile-prefix-map=$(CURDIR)=. $(WARNINGS) -Iuser/bin

$(OBJ)/user/bin/common/%.c.o: compile_unix += -I.
$(OBJ)/user/bin/common/%.c.o: user/bin/common/%.c $(UNIX_HEADERS) $(UX_CC)
	$(Q)mkdir -p $(@D) && echo "  UX-CC   $<" && $(compile_unix) -c -o $@ $<

$(UNIX_COMMON): $(patsubst %,$(OBJ)/%.o,$(sort $(wildcard user/bin/common/*.c)))
	$(archive)

source_of_unix = $(sort $(wildcard user/bin/$(1).c user/sbin/$(1).c user/work/$(1).c user/$(1)/*.c \
		 user/bin/$(1)/*.c user/work/$(1)/*.c) $(if $(filter gprof,$(1)),$(GPROF_SOURCES) \
		 $(wildcard tools/gprof/guest/*.c)))

$(UNIX_PROGRAMS): $(OUT)/user/%: $$(call source_of_unix,$$*) $(UNIX_COMMON) $(UNIX_HEADERS) $(UX_CC)
	$(Q)mkdir -p $(@D) && echo "  UX-CC   $@"
	$(Q)$(compile_unix) -o $@ $(filter %.c,$^) $(UNIX_COMMON) $(UNIX_LIBRARIES)
	$(Q)$(NM) -n $@ > $@.sym && $(OBJDUMP) -d $@ > $@.asm

# Servers that are processes of the Unix server.
UNIX_SERVERS := $(OUT)/servers/snames

unix: $(UNIX_SERVERS)

$(UNIX_SERVERS): $(OUT)/%: $$(wildcard $$*/*.[ch]) $(OBJ)/gen/servers/netname_server.o $(UX_CC)
	$(Q)mkdir -p $(@D) && echo "  UX-CC   $@"
	$(Q)$(compile_unix) -o $@ $(filter %.c %.o,$^)
	$(Q)$(NM) -n $@ > $@.sym && $(OBJDUMP) -d $@ > $@.asm

# Tests that run under the server, each a program of its own.
UNIX_TESTS := $(patsubst %.c,$(OUT)/%,$(sort $(wildcard tests/ux/programs/*.c)))

unix-tests: $(UNIX_TESTS) $(UX_VARIANTS)

$(UNIX_TESTS): $(OUT)/%: %.c $(wildcard tests/lib/unix/* tests/lib/check.h tests/ux/programs/*.h) $(UX_CC)
	$(Q)mkdir -p $(@D) && echo "  UX-CC   $@"
	$(Q)$(compile_unix) -Itests/lib -Itests/lib/unix -o $@ $(filter %.c,$^)
	$(Q)$(NM) -n $@ > $@.sym && $(OBJDUMP) -d $@ > $@.asm

# The root's file system.
disk: $(OUT)/disk.img

$(OUT)/disk.img: boot/manifest $(wildcard boot/disk/* boot/disk/*/*) tools/image $(wildcard tools/assay/*.py) \
		 $(UNIX_PROGRAMS) $(UNIX_SERVERS) $(USER_PROGRAMS) $(OUT)/mach_kernel $(wildcard user/work/*.c)
	$(Q)echo "  IMAGE   $@"
	$(Q)tools/image $@

# ---------------- Programs for the host ----------------

# A host test says in a line `links: base/zone.c ...` which sources it tests: of the kernel, or of the
# Unix server (servers/...), of a library (lib/..., libprof/...) or of the tests (tests/...); in a line
# `flags: -D...` with which options.
source_of = tests/$(dir $(1))host/$(notdir $(1)).c
line_of   = $(shell sed -n 's/.*$(1): *\([^*]*\).*/\1/p' $(2))
links_of  = $(foreach file,$(call line_of,links,$(call source_of,$(1))),\
	      $(if $(filter servers/% lib/% libprof/% tools/% user/% tests/%,$(file)),$(file),kernel/$(file)))

# Tests of the C library say `libc: yes`: they see its portable half under other names (our_printf)
# beside the host's own.
LIBC_PORTABLE := $(wildcard $(addprefix lib/libc/,$(addsuffix /*.c,stdio string stdlib ctype math malloc float locale)))

$(OUT)/host/obj/%.c.o: %.c Makefile
	$(call compile,$(HOSTCC) -std=gnu11 -O1 -g -ffreestanding -fno-stack-protector -fsanitize=undefined \
	    -fsanitize-undefined-trap-on-error $(WARNINGS) -nostdinc -Ilib/libc/include -Iinclude \
	    -isystem $(shell $(HOSTCC) -print-file-name=include))
	$(Q)$(HOSTOBJCOPY) --prefix-symbols=our_ $@

$(OUT)/host/libc.a: $(LIBC_PORTABLE:%=$(OUT)/host/obj/%.o)
	$(Q)rm -f $@ && ar rcsD $@ $^

libc_of = $(if $(call line_of,libc,$(call source_of,$(1))),tests/lib/libc/our_system.c $(OUT)/host/libc.a)

$(HOST_PROGRAMS): $(OUT)/host/%: $$(call source_of,$$*) $$(call links_of,$$*) $$(call libc_of,$$*) \
				 $(wildcard tests/lib/host/*.c) tests/lib/check.c Makefile
	$(Q)mkdir -p $(@D) && echo "  HOSTCC  $<"
	$(Q)$(HOSTCC) $(call line_of,flags,$<) $(HOST) -MMD -MP -MF $@.d -o $@ $(filter %.c,$^) $(filter %.a,$^) -lm

# On the host gprof can also ask binutils, and write what other programs show.
GPROF_OBJECTS := $(patsubst %,$(OBJ)/host/%.o,$(GPROF_SOURCES) \
		 $(sort $(wildcard tools/gprof/host/*.c tools/gprof/views/*.c)))

gprof: $(OUT)/bin/gprof

$(OBJ)/host/%.c.o: %.c Makefile
	$(call compile,$(HOSTCC) -std=gnu11 -O2 -g $(WARNINGS) -Ilib -idirafter include)

$(OUT)/bin/gprof: $(GPROF_OBJECTS)
	$(Q)mkdir -p $(@D) && echo "  LINK    $@"
	$(Q)$(HOSTCC) -o $@ $^ -lm

out/plugin/hot.so: tools/hot.c tools/hot_who.c tools/hot_plugin.h Makefile
	$(Q)mkdir -p $(@D) && echo "  HOSTCC  $@"
	$(Q)$(HOSTCC) -std=gnu11 -O2 -g -shared -fPIC -fvisibility=hidden $(WARNINGS) -o $@ $(filter %.c,$^)

-include $(shell test -d $(OUT) && find $(OUT) -name '*.d')

# ---------------- Running ----------------

iso: kernel programs disk
	$(Q)tools/iso

qemu-grub: MODE := grub
qemu-gdb: MODE := stopped
gdb: MODE := gdb
# A machine that runs is looked at as it is: to build would change the kernel's symbols under it.
RUNS := $(if $(filter gdb,$(MAKECMDGOALS)),$(shell test -e $(OUT)/gdb.place && \
	  ! flock -n $(OUT)/gdb.place true && echo yes))
qemu qemu-grub qemu-gdb: kernel programs disk gprof $(if $(filter qemu-grub,$(MAKECMDGOALS)),iso)
gdb: $(if $(RUNS),,kernel programs disk gprof)
qemu qemu-grub qemu-gdb gdb:
	$(Q)tools/qemu $(MODE)

test: all iso
	$(Q)tools/test --out $(OUT) $(T)

# What takes minutes; names as for test.
nightly: all
	$(Q)tools/test --nightly --out $(OUT) $(T)

bench: all
	$(Q)tools/bench

# How much code there is, floor by floor.
lines:
	$(Q)tools/floors

# gprof's time and memory beside GNU's, with up to N functions.
bench-gprof: gprof
	$(Q)tests/gprof/speed.py --functions $(or $(N),100000)

# N calls; the same SEED makes the same calls.  Then files, for SECONDS.
fuzz: all
	$(Q)tools/guest boot --icount --cpus $(or $(CPUS),1) --seed $(or $(SEED),1) \
	    --append 'pool=48 ramdisk=1' -- \
	    'ipc/fuzz calls=$(or $(N),200000) seed=$(or $(SEED),1) $${host-port} $${device-port}'
	$(Q)$(if $(filter 0,$(SECONDS)),,tests/gprof/fuzz/run $(or $(SECONDS),600))

# gprof's readers of files, for so many seconds.
fuzz-gprof:
	$(Q)tests/gprof/fuzz/run $(or $(N),600)

# N seeds of the machine, from SEED on, for each program in T.
seeds: all
	$(Q)tools/seeds --seeds $(or $(N),10) --first $(or $(SEED),1) --cpus $(or $(CPUS),2) $(T)

hot: all
	$(Q)tools/hot -- '$(T)'

# F is what `monctl -record` wrote.
perf: unix $(OUT)/mach_kernel
	$(Q)tools/perf '$(F)'

# F is the profile, P whose it is.
profile-view: gprof
	$(Q)tools/profile-view $(if $(FLAVOR),--flavor=$(FLAVOR)) '$(F)' $(P)

# The example assignment: what it says of right, wrong, cheating, hanging and panicking submissions.
grade: all
	$(Q)tools/grade --example --runs $(or $(N),2)

# What grades elsewhere, without the tree.
bundle: all
	$(Q)tools/bundle $(OUT)/assay-grader.tar

clean:
	rm -rf out

help:
	@cat docs/make.txt
