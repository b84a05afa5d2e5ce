/* SPDX-License-Identifier: MIT */
/*
 * The kernel keeps objects that nobody maps, but not any number of them.
 *
 * machine: cpus=1
 */
#include "check.h"
#include "pager.h"

#define CACHED_MAX 256u /* So many. */

/* The task's table of names grows, and keeps what it has. */
BALANCE_AT_END;

TEST(many_objects_are_cached_but_not_all)
{
	static struct {
		mach_port_t object, control, name;
	} all[CACHED_MAX + 10];

	for (uint32_t n = 0; n < CACHED_MAX + 10; n++) {
		REQUIRE(begin(true, MEMORY_OBJECT_COPY_DELAY));
		all[n].object = object;
		all[n].control = control;
		all[n].name = name;
		unmap();
	}
	for (uint32_t n = 0; n < CACHED_MAX + 10; n++) {
		object = all[n].object;
		control = all[n].control;
		name = all[n].name;
		if (n >= 10) {
			EXPECT(message_none(object));
			memory_object_change_attributes(control, FALSE, 0, MACH_PORT_NULL);
		}
		end_terminated();
	}
}
