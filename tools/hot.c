/* SPDX-License-Identifier: MIT */
/*
 * hot: counts every instruction the emulated machine executes, address by address.
 *
 * This is a plugin of QEMU's translator (`-plugin out/plugin/hot.so,out=FILE,...`).  Translated
 * code adds one to a counter of the instruction's own before it executes it, so the counts are
 * exact however the instruction clock or an exception cuts a block short.  Two programs may live
 * at the same address in two tasks; a counter therefore belongs to an address, a page of the
 * machine's memory and the bytes found there, and tools/hot finds out from the bytes whose they
 * are.  It also measures how long a CPU stays in the kernel without passing a place where the
 * kernel lets others in.  On request the counts are split by who executed the instructions:
 * hot_who.c.  docs/tools/hot.md describes the arguments and the output.
 *
 * The counters are shared by all CPUs and are added to without a lock.  That is exact as long as
 * one host thread runs all CPUs, as it does under -icount and with -accel tcg,thread=single.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hot_plugin.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
			       char **argv);

#define PROGRAM_BASE 0x08000000u /* Programs are not below this; boot code runs further down. */
#define IRET         0xcf
#define INSN_MAX     15 /* The longest instruction there is. */
#define PAUSES_MAX   32
#define SLOTS        (2 * COUNTERS_MAX)

/*
 * The instructions of one place.  A window is a part of the run that is to be counted; `count`
 * cannot be stopped, so the window remembers what it was when it opened.
 */
struct counter {
	uint64_t count;    /* Executions since the machine was switched on, */
	uint64_t opened;   /* of those, before the present window opened, */
	uint64_t inside;   /* and those in windows that have closed. */
	uint64_t credited; /* Of `count`, what has been credited to somebody, or was not to be. */
	uintptr_t host; /* Where in our memory the instruction is: stands for the machine's page. */
	uint32_t address;
	uint8_t size;
	uint8_t bytes[INSN_MAX];
};

static struct counter counters[COUNTERS_MAX];
static uint32_t n_counters;
static uint32_t slots[SLOTS]; /* Hash table: index of a counter plus one, or 0. */

/* All instructions, whatever their address: an account that does not depend on the counters. */
static struct counter all;

/* What the command line asks for. */
static FILE *out;
static bool markers;     /* Marker instructions open and close the window, */
static uint32_t open_at; /* and so do these addresses, unless 0. */
static uint32_t close_at;
static struct range {
	uint32_t start, end;
} pauses[PAUSES_MAX]; /* Places where the kernel lets others in, or waits. */
static unsigned int n_pauses;

static bool counting;    /* A window is open, */
static uint64_t windows; /* and so many have been opened. */

/* A translated block. */
struct block {
	uint32_t address;
	uint32_t epoch; /* In which it was executed last. */
	uint32_t n_counters;
	uint32_t counters[];
};

/*
 * An epoch ends when the next instruction may be somebody else's.  What has been executed in it is
 * in blocks that were begun in it, or that another of its instructions belongs to.
 */
static bool by_who;   /* Only then are there epochs. */
static bool checking; /* Before each instruction, that we know who runs. */
static uint32_t epoch = 1;
static struct block **begun;
static size_t n_begun, room_begun;
static struct block *present;    /* That is being executed. */
static bool sampling[CPUS_MAX];  /* In the sampling interrupt, */
static bool returning[CPUS_MAX]; /* which is over with the `iret` that is executed now. */

/* A stretch: instructions of the kernel that one CPU executes without passing a pause. */
struct stretch {
	uint64_t length;
	uint32_t first, last; /* Address of its first and of its last block. */
	unsigned int cpu;
};

static struct stretch current[CPUS_MAX];
static bool in_kernel[CPUS_MAX];
static struct stretch longest;
static bool user_seen;       /* Before the first program, nobody waits for the kernel. */
static unsigned int running; /* The CPU that executes now; */
static uint64_t accounted;   /* what was executed before this is in a stretch already. */

void hot_fail(const char *why)
{
	fprintf(stderr, "hot: %s\n", why);
	_Exit(1);
}

/* ---------------- Whose they are ---------------- */

