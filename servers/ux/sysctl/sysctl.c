/* SPDX-License-Identifier: MIT */
/*
 * sysctl(): finds what a row of numbers stands for, says who may set it, and sends it.
 *
 * Whoever asks with too little room gets what fits, and the size; who does not ask does not have
 * the value made up, which may take long or fail.  What becomes of that in errno is
 * the library's (lib/libc/sys/sysctl.c).
 */
#include "sysctl/sysctl.h"

#include <ux/bsd_server.h>

#include "process/process.h"
#include "process/thread.h"

/* Whether the first numbers of both are the same, as many as the shorter one has. */
static bool sysctl_begins_alike(const struct sysctl_name *name, const int *mib, unsigned length)
{
	unsigned shorter = length < name->length ? length : name->length;

	return memcmp(name->mib, mib, shorter * sizeof mib[0]) == 0;
}

/*
 * What the numbers stand for, or the error: EISDIR if names are below, ENOTDIR if they go on behind
 * a name that ends earlier.
 */
static int sysctl_find(const int *mib, unsigned length, const struct sysctl_entry **entry)
{
	unsigned whole;

	if (length == 0 || length > CTL_MAXNAME)
		return EINVAL;
	for (size_t n = 0; n < sysctl_n_entries; n++) {
		const struct sysctl_name *name = &sysctl_entries[n].name;

		if (!sysctl_begins_alike(name, mib, length))
			continue;
		whole = name->length + (name->type == CTLTYPE_NODE);
		if (whole != length)
			return length < whole ? EISDIR : ENOTDIR;
		*entry = &sysctl_entries[n];
		return 0;
	}
	return ENOENT;
}

static uintptr_t sysctl_argument(const struct sysctl_entry *entry, const int *mib)
{
	if (entry->name.type == CTLTYPE_NODE)
		return (uintptr_t)mib[entry->name.length];
	return entry->argument;
}

/* Whether the caller may set it, to something of this size. */
static int sysctl_check_new(const struct sysctl_entry *entry, const struct process *process,
			    size_t size)
{
	if (entry->set == NULL || !is_root(process))
		return EPERM;
	return entry->name.type == CTLTYPE_INT && size != sizeof(int) ? EINVAL : 0;
}

/* Pages of their own, which go with the answer. */
static int sysctl_send(const void *from, size_t size, long_bytes_t *data,
		       mach_msg_type_number_t *sent)
{
	*data = size == 0 ? NULL : ux_allocate_pages(size);
	if (size != 0 && *data == NULL)
		return ENOMEM;
	memcpy(*data, from, size);
	*sent = size;
	return 0;
}

static int sysctl_read(const struct sysctl_entry *entry, uintptr_t argument, unsigned room,
		       unsigned *size, long_bytes_t *old, mach_msg_type_number_t *sent)
{
	struct sysctl_value value;
	int error = entry->get(argument, &value);

	if (error != 0)
		return error;
	*size = value.size;
	error = sysctl_send(value.data, value.size < room ? value.size : room, old, sent);
	if (entry->is_made && value.size != 0)
		ux_free_pages((void *)(uintptr_t)value.data, ux_whole_pages(value.size));
	return error;
}

kern_return_t ux_sysctl(caller_t caller, const mib_t mib, mach_msg_type_number_t length,
			unsigned flags, unsigned room, long_bytes_t new_value,
			mach_msg_type_number_t new_size, unsigned *size, long_bytes_t *old,
			mach_msg_type_number_t *sent)
{
	const bool reads = (flags & SYSCTL_READS) != 0, writes = (flags & SYSCTL_WRITES) != 0;
	const struct sysctl_entry *entry;
	uintptr_t argument = 0;
	int error = sysctl_find(mib, length, &entry);

	*old = NULL;
	*sent = 0;
	*size = 0;
	if (error == 0)
		argument = sysctl_argument(entry, mib);
	if (error == 0 && entry->is_secret && !is_root(caller->process))
		error = EPERM;
	if (error == 0 && writes)
		error = sysctl_check_new(entry, caller->process, new_size);
	if (error == 0 && (flags & (SYSCTL_READS | SYSCTL_MEASURES)) != 0)
		error = sysctl_read(entry, argument, reads ? room : 0, size, old, sent);
	if (error != 0 || !writes || (reads && *size > room))
		return error;
	error = entry->set(argument, new_value, new_size);
	if (error != 0 && *sent != 0)
		ux_free_pages(*old, ux_whole_pages(*sent));
	return error;
}

kern_return_t ux_sysctl_names(caller_t caller, long_bytes_t *data, mach_msg_type_number_t *size)
{
	const size_t bytes = sysctl_n_entries * sizeof(struct sysctl_name);
	struct sysctl_name *names = ux_allocate_pages(bytes);

	(void)caller;
	if (names == NULL)
		return ENOMEM;
	*data = (long_bytes_t)names;
	*size = bytes;
	for (size_t n = 0; n < sysctl_n_entries; n++) {
		names[n] = sysctl_entries[n].name;
		names[n].is_writable = sysctl_entries[n].set != NULL;
	}
	return 0;
}
