/* SPDX-License-Identifier: MIT */
/*
 * Who is measured.  With -f that grows: the kernel tells apart the calls of each task that is made
 * as a child of one whose calls are, before it runs, and is asked which they are when the first
 * sample with a new label comes, and at the end.  Labels are numbers that only grow.
 */
#include <mach.h>
#include <stdint.h>

#include <mach/assay.h>
#include <mach/calls.h>

#include "common/common.h"
#include "pkgmon.h"

static struct subject *look_up(struct collection *collection, uint32_t label)
{
	for (unsigned n = 0; n < collection->n_subjects; n++)
		if (collection->subjects[n].label == label)
			return &collection->subjects[n];
	return NULL;
}

/* How many were measured before of this process, or of an earlier one with its number. */
static unsigned count_process(const struct collection *collection, pid_t pid)
{
	unsigned count = 0;

	for (unsigned n = 0; n < collection->n_subjects; n++)
		count += collection->subjects[n].pid == pid;
	return count;
}

static void add_child(struct collection *collection, uint32_t label)
{
	struct subject *child = &collection->subjects[collection->n_subjects];

	/* More than the kernel has room for: somebody made it forget the first ones meanwhile. */
	if (collection->n_subjects == SUBJECTS_MAX) {
		report("there is no room for the process of task %u", label);
		collection->failed = true;
		return;
	}
	if (!subject_find_child(child, label)) {
		report("nobody knows any more which process was measured as task %u", label);
		collection->failed = true;
		return;
	}
	child->again = count_process(collection, child->pid);
	if (part_of_kernel(collection, child) != NULL) {
		collection->n_subjects++;
		return;
	}
	report("process %d: there is no memory left for its samples", child->pid);
	collection->failed = true;
}

/* The list's order is that in which they were made, which is that of execs, too. */
static void look_for_children(struct collection *collection, uint32_t up_to)
{
	host_call_labels_t all;

	if (host_calls_labels(collection->host, &all) != KERN_SUCCESS)
		return;
	for (unsigned n = 0; n < all.n; n++)
		if (all.labels[n] > collection->known_up_to &&
		    look_up(collection, all.labels[n]) == NULL)
			add_child(collection, all.labels[n]);
	if (all.n > 0 && all.labels[all.n - 1] > up_to)
		up_to = all.labels[all.n - 1];
	collection->known_up_to = up_to;
	collection->missed = all.missed;
}

struct subject *find_subject(struct collection *collection, uint32_t label)
{
	struct subject *subject = look_up(collection, label);

	if (subject != NULL || !collection->wanted->children || label <= collection->known_up_to)
		return subject;
	look_for_children(collection, label);
	return look_up(collection, label);
}

kern_return_t subjects_begin(struct collection *collection)
{
	kern_return_t result = KERN_SUCCESS;

	for (unsigned n = 0; n < collection->n_subjects && result == KERN_SUCCESS; n++) {
		struct subject *subject = &collection->subjects[n];

		result = host_calls_for(collection->host, subject->task, &subject->label);
	}
	if (result == KERN_SUCCESS && collection->wanted->children)
		result = host_calls_children(collection->host);
	return result;
}

void subjects_end(struct collection *collection)
{
	if (collection->wanted->children)
		look_for_children(collection, UINT32_MAX);
}