static void credit_block(const struct block *block)
{
	for (uint32_t n = 0; n < block->n_counters; n++) {
		struct counter *c = &counters[block->counters[n]];

		if (counting && c->count != c->credited)
			who_credit(block->counters[n], c->count - c->credited);
		c->credited = c->count;
	}
}

/* The epoch is over: what was executed in it is whose it was, if a window is open. */
static void credit(void)
{
	if (!by_who)
		return;
	for (size_t n = 0; n < n_begun; n++)
		credit_block(begun[n]);
	n_begun = 0;
	epoch++;
}

static void begin_block(struct block *block)
{
	if (block->epoch == epoch)
		return;
	block->epoch = epoch;
	if (n_begun == room_begun) {
		room_begun = 2 * room_begun + 1024;
		begun = realloc(begun, room_begun * sizeof(*begun));
		if (begun == NULL)
			hot_fail("there is no memory for so many blocks");
	}
	begun[n_begun++] = block;
}

/* In the middle of the block that is executed: its other instructions are the next epoch's. */
static void begin_epoch(void)
{
	credit();
	if (by_who && present != NULL)
		begin_block(present);
}

/* The kernel has stored something. */
static void stored(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *unused)
{
	(void)cpu, (void)unused;
	if (!who_may_change((uint32_t)address, 1u << qemu_plugin_mem_size_shift(info)))
		return;
	begin_epoch();
	who_look();
}

static void begin_sampling(unsigned int cpu, void *unused)
{
	(void)unused;
	begin_epoch();
	sampling[cpu] = true;
	returning[cpu] = false;
	who_samples(cpu, true);
}

static void end_sampling(unsigned int cpu, void *unused)
{
	(void)unused;
	if (!sampling[cpu])
		return;
	begin_epoch();
	sampling[cpu] = false;
	returning[cpu] = false;
	who_samples(cpu, false);
}

static void return_from_sampling(unsigned int cpu, void *unused)
{
	(void)unused;
	returning[cpu] = sampling[cpu];
}

static void check_who(unsigned int cpu, void *unused)
{
	(void)unused;
	who_check(cpu);
}

/* ---------------- Windows ---------------- */

static bool is_program(uint32_t address)
{
	return address >= PROGRAM_BASE && address < KERNEL_BASE;
}

/* Opening the window at `address`: what was counted before does not count. */
static void open_window(unsigned int cpu, void *address)
{
	(void)cpu;
	if (counting)
		return;
	begin_epoch();
	counting = true;
	windows++;
	user_seen |= is_program((uintptr_t)address);
	for (uint32_t i = 0; i < n_counters; i++)
		counters[i].opened = counters[i].count;
	all.opened = all.count;
	memset(in_kernel, 0, sizeof(in_kernel));
}

static void close_window(unsigned int cpu, void *unused)
{
	(void)cpu, (void)unused;
	if (!counting)
		return;
	begin_epoch();
	counting = false;
	for (uint32_t i = 0; i < n_counters; i++)
		counters[i].inside += counters[i].count - counters[i].opened;
	all.inside += all.count - all.opened;
}

/*
 * What was executed since the last call is the work of the CPU that was running then.  Every block
 * calls this first, so no two CPUs have run in between.
 */
static void account(unsigned int cpu)
{
	current[running].length += all.count - accounted;
	accounted = all.count;
	if (by_who && cpu != running) {
		credit();
		who_runs(cpu);
	}
	running = cpu;
}

static void begin_stretch(unsigned int cpu, uint32_t address)
{
	current[cpu] = (struct stretch){.first = address, .last = address, .cpu = cpu};
	in_kernel[cpu] = true;
}

static void end_stretch(unsigned int cpu)
{
	if (in_kernel[cpu] && counting && user_seen && current[cpu].length > longest.length)
		longest = current[cpu];
	in_kernel[cpu] = false;
}

/* Called before an instruction at which the kernel pauses.  It begins the next stretch itself. */
static void pass_pause(unsigned int cpu, void *address)
{
	account(cpu);
	end_stretch(cpu);
	begin_stretch(cpu, (uintptr_t)address);
}

static bool in_pause(uint32_t address)
{
	for (unsigned int i = 0; i < n_pauses; i++)
		if (address >= pauses[i].start && address < pauses[i].end)
			return true;
	return false;
}

