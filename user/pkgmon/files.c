/* SPDX-License-Identifier: MIT */
/* The files that a measurement leaves: PKPROF's, and those of servers beside them. */
#include <errno.h>
#include <gmon.h>
#include <limits.h>
#include <mach.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mach/assay.h>
#include <mach/calls.h>
#include <mach/prof.h>

#include "common/common.h"
#include "pkgmon.h"

void put(struct bytes *bytes, const void *data, size_t size)
{
	if (bytes->size + size > bytes->room) {
		bytes->room = 2 * (bytes->size + size);
		bytes->data = reallocate(bytes->data, bytes->room);
	}
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
}

static bool write_file(const char *suffix, const char *name, const void *data, size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "gmon.out.%s.%s", suffix, name);
	if (replace_file(path, data, size))
		return true;
	report_errno(path);
	return false;
}

/* ---------------- Calls ---------------- */

void put_arc(struct bytes *bytes, uint32_t from, uint32_t self, uint64_t count)
{
	struct gmon_arc arc = {.from = from, .self = self};
	const char tag = GMON_TAG_ARC;

	for (; count > 0; count -= arc.count) {
		arc.count = count < INT32_MAX ? (uint32_t)count : INT32_MAX;
		put(bytes, &tag, sizeof(tag));
		put(bytes, &arc, sizeof(arc));
	}
}

/* What was called by its address in a table has no known caller: docs/kernel-profile.md. */
static void put_call(struct bytes *bytes, const struct host_call *call, uint32_t low)
{
	put_arc(bytes, call->from != 0 ? call->from : low, call->to, prof_u64(call->count));
}

static bool put_calls(struct bytes *bytes, const struct collection *collection, uint32_t label)
{
	mach_msg_type_number_t n = 0;
	host_call_array_t words = NULL;
	kern_return_t result = host_calls_get_for(collection->host, label, &words, &n);

	if (result != KERN_SUCCESS) {
		report("the kernel does not tell its calls: error %d", result);
		return false;
	}
	for (size_t i = 0; i < n / HOST_CALL_WORDS; i++)
		put_call(bytes, (const struct host_call *)words + i, collection->kernel.of.low);
	if (n != 0)
		vm_deallocate(mach_task_self(), (vm_address_t)words, n * sizeof(*words));
	return true;
}

/* ---------------- Parts ---------------- */

/* `label`: whose calls the kernel counted, of a part of its own. */
static bool write_part(const struct collection *collection, const struct part *part,
		       const uint32_t *label)
{
	struct bytes bytes = {0};
	char *samples = NULL;
	size_t size = 0;
	bool done;

	if (prof_collector_dump(part->collector, &samples, &size) != KERN_SUCCESS) {
		report("gmon.out.%s.%s: there is no memory left for it", part->suffix, part->name);
		return false;
	}
	put(&bytes, samples, size);
	put(&bytes, part->calls.data, part->calls.size);
	vm_deallocate(mach_task_self(), (vm_address_t)samples, size);
	done = label == NULL || !collection->wanted->calls || put_calls(&bytes, collection, *label);
	done = done && write_file(part->suffix, part->name, bytes.data, bytes.size);
	free(bytes.data);
	return done;
}

/* ---------------- What was measured ---------------- */

static void put_line(struct bytes *bytes, const char *word, const char *value)
{
	put(bytes, word, strlen(word));
	put(bytes, " ", 1);
	put(bytes, value, strlen(value));
	put(bytes, "\n", 1);
}

/* A line for each file: the letters of its name, and which program it is of. */
static bool write_information(const struct subject *subject)
{
	struct bytes bytes = {0};
	char number[NAME_ROOM];
	bool done;

	name_process(number, subject);
	put_line(&bytes, "pid", number);
	put_line(&bytes, "program", subject->name);
	for (const struct part *part = subject->parts; part != NULL; part = part->next) {
		put_line(&bytes, "part", part->suffix);
		put_line(&bytes, "of", part->program->path);
	}
	done = write_file(number, subject->name, bytes.data, bytes.size);
	free(bytes.data);
	return done;
}

/* What is no process's may have no part. */
static bool write_subject(const struct collection *collection, const struct subject *subject)
{
	bool done = subject->parts == NULL || write_information(subject);

	for (const struct part *part = subject->parts; part != NULL && done; part = part->next)
		done = write_part(collection, part, part->task == 0 ? &subject->label : NULL);
	return done;
}

bool files_write(const struct collection *collection)
{
	const uint32_t system = HOST_CALLS_SYSTEM, others = HOST_CALLS_OTHERS;
	bool done = true;

	for (unsigned n = 0; n < collection->n_subjects && done; n++)
		done = write_subject(collection, &collection->subjects[n]);
	done = done && write_subject(collection, &collection->rest) &&
	       write_subject(collection, &collection->own);
	done = done && write_part(collection, collection->system, &system) &&
	       write_part(collection, collection->others, &others);
	return done &&
	       (!collection->wanted->requests ||
		write_file("-r", "requests", collection->requests.data, collection->requests.size));
}
