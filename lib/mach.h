/* SPDX-License-Identifier: MIT */
/*
 * Mach for programs: the kernel's interfaces, the traps that belong to them, and what the generated
 * stubs need of the program that they are in.
 */
#ifndef LIB_MACH_H
#define LIB_MACH_H

#include <stdbool.h>

#include <mach/exception.h>
#include <mach/kern_return.h>
#include <mach/mach_types.h>
#include <mach/message.h>
#include <mach/mig_errors.h>
#include <mach/mig_support.h>
#include <mach/notify.h>
#include <mach/port.h>
#include <mach/profil.h>
#include <mach/task_vtimer.h>
#include <mach/traps.h>

#include <mach/assay.h>
#include <mach/device.h>
#include <mach/device_request.h>
#include <mach/gnumach.h>
#include <mach/gsync.h>
#include <mach/mach.h>
#include <mach/mach4.h>
#include <mach/mach_host.h>
#include <mach/mach_i386.h>
#include <mach/mach_port.h>

/* ---------------- Traps (traps.c) ---------------- */

/* Each gives the caller one more user reference under the name that it returns. */
mach_port_t mach_reply_port(void);
mach_port_t mach_thread_self(void);
mach_port_t mach_task_self(void);
mach_port_t mach_host_self(void);

/* The same as the messages, by a shorter way, as far as the kernel takes it. */
kern_return_t syscall_vm_map(mach_port_t task, vm_address_t *address, vm_size_t size,
			     vm_address_t mask, boolean_t anywhere, mach_port_t object,
			     vm_offset_t offset, boolean_t copy, vm_prot_t protection,
			     vm_prot_t max_protection, vm_inherit_t inheritance);
kern_return_t syscall_vm_allocate(mach_port_t task, vm_address_t *address, vm_size_t size,
				  boolean_t anywhere);
kern_return_t syscall_vm_deallocate(mach_port_t task, vm_address_t address, vm_size_t size);
kern_return_t syscall_task_create(mach_port_t parent, boolean_t inherit, mach_port_t *child);
kern_return_t syscall_task_terminate(mach_port_t task);
kern_return_t syscall_task_suspend(mach_port_t task);
kern_return_t syscall_task_set_special_port(mach_port_t task, int which, mach_port_t port);
kern_return_t syscall_mach_port_allocate(mach_port_t task, mach_port_right_t right,
					 mach_port_name_t *name);
kern_return_t syscall_mach_port_deallocate(mach_port_t task, mach_port_name_t name);
kern_return_t syscall_mach_port_insert_right(mach_port_t task, mach_port_name_t name,
					     mach_port_t right, mach_msg_type_name_t disposition);
kern_return_t syscall_mach_port_allocate_name(mach_port_t task, mach_port_right_t right,
					      mach_port_name_t name);
kern_return_t syscall_thread_depress_abort(mach_port_t thread);
kern_return_t thread_set_self_state(int flavor, thread_state_t state, mach_msg_type_number_t count);

/*
 * From here on the thread works for whom the reply right `name`, or its own task's thread, does;
 * for a task whose port it has; or for whom a device brings what it brings, which may be nobody who
 * is known yet: an event.
 */
kern_return_t assay_thread_serve(mach_port_t name);

/* For whom the thread works: a task's number, 0 for the system, or an event. */
uint32_t assay_thread_label(void);

/* A call within this program, counted for whom the thread works, while somebody asks for that. */
kern_return_t assay_count_call(uint32_t from, uint32_t self);

/*
 * Of a device whose input comes of its own accord: what comes from now on is for whom the thread
 * works (`known`), or nobody knows yet for whom; and for whom it works was what nobody had claimed.
 */
kern_return_t assay_event_pass(mach_port_t device, boolean_t known);
kern_return_t assay_event_attribute(mach_port_t device);

/* ---------------- Sampling (sample.c) ---------------- */

/*
 * task_sample() and thread_sample(), which do not need the caller's own port.  The samples come in
 * messages for prof_server() (<mach/prof_catch.h>), which calls the program's receive_samples().
 */
boolean_t prof_server(mach_msg_header_t *request, mach_msg_header_t *reply);
kern_return_t mach_sample_task(mach_port_t task, mach_port_t reply, mach_port_t caller);
kern_return_t mach_sample_thread(mach_port_t thread, mach_port_t reply, mach_port_t caller);

/* ---------------- The program's own (mach.c, destroy.c) ---------------- */

/* The name of the task's own port, got once. */
mach_port_t mach_task_self_cached(void);

/* Whether a call was not made for want of memory: for its message, a reply port or the reply. */
bool mach_is_short(kern_return_t result);
bool mach_wait_if_short(kern_return_t result);

/*
 * For whoever cannot go on without a call: whether it was not made for want of memory.  Then some
 * time has passed, and it may be made again.
 */
static inline bool mach_await_memory(kern_return_t result)
{
	return result != KERN_SUCCESS && mach_wait_if_short(result);
}

/*
 * How often mach_msg() itself tries again to send what there was no memory for.  0; a server on
 * which others depend sets it: what it does not say, somebody might wait for for ever.
 */
extern unsigned mach_msg_patience;

/*
 * Gives up all that a message has brought, or one that could not be sent would have: the right to
 * answer, rights and memory in its body.
 */
void mach_msg_destroy(mach_msg_header_t *message);

/* A task that inherited this program's memory has none of its names: it calls this first. */
void mach_forget_names(void);

#endif
