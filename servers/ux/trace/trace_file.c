/* SPDX-License-Identifier: MIT */
/*
 * Files that are traced into: see trace_file.h.
 *
 * A buffer is two: one takes records while the other is written, and they change places.  One
 * thread writes for all files, and is nobody's: a process that is traced waits for it only when
 * the buffer is full.
 */
#include "trace/trace_file.h"

#include <sys/ktrace.h>

#include "fs/vnode.h"
#include "process/process.h"
#include "trace/trace.h"
#include "trace/trace_waits.h"

#define BUFFER_SIZE    (32u * 1024)
#define WRITE_INTERVAL NANOS_PER_SECOND

_Static_assert(TRACE_RECORD_MAX <= BUFFER_SIZE, "an empty buffer has room for any record");

struct trace_file {
	struct list link;
	struct vnode *vnode; /* With a reference; its `trace` is this. */
	unsigned references; /* Processes that are traced into it, and who waits for it. */
	char *filling;       /* The buffer that takes records, */
	size_t used;         /* so many bytes so far; */
	char *other;         /* and the one that is written, or empty. */
	bool is_wanted;      /* It is to be written at once. */
	uint32_t recorded;   /* The number of the last record, */
	uint32_t written;    /* and of the last one that is in the file, or lost with all others. */
	uint32_t rounds;     /* Of writing: so many have begun, */
	uint32_t rounds_ended;
	unsigned errors_seen;
	struct trace_waits waits;
};

static struct list files = LIST_INITIALIZER(files); /* Also the channel of the thread. */
static bool has_writer;
static uint64_t next_write; /* When all are written that have something. */

/*
 * Nobody in particular: who is traced may be anybody, and even root's records take nothing of what
 * is kept for root when the device is full.
 */
static const struct credentials nobody = {.uid = (uid_t)-2,
					  .euid = (uid_t)-2,
					  .suid = (uid_t)-2,
					  .gid = (gid_t)-2,
					  .egid = (gid_t)-2,
					  .sgid = (gid_t)-2};

/* ---------------- Writing ---------------- */

/* How many of the bytes are whole records. */
static size_t trace_file_whole(const char *records, size_t size)
{
	size_t whole = 0;

	while (whole + sizeof(struct ktr_header) <= size) {
		const struct ktr_header *header = (const void *)(records + whole);
		size_t length = sizeof *header + (size_t)header->ktr_len;

		if (length > size - whole)
			break;
		whole += length;
	}
	return whole;
}

/* Appends at least one record; of one that has no room whole nothing stays. */
static int trace_file_append(struct vnode *vnode, const char *records, size_t size, size_t *whole)
{
	size_t done = 0;
	int error = vnode_write(vnode, &nobody, -1, records, size, &done);

	*whole = trace_file_whole(records, done);
	if (error == 0 && *whole < done)
		error = vnode_truncate(vnode, vnode->size - (off_t)(done - *whole));
	return error == 0 && *whole == 0 ? ENOSPC : error;
}

struct trace_waits *trace_file_waits(struct trace_file *file)
{
	return &file->waits;
}

int trace_file_append_all(struct trace_file *file, const char *records, size_t size)
{
	struct vnode *vnode = file->vnode;
	size_t whole = 0;
	int error = 0;

	/* As with any other write, a program in the file does not keep its owner's rights. */
	if ((vnode->mode & (S_ISUID | S_ISGID)) != 0)
		error = vnode_set_mode(vnode, vnode->mode & 07777 & ~(S_ISUID | S_ISGID));
	for (size_t at = 0; at < size && error == 0; at += whole)
		error = trace_file_append(vnode, records + at, size - at, &whole);
	if (error == 0 && vnode_write_errors(vnode) != file->errors_seen)
		error = EIO;
	return error;
}

