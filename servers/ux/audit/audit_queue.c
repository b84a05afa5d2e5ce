/* SPDX-License-Identifier: MIT */
/*
 * The queue of records, and the audit worker, which writes them to the trail.
 *
 * Records are copied into a buffer one behind another: a group.  The worker takes the group when it
 * is old or large enough, gives the callers the other buffer, and writes it in one piece, with a
 * flush.  Only then its records count as written: no power cut takes them away, and what a cut
 * leaves of a group that did not come so far is whole records and at most one that ends early.
 *
 * A group that could not be written stays the worker's, which takes back what the file has got of
 * it and tries again: with the next trail, or every second.  Meanwhile callers wait, or their
 * records are dropped and counted, or the machine ends, as the policy says.
 *
 * With the policy ahlt the device's last blocks are kept for the trail.  When it has come to these
 * nothing more begins that would be recorded, what has been done is written there, and the machine
 * ends.
 *
 * Guarded by the server's lock.
 */
#include <bsm/audit_record.h>
#include <mach/messages.h>

#include "audit/audit.h"
#include "fs/vnode.h"

#define GROUP_ROOM  (64 * 1024) /* Bytes of a group. */
#define DELAY_MS    1000        /* How old a record gets in the queue. */
#define RETRY_NS    NANOS_PER_SECOND
#define MS_NS       1000000u
#define KEPT_ROOM   (3 * GROUP_ROOM) /* The group written, the other one, and what comes late. */
#define HALT_STATUS 125              /* Of a machine that has ended rather than go on unaudited. */

struct group {
	char *bytes; /* GROUP_ROOM of them. */
	uint32_t size;
	uint32_t records;
	uint64_t begun; /* When its first record came. */
};

au_qctrl_t audit_limits = {
	.aq_hiwater = AQ_HIWATER,
	.aq_lowater = AQ_HIWATER / 10,
	.aq_bufsz = MAX_AUDIT_RECORD,
	.aq_delay = DELAY_MS,
	.aq_minfree = AU_FS_MINFREE,
};
int audit_policy = AUDIT_CNT;

static struct {
	struct group filling, writing;
	struct vnode *trail; /* Null: there is none. */
	bool has_worker;
	bool is_writing;     /* Somebody is in queue_write_group(). */
	bool is_stuck;       /* The last group could not be written, and is there still. */
	bool is_hurried;     /* Somebody waits for the queue to be empty. */
	bool is_halting;     /* For lack of room: nothing is done any more that is recorded. */
	bool was_told_size;  /* auditd, of this trail; */
	bool was_told_space; /* and that there is little space, whatever the trail. */
	uint64_t file_size;  /* At which it is told; 0: never. */
	audit_stat_t counts;
} queue;

/* ---------------- Telling auditd ---------------- */

void audit_send_trigger(int trigger)
{
	static const mach_msg_type_t word = DESCRIBE_UNSIGNED(1);
	mach_port_t port = MACH_PORT_NULL;
	struct {
		mach_msg_header_t head;
		mach_msg_type_t type;
		int trigger;
	} message = {.type = word, .trigger = trigger};

	if (host_get_audit_control_port(ux_boot.host_control, &port) != KERN_SUCCESS ||
	    !MACH_PORT_VALID(port))
		return;
	message.head = (mach_msg_header_t){
		.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0),
		.msgh_size = sizeof message,
		.msgh_remote_port = port,
		.msgh_id = ID_AUDIT_TRIGGERS,
	};
	mach_msg(&message.head, MACH_SEND_MSG | MACH_SEND_TIMEOUT, sizeof message, 0,
		 MACH_PORT_NULL, 0, MACH_PORT_NULL);
	syscall_mach_port_deallocate(mach_task_self_cached(), port);
}

/* So many percent more than what is little: then space is there again. */
#define SPACE_MARGIN 2u

/* A trail that has grown is told of once, and space that has become little also once. */
static void queue_tell_of_file(void)
{
	unsigned least = (unsigned)audit_limits.aq_minfree, free = fs_free_percent();

	if (queue.file_size != 0 && (uint64_t)queue.trail->size >= queue.file_size &&
	    !queue.was_told_size) {
		queue.was_told_size = true;
		audit_send_trigger(AUDIT_TRIGGER_ROTATE_KERNEL);
	}
	if (free < least && !queue.was_told_space)
		audit_send_trigger(AUDIT_TRIGGER_LOW_SPACE);
	queue.was_told_space = free < least + (queue.was_told_space ? SPACE_MARGIN : 0);
}

