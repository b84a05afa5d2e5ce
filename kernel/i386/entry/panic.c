/* SPDX-License-Identifier: MIT */
/*
 * The end of a run: a panic, a time limit, or every program's end.
 *
 * The first CPU to come here wins (`panic_ending`); it stops the others by NMI, which reaches them
 * with interrupts off too, and then owns the log and the report.
 */
#include "i386/entry/panic.h"

#include <stdarg.h>
#include <stddef.h>

#include <assay/report.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/machine.h"
#include "boot/report.h"
#include "i386/cpu/lapic.h"
#include "i386/devices/power.h"
#include "i386/entry/backtrace.h"
#include "task/task.h"
#include "thread/cpu_state.h"
#include "thread/thread.h"

/* How long a CPU is waited for that does not stop: half a second at 1 GHz. */
#define STOP_CYCLES 500000000u

uint32_t panic_ending;

/* ---------------- Stopping the others ---------------- */

noreturn static void panic_halt(void)
{
	for (;;)
		__asm__ volatile("cli; hlt");
}

bool panic_is_here(void)
{
	return panic_ends_the_run() && panic_ending == cpu_self()->number + 1;
}

void panic_stop_if_asked(const struct frame *frame)
{
	if (!panic_ends_the_run())
		return;
	__atomic_store_n(&cpu_self()->machine.stopped_at, frame, __ATOMIC_RELEASE);
	panic_halt();
}

/*
 * Becomes the CPU that ends the run.  Another that comes second stops where it was, at `frame`, or
 * waits for its NMI if it has none; in an NMI no other one comes, so there it must have one.  The
 * same CPU comes again when printing itself fails: then all that is left is to end.
 */
static void panic_begin_ending(const struct frame *frame)
{
	uint32_t self = cpu_self()->number + 1;
	uint32_t first = 0;

	interrupts_off();
	if (__atomic_compare_exchange_n(&panic_ending, &first, self, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return;
	if (first != self) {
		__atomic_store_n(&cpu_self()->machine.stopped_at, frame, __ATOMIC_RELEASE);
		panic_halt();
	}
	log_seize();
	report_end(MACHINE_PANIC, 0);
	machine_end(MACHINE_PANIC);
}

static void panic_stop_others(void)
{
	uint64_t start = machine_cycles();

	for (uint32_t n = 0; n < n_cpus; n++)
		if (&cpus[n] != cpu_self())
			lapic_send_nmi(cpus[n].machine.apic_id);
	for (uint32_t n = 0; n < n_cpus; n++)
		while (&cpus[n] != cpu_self() &&
		       __atomic_load_n(&cpus[n].machine.stopped_at, __ATOMIC_ACQUIRE) == NULL &&
		       machine_cycles() - start < STOP_CYCLES)
			machine_relax();
}

/* ---------------- What is printed ---------------- */

static void panic_print_thread(const struct cpu *cpu)
{
	const struct thread *thread = cpu->thread;

	if (thread == NULL || thread->magic != THREAD_MAGIC)
		klog("  CPU %u, no thread\n", cpu->number);
	else if (thread == cpu->idle_thread)
		klog("  CPU %u, idle\n", cpu->number);
	else if (thread->task == NULL)
		klog("  CPU %u, thread %u of the kernel\n", cpu->number, thread->id);
	else
		klog("  CPU %u, thread %u of task %u \"%s\"\n", cpu->number, thread->id,
		     thread->task->id, thread->task->name);
}

static void panic_print_registers(const struct frame *frame)
{
	uint32_t cr2, cr3;

	__asm__("movl %%cr2, %0; movl %%cr3, %1" : "=r"(cr2), "=r"(cr3));
	klog("  eip %08x  cs %04x  eflags %08x  vector %u  error %08x\n", frame->eip,
	     (uint16_t)frame->cs, frame->eflags, frame->vector, frame->error);
	klog("  eax %08x  ebx %08x  ecx %08x  edx %08x\n", frame->eax, frame->ebx, frame->ecx,
	     frame->edx);
	klog("  esi %08x  edi %08x  ebp %08x  cr2 %08x  cr3 %08x\n", frame->esi, frame->edi,
	     frame->ebp, cr2, cr3);
	klog("  ds %04x  es %04x  fs %04x\n", (uint16_t)frame->ds, (uint16_t)frame->es,
	     (uint16_t)frame->fs);
}

static void panic_print_others(void)
{
	for (uint32_t n = 0; n < n_cpus; n++) {
		const struct frame *frame = cpus[n].machine.stopped_at;

		if (&cpus[n] == cpu_self())
			continue;
		panic_print_thread(&cpus[n]);
		if (frame == NULL)
			klog("    did not stop\n");
		else
			backtrace_print(frame->eip, frame->ebp);
	}
}

noreturn static void panic_finish(enum machine_outcome outcome, uint32_t status)
{
	report_end(outcome, status);
	machine_end(outcome);
}

/* The common story of everything that ends a run badly: at `frame`, or without one at `pc`. */
noreturn static void panic_die(enum machine_outcome outcome, const struct frame *frame, uint32_t pc,
			       uint32_t ebp)
{
	panic_print_thread(cpu_self());
	if (frame != NULL) {
		panic_print_registers(frame);
		backtrace_print_frame(frame);
	} else {
		backtrace_print(pc, ebp);
	}
	panic_print_others();
	panic_finish(outcome, 0);
}

/* ---------------- The ways to end ---------------- */

void panic_at(const struct frame *frame, const char *format, ...)
{
	va_list args;

	panic_begin_ending(frame);
	panic_stop_others();
	log_seize();
	va_start(args, format);
	klog_va("panic: ", format, args);
	va_end(args);
	panic_die(MACHINE_PANIC, frame, 0, 0);
}

void panic(const char *format, ...)
{
	uint32_t *own_frame = __builtin_frame_address(0);
	va_list args;

	panic_begin_ending(NULL);
	panic_stop_others();
	log_seize();
	va_start(args, format);
	klog_va("panic: ", format, args);
	va_end(args);
	panic_die(MACHINE_PANIC, NULL, own_frame[1], own_frame[0]);
}

void assert_failed(const char *expression, const char *file, int line)
{
	panic("%s:%d: assertion failed: %s", file, line, expression);
}

void panic_timeout_at(const struct frame *frame, const char *why)
{
	panic_begin_ending(frame);
	panic_stop_others();
	log_seize();
	klog("timeout: %s\n", why);
	panic_die(MACHINE_TIMEOUT, frame, 0, 0);
}

void machine_time_is_over(const char *why)
{
	uint32_t *own_frame = __builtin_frame_address(0);

	panic_begin_ending(NULL);
	panic_stop_others();
	log_seize();
	klog("timeout: %s\n", why);
	panic_die(MACHINE_TIMEOUT, NULL, own_frame[1], own_frame[0]);
}

void machine_refuse(const char *why, ...)
{
	va_list args;

	panic_begin_ending(NULL);
	panic_stop_others();
	log_seize();
	va_start(args, why);
	klog_va("Assay cannot run here: ", why, args);
	va_end(args);
	panic_finish(MACHINE_REFUSED, 0);
}

void machine_exit(uint32_t status)
{
	panic_begin_ending(NULL);
	panic_stop_others();
	panic_finish(MACHINE_EXIT, status);
}

void machine_reboot(void)
{
	panic_begin_ending(NULL);
	panic_stop_others();
	report_end(MACHINE_EXIT, 0);
	machine_reset();
}
