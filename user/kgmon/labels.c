/* SPDX-License-Identifier: MIT */
/* On whose behalf the kernel ran: records of a gmon.out (<gmon.h>), and processes' names. */
#include <gmon.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ux.h>

#include "common/common.h"
#include "kgmon.h"

/* Tasks that no process has any more are told together. */
#define TASK_ENDED UINT32_MAX

struct label {
	uint32_t task;
	uint32_t samples;
	const struct ux_process_info *process; /* NULL: none. */
};

struct labels {
	struct ux_process_info processes[UX_PROCESSES_MAX];
	int found;
	struct label *items;
	size_t count;
	uint64_t sum;
};

static struct labels labels;

/* ---------------- Reading ---------------- */

/* The size of a record that our collector has written, with its tag; 0 behind the last one. */
static size_t record_size(const char *record, size_t left)
{
	struct gmon_histogram histogram;

	if (left > 0 && record[0] == GMON_TAG_ARC)
		return left < 1 + sizeof(struct gmon_arc) ? 0 : 1 + sizeof(struct gmon_arc);
	if (left < 1 + sizeof(histogram))
		return 0;
	memcpy(&histogram, record + 1, sizeof(histogram));
	return 1 + sizeof(histogram) + (size_t)histogram.bins * sizeof(uint16_t);
}

static const struct ux_process_info *process_of(uint32_t task)
{
	for (int i = 0; i < labels.found; i++)
		if (task != 0 && labels.processes[i].task_id == task)
			return &labels.processes[i];
	return NULL;
}

static void add(uint32_t task, uint32_t samples)
{
	const struct ux_process_info *process = process_of(task);

	if (process == NULL && task != 0)
		task = TASK_ENDED;
	labels.sum += samples;
	for (size_t i = 0; i < labels.count; i++)
		if (labels.items[i].task == task) {
			labels.items[i].samples += samples;
			return;
		}
	labels.items = reallocate(labels.items, (labels.count + 1) * sizeof(*labels.items));
	labels.items[labels.count++] = (struct label){task, samples, process};
}

void labels_read(const char *gmon, size_t size)
{
	size_t at = sizeof(struct gmon_header), length;

	labels.found = ux_processes(labels.processes, UX_PROCESSES_MAX);
	if (labels.found > UX_PROCESSES_MAX)
		labels.found = UX_PROCESSES_MAX;
	while (at < size && (length = record_size(gmon + at, size - at)) != 0) {
		struct gmon_arc arc;

		memcpy(&arc, gmon + at + 1, sizeof(arc));
		if (gmon[at] == GMON_TAG_ARC && arc.from == GMON_EXTRA_LABEL)
			add(arc.self, arc.count);
		at += length;
	}
}

/* ---------------- Writing ---------------- */

#define NAME_WORDS (sizeof(((struct ux_process_info *)NULL)->command) / sizeof(uint32_t))

/* A tag, and the record. */
#define RECORD_SIZE (1 + sizeof(struct gmon_arc))

static char *put(char *to, uint32_t from, uint32_t self, uint32_t count)
{
	const struct gmon_arc arc = {.from = from, .self = self, .count = count};

	*to++ = GMON_TAG_ARC;
	memcpy(to, &arc, sizeof(arc));
	return to + sizeof(arc);
}

static char *put_process(char *to, const struct ux_process_info *process)
{
	to = put(to, GMON_EXTRA_LABEL_PID, process->task_id, (uint32_t)process->pid + 1);
	for (uint32_t n = 0; n < NAME_WORDS; n++) {
		uint32_t word;

		memcpy(&word, process->command + n * sizeof(word), sizeof(word));
		if (word != 0)
			to = put(to, GMON_EXTRA_LABEL_NAME + n, process->task_id, word);
	}
	return to;
}

char *labels_add(const char *gmon, size_t *size)
{
	char *file = allocate(*size + labels.count * (1 + NAME_WORDS) * RECORD_SIZE);
	char *to = file + *size;

	memcpy(file, gmon, *size);
	for (size_t i = 0; i < labels.count; i++)
		if (labels.items[i].process != NULL)
			to = put_process(to, labels.items[i].process);
	*size = (size_t)(to - file);
	return file;
}

/* ---------------- Printing ---------------- */

static int compare(const void *one, const void *other)
{
	const struct label *first = one, *second = other;

	if (first->samples != second->samples)
		return first->samples < second->samples ? 1 : -1;
	return first->task < second->task ? -1 : 1;
}

static void print(const struct label *label)
{
	uint64_t tenths = (label->samples * 1000ull + labels.sum / 2) / labels.sum;

	printf("%5u.%u %% %8lu  ", (unsigned)(tenths / 10), (unsigned)(tenths % 10),
	       (unsigned long)label->samples);
	if (label->process != NULL)
		printf("%d %s\n", label->process->pid, label->process->command);
	else
		puts(label->task == 0 ? "the system" : "what has ended");
}

void labels_print(void)
{
	if (labels.count == 0)
		return;
	qsort(labels.items, labels.count, sizeof(*labels.items), compare);
	puts("   share  samples  on behalf of");
	for (size_t i = 0; i < labels.count; i++)
		print(&labels.items[i]);
}
