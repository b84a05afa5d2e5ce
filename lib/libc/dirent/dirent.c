/* SPDX-License-Identifier: MIT */
/* Directories as streams of entries, of which the server gives as many at a time as fit. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "../sys/call.h"

struct directory {
	int fd;
	size_t size; /* Bytes of entries in `data`, */
	size_t next; /* and where the next one begins. */
	char data[UX_INLINE_MAX] __attribute__((aligned(8)));
};

DIR *opendir(const char *path)
{
	DIR *directory = malloc(sizeof *directory);

	if (directory == NULL)
		return NULL;
	directory->size = 0;
	directory->next = 0;
	directory->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory->fd >= 0)
		return directory;
	free(directory);
	return NULL;
}

static int refill(DIR *directory)
{
	mach_msg_type_number_t size = sizeof directory->data;

	if (finish(CALL(bsd_readdir, directory->fd, directory->data, &size)) != 0)
		return -1;
	directory->size = size;
	directory->next = 0;
	return 0;
}

struct dirent *readdir(DIR *directory)
{
	struct dirent *entry;

	if (directory->next >= directory->size && refill(directory) != 0)
		return NULL;
	if (directory->size == 0)
		return NULL;
	entry = (struct dirent *)(void *)(directory->data + directory->next);
	directory->next += entry->d_reclen;
	return entry;
}

void rewinddir(DIR *directory)
{
	directory->size = 0;
	directory->next = 0;
	lseek(directory->fd, 0, SEEK_SET);
}

int closedir(DIR *directory)
{
	int result = close(directory->fd);

	free(directory);
	return result;
}

int dirfd(DIR *directory)
{
	return directory->fd;
}