/* Called before every block.  A stretch is known by its ends outside of the pauses. */
static void enter_block(unsigned int cpu, void *data)
{
	struct block *block = data;
	uint32_t address = block->address;

	account(cpu);
	if (returning[cpu])
		end_sampling(cpu, NULL);
	present = block;
	if (by_who)
		begin_block(block);
	if (address < KERNEL_BASE) {
		end_stretch(cpu);
		user_seen |= counting && is_program(address);
	} else if (!in_kernel[cpu]) {
		begin_stretch(cpu, address);
	} else if (!in_pause(address)) {
		if (in_pause(current[cpu].first))
			current[cpu].first = address;
		current[cpu].last = address;
	}
}

static bool is_counter_of(const struct counter *c, const struct counter *key)
{
	return c->address == key->address && c->host == key->host && c->size == key->size &&
	       memcmp(c->bytes, key->bytes, sizeof(c->bytes)) == 0;
}

/* Blocks are translated again and again; the same instruction keeps its counter. */
static struct counter *find_counter(const struct counter *key)
{
	uint64_t hash = (key->address ^ (uint64_t)key->host << 20) * 0x9e3779b97f4a7c15u;
	uint32_t slot = hash >> 32;

	for (;; slot++) {
		uint32_t *s = &slots[slot % SLOTS];

		if (*s == 0) {
			if (n_counters == COUNTERS_MAX)
				hot_fail("too many different instructions");
			counters[n_counters] = *key;
			*s = ++n_counters;
			return &counters[*s - 1];
		}
		if (is_counter_of(&counters[*s - 1], key))
			return &counters[*s - 1];
	}
}

static bool is_pause(const struct counter *key)
{
	static const uint8_t hlt = 0xf4; /* A CPU that halts waits, wherever it does. */

	return key->bytes[0] == hlt || in_pause(key->address);
}

/* xchgw %bx,%bx opens the window, xchgw %cx,%cx closes it: no compiler emits them. */
static bool is_marker(const struct counter *key, uint8_t operands)
{
	return markers && key->size == 3 && key->bytes[0] == 0x66 && key->bytes[1] == 0x87 &&
	       key->bytes[2] == operands;
}

/* What has to be done before and after the instruction, beside counting it. */
static void call_before(struct qemu_plugin_insn *insn, qemu_plugin_cpu_callback callback,
			uint32_t address)
{
	qemu_plugin_register_vcpu_insn_exec_cb(insn, callback, QEMU_PLUGIN_CB_NO_REGS,
					       (void *)(uintptr_t)address);
}

/* Whoever stores, and the first instruction that shows where memory is, may tell who runs. */
static void watch(struct qemu_plugin_insn *insn, const struct counter *key)
{
	if (checking)
		call_before(insn, check_who, 0);
	if (key->address < KERNEL_BASE)
		return;
	if (who_begins_to_sample(key->address))
		call_before(insn, begin_sampling, 0);
	if (who_ends_to_sample(key->address))
		call_before(insn, end_sampling, 0);
	if (key->bytes[0] == IRET)
		call_before(insn, return_from_sampling, 0);
	who_find_memory(key->address, (const void *)key->host);
	qemu_plugin_register_vcpu_mem_cb(insn, stored, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W,
					 NULL);
}

/* What happens at the instruction; whether it is to be counted. */
static bool attend(struct qemu_plugin_insn *insn, const struct counter *key)
{
	bool opens = is_marker(key, 0xdb), closes = is_marker(key, 0xc9);

	if (opens || (open_at != 0 && key->address == open_at))
		call_before(insn, open_window, key->address);
	if (closes || (close_at != 0 && key->address == close_at))
		call_before(insn, close_window, key->address);
	if (key->address >= KERNEL_BASE && is_pause(key))
		call_before(insn, pass_pause, key->address);
	if (by_who)
		watch(insn, key);
	return !opens && !closes; /* Markers measure; they are no part of what is measured. */
}

