/* SPDX-License-Identifier: MIT */
/*
 * The state of a thread, read and written from outside, by flavor.
 *
 * A user may set anything here and must not get more by it than user mode can do anyway: selectors
 * are those of user segments, flags are those that user mode can change, breakpoints lie in user
 * memory.  All of that is checked before anything is changed.  Guarded by the kernel lock.
 */
#include "i386/thread/thread_status.h"

#include <stddef.h>

#include <mach/i386/thread_status.h>
#include <mach/thread_status.h>

#include "base/assert.h"
#include "base/lock.h"
#include "base/string.h"
#include "i386/cpu/memory.h"
#include "i386/cpu/vectors.h"
#include "i386/thread/debug_registers.h"
#include "i386/thread/extra.h"
#include "i386/thread/float_status.h"
#include "i386/thread/io_permission.h"
#include "mach/mach_server.h"
#include "task/traps.h"
#include "thread/cpu_state.h"
#include "thread/thread.h"

/* The flags that user mode can change, and RF: who steps over a breakpoint needs it. */
#define EFLAGS_SETTABLE 0x00250dd5u

#define SELECTOR_LOCAL           4u
#define SELECTOR_USER            3u /* Requested privilege. */
#define SELECTOR_INDEX(selector) ((selector) >> 3)

/* ---------------- Selectors ---------------- */

struct descriptor user_descriptor(const struct thread *thread, uint16_t selector)
{
	const struct thread_extra *extra = thread->machine.extra;
	uint32_t index = SELECTOR_INDEX(selector);
	const struct descriptor absent = {0, 0};

	if ((selector & SELECTOR_LOCAL) != 0) {
		if (extra != NULL && extra->ldt != NULL)
			return index < LDT_ENTRIES_MAX ? extra->ldt[index] : absent;
		return index < LDT_ENTRIES ? usual_ldt[index] : absent;
	}
	if (index == SELECTOR_INDEX(USER_CS) || index == SELECTOR_INDEX(USER_DS))
		return cpu_self()->machine.gdt[index];
	index -= SELECTOR_INDEX(USER_GDT);
	return extra != NULL && index < USER_GDT_SLOTS ? extra->slots[index] : absent;
}

static bool thread_status_is_null(uint32_t selector)
{
	return (selector & ~SELECTOR_USER) == 0;
}

/* Whether the selector may be in ds, es, fs or gs. */
static bool thread_status_is_data(const struct thread *thread, uint32_t selector)
{
	return selector <= UINT16_MAX &&
	       (thread_status_is_null(selector) ||
		descriptor_is_user_readable(user_descriptor(thread, (uint16_t)selector)));
}

static bool thread_status_selectors_are_acceptable(const struct thread *thread,
						   const struct i386_thread_state *state)
{
	return state->cs <= UINT16_MAX && state->ss <= UINT16_MAX &&
	       descriptor_is_user_code(user_descriptor(thread, (uint16_t)state->cs)) &&
	       descriptor_is_user_stack(user_descriptor(thread, (uint16_t)state->ss)) &&
	       thread_status_is_data(thread, state->ds) &&
	       thread_status_is_data(thread, state->es) &&
	       thread_status_is_data(thread, state->fs) && thread_status_is_data(thread, state->gs);
}

static uint32_t thread_status_user_selector(uint32_t selector)
{
	return thread_status_is_null(selector) ? 0 : selector | SELECTOR_USER;
}

/* ---------------- Registers ---------------- */

static kern_return_t thread_status_registers_get(struct thread *thread, uint32_t *state)
{
	const struct frame *frame = thread_frame(thread);

	*(struct i386_thread_state *)state = (struct i386_thread_state){
		.gs = thread->machine.gs,
		.fs = (uint16_t)frame->fs,
		.es = (uint16_t)frame->es,
		.ds = (uint16_t)frame->ds,
		.edi = frame->edi,
		.esi = frame->esi,
		.ebp = frame->ebp,
		.ebx = frame->ebx,
		.edx = frame->edx,
		.ecx = frame->ecx,
		.eax = frame->eax,
		.eip = frame->eip,
		.cs = (uint16_t)frame->cs,
		.efl = frame->eflags,
		.uesp = frame->esp,
		.ss = (uint16_t)frame->ss,
	};
	return KERN_SUCCESS;
}

/* All but the segments.  Where eip and uesp point to is for user mode to find out. */
static void thread_status_set_numbers(struct frame *frame, const struct i386_thread_state *state)
{
	frame->edi = state->edi;
	frame->esi = state->esi;
	frame->ebp = state->ebp;
	frame->ebx = state->ebx;
	frame->edx = state->edx;
	frame->ecx = state->ecx;
	frame->eax = state->eax;
	frame->eip = state->eip;
	frame->eflags = (state->efl & EFLAGS_SETTABLE) | EFLAGS_ONE | EFLAGS_IF;
	frame->esp = state->uesp;
}

