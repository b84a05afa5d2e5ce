/* SPDX-License-Identifier: MIT */
/* Copying to and from user memory: see copy.h. */
#include "i386/mmu/copy.h"

#include "base/assert.h"
#include "thread/thread.h"

bool copyout_again(user_address_t to, const void *from, uint32_t size)
{
	struct thread *thread = current_thread();
	bool copied;

	if ((thread->asked & THREAD_ASKED_ABORT) == 0)
		return false;
	assert(!thread->finishes_copy);
	thread->finishes_copy = true;
	copied = copy_bytes((void *)to, from, size) == 0;
	thread->finishes_copy = false;
	return copied;
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
