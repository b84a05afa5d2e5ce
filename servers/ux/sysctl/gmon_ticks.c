/* SPDX-License-Identifier: MIT */
/*
 * Ticks of the sampling clock that found a CPU in the kernel: see gmon.h.
 *
 * A thread receives the host's samples, by NMI so that code with interrupts off is seen where it
 * is.  Each is counted twice: in kcount, as 4.4BSD has it, where a counter stops at its largest;
 * and exactly, by program counter and CPU.  What finds a CPU idle is no sample: the clock counts
 * it, and it becomes the idle function's.  What finds no memory is counted, and ends the profile;
 * of the table a place for each CPU is kept for idle time.  The server's lock guards all of it.
 */
#include <mach/message.h>
#include <mach/messages.h>
#include <mach/prof.h>

#include "core/body.h"
#include "core/heap.h"
#include "sysctl/gmon.h"

#define PLACES      4096 /* Of ticks at the beginning: a power of two. */
#define COUNTER_MAX UINT16_MAX

#define RETRY_NS (NANOS_PER_SECOND / 100)

/* A message of the stream's; what it carries lies elsewhere. */
union gmon_message {
	mach_msg_header_t head;
	char room[512];
};

static struct {
	uint32_t used;    /* First: tests of shortage find it. */
	mach_port_t port; /* MACH_PORT_NULL until it was begun once. */
	bool runs;        /* The stream has begun, and its end has not come. */
	uint32_t streams; /* That have begun: the number of this one. */
	uint64_t delivered;
	uint32_t messages; /* That have come. */
	bool has_said;     /* That there are too many CPUs. */
	uint32_t idle_pc;
	struct gmon_tick *places; /* Hashed, open, never full. */
	uint32_t size;
} gmon_ticks;

void gmon_ticks_prepare(uint32_t idle)
{
	gmon_ticks.idle_pc = idle;
}

/* ---------------- The exact table ---------------- */

/* Where these are counted, or may be; the table has a place that is free. */
static struct gmon_tick *gmon_ticks_place(uint32_t pc, uint32_t cpu)
{
	uint32_t n = pc * 2654435761u + cpu * 2246822519u;

	for (n >>= 8;; n++) {
		struct gmon_tick *place = &gmon_ticks.places[n & (gmon_ticks.size - 1)];

		if (place->count == 0 || (place->pc == pc && place->cpu == cpu))
			return place;
	}
}

/* False if there is no memory. */
static bool gmon_ticks_grow(void)
{
	const uint32_t old_size = gmon_ticks.size, size = old_size == 0 ? PLACES : 2 * old_size;
	struct gmon_tick *old = gmon_ticks.places;
	struct gmon_tick *places = ux_allocate_pages(size * sizeof *places);

	if (places == NULL)
		return false;
	gmon_ticks.places = places;
	gmon_ticks.size = size;
	for (uint32_t n = 0; n < old_size; n++)
		if (old[n].count != 0)
			*gmon_ticks_place(old[n].pc, old[n].cpu) = old[n];
	if (old != NULL)
		ux_free_pages(old, ux_whole_pages(old_size * sizeof *old));
	return true;
}

/* Whether there is a place for one more; the last ones are for idle time only. */
static bool gmon_ticks_has_room(uint32_t cpu)
{
	const uint32_t kept = (cpu & GMON_TICK_IDLE) != 0 ? 0 : GMON_CPUS;

	return gmon_ticks.used < gmon_ticks.size / 4 * 3 || gmon_ticks_grow() ||
	       gmon_ticks.used + 1 + kept < gmon_ticks.size;
}

static void gmon_ticks_count(uint32_t pc, uint32_t cpu, uint32_t more)
{
	struct gmon_tick *place = gmon_ticks_place(pc, cpu);

	if (place->count == 0) {
		if (!gmon_ticks_has_room(cpu)) {
			gmon_account_add_uncounted(cpu, more);
			gmon_fail();
			return;
		}
		gmon_ticks.used++;
		place = gmon_ticks_place(pc, cpu);
	}
	*place = (struct gmon_tick){pc, cpu, place->count + more};
}

static void gmon_ticks_add(uint32_t pc, uint32_t cpu, uint32_t more)
{
	const struct gmonparam *p = &_gmonparam;
	uint32_t bin = (pc - p->lowpc) / (HISTFRACTION * sizeof *p->kcount);

	if (more == 0)
		return;
	gmon_ticks_count(pc, cpu, more);
	if (pc >= p->lowpc && pc < p->highpc)
		p->kcount[bin] = more < (uint32_t)(COUNTER_MAX - p->kcount[bin])
					 ? (uint16_t)(p->kcount[bin] + more)
					 : COUNTER_MAX;
}

void gmon_ticks_give(struct sysctl_value *value)
{
	*value = (struct sysctl_value){gmon_ticks.places,
				       gmon_ticks.size * sizeof *gmon_ticks.places};
}

void gmon_ticks_reset(void)
{
	memset(_gmonparam.kcount, 0, _gmonparam.kcountsize);
	memset(gmon_ticks.places, 0, gmon_ticks.size * sizeof *gmon_ticks.places);
	gmon_ticks.used = 0;
	gmon_account_reset();
}

/* ---------------- Records ---------------- */

/* No kernel of ours has so many: its idle time would be missing. */
static void gmon_take_clock(const struct prof_clock *clock)
{
	if (clock->cpu < GMON_CPUS)
		gmon_ticks_add(gmon_ticks.idle_pc, clock->cpu | GMON_TICK_IDLE,
			       gmon_account_add_clock(clock));
	else if (!gmon_ticks.has_said)
		ux_log("kernel profile: no room for the clock of CPU %u, nor of those behind it",
		       clock->cpu);
	gmon_ticks.has_said |= clock->cpu >= GMON_CPUS;
}