/* There is no virtual-8086 mode: to take only its flag away would run something else. */
static kern_return_t thread_status_flat_registers_set(struct thread *thread, const uint32_t *words)
{
	const struct i386_thread_state *state = (const struct i386_thread_state *)words;
	struct frame *frame = thread_frame(thread);

	if ((state->efl & EFLAGS_VM) != 0)
		return KERN_INVALID_ARGUMENT;
	thread_status_set_numbers(frame, state);
	frame->cs = USER_CS;
	frame->ss = frame->ds = frame->es = frame->fs = USER_DS;
	thread->machine.gs = USER_DS;
	return KERN_SUCCESS;
}

static kern_return_t thread_status_registers_set(struct thread *thread, const uint32_t *words)
{
	const struct i386_thread_state *state = (const struct i386_thread_state *)words;
	struct frame *frame = thread_frame(thread);

	if ((state->efl & EFLAGS_VM) != 0 || !thread_status_selectors_are_acceptable(thread, state))
		return KERN_INVALID_ARGUMENT;
	thread_status_set_numbers(frame, state);
	frame->cs = thread_status_user_selector(state->cs);
	frame->ss = thread_status_user_selector(state->ss);
	frame->ds = thread_status_user_selector(state->ds);
	frame->es = thread_status_user_selector(state->es);
	frame->fs = thread_status_user_selector(state->fs);
	thread->machine.gs = (uint16_t)thread_status_user_selector(state->gs);
	return KERN_SUCCESS;
}

/* ---------------- I/O ports, virtual-8086 mode, debug registers ---------------- */

static kern_return_t thread_status_ports_get(struct thread *thread, uint32_t *state)
{
	io_permissions_show(thread, (uint8_t *)state, PORT_MAP_BITS / 8);
	return KERN_SUCCESS;
}

/* Who may give ports to a task has i386_io_perm_modify(). */
static kern_return_t thread_status_ports_set(struct thread *thread, const uint32_t *state)
{
	uint8_t now[PORT_MAP_BITS / 8];

	io_permissions_show(thread, now, sizeof now);
	return memcmp(now, state, sizeof now) == 0 ? KERN_SUCCESS : KERN_NO_ACCESS;
}

static kern_return_t thread_status_v86_get(struct thread *thread, uint32_t *state)
{
	const struct thread_extra *extra = thread->machine.extra;

	state[0] = extra != NULL ? extra->v86_table : 0;
	state[1] = extra != NULL ? extra->v86_count : 0;
	return KERN_SUCCESS;
}

static kern_return_t thread_status_v86_set(struct thread *thread, const uint32_t *state)
{
	struct thread_extra *extra;

	if (state[0] >= USER_END ||
	    state[1] > (USER_END - state[0]) / sizeof(struct v86_interrupt_table))
		return KERN_INVALID_ARGUMENT;
	extra = extra_of(thread);
	if (extra == NULL)
		return KERN_RESOURCE_SHORTAGE;
	extra->v86_table = state[0];
	extra->v86_count = state[1];
	return KERN_SUCCESS;
}

static kern_return_t thread_status_debug_get(struct thread *thread, uint32_t *state)
{
	const struct thread_extra *extra = thread->machine.extra;

	if (extra != NULL)
		memcpy(state, extra->debug, sizeof extra->debug);
	else
		memset(state, 0, sizeof extra->debug);
	return KERN_SUCCESS;
}

/* Registers 4 and 5 are nothing and stay 0. */
static kern_return_t thread_status_debug_set(struct thread *thread, const uint32_t *state)
{
	struct thread_extra *extra;

	if (!debug_registers_are_acceptable(state))
		return KERN_INVALID_ARGUMENT;
	extra = extra_of(thread);
	if (extra == NULL)
		return KERN_RESOURCE_SHORTAGE;
	memcpy(extra->debug, state, sizeof extra->debug);
	extra->debug[4] = extra->debug[5] = 0;
	return KERN_SUCCESS;
}

/* Whether the kernel has a page where a user must not touch is not told. */
static kern_return_t thread_status_trap_get(struct thread *thread, uint32_t *state)
{
	const struct frame *frame = thread_frame(thread);
	bool is_page_fault = frame->vector == VECTOR_PAGE_FAULT;
	uint32_t told = is_page_fault ? TRAP_ERROR_WRITE | TRAP_ERROR_FETCH : UINT32_MAX;

	*(struct i386_trap_state *)state =
		(struct i386_trap_state){.trapno = frame->vector, .err = frame->error & told};
	return KERN_SUCCESS;
}

static kern_return_t thread_status_trap_set(struct thread *thread, const uint32_t *state)
{
	(void)thread;
	(void)state;
	return KERN_INVALID_ARGUMENT;
}

/* ---------------- Flavors ---------------- */

struct flavor {
	uint32_t words;
	kern_return_t (*get)(struct thread *thread, uint32_t *state);
	kern_return_t (*set)(struct thread *thread, const uint32_t *state);
};

