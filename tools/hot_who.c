/* SPDX-License-Identifier: MIT */
/*
 * Whose the instructions are: by CPU, thread, task and label.
 *
 * Who runs on a CPU is in the kernel's memory: struct cpu has the thread, that has its label and
 * its task.  QEMU tells where the kernel's code lies in our memory, and the rest of the machine's
 * memory lies around that.  Where the fields are, the kernel's file tells (kernel/task/layout.c)
 * and then tools/hot.  Nothing else of the kernel's is believed, least of all what it counts.
 *
 * Only a store by the kernel can change who runs, and only to a word that we watch.  The storing
 * instruction is still that of who ran before.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hot_plugin.h"

#define DIRECT_END 0xf0000000u /* Here ends the part of memory that the kernel has as it is. */

#define WHOS_MAX  (1u << 16)
#define PART      64 /* Counts that lie together; nobody executes all of the code. */
#define PARTS     (COUNTERS_MAX / PART)
#define TASKS_MAX (1u << 16)
#define NAME_SIZE 32

#define SAMPLERS_MAX 4 /* The clock's interrupt, and NMI. */

/* What a count can be split by, and then what is found in memory under that. */
enum key {
	CPU,
	THREAD,
	TASK,
	LABEL,
	KEYS
};

static const char *const key_names[KEYS] = {"cpu", "thread", "task", "label"};
static bool keys[KEYS];

#define IDLE     0x1u /* It is a CPU's idle thread. */
#define SAMPLING 0x2u /* It is in the sampling interrupt, where no sample can find it. */

/* Who executed something; 0 where it is not asked for. */
struct who {
	uint32_t key[KEYS];
	uint32_t flags;
	uint64_t *parts[PARTS];
};

static struct who *whos[WHOS_MAX];
static uint32_t n_whos;

/* The names of tasks, as they were when last seen. */
static char names[TASKS_MAX][NAME_SIZE];

static struct {
	uint32_t cpus, cpu; /* Where the array is, and the size of an element, */
	uint32_t cpu_thread, cpu_idle_thread, cpu_apic_id;
	uint32_t thread_id, thread_label, thread_task;
	uint32_t task_id, task_name; /* and where in its structure each field. */
} layout;

static const struct {
	const char *name;
	uint32_t *value;
} fields[] = {
	{"cpus", &layout.cpus},
	{"cpu", &layout.cpu},
	{"cpu.thread", &layout.cpu_thread},
	{"cpu.idle_thread", &layout.cpu_idle_thread},
	{"cpu.machine.apic_id", &layout.cpu_apic_id},
	{"thread.id", &layout.thread_id},
	{"thread.label", &layout.thread_label},
	{"thread.task", &layout.thread_task},
	{"task.id", &layout.task_id},
	{"task.name", &layout.task_name},
};

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

static uint32_t fields_known; /* A bit for each. */

/* Where the machine's memory begins in ours; the kernel's addresses from KERNEL_BASE show it. */
static const uint8_t *memory;

/* What runs on each CPU, as we saw it last. */
static struct seen {
	struct who *who;
	uint32_t label_at; /* The address of the thread's label; 0: there is no thread. */
	bool sampling;
} seen[CPUS_MAX];

static unsigned int n_seen; /* CPUs that have executed anything: these and those before them. */
static unsigned int running;

/* The sampling interrupt: by its first instruction, up to another or `iret`. */
static struct {
	uint32_t start, end;
} samplers[SAMPLERS_MAX];

static unsigned int n_samplers;

/* ---------------- The machine's memory ---------------- */

static uint32_t word_at(uint32_t address)
{
	uint32_t word;

	memcpy(&word, memory + (address - KERNEL_BASE), sizeof(word));
	return word;
}

void who_find_memory(uint32_t address, const void *host)
{
	if (memory == NULL && address >= KERNEL_BASE && address < DIRECT_END)
		memory = (const uint8_t *)host - (address - KERNEL_BASE);
}

static uint32_t thread_at(unsigned int cpu)
{
	return layout.cpus + cpu * layout.cpu + layout.cpu_thread;
}

/* ---------------- Who there is ---------------- */

static void *allocate(size_t count, size_t size)
{
	void *zeroed = calloc(count, size);

	if (zeroed == NULL)
		hot_fail("there is no memory for so many counts");
	return zeroed;
}

static struct who *find_who(const uint32_t key[KEYS], uint32_t flags)
{
	struct who *who;

	for (uint32_t n = n_whos; n-- > 0;)
		if (memcmp(whos[n]->key, key, sizeof(whos[n]->key)) == 0 && whos[n]->flags == flags)
			return whos[n];
	if (n_whos == WHOS_MAX)
		hot_fail("too many threads, tasks and labels");
	who = allocate(1, sizeof(*who));
	memcpy(who->key, key, sizeof(who->key));
	who->flags = flags;
	whos[n_whos++] = who;
	return who;
}

/* The id of the task at this address, 0 for none; its name is noted. */
static uint32_t look_at_task(uint32_t task)
{
	uint32_t id = task != 0 ? word_at(task + layout.task_id) : 0;

	if (id != 0 && id < TASKS_MAX)
		memcpy(names[id], memory + (task + layout.task_name - KERNEL_BASE), NAME_SIZE - 1);
	return id;
}

/* Who runs on `cpu`, as memory has it. */
static struct who *read_who(unsigned int cpu)
{
	uint32_t thread = memory != NULL ? word_at(thread_at(cpu)) : 0;
	uint32_t found[KEYS] = {[CPU] = cpu};
	uint32_t flags = seen[cpu].sampling ? SAMPLING : 0;

