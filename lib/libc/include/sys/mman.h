/* SPDX-License-Identifier: MIT */
/* Memory by the page, of a program's own, of files, and shared.  See docs/calls/mmap.md. */
#ifndef _SYS_MMAN_H
#define _SYS_MMAN_H

#include <sys/types.h>

#define PROT_NONE  0
#define PROT_READ  1
#define PROT_WRITE 2
#define PROT_EXEC  4

#define MAP_SHARED    0x01
#define MAP_PRIVATE   0x02
#define MAP_FIXED     0x10
#define MAP_ANONYMOUS 0x20
#define MAP_ANON      MAP_ANONYMOUS

#define MAP_FAILED ((void *)-1)

void *mmap(void *address, size_t size, int rights, int flags, int fd, off_t offset);
int munmap(void *address, size_t size);
int mprotect(void *address, size_t size, int rights);

int shm_open(const char *name, int flags, mode_t mode);
int shm_unlink(const char *name);

#endif
