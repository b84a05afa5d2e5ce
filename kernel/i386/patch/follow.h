/* SPDX-License-Identifier: MIT */
/*
 * Counting calls by label: each CPU is shown the counters of whoever it works for.
 *
 * Whose that is changes where a CPU takes another thread, where the running thread's label is set
 * (label_site.h), and where interrupts and what they leave behind begin and end: that is for whom
 * the device says (device_interrupt_label()), and else the system's, up to request_done().  All
 * these places are as they always are while nobody counts so.
 */
#ifndef I386_PATCH_FOLLOW_H
#define I386_PATCH_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/machine.h"
#include "i386/cpu/frame.h"
#include "i386/patch/label_site.h"
#include "thread/cpu_state.h"
#include "thread/thread.h"

/* What `cpu->machine.apart` is while labels are followed: the slow way at every switch. */
#define FOLLOWS_ALL ((const struct thread *)1)

extern bool follow_is_on;

static inline const struct thread *follow_apart(const struct thread *apart)
{
	return follow_is_on ? FOLLOWS_ALL : apart;
}

/* The same on this CPU, where it costs nothing as long as nobody follows. */
static inline void follow_set_apart(struct cpu *cpu, const struct thread *apart)
{
	LABEL_SITE_STORE(cpu, offsetof(struct cpu, machine.apart), apart, follow_switch);
}

/* Called by stand_in.S, in place of what there is else. */
void follow_label(void);
void follow_other_thread(void);
uint32_t follow_begin_interrupt(uint32_t vector); /* For whom it counted until now. */
uint32_t follow_begin_work(void);
void follow_end_event(uint32_t before);
void follow_end_interrupt(const struct frame *frame, uint32_t before);

/* All CPUs are shown `others`, whoever they work for, */
void follow_nobody(struct machine_call_counters *others);

/* From follow_begin() to follow_end(), with the text open, they are shown what is added here. */
void follow_add(uint32_t label, struct machine_call_counters *counters);
void follow_begin(void);
void follow_refresh(void); /* At once, also if a CPU's label does not change. */
void follow_end(void);

/*
 * The function that stands in for `function` while labels are followed, or `function`; and the one
 * that it stands in for.  All of them lie between these addresses.
 */
uint32_t follow_stand_in(uint32_t function);
uint32_t follow_original(uint32_t function);
extern const char stand_ins[], stand_ins_end[];

#endif
