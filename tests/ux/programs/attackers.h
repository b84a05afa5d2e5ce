/* SPDX-License-Identifier: MIT */
/* What the kernel says of who pays, and how a program takes all that it can of one kind. */
#ifndef ATTACKERS_H
#define ATTACKERS_H

#include <assay.h>
#include <mach.h>
#include <mach/notify.h>
#include <mach/owner.h>
#include <time.h>

#include "help.h"

enum {
	STUDENT = 100,
	TA = 101,
	LARGE = 32768,   /* Bytes of a message. */
	PATIENCE = 1000, /* Milliseconds until what ends is over, on whatever CPU it ends. */
};

/* ---------------- What is used ---------------- */

static inline bool owner_uses(unsigned owner, owner_uses_t *uses)
{
	unsigned found = owner;

	return host_owner(mach_host_self(), &found, uses) == KERN_SUCCESS && found == owner;
}

static inline uint32_t used(unsigned owner, enum owner_kind kind)
{
	owner_uses_t uses;

	return owner_uses(owner, &uses) ? uses.uses[kind].used : 0;
}

static inline uint32_t limit_of(unsigned owner, enum owner_kind kind)
{
	owner_uses_t uses;

	return owner_uses(owner, &uses) ? uses.uses[kind].limit : 0;
}

/* Whether nothing is charged to the owner any more, at the latest in a while. */
static inline bool has_nothing(unsigned owner)
{
	static const struct timespec a_moment = {0, 1000000};
	owner_uses_t uses;

	for (int patience = PATIENCE; patience > 0 && owner_uses(owner, &uses); patience--)
		nanosleep(&a_moment, NULL);
	return !owner_uses(owner, &uses);
}

static inline uint32_t count_of(const char *name)
{
	struct machine_count counts[MACHINE_COUNTS];
	uint32_t n = 0;

	EXPECT_EQ(assay_counts(counts, MACHINE_COUNTS, &n), KERN_SUCCESS);
	for (uint32_t i = 0; i < n && i < MACHINE_COUNTS; i++)
		if (strcmp(counts[i].name, name) == 0)
			return counts[i].after;
	return 0;
}

static inline uint32_t free_pages(void)
{
	struct vm_statistics statistics;

	EXPECT_EQ(vm_statistics(mach_task_self(), &statistics), KERN_SUCCESS);
	return statistics.free_count;
}

/* ---------------- Attackers ---------------- */

static inline void take_ports(void)
{
	mach_port_t name;

	while (mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_RECEIVE, &name) == KERN_SUCCESS)
		continue;
}

static inline void take_tasks(void)
{
	mach_port_t task;

	while (task_create(mach_task_self(), false, &task) == KERN_SUCCESS)
		continue;
}

static inline void take_threads(void)
{
	mach_port_t thread;

	while (thread_create(mach_task_self(), &thread) == KERN_SUCCESS)
		continue;
}

static inline mach_msg_return_t post(mach_port_t port, mach_msg_size_t size)
{
	static struct {
		mach_msg_header_t head;
		char body[LARGE];
	} message;

	message.head = (mach_msg_header_t){
		.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_MAKE_SEND, 0),
		.msgh_remote_port = port,
	};
	return mach_msg(&message.head, MACH_SEND_MSG | MACH_SEND_TIMEOUT,
			sizeof message.head + size, 0, MACH_PORT_NULL, 0, MACH_PORT_NULL);
}

/* Large ones, and when there is no room for them small ones. */
static inline void take_messages(void)
{
	mach_msg_size_t sizes[] = {LARGE, 0};
	mach_port_t port = mach_reply_port();

	for (int n = 0; n < 2; n++) {
		mach_msg_return_t result = MACH_MSG_SUCCESS;

		while (result != MACH_SEND_NO_BUFFER) {
			result = post(port, sizes[n]);
			if (result == MACH_SEND_TIMED_OUT)
				port = mach_reply_port();
		}
	}
}

/* Each thread is gone at once, and its port there as long as it has a name. */
static inline void take_ports_of_threads(void)
{
	mach_port_t thread;

	while (thread_create(mach_task_self(), &thread) == KERN_SUCCESS &&
	       thread_terminate(thread) == KERN_SUCCESS)
		continue;
}

/* Each request to be told of a port's end has the message ready. */
static inline void take_requests(void)
{
	mach_port_t name, told = mach_reply_port(), previous;

	while (used(STUDENT, OWNER_QUEUED) < limit_of(STUDENT, OWNER_QUEUED)) {
		name = mach_reply_port();
		EXPECT_EQ(mach_port_request_notification(mach_task_self(), name,
							 MACH_NOTIFY_DEAD_NAME, 0, told,
							 MACH_MSG_TYPE_MAKE_SEND_ONCE, &previous),
			  KERN_SUCCESS);
	}
}

/* As many pages as there may be. */
static inline void take_pages(void)
{
	enum {
		PIECE = 1 << 20
	};
	vm_address_t area;
	uint32_t word = 1;

	for (uint32_t at = PIECE;; at += PAGE_SIZE) {
		if (at == PIECE) {
			EXPECT_EQ(vm_allocate(mach_task_self(), &area, PIECE, true), KERN_SUCCESS);
			at = 0;
		}
		if (vm_write(mach_task_self(), area + at + sizeof word, (vm_offset_t)&word,
			     sizeof word) != KERN_SUCCESS)
			return;
	}
}

/* As many tables of names as there may be, by dead names that are far apart. */
static inline void take_names(void)
{
	mach_port_t name = 1 << 20;

	while (mach_port_allocate_name(mach_task_self(), MACH_PORT_RIGHT_DEAD_NAME, name) ==
	       KERN_SUCCESS)
		name += 1 << 13;
}

/* ---------------- Others ---------------- */

static inline void need_some_of_everything(void)
{
	mach_port_t name;

	EXPECT_EQ(status_of_role("/bin/true", "none"), 0);
	EXPECT_EQ(mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_RECEIVE, &name),
		  KERN_SUCCESS);
	EXPECT_EQ(task_create(mach_task_self(), true, &name), KERN_SUCCESS);
	EXPECT_EQ(thread_create(name, &name), KERN_SUCCESS);
}

#endif
