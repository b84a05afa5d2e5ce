/* SPDX-License-Identifier: MIT */
/*
 * What was asked of servers, as the kernel has counted it: a line for each that is different, with
 * the process, the part that asked, the one that was asked, the message's number, how often, and
 * from where.
 */
#include <inttypes.h>
#include <mach.h>
#include <stdio.h>

#include <mach/assay.h>
#include <mach/calls.h>
#include <mach/prof.h>

#include <servers/gprof_types.h>
#include <ux/bsd.h>

#include "common/common.h"
#include "pkgmon.h"

#define LINE_ROOM 256

/* A server without the library counts nothing, and says so. */
void requests_switch(bool is_on)
{
	gprof_status_t status;

	if (bsd_gprof_mon_status(ux_server_port(), &status) != 0)
		return;
	status.options.by_label = is_on;
	bsd_gprof_mon_options(ux_server_port(), status.options);
}

static void put_line(struct bytes *bytes, const char *line, int length)
{
	put(bytes, line, (size_t)length);
}

/* Of those who are not measured it is not known who it was. */
static void put_others(struct bytes *bytes, const struct host_request *request, uint64_t count)
{
	char line[LINE_ROOM], server[NAME_ROOM];

	name_part(server, NULL, request->server);
	put_line(bytes, line,
		 snprintf(line, sizeof(line), "- - %s %" PRIu32 " %" PRIu64 "\n", server,
			  request->id, count));
}

/* Of nobody: a server's own work, the system's, and what was done before it was known for whom. */
static bool is_nobodys(const struct host_request *call)
{
	return call->label == call->task || call->label == HOST_CALLS_SYSTEM ||
	       (call->label >= PROF_LABEL_EVENTS && call->label != HOST_CALLS_OTHERS);
}

/* What a server called itself, for whoever it was. */
static void put_call(struct collection *collection, struct subject *subject,
		     const struct host_request *call, uint64_t count)
{
	struct subject *unmeasured = is_nobodys(call) ? &collection->own : &collection->rest;
	struct part *part =
		part_of_task(collection, subject != NULL ? subject : unmeasured, call->task);

	if (part != NULL)
		put_arc(&part->calls, call->frames[0], call->id, count);
}

static void put_own(struct bytes *bytes, const struct subject *subject,
		    const struct host_request *request, uint64_t count)
{
	char line[LINE_ROOM], process[NAME_ROOM], caller[NAME_ROOM], server[NAME_ROOM];
	int length;

	name_part(caller, subject, request->task);
	name_part(server, subject, request->server);
	name_process(process, subject);
	length = snprintf(line, sizeof(line), "%s %s %s %" PRIu32 " %" PRIu64, process, caller,
			  server, request->id, count);
	for (unsigned n = 0; n < HOST_REQUEST_FRAMES && request->frames[n] != 0; n++)
		length += snprintf(line + length, sizeof(line) - (size_t)length, " %" PRIx32,
				   request->frames[n]);
	line[length++] = '\n';
	put_line(bytes, line, length);
}

/* One that has none left could not be sent. */
static void put_request(struct collection *collection, const struct host_request *request)
{
	struct subject *subject = find_subject(collection, request->label);
	uint64_t count = prof_u64(request->count);

	if (count == 0)
		return;
	if (request->server == HOST_REQUEST_CALL) {
		put_call(collection, subject, request, count);
		return;
	}
	if (subject == NULL) {
		put_others(&collection->requests, request, count);
		return;
	}
	put_own(&collection->requests, subject, request, count);
	part_of_task(collection, subject, request->task);
	if (request->server != 0)
		part_of_task(collection, subject, request->server);
}

bool requests_read(struct collection *collection)
{
	mach_msg_type_number_t n = 0;
	host_request_array_t words = NULL;
	unsigned lost = 0;
	kern_return_t result = host_requests_get(collection->host, &lost, &words, &n);

	if (result != KERN_SUCCESS) {
		report("the kernel does not tell who asked servers: error %d", result);
		return false;
	}
	for (size_t i = 0; i < n / HOST_REQUEST_WORDS; i++)
		put_request(collection, (const struct host_request *)words + i);
	if (lost > 0)
		report("%u requests to servers were of too many kinds to be counted", lost);
	if (n != 0)
		vm_deallocate(mach_task_self(), (vm_address_t)words, n * sizeof(*words));
	return lost == 0;
}
