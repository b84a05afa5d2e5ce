/* SPDX-License-Identifier: MIT */
/* Copying to and from user memory: see copy.h. */
#include "i386/copy.h"

#include "i386/copy_bytes.h"
#include "i386/memory.h"
#include "kern/thread.h"

uint32_t copyin_string(char *to, user_address_t from, uint32_t size)
{
	uint32_t room = USER_END - from;
	uint32_t length;

	may_block();
	if (from >= USER_END)
		return COPY_FAULT;
	length = copy_string(to, (const char *)from, size < room ? size : room);
	return length == room && room < size ? COPY_FAULT : length;
}
