/* SPDX-License-Identifier: MIT */
/* Who asks for a page: apart from page.c, which knows of no threads. */
#include "thread/thread.h"
#include "vm/page/page.h"

bool page_caller_is_privileged(void)
{
	return current_thread()->vm_privileged;
}
