# SPDX-License-Identifier: MIT
# The one way in: `make help` tells what there is.
#
# Everything that is built lies in out/.  Variables: V=1 shows the commands, WERROR=1 makes warnings
# errors, SAN=1 builds with checks for undefined behaviour (into out/san/), CLANG=1 with clang (into
# out/clang/), FAST=1 compiles the kernel file by file, so that a change is built at once (into
# out/fast/), CROSS= is the cross compiler's prefix, MIG_OUTPUT= a folder of `make mig-output`.

CROSS   ?= i686-linux-gnu-
HOSTCC  ?= gcc
HOSTOBJCOPY ?= objcopy
PYTHON  ?= /usr/bin/python3
Q       := $(if $(V),,@)
OUT     := out$(if $(SAN),/san)$(if $(CLANG),/clang)$(if $(FAST),/fast)
OBJ     := $(OUT)/obj
GEN     := $(OUT)/gen
SDK     := $(OUT)/sdk
export ASSAY_OUT := $(OUT)
all: kernel programs unix unix-tests disk plugin gprof kdump host-tests mig-output
.PHONY: all kernel programs unix unix-tests sdk mig-output disk host-tests plugin gprof kdump iso qemu qemu-grub qemu-gdb gdb test nightly fuzz fuzz-gprof seeds bench figures bench-gprof lines hot perf profile-view grade bundle clean help
.DELETE_ON_ERROR:
.SECONDARY:
.SECONDEXPANSION:

# As many commands at a time as there are CPUs, if nobody says -j.
$(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,$(eval MAKEFLAGS += -j$(shell nproc)))

# ---------------- Compilers and their flags; clang's assembler would say where it was built ----------------
CC      := $(if $(CLANG),clang --target=i686-linux-gnu -fdebug-compilation-dir=.,$(CROSS)gcc)
LD      := $(CROSS)gcc
# The kernel is compiled as one unit when it is linked, unless whoever changes it would rather not wait; clang's
# way of doing so needs a linker that we do not ask for.  Jumps to other sections are long enough to be counted.
LTO     := $(if $(CLANG)$(FAST),-ffunction-sections,-flto=2)