/* Ends all tracing into the file; what could not be written is lost. */
static void trace_file_fail(struct trace_file *file, int error)
{
	struct list *link;

	ux_log("ktrace write failed, errno %d, tracing stopped", error);
	list_for_each (link, &processes) {
		struct process *process = list_object(link, struct process, link);

		if (process->trace_file == file)
			trace_stop(process);
	}
	trace_waits_drop(&file->waits);
	file->used = 0;
	file->written = file->recorded;
	file->errors_seen = vnode_write_errors(file->vnode);
}

/* Others may go on recording as soon as the buffers have changed places. */
static int trace_file_write_buffer(struct trace_file *file)
{
	char *records = file->filling;
	size_t size = file->used;
	uint32_t last = file->recorded;
	int error;

	file->filling = file->other;
	file->other = records;
	file->used = 0;
	ux_wakeup(file);
	if (file->waits.merged != NULL)
		error = trace_merge(file, &file->waits, records, size, last);
	else
		error = trace_file_append_all(file, records, size);
	file->written = last;
	return error;
}

/* Waits that had ended before what is in the buffer are known by then. */
static void trace_file_write(struct trace_file *file)
{
	uint32_t round = ++file->rounds;
	uint64_t begun = ux_now();
	int error;

	trace_waits_gather(&file->waits);
	error = trace_file_write_buffer(file);
	if (error != 0)
		trace_file_fail(file, error);
	trace_waits_settle(&file->waits, begun);
	file->rounds_ended = round;
	ux_wakeup(file);
}

static bool trace_file_has_news(const struct trace_file *file)
{
	return file->used > 0 || trace_waits_are_expected(&file->waits);
}

static void trace_file_free(struct trace_file *file)
{
	struct vnode *vnode = file->vnode;

	list_remove(&file->link);
	vnode->trace = NULL;
	vnode->writers--;
	ux_free_pages(file->filling, BUFFER_SIZE);
	ux_free_pages(file->other, BUFFER_SIZE);
	trace_waits_free(&file->waits);
	ux_free(file);
	vnode_release(vnode);
}

/* ---------------- The thread that writes ---------------- */

static struct trace_file *trace_file_first_wanted(void)
{
	struct list *link;

	list_for_each (link, &files) {
		struct trace_file *file = list_object(link, struct trace_file, link);

		if (file->is_wanted)
			return file;
	}
	return NULL;
}

static void trace_file_want_all(void)
{
	struct list *link;

	list_for_each (link, &files) {
		struct trace_file *file = list_object(link, struct trace_file, link);

		file->is_wanted |= trace_file_has_news(file);
	}
}

/* Waits until there is a file to be written. */
static void trace_file_await(void)
{
	if (list_empty(&files)) {
		ux_sleep(&files, NULL);
		next_write = ux_now() + WRITE_INTERVAL;
	} else if (ux_sleep_until(&files, next_write) == ETIMEDOUT) {
		next_write = ux_now() + WRITE_INTERVAL;
		trace_file_want_all();
	}
}

static void trace_file_write_for_ever(void *unused)
{
	(void)unused;
	ux_lock();
	for (;;) {
		struct trace_file *file = trace_file_first_wanted();

		if (file == NULL) {
			trace_file_await();
			continue;
		}
		file->is_wanted = false;
		if (trace_file_has_news(file))
			trace_file_write(file);
		if (file->references == 0 && !trace_file_has_news(file))
			trace_file_free(file);
	}
}

void trace_file_want(struct trace_file *file)
{
	file->is_wanted = true;
	ux_wakeup(&files);
}

/* ---------------- Beginning and end ---------------- */

static struct trace_file *trace_file_new(void)
{
	struct trace_file *file = ux_allocate(sizeof *file);

	if (file == NULL)
		return NULL;
	trace_waits_init(&file->waits);
	file->filling = ux_allocate_pages(BUFFER_SIZE);
	file->other = ux_allocate_pages(BUFFER_SIZE);
	if (file->filling != NULL && file->other != NULL)
		return file;
	if (file->filling != NULL)
		ux_free_pages(file->filling, BUFFER_SIZE);
	if (file->other != NULL)
		ux_free_pages(file->other, BUFFER_SIZE);
	ux_free(file);
	return NULL;
}

