/* SPDX-License-Identifier: MIT */
/* Memory by the page, and locks: what the portable half of the library needs of the kernel. */
#include <mach.h>

#include "../internal.h"

void *__pages_allocate(size_t bytes)
{
	vm_address_t address = 0;

	if (syscall_vm_allocate(mach_task_self_cached(), &address, bytes, TRUE) != KERN_SUCCESS)
		return NULL;
	return (void *)address;
}

void __pages_free(void *pages, size_t bytes)
{
	syscall_vm_deallocate(mach_task_self_cached(), (vm_address_t)pages, bytes);
}

/* ---------------- Locks ---------------- */

enum {
	FREE,
	TAKEN,
	WANTED
};

void __lock(libc_lock_t *lock)
{
	int seen = FREE;

	if (__atomic_compare_exchange_n(&lock->word, &seen, TAKEN, 0, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&lock->word, WANTED, __ATOMIC_ACQUIRE) != FREE)
		mach_await_memory(gsync_wait(mach_task_self_cached(), (vm_address_t)&lock->word,
					     WANTED, 0, 0, 0));
}

void __unlock(libc_lock_t *lock)
{
	if (__atomic_exchange_n(&lock->word, FREE, __ATOMIC_RELEASE) == WANTED)
		while (mach_await_memory(
			gsync_wake(mach_task_self_cached(), (vm_address_t)&lock->word, 0, 0)))
			continue;
}