# What is to be built; and one line instead of a screen of errors when a tool for it is not there.
GOALS   := $(filter-out clean help,$(or $(MAKECMDGOALS),all))
TOOLS   := $(if $(GOALS),$(firstword $(CC)) $(LD) $(HOSTCC) $(if $(MIG_OUTPUT),,i686-gnu-mig) $(PYTHON))
MISSING := $(strip $(foreach tool,$(TOOLS),$(if $(shell command -v $(tool)),,$(tool))))
$(if $(MISSING),$(error not installed: $(MISSING).  Run ./setup, which installs what is \
	missing$(if $(filter %-mig,$(MISSING)),; or have MIG's output made elsewhere: MIG_OUTPUT= in `make help`)))

WARNINGS := -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes
# Of these the bytes that are made know nothing.
ALWAYS   := -ffile-prefix-map=$(CURDIR)=. $(if $(WERROR),-Werror)
TARGET   := -std=gnu11 -O2 -g -march=i686 -ffreestanding -fno-pic -fno-stack-protector \
	    -fcf-protection=none -fno-asynchronous-unwind-tables -fno-omit-frame-pointer -Iinclude -I$(GEN)/messages $(WARNINGS)
# The stack is whole words; structures are cleared by a string instruction, where gcc's loops would take
# five.  Of what debuggers are told of the kernel's entries clang's own assembler leaves out a part.
OF_GCC   := $(foreach what,memset memcpy,-m$(what)-strategy=rep_4byte:-1:noalign) -mpreferred-stack-boundary=2
KERNEL   := $(TARGET) -mtune=generic -mgeneral-regs-only -mregparm=3 -fno-strict-aliasing $(if $(CLANG),-mstack-alignment=4 -fno-integrated-as,$(OF_GCC)) \
	    -fno-delete-null-pointer-checks -Ikernel -I$(GEN)/kernel -DKERNEL $(if $(SAN),-fsanitize=undefined -DKERNEL_SAN) $(LTO)
USER     := $(TARGET) -Ilib -Itests/lib -I$(GEN)/user $(if $(SAN),-DKERNEL_SAN)
UX       := -DUX_SERVER -Iservers/ux -Ilibprof
LIBC     := $(filter-out -ffreestanding,$(TARGET)) -nostdinc -isystem lib/libc/include \
	    -isystem $(shell $(CC) -print-file-name=include) -Ilib/libc -Ilib/threads -Ilib -I$(GEN)/user -fno-builtin -ffunction-sections
# Generated code is compiled as ours is, but for what MIG is known to write: it adds to message ids
# that may be any number.
MADE     := -fwrapv -Wno-missing-prototypes -Wno-unused -Wno-sign-compare -Wno-uninitialized \
	    -Wno-cast-function-type $(if $(CLANG),-Wno-self-assign,-Wno-init-self -Wno-maybe-uninitialized)
UX_CC    := $(SDK)/bin/ux-cc
HOST     := -std=gnu11 -O2 -g $(WARNINGS)
TESTED   := -std=gnu11 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all \
	    -Itests/lib/host -Itests/lib -Ikernel -I$(GEN)/messages -idirafter include $(WARNINGS)
OUR_LIBC := -std=gnu11 -O1 -g -ffreestanding -fno-stack-protector -fsanitize=undefined \
	    -fsanitize-undefined-trap-on-error $(WARNINGS) -nostdinc -Ilib/libc/include -Iinclude -isystem $(shell $(HOSTCC) -print-file-name=include)

# The Unix server, so that it can profile itself (UX_PROFILE=sample), counts its calls too (pg), or
# knows nothing of profiles (none).  All three can be made; out/servers/ux is one of them.
UX_PROFILE ?= sample
$(if $(filter none sample pg,$(UX_PROFILE)),,$(error UX_PROFILE=$(UX_PROFILE): there are none, sample and pg))
# $(call text,NAME,TEXT): a file that becomes new when the text is another one than last time.
text = $(OBJ)/text/$1$(if $(GOALS),$(shell echo '$(strip $2)' | cmp -s - $(OBJ)/text/$1 || \
	{ mkdir -p $(OBJ)/text && echo '$(strip $2)' > $(OBJ)/text/$1; }))
$(OBJ)/text/%: ;

# ---------------- Interfaces ----------------
# What the kernel serves, what it calls and programs serve, and calls by themselves; what servers serve.
SERVERS  := $(addprefix mach/,mach_port mach mach_host mach4 gnumach mach_i386 device assay)
CATCHERS := $(addprefix mach/,exc notify task_notify memory_object memory_object_default device_reply prof)
CALLED   := $(SERVERS) mach/device_request
SERVICES := ux/bsd $(sort $(patsubst defs/%.defs,%,$(wildcard defs/servers/*.defs)))
MADE_FROM := $(if $(GOALS),$(shell tools/mig --made-from))
ifeq ($(MIG_OUTPUT),)
DEFS := $(wildcard defs/mach/*.defs) $(call text,mig,$(MADE_FROM))
mig   = $(Q)echo "  MIG     $<" && CROSS=$(CROSS) tools/mig $1 $* $(GEN)/$2
$(GEN)/messages/mach/messages.h: $(wildcard defs/*/*.defs) $(DEFS)
	$(Q)echo "  MIG     $@" && CROSS=$(CROSS) tools/mig --messages $@
$(GEN)/kernel/%_server.c $(GEN)/kernel/%_server.h: defs/%.defs $(DEFS) ; $(call mig,kernel,kernel)
$(GEN)/user/%_server.c $(GEN)/user/%_server.h: defs/%.defs $(DEFS) ; $(call mig,server,user)
$(GEN)/user/%_catch.c $(GEN)/user/%_catch.h: defs/%.defs $(DEFS) ; $(call mig,catch,user)
$(GEN)/user/%_user.c $(GEN)/user/%.h: defs/%.defs $(DEFS) ; $(call mig,user,user)
else
COMPLAINT := $(if $(GOALS),$(shell tools/mig --complaint $(MIG_OUTPUT)))
$(if $(COMPLAINT),$(error $(COMPLAINT)))
$(GEN)/%: $(MIG_OUTPUT)/% ; $(Q)mkdir -p $(@D) && echo "  COPY    $<" && cp $< $@
endif
# Whoever includes a generated header needs it before the compiler has said so.  Named in a rule of
# their own, all are files that make knows of when it chooses a pattern.
MESSAGES       := $(GEN)/messages/mach/messages.h
KERNEL_HEADERS := $(SERVERS:%=$(GEN)/kernel/%_server.h)
SERVED_HEADERS := $(CATCHERS:%=$(GEN)/user/%_catch.h) $(SERVICES:%=$(GEN)/user/%_server.h)
CALLED_HEADERS := $(patsubst %,$(GEN)/user/%.h,$(CALLED) $(SERVICES))
USER_HEADERS   := $(CALLED_HEADERS) $(SERVED_HEADERS)
MIG_FILES      := $(foreach header,$(KERNEL_HEADERS) $(SERVED_HEADERS),$(header) $(header:.h=.c)) $(CALLED_HEADERS) $(CALLED_HEADERS:.h=_user.c)
headers: $(KERNEL_HEADERS) $(USER_HEADERS) $(MESSAGES)
mig-output: $(OUT)/mig-output.tar
$(OUT)/mig-output.tar: $(MIG_FILES) $(MESSAGES)
	$(Q)echo "  TAR     $@" && tools/mig --archive $@ $(GEN) $(patsubst $(GEN)/%,%,$^)

# ---------------- What is compiled how ----------------
# $(call compile,OBJECTS,SOURCES,COMPILER AND FLAGS,NEEDED BEFORE): the one rule.  Of two rows the one
# that names more of the folder counts.  EXTRA is for single files.
compile = $(eval $(call compile_rule,$(strip $1),$(strip $2),$(strip $3),$4))
define compile_rule
$(OBJ)/$1%.o: $2% $(call text,$(subst /,.,$1),$3) $(if $(filter $(UX_CC),$3),$(UX_CC)) | $4 $(MESSAGES)
	$$(Q)mkdir -p $$(@D) && echo "  CC      $$<" && $3 $$(EXTRA) $(ALWAYS) -MD -MP -c -o $$@ $$<
endef
#              objects,                sources,                    compiler and flags,          needed before
$(call compile,kernel/,                kernel/,                    $(CC) $(KERNEL),             $(KERNEL_HEADERS))
$(call compile,gen/kernel/,            $(GEN)/kernel/,             $(CC) $(KERNEL) $(MADE),     $(KERNEL_HEADERS))
$(foreach folder,lib/ user/ servers/ tests/,\
$(call compile,$(folder),              $(folder),                  $(CC) $(USER),               $(USER_HEADERS)))
$(call compile,servers/ux/,            servers/ux/,                $(CC) $(USER) $(UX),         $(USER_HEADERS))
$(call compile,ux-pg/,                 servers/ux/,                $(CC) $(USER) $(UX) -pg,     $(USER_HEADERS))
$(call compile,pager-pg/,              servers/pager/,             $(CC) $(USER) -pg,           $(USER_HEADERS))
$(call compile,gen/user/mach/,         $(GEN)/user/mach/,          $(CC) $(USER) $(MADE),       $(USER_HEADERS))
$(call compile,gen/user/ux/bsd_server, $(GEN)/user/ux/bsd_server,  $(CC) $(USER) $(UX) $(MADE), $(USER_HEADERS))
$(call compile,gen/user/,              $(GEN)/user/,               $(CC) $(LIBC) $(MADE),       $(USER_HEADERS))
$(foreach folder,lib/libc/ lib/threads/ lib/cpuprofile/ lib/netname/ lib/bsm/,\
$(call compile,$(folder),              $(folder),                  $(CC) $(LIBC),               $(USER_HEADERS)))
$(call compile,libprof/,               libprof/,                   $(CC) $(LIBC) -Ilibprof,     $(USER_HEADERS))
$(call compile,pg/,                    ,                           $(CC) $(LIBC) -pg,           $(USER_HEADERS))
$(call compile,pg/gen/,                $(GEN)/,                    $(CC) $(LIBC) $(MADE) -pg,   $(USER_HEADERS))
$(call compile,unix/,                  ,                           $(UX_CC) $(HOST) $(if $(SAN),-DKERNEL_SAN) -Iuser/bin)
$(call compile,host/,                  ,                           $(HOSTCC) $(HOST) -Ilib -idirafter include)
$(call compile,host/our/,              ,                           $(HOSTCC) $(OUR_LIBC))
# What reports undefined behaviour is not itself checked for it.
$(OBJ)/kernel/base/ubsan.c.o: private EXTRA := -fno-sanitize=undefined
$(OBJ)/user/bench/profile.c.o $(OBJ)/unix/user/%.o: private EXTRA := -I.
$(OBJ)/unix/tests/%.o: private EXTRA := -Itests/lib -Itests/lib/unix
$(OBJ)/unix/tools/%.o: private EXTRA := -Ilib
objects_of = $(patsubst %,$(OBJ)/$2%.o,$(sort $(or $(wildcard $1.c),$(wildcard $1/*.[cS] $1/*/*.[cS]))))
with_pg    = $(1:$(OBJ)/%=$(OBJ)/pg/%)
generated  = $(patsubst %,$(OBJ)/gen/user/%.c.o,$1)

# ---------------- The kernel ----------------
KERNEL_OBJECTS := $(patsubst %,$(OBJ)/%.o,$(sort $(filter-out $(if $(SAN),,%/ubsan.c), $(wildcard kernel/*/*.[cS] kernel/*/*/*.[cS])))) $(SERVERS:%=$(OBJ)/gen/kernel/%_server.c.o)
LINK_KERNEL := $(LD) $(if $(CLANG),,$(KERNEL)) -nostdlib -static -no-pie -Wl,-T,kernel/kernel.ld,--build-id=none,-z,noexecstack,-z,max-page-size=4096
kernel: $(OUT)/mach_kernel $(OUT)/mach_kernel.sym $(OUT)/mach_kernel.asm
# Linked twice, the second time with the names of what the first put where.  The first has relocations, for a test.
$(OBJ)/kernel/unnamed: $(KERNEL_OBJECTS) kernel/kernel.ld $(call text,link_kernel,$(LINK_KERNEL))
	$(Q)echo "  LINK    $@" && $(LINK_KERNEL) $(ALWAYS) -Wl,--emit-relocs -o $@ $(KERNEL_OBJECTS)
$(OUT)/mach_kernel: $(OBJ)/kernel/unnamed tools/ksyms tools/callsites
	$(Q)echo "  LINK    $@" && $(CROSS)nm -n $< | grep -v ' \.L' > $<.sym && tools/ksyms $<.sym > $(OBJ)/ksyms.S && \
	$(CROSS)objdump -d -s -j .text -j .rodata -j .data $< > $<.dump && tools/callsites $<.dump $<.sym >> $(OBJ)/ksyms.S
	$(Q)$(CC) $(KERNEL) $(ALWAYS) -c -o $(OBJ)/ksyms.o $(OBJ)/ksyms.S && $(LINK_KERNEL) $(ALWAYS) -o $@ $(KERNEL_OBJECTS) $(OBJ)/ksyms.o
%.sym: % ; $(Q)$(CROSS)nm -n $< > $@
%.asm: % ; $(Q)$(CROSS)objdump -d $< > $@

# ---------------- Libraries ----------------
%.a: ; $(Q)mkdir -p $(@D) && rm -f $@ && $(CROSS)ar rcsD $@ $(filter %.o,$^)
# Of what programs without libc link too.
STUBS        := $(call generated,$(CALLED:%=%_user) $(CATCHERS:%=%_catch))
MACH_OBJECTS := $(patsubst %,$(OBJ)/lib/%.c.o,destroy mach sample traps) $(STUBS)
LIBC_OBJECTS := $(filter-out %/start/crt0.S.o,$(call objects_of,lib/libc)) $(call generated,ux/bsd_user)
# Its core knows neither libc nor Unix: the Unix server, and whatever has no libc, links that.
PROF_CORE    := $(call objects_of,libprof/core) $(call generated,servers/gprof_user servers/gprof_server)
$(OUT)/lib/libassay.a: $(filter-out %/crt0.S.o,$(patsubst %,$(OBJ)/%.o,$(sort $(wildcard lib/*.[cS])))) $(STUBS)
# A library, so that a program with a main() of its own links without the one that runs the tests.
$(OUT)/lib/libcheck.a: $(patsubst %,$(OBJ)/%.o,$(sort $(wildcard tests/lib/*.c)))
$(OUT)/lib/libprof1.a: $(PROF_CORE)
$(SDK)/lib/libc.a: $(LIBC_OBJECTS)
$(SDK)/lib/libthreads.a: $(call objects_of,lib/threads)
$(SDK)/lib/libmach.a: $(MACH_OBJECTS)
$(SDK)/lib/libcpuprofile.a: $(call objects_of,lib/cpuprofile)
$(SDK)/lib/libbsm.a: $(call objects_of,lib/bsm)
$(SDK)/lib/libnetname.a: $(call objects_of,lib/netname) $(call generated,servers/netname_user)
# For programs that ask others for their profiles: libprof1.a has it, too, and much beside it.
$(SDK)/lib/libgprof.a: $(call generated,servers/gprof_user)
$(SDK)/lib/libprof1.a: $(patsubst %,$(OBJ)/%.o,$(wildcard libprof/*.c)) $(PROF_CORE)
# For -pg: the others compiled with -pg too.
$(SDK)/lib/libc_p.a: $(call with_pg,$(LIBC_OBJECTS))
$(SDK)/lib/libthreads_p.a: $(call with_pg,$(call objects_of,lib/threads))
$(SDK)/lib/libmach_p.a: $(call with_pg,$(MACH_OBJECTS))
$(OUT)/lib/crt0.o: $(OBJ)/lib/crt0.S.o ; $(Q)mkdir -p $(@D) && cp $< $@
$(addprefix $(SDK)/lib/,crt0.o gcrt0.o moncrt0.o): $(OBJ)/lib/libc/start/crt0.S.o ; $(Q)mkdir -p $(@D) && cp $< $@
# What others have in libm and libpthread is in libc, or in libthreads.
LIBRARIES := $(addprefix $(SDK)/lib/,crt0.o gcrt0.o moncrt0.o $(addsuffix .a,$(addprefix lib,c threads \
	     mach cpuprofile netname bsm gprof m pthread prof1 c_p threads_p mach_p)))

# ---------------- Programs for the guest ----------------
# What needs no Unix server, static, where Mach's programs lie; each with its symbols and disassembly.
UNIX_FOLDERS  := user/auditd user/bin user/hostprof user/monctl user/pkgmon user/sbin user/work user/sh servers/snames
USER_PROGRAMS := $(patsubst %,$(OUT)/%,$(sort $(filter-out $(UNIX_FOLDERS),$(wildcard user/* servers/*))))
TEST_PROGRAMS := $(patsubst %.c,$(OUT)/%,$(sort $(filter-out tests/lib/%,$(wildcard tests/*/*.c))))
VARIANTS      := $(patsubst %,$(OUT)/servers/%,ux-none ux-sample ux-pg pager-pg)
LINK_USER     := $(LD) -nostdlib -static -no-pie -Wl,--build-id=none,-z,noexecstack,-Ttext-segment=0x08048000
list           = $(Q)$(CROSS)nm -n $@ > $@.sym && $(CROSS)objdump -d $@ > $@.asm
programs: $(USER_PROGRAMS) $(TEST_PROGRAMS)
$(filter-out %/ux,$(USER_PROGRAMS)) $(VARIANTS) $(TEST_PROGRAMS): $(OUT)/%: $(OUT)/lib/crt0.o \
		$$(call objects_of,$$*) $(OUT)/lib/libassay.a $(call text,link_user,$(LINK_USER))
	$(Q)mkdir -p $(@D) && echo "  LINK    $@"
	$(Q)$(LINK_USER) $(EXTRA) -o $@ $(filter %.o,$^) $(filter-out %/libassay.a,$(filter %.a,$^)) $(filter %/libassay.a,$^)
	$(list)
$(TEST_PROGRAMS): $(OUT)/lib/libcheck.a
# One of the benchmarks collects samples as profiled programs do.
$(OUT)/user/bench $(OUT)/servers/ux-sample $(OUT)/servers/ux-pg: $(OUT)/lib/libprof1.a
# As root's process it asks the Unix server for ports.
$(OUT)/servers/pager $(OUT)/servers/pager-pg: $(call generated,ux/bsd_user)
$(OUT)/servers/ux-none $(OUT)/servers/ux-sample: $(call objects_of,servers/ux)
$(foreach s,ux pager,$(eval $(OUT)/servers/$s-pg: $(patsubst $(OBJ)/servers/$s/%,$(OBJ)/$s-pg/%,$(call objects_of,servers/$s))))
$(filter %/ux-none %/ux-sample %/ux-pg,$(VARIANTS)): $(call generated,ux/bsd_server)
$(OUT)/servers/ux-sample $(OUT)/servers/ux-pg: private EXTRA := -Wl,-u,do_gprof_mon_switch
$(OUT)/servers/ux: $(OUT)/servers/ux-$(UX_PROFILE) $(call text,ux-profile,$(UX_PROFILE))
	$(Q)for end in '' .sym .asm; do cp $<$$end $@$$end; done

# What our own programs for the Unix server are built with.  Its headers are all where programs look for them.
SDK_HEADERS := include lib/libc/include lib/mach.h lib/assay.h $(wildcard lib/threads/*.h lib/cpuprofile/*.h) lib/bsm/bsm.h libprof/gprof.h
sdk: $(UX_CC) $(LIBRARIES)
$(UX_CC): tools/ux-cc tools/sdk $(shell find $(SDK_HEADERS) -name '*.h') $(USER_HEADERS) $(MESSAGES) $(wildcard defs/mach/*.defs)
	$(Q)tools/sdk $(SDK) $(GEN) $(SDK_HEADERS)
# A program is a file of its name, or a folder; user/bin/common is what all share.  So are tests, and a server.
UNIX_SOURCES  := $(wildcard user/bin/*.c user/sbin/*.c user/work/*.c) user/auditd user/sh user/monctl user/hostprof \
		 $(filter-out user/bin/common,$(patsubst %/,%,$(wildcard user/bin/*/ user/work/*/)))
UNIX_PROGRAMS := $(patsubst %,$(OUT)/user/%,$(sort gprof kdump pkgmon $(basename $(notdir $(UNIX_SOURCES))))) $(OUT)/servers/snames
UNIX_TESTS    := $(patsubst %.c,$(OUT)/%,$(sort $(wildcard tests/ux/programs/*.c)))
unix_objects   = $(call objects_of,$(basename $(firstword $(wildcard $(foreach folder,bin sbin work,\
		 $(patsubst user/%,user/$(folder)/%.c,$1) $(patsubst user/%,user/$(folder)/%,$1))) $1)),unix/)
unix: $(UNIX_PROGRAMS)
unix-tests: $(UNIX_TESTS) $(VARIANTS)
$(OBJ)/unix/libcommon.a: $(call objects_of,user/bin/common,unix/)
$(UNIX_PROGRAMS) $(UNIX_TESTS): $(OUT)/%: $$(call unix_objects,$$*) $(OBJ)/unix/libcommon.a $(LIBRARIES)
	$(Q)mkdir -p $(@D) && echo "  LINK    $@"
	$(Q)$(UX_CC) -o $@ $(filter $(OBJ)/%.o,$^) $(OBJ)/unix/libcommon.a $(EXTRA)
	$(list)
$(UNIX_TESTS): $(call objects_of,tests/lib/unix,unix/)
$(OUT)/tests/ux/programs/random_calls: $(patsubst %,$(OBJ)/unix/%.o,$(wildcard tests/lib/fuzz_*.c))
$(OUT)/servers/snames: $(call generated,servers/netname_server)
# These read symbols as gprof does, and collect samples as profiled programs do; top adds up alike.
$(OUT)/user/monctl $(OUT)/user/hostprof: $(call objects_of,lib/elfsym,unix/)
$(OUT)/user/monctl $(OUT)/user/hostprof $(OUT)/user/top: $(call objects_of,lib/rollup,unix/)
$(addprefix $(OUT)/user/,monctl hostprof pkgmon): private EXTRA := -lprof1 -lnetname
$(addprefix $(OUT)/user/,audit auditd auditreduce praudit init su): private EXTRA := -lbsm
$(OUT)/user/auditd: $(call generated,servers/audit_triggers_user servers/audit_triggers_server)
$(OUT)/user/ktrace: $(call objects_of,lib/ktrace,unix/)
# Two are programs of the host as well.  Each has some sources of its own here and there.
libraries_of = $(if $(filter gprof,$1),lib/elfsym lib/rollup,lib/ktrace)
both_of      = $(patsubst %,$(OBJ)/$2/%.o,$(sort $(wildcard $(foreach folder,tools/$1 $(libraries_of) $3,$(folder)/*.c))))
$(OUT)/user/gprof $(OUT)/user/kdump: $(OUT)/user/%: $$(call both_of,$$*,unix,tools/$$*/guest)
disk: $(OUT)/disk.img
$(OUT)/disk.img: boot/manifest $(shell find boot/disk -type f) tools/image $(wildcard tools/assay/*.py) $(UNIX_PROGRAMS) $(USER_PROGRAMS) $(OUT)/mach_kernel $(wildcard user/work/*.c)
	$(Q)echo "  IMAGE   $@" && tools/image $@

# ---------------- Programs for the host ----------------
gprof kdump: %: $(OUT)/bin/%
# On the host they write what other programs show, kdump with gprof's parts that read samples and name them.
$(OUT)/bin/kdump: $(patsubst %,$(OBJ)/host/tools/gprof/%.c.o,bsd_read gmon_read map model perf_read perf_tasks read util $(addprefix views/,callers guess programs view)) $(call objects_of,lib/elfsym,host/)
$(OUT)/bin/gprof $(OUT)/bin/kdump: $(OUT)/bin/%: $$(call both_of,$$*,host,tools/$$*/host tools/$$*/views)
	$(Q)mkdir -p $(@D) && echo "  LINK    $@" && $(HOSTCC) -o $@ $^ -lm
plugin: out/plugin/hot.so
out/plugin/hot.so: tools/hot.c tools/hot_who.c tools/hot_plugin.h $(call text,plugin,$(HOSTCC) $(HOST))
	$(Q)mkdir -p $(@D) && echo "  HOSTCC  $@" && $(HOSTCC) $(HOST) $(ALWAYS) -shared -fPIC -fvisibility=hidden -o $@ $(filter %.c,$^)
# Which sources a host test is of, and with which options, it says in lines `links:` and `flags:`.
HOST_TESTS    := $(sort $(filter-out tests/lib/%,$(wildcard tests/*/host/*.c)))
HOST_PROGRAMS := $(patsubst tests/%.c,$(OUT)/host/%,$(subst /host/,/,$(HOST_TESTS)))
parts_of       = $(shell tests/lib/host/parts tests/$(dir $1)host/$(notdir $1).c $(OUT)/host/libc.a)
compile_test   = $(HOSTCC) $(shell sed -n 's/.*flags: *\([^*]*\).*/\1/p' $<) $(TESTED) $(ALWAYS)
host-tests: $(HOST_PROGRAMS)
$(HOST_PROGRAMS): $(OUT)/host/%: $$(call parts_of,$$*) $(wildcard tests/lib/host/*.c) tests/lib/check.c \
		$(call text,tested,$(HOSTCC) $(TESTED)) | $(MESSAGES)
	$(Q)mkdir -p $(@D) && echo "  HOSTCC  $<" && $(compile_test) -MM -MP -MT $@ $(filter %.c,$^) > $@.d
	$(Q)$(compile_test) -o $@ $(filter %.c %.a,$^) -lm
$(OUT)/host/libc.a: $(patsubst %,$(OBJ)/host/our/%.o,$(wildcard $(patsubst %,lib/libc/%/*.c,stdio string stdlib ctype math malloc float locale)))
	$(Q)mkdir -p $(@D) && rm -f $@ && ar rcsD $@ $^ && $(HOSTOBJCOPY) --prefix-symbols=our_ $@
-include $(shell test -d $(OUT) && find $(OUT) -name '*.d')

# ---------------- Running; make.txt says what the variables are ----------------
iso: kernel programs disk ; $(Q)tools/iso
# A machine that runs is looked at as it is: to build would change the kernel's symbols under it.
RUNS := $(if $(filter gdb,$(MAKECMDGOALS)),$(shell test -e $(OUT)/gdb.place && ! flock -n $(OUT)/gdb.place true && echo yes))
qemu qemu-grub qemu-gdb $(if $(RUNS),,gdb): kernel programs disk gprof
qemu-grub: iso
qemu qemu-grub qemu-gdb gdb: ; $(Q)tools/qemu $(patsubst qemu-%,%,$(patsubst qemu,,$(@:qemu-gdb=stopped)))
test: all iso ; $(Q)tools/test --out $(OUT) $(T)
nightly: all ; $(Q)tools/test --nightly --out $(OUT) $(T)
bench figures: all ; $(Q)tools/$@
lines: ; $(Q)tools/floors
bench-gprof: gprof ; $(Q)tests/gprof/speed.py --functions $(or $(N),100000)
fuzz: all
	$(Q)tools/guest boot --icount --cpus $(or $(CPUS),1) --seed $(or $(SEED),1) --append 'pool=48 ramdisk=1' -- 'ipc/fuzz calls=$(or $(N),200000) seed=$(or $(SEED),1) $${host-port} $${device-port}'
	$(Q)$(if $(filter 0,$(SECONDS)),,tests/gprof/fuzz/run $(or $(SECONDS),600) && tests/trace/fuzz/run $(or $(SECONDS),60))
fuzz-gprof: ; $(Q)tests/gprof/fuzz/run $(or $(N),600)
seeds: all ; $(Q)tools/seeds --seeds $(or $(N),10) --first $(or $(SEED),1) --cpus $(or $(CPUS),2) $(T)
hot: all ; $(Q)tools/hot -- '$(T)'
perf: unix $(OUT)/mach_kernel ; $(Q)tools/perf '$(F)'
profile-view: gprof ; $(Q)tools/profile-view $(if $(FLAVOR),--flavor=$(FLAVOR)) '$(F)' $(P)
grade: all ; $(Q)tools/grade --example --runs $(or $(N),2)
bundle: all ; $(Q)tools/bundle $(OUT)/assay-grader.tar
clean: ; rm -rf out
help: ; @cat docs/make.txt