static const struct flavor flavors[] = {
	[i386_THREAD_STATE] = {i386_THREAD_STATE_COUNT, thread_status_registers_get,
			       thread_status_flat_registers_set},
	[i386_FLOAT_STATE] = {i386_FLOAT_STATE_COUNT, float_state_get, float_state_set},
	[i386_ISA_PORT_MAP_STATE] = {i386_ISA_PORT_MAP_STATE_COUNT, thread_status_ports_get,
				     thread_status_ports_set},
	[i386_V86_ASSIST_STATE] = {i386_V86_ASSIST_STATE_COUNT, thread_status_v86_get,
				   thread_status_v86_set},
	[i386_REGS_SEGS_STATE] = {i386_REGS_SEGS_STATE_COUNT, thread_status_registers_get,
				  thread_status_registers_set},
	[i386_DEBUG_STATE] = {i386_DEBUG_STATE_COUNT, thread_status_debug_get,
			      thread_status_debug_set},
	[i386_XFLOAT_STATE] = {XFLOAT_WORDS, xfloat_state_get, xfloat_state_set},
	[i386_TRAP_STATE] = {i386_TRAP_STATE_COUNT, thread_status_trap_get, thread_status_trap_set},
};

#define FLAVORS ((int)(sizeof flavors / sizeof flavors[0]))

static const struct flavor *thread_status_flavor_of(int number)
{
	if (number < 0 || number >= FLAVORS || flavors[number].words == 0)
		return NULL;
	return &flavors[number];
}

/* As many as there is room for; whoever knows only of the first four asks with room for four. */
static kern_return_t thread_status_list_flavors(uint32_t *list, uint32_t *count)
{
	uint32_t found = 0;

	if (*count < 4)
		return KERN_INVALID_ARGUMENT;
	for (int number = 0; number < FLAVORS && found < *count; number++)
		if (thread_status_flavor_of(number) != NULL)
			list[found++] = (uint32_t)number;
	*count = found;
	return KERN_SUCCESS;
}

kern_return_t machine_thread_get_state(struct thread *thread, int number, uint32_t *state,
				       uint32_t *count)
{
	const struct flavor *flavor = thread_status_flavor_of(number);

	assert(kernel_locked());
	assert(thread->task != NULL && thread != current_thread());
	assert(thread->state != THREAD_RUNNING);
	if (number == THREAD_STATE_FLAVOR_LIST)
		return thread_status_list_flavors(state, count);
	if (flavor == NULL || *count < flavor->words)
		return KERN_INVALID_ARGUMENT;
	*count = flavor->words;
	return flavor->get(thread, state);
}

kern_return_t machine_thread_set_state(struct thread *thread, int number, const uint32_t *state,
				       uint32_t count)
{
	const struct flavor *flavor = thread_status_flavor_of(number);
	bool is_self = thread == current_thread();
	kern_return_t result;

	assert(kernel_locked());
	assert(thread->task != NULL);
	assert(is_self || thread->state != THREAD_RUNNING);
	if (flavor == NULL || count < flavor->words)
		return KERN_INVALID_ARGUMENT;
	if (is_self)
		machine_thread_store(thread);
	result = flavor->set(thread, state);
	if (is_self)
		machine_thread_reload(thread);
	return result;
}

/* ---------------- Calls ---------------- */

/* Stops a user thread other than the caller; on success thread_unhold() has to follow. */
static kern_return_t thread_status_hold_other(struct thread *thread)
{
	if (thread == NULL || thread == current_thread() || thread->task == NULL)
		return KERN_INVALID_ARGUMENT;
	return thread_hold(thread);
}

kern_return_t thread_get_state(struct thread *thread, int flavor, thread_state_t state,
			       mach_msg_type_number_t *count)
{
	kern_return_t result = thread_status_hold_other(thread);

	if (result != KERN_SUCCESS)
		return result;
	result = machine_thread_get_state(thread, flavor, state, count);
	thread_unhold(thread);
	return result;
}

kern_return_t thread_set_state(struct thread *thread, int flavor, thread_state_t state,
			       mach_msg_type_number_t count)
{
	kern_return_t result = thread_status_hold_other(thread);

	if (result != KERN_SUCCESS)
		return result;
	result = machine_thread_set_state(thread, flavor, state, count);
	thread_unhold(thread);
	return result;
}

#define SELF_STATE_WORDS XFLOAT_WORDS /* The largest. */

/*
 * The call gate writes the trap's result to the frame's eax.  When the registers have been set, the
 * result is what they say; so it is what the caller finds there either way.
 */
TRAP_ABI uint32_t trap_thread_set_self_state(uint32_t flavor, user_address_t address,
					     uint32_t count)
{
	struct thread *thread = current_thread();
	struct frame *frame = thread_frame(thread);
	uint32_t state[SELF_STATE_WORDS];
	kern_return_t result;

	if (count < 1 || count > SELF_STATE_WORDS)
		return KERN_INVALID_ARGUMENT;
	if (!copyin(state, address, count * sizeof state[0]))
		return KERN_INVALID_ADDRESS;
	frame->eax = KERN_SUCCESS;
	result = machine_thread_set_state(thread, (int)flavor, state, count);
	return result == KERN_SUCCESS ? frame->eax : (uint32_t)result;
}
