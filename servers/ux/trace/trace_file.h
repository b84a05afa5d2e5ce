/* SPDX-License-Identifier: MIT */
/*
 * Files that are traced into.
 *
 * A file has one buffer, whoever is traced into it, so its records have one order and one
 * numbering.  A thread of the server's writes it when it is half full, each second, before the file
 * is read, and when nobody is traced into it any more; with that the structure goes.  Only whole
 * records are written.  Guarded by the server's lock.
 */
#ifndef UX_TRACE_FILE_H
#define UX_TRACE_FILE_H

#include "core/ux.h"

struct process;
struct trace_file;
struct trace_waits;
struct vnode;

/* The file's, which is made if nobody traces into it yet, with a reference: ENOMEM or EAGAIN. */
int trace_file_get(struct vnode *vnode, struct trace_file **file);
struct trace_file *trace_file_reference(struct trace_file *file);
void trace_file_release(struct trace_file *file);

/* What has been recorded is to be written now; nobody waits for that. */
void trace_file_want(struct trace_file *file);

/*
 * Room for `size` bytes of a record, which the caller fills before he unlocks, and its number;
 * null: the process is not traced into a file any more.  Unlocks.
 */
void *trace_file_room(struct process *process, size_t size, uint32_t *sequence);

/* Its waits; and for who puts them together with records: appends whole records, 0 or an errno. */
struct trace_waits *trace_file_waits(struct trace_file *file);
int trace_file_append_all(struct trace_file *file, const char *records, size_t size);

/* The longest record, with its header. */
#define TRACE_RECORD_MAX (8u * 1024)

/* The process is traced into no file any more (trace_process.c). */
void trace_stop(struct process *process);

#endif
