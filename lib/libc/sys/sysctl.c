/* SPDX-License-Identifier: MIT */
/* sysctl(): values of the system, by numbers and by names. */
#include <mach.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include "../internal.h"
#include "call.h"

/* What came beside the answer goes to the caller, as much as it has room for. */
static int sysctl_take(void *old, size_t *room, unsigned size, char *data,
		       mach_msg_type_number_t sent)
{
	bool fits = old == NULL || size <= *room;

	if (old != NULL && sent != 0)
		memcpy(old, data, sent);
	if (sent != 0)
		vm_deallocate(mach_task_self_cached(), (vm_address_t)data, sent);
	if (room != NULL)
		*room = old != NULL ? sent : size;
	return finish(fits ? 0 : ENOMEM);
}

int sysctl(const int *name, unsigned length, void *old, size_t *room, const void *new_value,
	   size_t new_size)
{
	const unsigned flags = (old != NULL ? SYSCTL_READS : 0) |
			       (room != NULL ? SYSCTL_MEASURES : 0) |
			       (new_value != NULL ? SYSCTL_WRITES : 0);
	mach_msg_type_number_t sent = 0;
	unsigned size = 0;
	char *data = NULL;

	if (length == 0 || length > CTL_MAXNAME)
		return finish(EINVAL);
	if (is_bad(name, length * sizeof *name) || is_bad_option(room, sizeof *room) ||
	    (old != NULL && (room == NULL || is_bad(old, *room))) ||
	    is_bad_option(new_value, new_size))
		return finish(EFAULT);
	if (finish(CALL(bsd_sysctl, (int *)(uintptr_t)name, length, flags, old != NULL ? *room : 0,
			(char *)(uintptr_t)new_value, new_value != NULL ? new_size : 0, &size,
			&data, &sent)) != 0)
		return -1;
	return sysctl_take(old, room, size, data, sent);
}

/* ---------------- Names ---------------- */

struct sysctl_name *sysctl_names(size_t *count)
{
	mach_msg_type_number_t size = 0;
	struct sysctl_name *names;
	char *data = NULL;

	if (is_bad(count, sizeof *count)) {
		finish(EFAULT);
		return NULL;
	}
	if (finish(CALL(bsd_sysctl_names, &data, &size)) != 0)
		return NULL;
	names = malloc(size);
	if (names != NULL)
		memcpy(names, data, size);
	vm_deallocate(mach_task_self_cached(), (vm_address_t)data, size);
	*count = size / sizeof *names;
	return names;
}

/* Whether `name` is this one, or above it: then the numbers of its part count. */
static bool sysctl_is_part(const struct sysctl_name *one, const char *name)
{
	size_t length = strlen(name);

	return strncmp(one->name, name, length) == 0 &&
	       (one->name[length] == '\0' || one->name[length] == '.');
}

/* Numbers of a name: one more than its dots. */
static size_t sysctl_count(const char *name)
{
	size_t count = 1;

	while ((name = strchr(name, '.')) != NULL) {
		name++;
		count++;
	}
	return count;
}

int sysctlnametomib(const char *name, int *mib, size_t *length)
{
	size_t count = 0, wanted;
	struct sysctl_name *names, *one;
	int error = 0;

	if (is_bad(name, 1) || is_bad(length, sizeof *length) || is_bad(mib, *length * sizeof *mib))
		return finish(EFAULT);
	names = sysctl_names(&count);
	if (names == NULL)
		return -1;
	for (one = names; one < names + count && !sysctl_is_part(one, name); one++)
		continue;
	wanted = sysctl_count(name);
	if (one == names + count)
		error = ENOENT;
	else if (wanted > *length)
		error = ENOMEM;
	else
		memcpy(mib, one->mib, wanted * sizeof *mib);
	free(names);
	if (error == 0)
		*length = wanted;
	return finish(error);
}

int sysctlbyname(const char *name, void *old, size_t *room, const void *new_value, size_t new_size)
{
	int mib[CTL_MAXNAME];
	size_t length = CTL_MAXNAME;

	if (sysctlnametomib(name, mib, &length) != 0)
		return -1;
	return sysctl(mib, (unsigned)length, old, room, new_value, new_size);
}

/* ---------------- The host's name ---------------- */

int gethostname(char *name, size_t room)
{
	static const int mib[] = {CTL_KERN, KERN_HOSTNAME};

	if (is_bad(name, room))
		return finish(EFAULT);
	if (sysctl(mib, 2, name, &room, NULL, 0) != 0)
		return finish(errno == ENOMEM ? ENAMETOOLONG : errno);
	return 0;
}

int sethostname(const char *name, size_t length)
{
	static const int mib[] = {CTL_KERN, KERN_HOSTNAME};

	if (is_bad(name, length))
		return finish(EFAULT);
	return sysctl(mib, 2, NULL, NULL, name, length);
}