static void gmon_take_stream(const struct prof_stream *stream)
{
	gmon_ticks.delivered = prof_u64(stream->delivered);
	gmon_account_add_stream(stream);
}

static void gmon_take(const struct prof_record *record)
{
	const struct prof_sample *sample = (const void *)record;

	switch (record->type) {
	case PROF_SAMPLE:
		gmon_account_add_sample(sample->cpu, sample->kernel_pc == 0);
		if (sample->kernel_pc != 0)
			gmon_ticks_add(sample->kernel_pc, sample->cpu, 1);
		break;
	case PROF_CLOCK:
		gmon_take_clock((const void *)record);
		break;
	case PROF_STREAM:
		gmon_take_stream((const void *)record);
		break;
	case PROF_END:
		gmon_ticks.runs = false;
		break;
	}
}

static void gmon_take_all(const uint32_t *words, size_t count)
{
	while (count > 0) {
		const struct prof_record *record = (const void *)words;

		if (record->words == 0 || record->words > count)
			break;
		gmon_take(record);
		words += record->words;
		count -= record->words;
	}
	gmon_ticks.messages++;
	ux_wakeup(&gmon_ticks);
}

/* ---------------- The thread ---------------- */

/* The words that a message of the kernel's carries. */
static const uint32_t *gmon_words(const union gmon_message *message, size_t *count)
{
	const struct {
		mach_msg_header_t head;
		union {
			struct {
				mach_msg_type_t type;
				const uint32_t *words;
			} usual;
			struct {
				mach_msg_type_long_t type;
				const uint32_t *words;
			} longer;
		};
	} *samples = (const void *)message;

	if (message->head.msgh_id != ID_SAMPLES)
		return NULL;
	*count = samples->usual.type.msgt_longform ? samples->longer.type.msgtl_number
						   : samples->usual.type.msgt_number;
	return samples->usual.type.msgt_longform ? samples->longer.words : samples->usual.words;
}

/*
 * Has them there, however long that takes: nobody else has these samples, and with the last ones
 * comes the stream's end, for which somebody waits.
 */
static void gmon_wire(const uint32_t *words, size_t count)
{
	while (heap_test_fails() || !ux_wire((vm_address_t)words, count * sizeof *words)) {
		ux_lock();
		ux_sleep_until(words, ux_now() + RETRY_NS);
		ux_unlock();
	}
}

static void gmon_collect(void *unused)
{
	static union gmon_message message;

	(void)unused;
	for (;;) {
		const uint32_t *words;
		size_t count = 0;

		if (mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message, gmon_ticks.port,
			     MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL) != MACH_MSG_SUCCESS)
			continue;
		words = gmon_words(&message, &count);
		if (words != NULL && count != 0) {
			gmon_wire(words, count);
			ux_lock();
			gmon_take_all(words, count);
			ux_unlock();
		}
		body_release(&message.head);
	}
}

static bool gmon_start_thread(void)
{
	if (gmon_ticks.port == MACH_PORT_NULL) {
		mach_port_t port = mach_reply_port();

		if (port == MACH_PORT_NULL)
			return false;
		gmon_ticks.port = port;
		if (!ux_start_thread(gmon_collect, NULL)) {
			mach_port_mod_refs(mach_task_self_cached(), port, MACH_PORT_RIGHT_RECEIVE,
					   -1);
			gmon_ticks.port = MACH_PORT_NULL;
		}
	}
	return gmon_ticks.port != MACH_PORT_NULL;
}

/* ---------------- The stream ---------------- */

static void gmon_ticks_await_end(void)
{
	while (gmon_ticks.runs)
		ux_sleep(&gmon_ticks, NULL);
}

int gmon_ticks_begin(void)
{
	const sample_options_t options = {.flags = SAMPLE_NMI};
	kern_return_t result;

	if ((gmon_ticks.size == 0 && !gmon_ticks_grow()) || !gmon_start_thread())
		return ENOMEM;
	gmon_ticks_await_end();
	gmon_ticks.streams++;
	gmon_ticks.delivered = 0;
	gmon_account_begin();
	result = host_sample_start(ux_boot.host_control, 0, SAMPLED_PC_PERIODIC,
				   SAMPLE_RATE_DEFAULT, options, gmon_ticks.port);
	gmon_ticks.runs = result == KERN_SUCCESS;
	return gmon_ticks.runs ? 0 : EAGAIN;
}

void gmon_ticks_stop(void)
{
	ux_patiently(host_sample_stop(ux_boot.host_control, gmon_ticks.port));
}

void gmon_ticks_end(void)
{
	gmon_ticks_stop();
	gmon_ticks_await_end();
}

/* Whoever sleeps may wake up when another stream has begun, which knows nothing of this number. */
void gmon_ticks_bring(void)
{
	const uint32_t messages = gmon_ticks.messages, stream = gmon_ticks.streams;
	uint64_t delivered = 0;

	if (!gmon_ticks.runs ||
	    host_sample_flush(ux_boot.host_control, gmon_ticks.port, &delivered) != KERN_SUCCESS)
		return;
	while (gmon_ticks.runs && gmon_ticks.streams == stream &&
	       (gmon_ticks.messages == messages || gmon_ticks.delivered < delivered))
		ux_sleep(&gmon_ticks, NULL);
}
