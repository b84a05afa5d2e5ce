/* SPDX-License-Identifier: MIT */
/* On whose behalf the kernel ran: records of a gmon.out (<gmon.h>), and processes' names. */
#include <gmon.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ux.h>

#include "common/common.h"
#include "common/rolled.h"
#include "hostprof.h"

/* Tasks that ended so long ago that the Unix server has forgotten them are told together. */
#define TASK_ENDED UINT32_MAX

#define NAME_WORDS 5 /* Of a process's name. */

struct label {
	uint32_t task;
	uint32_t samples;
	bool is_process; /* Or was one's, with this number and name: */
	pid_t pid;
	char command[NAME_WORDS * sizeof(uint32_t)];
};

_Static_assert(sizeof(((struct label *)NULL)->command) ==
		       sizeof(((struct ux_task_program *)NULL)->command),
	       "the whole name");

struct labels {
	struct label *items;
	size_t count;
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

static struct label *find(uint32_t task)
{
	for (size_t i = 0; i < labels.count; i++)
		if (labels.items[i].task == task)
			return &labels.items[i];
	return NULL;
}

static struct label *append(const struct label *label)
{
	labels.items = reallocate(labels.items, (labels.count + 1) * sizeof(*labels.items));
	labels.items[labels.count] = *label;
	return &labels.items[labels.count++];
}

/* A task that is not in the list yet. */
static struct label *add_new(uint32_t task)
{
	struct label label = {.task = task}, *ended = find(TASK_ENDED);
	struct ux_task_program program;

	label.is_process = task != 0 && ux_task_program(task, &program) == 0;
	if (label.is_process) {
		label.pid = program.pid;
		strlcpy(label.command, program.command, sizeof(label.command));
	} else if (task != 0) {
		if (ended != NULL)
			return ended;
		label.task = TASK_ENDED;
	}
	return append(&label);
}

static void add(uint32_t task, uint32_t samples)
{
	struct label *label = find(task);

	if (label == NULL)
		label = add_new(task);
	label->samples += samples;
}

void labels_read(const char *gmon, size_t size)
{
	size_t at = sizeof(struct gmon_header), length;

	while (at < size && (length = record_size(gmon + at, size - at)) != 0) {
		struct gmon_arc arc;

		memcpy(&arc, gmon + at + 1, sizeof(arc));
		if (gmon[at] == GMON_TAG_ARC && arc.from == GMON_EXTRA_LABEL)
			add(arc.self, arc.count);
		at += length;
	}
}

/* ---------------- Writing ---------------- */

/* A tag, and the record. */
#define RECORD_SIZE (1 + sizeof(struct gmon_arc))

static char *put(char *to, uint32_t from, uint32_t self, uint32_t count)
{
	const struct gmon_arc arc = {.from = from, .self = self, .count = count};

	*to++ = GMON_TAG_ARC;
	memcpy(to, &arc, sizeof(arc));
	return to + sizeof(arc);
}

static char *put_process(char *to, const struct label *label)
{
	to = put(to, GMON_EXTRA_LABEL_PID, label->task, (uint32_t)label->pid + 1);
	for (uint32_t n = 0; n < NAME_WORDS; n++) {
		uint32_t word;

		memcpy(&word, label->command + n * sizeof(word), sizeof(word));
		if (word != 0)
			to = put(to, GMON_EXTRA_LABEL_NAME + n, label->task, word);
	}
	return to;
}

char *labels_add(const char *gmon, size_t *size)
{
	char *file = allocate(*size + labels.count * (1 + NAME_WORDS) * RECORD_SIZE);
	char *to = file + *size;

	memcpy(file, gmon, *size);
	for (size_t i = 0; i < labels.count; i++)
		if (labels.items[i].is_process)
			to = put_process(to, &labels.items[i]);
	*size = (size_t)(to - file);
	return file;
}

/* ---------------- Printing ---------------- */

static void add_row(struct rollup *rollup, const struct label *label)
{
	struct rollup_task *row;

	if (label->task == TASK_ENDED) {
		row = rollup_task(rollup, label->task);
		strcpy(row->name, "what has ended");
	} else {
		row = rolled_task(rollup, label->task);
	}
	row->served += label->samples;
}

void labels_print(enum rollup_by by)
{
	struct rollup rollup = {0};

	if (labels.count == 0)
		return;
	for (size_t i = 0; i < labels.count; i++)
		add_row(&rollup, &labels.items[i]);
	rollup_print(&rollup, by, 0, stdout);
	rollup_free(&rollup);
}