/* ---------------- Writing ---------------- */

/* Writes the whole group and its way there to the disk: 0 or an errno.  Unlocks. */
static int queue_write_whole(struct vnode *trail, const struct group *group)
{
	static const struct credentials root;
	unsigned seen = vnode_errors_at_open(trail);
	size_t done = 0;
	int error = vnode_write(trail, &root, -1, group->bytes, group->size, &done);

	if (error == 0 && done < group->size)
		error = ENOSPC;
	return error != 0 ? error : vnode_sync(trail, &seen);
}

/* What could not be written.  Unlocks. */
static void queue_fail(struct vnode *trail, off_t old_size, int error)
{
	vnode_truncate(trail, old_size);
	if (!queue.is_stuck)
		ux_log("audit: the trail could not be written (error %d)", error);
	queue.is_stuck = true;
	ux_wakeup(&queue.filling);
	if (trail == queue.trail)
		audit_send_trigger(AUDIT_TRIGGER_NO_SPACE);
}

/* The group that is the worker's goes to the trail.  Unlocks. */
static void queue_write_group(void)
{
	struct vnode *trail = vnode_reference(queue.trail);
	off_t old_size = trail->size;
	int error;

	queue.is_writing = true;
	error = queue_write_whole(trail, &queue.writing);
	if (error == 0) {
		queue.counts.as_written += queue.writing.records;
		queue.counts.as_groups++;
		queue.writing.size = queue.writing.records = 0;
		queue.is_stuck = false;
		if (trail == queue.trail)
			queue_tell_of_file();
	} else {
		queue_fail(trail, old_size, error);
	}
	queue.is_writing = false;
	vnode_release(trail);
	ux_wakeup(&queue.writing);
}

static void queue_take_group(void)
{
	struct group empty = queue.writing;

	queue.writing = queue.filling;
	queue.filling = empty;
	ux_wakeup(&queue.filling);
}

/* One group of what there is, or waits for who writes one. */
static void queue_write_more(void)
{
	if (queue.is_writing) {
		ux_sleep(&queue.writing, NULL);
		return;
	}
	if (queue.writing.records == 0)
		queue_take_group();
	queue_write_group();
}

/* All that there is, unless it cannot be written.  Unlocks. */
static void queue_write_rest(void)
{
	while (queue.trail != NULL && !queue.is_stuck &&
	       queue.writing.records + queue.filling.records > 0)
		queue_write_more();
}

/* With the policy ahlt: whether one more group might find no room. */
static bool queue_must_halt(void)
{
	return (audit_policy & AUDIT_AHLT) != 0 && queue.trail != NULL &&
	       (queue.is_stuck || fs_kept_room_is_used());
}

/* By the worker, which does nothing else from now on. */
static void queue_halt(void)
{
	queue.is_halting = true;
	queue_write_rest();
	ux_log("audit: the machine ends, since records would be lost (policy ahlt)");
	ux_halt(UX_HALT, HALT_STATUS);
}

/* When the group that is being filled is to be written; it has a record. */
static uint64_t queue_due(void)
{
	const struct group *group = &queue.filling;

	if (queue.is_hurried || group->size > GROUP_ROOM / 2 ||
	    group->records >= audit_limits.aq_hiwater)
		return 0;
	return group->begun + (uint64_t)audit_limits.aq_delay * MS_NS;
}

/* Waits until there is something to write, and a trail for it. */
static void queue_await_work(void)
{
	for (;;) {
		bool has_more = queue.filling.records > 0;

		if (queue.trail == NULL || (queue.writing.records == 0 && !has_more))
			ux_sleep(&queue, NULL);
		else if (queue.writing.records > 0 || queue_due() <= ux_now())
			return;
		else
			ux_sleep_until(&queue, queue_due());
	}
}