	if (thread != 0) {
		found[THREAD] = word_at(thread + layout.thread_id);
		found[TASK] = look_at_task(word_at(thread + layout.thread_task));
		found[LABEL] = word_at(thread + layout.thread_label);
		if (thread == word_at(thread_at(cpu) - layout.cpu_thread + layout.cpu_idle_thread))
			flags |= IDLE;
	}
	for (enum key key = 0; key < KEYS; key++)
		if (!keys[key])
			found[key] = 0;
	return find_who(found, flags);
}

static void look_at(unsigned int cpu)
{
	uint32_t thread = memory != NULL ? word_at(thread_at(cpu)) : 0;

	seen[cpu].label_at = thread != 0 ? thread + layout.thread_label : 0;
	seen[cpu].who = read_who(cpu);
}

void who_look(void)
{
	for (unsigned int cpu = 0; cpu < n_seen; cpu++)
		look_at(cpu);
}

void who_runs(unsigned int cpu)
{
	running = cpu;
	if (cpu >= n_seen)
		n_seen = cpu + 1;
	if (seen[cpu].who == NULL)
		who_look();
}

static bool overlaps(uint32_t address, uint32_t size, uint32_t word)
{
	return address - word < sizeof(word) || word - address < size;
}

bool who_may_change(uint32_t address, uint32_t size)
{
	for (unsigned int cpu = 0; cpu < n_seen; cpu++)
		if (overlaps(address, size, thread_at(cpu)) ||
		    (seen[cpu].label_at != 0 && overlaps(address, size, seen[cpu].label_at)))
			return true;
	return false;
}

void who_samples(unsigned int cpu, bool sampling)
{
	seen[cpu].sampling = sampling;
	look_at(cpu);
}

bool who_begins_to_sample(uint32_t address)
{
	for (unsigned int n = 0; n < n_samplers; n++)
		if (samplers[n].start == address)
			return true;
	return false;
}

bool who_ends_to_sample(uint32_t address)
{
	for (unsigned int n = 0; n < n_samplers; n++)
		if (samplers[n].end == address)
			return true;
	return false;
}

void who_check(unsigned int cpu)
{
	if (cpu != running || seen[cpu].who != read_who(cpu))
		hot_fail("who runs has changed, and nobody saw it");
}

void who_credit(uint32_t counter, uint64_t count)
{
	uint64_t **part = &seen[running].who->parts[counter / PART];

	if (*part == NULL)
		*part = allocate(PART, sizeof(**part));
	(*part)[counter % PART] += count;
}

/* ---------------- Arguments ---------------- */

static bool set_key(const char *name, size_t length)
{
	for (enum key key = 0; key < KEYS; key++)
		if (strlen(key_names[key]) == length && memcmp(key_names[key], name, length) == 0)
			return keys[key] = true;
	return false;
}

/* "cpu+label" */
static bool set_keys(const char *text)
{
	size_t length = strcspn(text, "+");

	if (!set_key(text, length))
		return false;
	return text[length] == '\0' || set_keys(text + length + 1);
}

/* "START-END", or "START" */
static bool add_sampler(const char *text)
{
	char *rest;

	if (n_samplers == SAMPLERS_MAX)
		return false;
	samplers[n_samplers].start = strtoul(text, &rest, 0);
	if (*rest == '-')
		samplers[n_samplers].end = strtoul(rest + 1, &rest, 0);
	n_samplers++;
	return *rest == '\0';
}

bool who_take_argument(const char *name, const char *value)
{
	if (strcmp(name, "by") == 0)
		return set_keys(value);
	if (strcmp(name, "sampler") == 0)
		return add_sampler(value);
	for (size_t n = 0; n < FIELDS; n++)
		if (strcmp(name, fields[n].name) == 0) {
			*fields[n].value = strtoul(value, NULL, 0);
			fields_known |= 1u << n;
			return true;
		}
	return false;
}

bool who_is_wanted(void)
{
	bool wanted = keys[CPU] || keys[THREAD] || keys[TASK] || keys[LABEL];

	if (wanted && fields_known != (1u << FIELDS) - 1)
		hot_fail("by= needs all fields of the kernel's layout");
	return wanted;
}

/* ---------------- The report ---------------- */

/* Whether the CPUs are in the kernel's array as they are in QEMU's. */
static bool are_in_order(void)
{
	for (unsigned int cpu = 0; cpu < n_seen; cpu++)
		if (seen[cpu].label_at != 0 &&
		    word_at(thread_at(cpu) - layout.cpu_thread + layout.cpu_apic_id) != cpu)
			return false;
	return true;
}

static void report_counts(FILE *out, const struct who *who, const uint32_t *number,
			  uint32_t n_counters)
{
	for (uint32_t n = 0; n < n_counters; n++) {
		const uint64_t *part = who->parts[n / PART];

		if (part != NULL && part[n % PART] != 0)
			fprintf(out, "%" PRIu32 " %" PRIu64 "\n", number[n], part[n % PART]);
	}
}

bool who_report(FILE *out, const uint32_t *number, uint32_t n_counters)
{
	if (!are_in_order()) {
		fprintf(stderr, "hot: the kernel's CPUs are not in the machine's order\n");
		return false;
	}
	for (uint32_t n = 0; n < n_whos; n++) {
		fputs("who", out);
		for (enum key key = 0; key < KEYS; key++)
			fprintf(out, keys[key] ? " %" PRIu32 : " -", whos[n]->key[key]);
		fprintf(out, " %" PRIu32 "\n", whos[n]->flags);
		report_counts(out, whos[n], number, n_counters);
	}
	for (uint32_t id = 0; id < TASKS_MAX; id++)
		if (names[id][0] != '\0')
			fprintf(out, "task %" PRIu32 " %s\n", id, names[id]);
	return true;
}
