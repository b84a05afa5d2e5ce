/* SPDX-License-Identifier: MIT */
/* Memory for what is collected: zero-filled, by the page, without a C library. */
#ifndef LIBPROF_PAGES_H
#define LIBPROF_PAGES_H

#include <stddef.h>

#define PROF_PAGE 4096u

/* NULL if there is no memory.  The size is rounded up to whole pages, here and when it is freed. */
void *__prof_pages(size_t size);
void __prof_pages_free(void *pages, size_t size);

#endif