static void audit_worker(void *unused)
{
	(void)unused;
	ux_lock();
	for (;;) {
		if (queue.is_stuck && !queue.is_hurried)
			ux_sleep_until(&queue, ux_now() + RETRY_NS);
		queue_await_work();
		if (queue.writing.records == 0)
			queue_take_group();
		queue_write_group();
		if (queue_must_halt())
			queue_halt();
	}
}

int audit_start_worker(void)
{
	if (queue.has_worker)
		return 0;
	if (queue.filling.bytes == NULL)
		queue.filling.bytes = ux_allocate_pages(GROUP_ROOM);
	if (queue.writing.bytes == NULL)
		queue.writing.bytes = ux_allocate_pages(GROUP_ROOM);
	if (queue.filling.bytes == NULL || queue.writing.bytes == NULL)
		return ENOMEM;
	queue.has_worker = ux_start_thread(audit_worker, NULL);
	return queue.has_worker ? 0 : EAGAIN;
}

/* ---------------- Records ---------------- */

static bool queue_has_room(uint32_t size)
{
	return size <= GROUP_ROOM - queue.filling.size &&
	       queue.filling.records < audit_limits.aq_hiwater;
}

/* Whether the record is to wait no longer: no room will come by itself, and the policy is cnt. */
static bool queue_gives_up(void)
{
	return queue.is_stuck && (audit_policy & AUDIT_CNT) != 0;
}

void audit_commit(const void *record, uint32_t size)
{
	struct group *group = &queue.filling;

	queue.counts.as_generated++;
	queue.counts.as_waited += !queue_has_room(size);
	while (!queue_has_room(size) && !queue_gives_up())
		ux_sleep(&queue.filling, NULL);
	if (!queue_has_room(size)) {
		queue.counts.as_dropped++;
		return;
	}
	if (group->records++ == 0)
		group->begun = ux_now();
	memcpy(group->bytes + group->size, record, size);
	group->size += size;
	if (group->records == 1 || queue_due() == 0)
		ux_wakeup(&queue);
}

void audit_await_end(void)
{
	while (queue.is_halting)
		ux_sleep(&queue.is_halting, NULL);
}

/* ---------------- The trail ---------------- */

static void queue_keep_room(void)
{
	fs_keep_room((audit_policy & AUDIT_AHLT) != 0 ? queue.trail : NULL, KEPT_ROOM);
}

void audit_set_policy(int policy)
{
	audit_policy = policy;
	queue_keep_room();
}

/* Has the records that there are now written, unless they cannot be.  Unlocks. */
static void queue_flush(void)
{
	uint64_t all = queue.counts.as_written + queue.filling.records + queue.writing.records;

	queue.is_hurried = true;
	ux_wakeup(&queue);
	while (!queue.is_stuck && queue.counts.as_written < all)
		ux_sleep(&queue.writing, NULL);
	queue.is_hurried = false;
}

void audit_change_trail(struct vnode *trail)
{
	struct vnode *old;

	if (queue.trail != NULL && !queue.is_stuck)
		queue_flush();
	old = queue.trail;
	queue.trail = trail;
	queue_keep_room();
	queue.was_told_size = false;
	queue.was_told_space &= old != NULL && trail != NULL;
	audit_is_on = trail != NULL;
	ux_wakeup(&queue);
	if (old != NULL)
		vnode_release(old);
}

void audit_set_condition(bool is_on)
{
	audit_is_on = is_on && queue.trail != NULL;
}

void audit_get_counts(audit_stat_t *counts)
{
	*counts = queue.counts;
	counts->as_waiting = queue.filling.records + queue.writing.records;
}

void audit_get_file(au_fstat_t *file)
{
	file->af_filesz = queue.file_size;
	file->af_currsz = queue.trail != NULL ? (uint64_t)queue.trail->size : 0;
}

void audit_set_file_size(uint64_t size)
{
	queue.file_size = size;
	queue.was_told_size = false;
}

/*
 * Nothing is waited for that does not come: a disk that is full is full, and a worker that ends the
 * machine writes nothing more itself.
 */
void audit_drain(void)
{
	if (queue.is_halting) {
		queue_write_rest();
		return;
	}
	audit_is_on = false;
	if (queue.trail == NULL)
		return;
	queue.is_stuck = false;
	while (!queue.is_stuck && queue.filling.records + queue.writing.records > 0)
		queue_flush();
}