static void instrument(struct qemu_plugin_insn *insn, struct block *block)
{
	struct counter key = {.address = qemu_plugin_insn_vaddr(insn),
			      .host = (uintptr_t)qemu_plugin_insn_haddr(insn)};
	struct counter *counter;

	key.size = qemu_plugin_insn_size(insn) < INSN_MAX ? qemu_plugin_insn_size(insn) : INSN_MAX;
	memcpy(key.bytes, qemu_plugin_insn_data(insn), key.size);
	if (!attend(insn, &key))
		return;
	counter = find_counter(&key);
	block->counters[block->n_counters++] = counter - counters;
	qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
						   &counter->count, 1);
	qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, &all.count, 1);
}

/* QEMU does not say when it forgets a translation, so blocks are never freed. */
static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n_insns = qemu_plugin_tb_n_insns(tb);
	struct block *block = malloc(sizeof(*block) + n_insns * sizeof(block->counters[0]));

	(void)id;
	if (block == NULL)
		hot_fail("there is no memory for so many blocks");
	*block = (struct block){.address = qemu_plugin_tb_vaddr(tb)};
	qemu_plugin_register_vcpu_tb_exec_cb(tb, enter_block, QEMU_PLUGIN_CB_NO_REGS, block);
	for (size_t i = 0; i < n_insns; i++)
		instrument(qemu_plugin_tb_get_insn(tb, i), block);
}

static void print_counter(const struct counter *c)
{
	fprintf(out, "%08" PRIx32 " %" PRIxPTR " ", c->address, c->host >> 12);
	for (unsigned int i = 0; i < c->size; i++)
		fprintf(out, "%02x", c->bytes[i]);
	fprintf(out, " %" PRIu64 "\n", c->inside);
}

/* The instructions, each in a line; `number` has the number of each line. */
static void report_counters(uint32_t *number)
{
	uint32_t lines = 0;

	for (uint32_t i = 0; i < n_counters; i++)
		if (counters[i].inside != 0) {
			number[i] = lines++;
			print_counter(&counters[i]);
		}
}

/* The first line names the format and the last says that the file is whole. */
static void report(qemu_plugin_id_t id, void *unused)
{
	static uint32_t number[COUNTERS_MAX];

	(void)id, (void)unused;
	close_window(0, NULL);
	fprintf(out, "hot 2\n");
	report_counters(number);
	if (by_who && !who_report(out, number, n_counters))
		return;
	fprintf(out, "stretch %" PRIu64 " %u %08" PRIx32 " %08" PRIx32 "\n", longest.length,
		longest.cpu, longest.first, longest.last);
	fprintf(out, "windows %" PRIu64 "\n", windows);
	fprintf(out, "total %" PRIu64 "\n", all.inside);
	if (fclose(out) != 0)
		perror("hot: counts are lost");
}

/* "START-END", or "START" for that one instruction. */
static bool add_pause(const char *text)
{
	char *rest;
	struct range r;

	r.start = strtoul(text, &rest, 0);
	r.end = *rest == '-' ? strtoul(rest + 1, &rest, 0) : r.start + 1;
	if (*rest != '\0' || n_pauses == PAUSES_MAX)
		return false;
	pauses[n_pauses++] = r;
	return true;
}

static bool take_argument(const char *name, const char *value)
{
	if (strcmp(name, "out") == 0)
		return (out = fopen(value, "w")) != NULL;
	if (strcmp(name, "pause") == 0)
		return add_pause(value);
	if (strcmp(name, "from") == 0)
		return (open_at = strtoul(value, NULL, 0)) != 0;
	if (strcmp(name, "to") == 0)
		return (close_at = strtoul(value, NULL, 0)) != 0;
	if (strcmp(name, "markers") == 0)
		return markers = strcmp(value, "on") == 0;
	if (strcmp(name, "check") == 0)
		return checking = strcmp(value, "on") == 0;
	return who_take_argument(name, value);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		if (value != NULL)
			*value++ = '\0';
		if (value == NULL || !take_argument(argv[i], value)) {
			fprintf(stderr, "hot: cannot take the argument %s\n", argv[i]);
			return -1;
		}
	}
	if (out == NULL) {
		fprintf(stderr, "hot: out=FILE is missing\n");
		return -1;
	}
	by_who = who_is_wanted();
	if (by_who)
		who_runs(0);
	if (open_at == 0 && !markers)
		open_window(0, NULL);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, report, NULL);
	return 0;
}