/* While it is traced into the file counts as open for writing: it cannot be executed. */
static int trace_file_make(struct vnode *vnode)
{
	struct trace_file *file = trace_file_new();

	if (file == NULL)
		return ENOMEM;
	file->vnode = vnode_reference(vnode);
	file->errors_seen = vnode_write_errors(vnode);
	vnode->writers++;
	vnode->trace = file;
	list_add_last(&files, &file->link);
	ux_wakeup(&files);
	return 0;
}

int trace_file_get(struct vnode *vnode, struct trace_file **file)
{
	int error = 0;

	has_writer = has_writer || ux_start_thread(trace_file_write_for_ever, NULL);
	if (!has_writer)
		return EAGAIN;
	if (vnode->trace == NULL)
		error = trace_file_make(vnode);
	if (error == 0)
		*file = trace_file_reference(vnode->trace);
	return error;
}

struct trace_file *trace_file_reference(struct trace_file *file)
{
	file->references++;
	return file;
}

void trace_file_release(struct trace_file *file)
{
	assert(file->references > 0);
	if (--file->references == 0)
		trace_file_want(file);
}

/* ---------------- Recording ---------------- */

/* Nobody can free it meanwhile: who waits has a reference. */
static void trace_file_sleep(struct trace_file *file)
{
	trace_file_reference(file);
	trace_file_want(file);
	ux_sleep(file, NULL);
	trace_file_release(file);
}

static bool trace_file_is_full(const struct trace_file *file, size_t size)
{
	return size > BUFFER_SIZE - file->used;
}

/* False: the process is traced into no file any more. */
static bool trace_file_await_room(struct process *process, size_t size)
{
	bool is_traced;

	process_reference(process);
	while (process->trace_file != NULL && trace_file_is_full(process->trace_file, size))
		trace_file_sleep(process->trace_file);
	is_traced = process->trace_file != NULL;
	process_release(process);
	return is_traced;
}

void *trace_file_room(struct process *process, size_t size, uint32_t *sequence)
{
	struct trace_file *file = process->trace_file;
	void *room;

	assert(ux_lock_held() && size <= TRACE_RECORD_MAX);
	if (trace_file_is_full(file, size)) {
		if (!trace_file_await_room(process, size))
			return NULL;
		file = process->trace_file;
	}
	room = file->filling + file->used;
	file->used += size;
	*sequence = ++file->recorded;
	if (file->used > BUFFER_SIZE / 2 && !file->is_wanted)
		trace_file_want(file);
	return room;
}

static struct trace_file *trace_file_first_unwritten(void)
{
	list_for_each_object (struct trace_file, file, &files, link) {
		if (file->written != file->recorded || trace_file_has_news(file))
			return file;
	}
	return NULL;
}

void trace_settle(void)
{
	struct trace_file *file;

	list_for_each_object (struct process, process, &processes, link)
		trace_stop(process);
	while ((file = trace_file_first_unwritten()) != NULL)
		trace_file_sleep(file);
}

/* Waits that have ended by now are in the file by the end of a round that has yet to begin. */
static void trace_file_await_round(struct trace_file *file)
{
	uint32_t next = file->rounds + 1;

	while (trace_waits_are_expected(&file->waits) && (int32_t)(next - file->rounds_ended) > 0)
		trace_file_sleep(file);
}

void trace_write_out(struct vnode *vnode)
{
	struct trace_file *file = vnode->trace;
	uint32_t last;

	if (file == NULL)
		return;
	trace_file_reference(file);
	trace_file_await_round(file);
	last = file->recorded;
	while ((int32_t)(last - file->written) > 0)
		trace_file_sleep(file);
	trace_file_release(file);
}
