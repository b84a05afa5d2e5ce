/* SPDX-License-Identifier: MIT */
/* Copying to and from user memory: see copy.h. */
#include "i386/copy.h"

#include "i386/copy_bytes.h"
#include "i386/memory.h"
#include "kern/thread.h"

static bool range_is_user(user_address_t start, uint32_t size)
{
	return start <= USER_END && size <= USER_END - start;
}

bool copyin(void *to, user_address_t from, uint32_t size)
{
	may_block();
	return range_is_user(from, size) && copy_bytes(to, (const void *)from, size) == 0;
}

bool copyout(user_address_t to, const void *from, uint32_t size)
{
	may_block();
	return range_is_user(to, size) && copy_bytes((void *)to, from, size) == 0;
}

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
