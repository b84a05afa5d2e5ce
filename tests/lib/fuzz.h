/* SPDX-License-Identifier: MIT */
/*
 * What the fuzzer of the kernel's interface is made of (tests/ipc/fuzz.c): random values that tend
 * to be interesting, random traps and messages out of them, and the search for kernel addresses in
 * what comes back.
 *
 * No value that the fuzzer makes up looks like the address of a kernel object, but for a few that
 * fuzz_is_ours() knows.  So a word that does, in anything that the kernel has written, is a leak.
 */
#ifndef TEST_FUZZ_H
#define TEST_FUZZ_H

#include <assay.h>
#include <mach.h>

/* The names that each task under test is given at first: fuzz.c. */
enum fuzz_name {
	FUZZ_TASK = 0x300, /* Send rights to its own task and thread, */
	FUZZ_THREAD,
	FUZZ_OTHER_TASK, /* those of another task under test, */
	FUZZ_OTHER_THREAD,
	FUZZ_IDLE_TASK, /* and of a task that does nothing. */
	FUZZ_IDLE_THREAD,
	FUZZ_HOST,
	FUZZ_HOST_PRIV, /* If the program was given it. */
	FUZZ_PSET,
	FUZZ_RECEIVE, /* Receive rights with send rights, */
	FUZZ_RECEIVE_TOO,
	FUZZ_SEND,      /* a send right to a port that nobody receives from, */
	FUZZ_SEND_ONCE, /* send-once rights to it, */
	FUZZ_SEND_ONCE_TOO,
	FUZZ_SET,
	FUZZ_DEAD,
	FUZZ_DEVICES, /* The master port, a disk, and the clock, if the program was given them. */
	FUZZ_DISK,
	FUZZ_CLOCK,
	FUZZ_NAMES_END,
	FUZZ_CONTROL = 0x5a3c7e91, /* Whoever watches the task; not thrown at the kernel. */
	FUZZ_CONSOLE,              /* Only read: what is written there tells of the test. */
};

/* Names that calls and messages have brought the task, the last of each kind. */
enum fuzz_known {
	FUZZ_KNOWN_CONTROL, /* A control port of a memory object of the task's own, */
	FUZZ_KNOWN_NAME,    /* and its name port. */
	FUZZ_KNOWN_MEMORY,  /* What can be mapped: a proxy, or a device's memory. */
	FUZZ_KNOWN_DEVICE,
	FUZZ_N_KNOWN,
};

extern mach_port_t fuzz_known[FUZZ_N_KNOWN];

#define FUZZ_THREADS      2u /* In each task under test. */
#define FUZZ_BUFFER_WORDS 640u
#define FUZZ_SCRATCH      (4 * PAGE_SIZE)

/* What one fuzzing thread has for itself. */
struct fuzz {
	uint32_t random; /* State of its generator. */
	uint32_t left;   /* Calls that it still has to make. */
	mach_port_t reply_port;
	uint32_t last;  /* The trap's number or the message's id, for reports. */
	uint32_t found; /* What looks like a kernel address, or 0. */
	uint32_t where; /* In which word, of the buffer or of memory that came back. */
	uint32_t buffer[FUZZ_BUFFER_WORDS];
	uint8_t scratch[FUZZ_SCRATCH] __attribute__((aligned(PAGE_SIZE)));
};

/* ---------------- fuzz_values.c ---------------- */

uint32_t fuzz_random(struct fuzz *fuzz);            /* 31 bits. */
uint32_t fuzz_below(struct fuzz *fuzz, uint32_t n); /* n > 0 */
bool fuzz_one_in(struct fuzz *fuzz, uint32_t n);

uint32_t fuzz_name(struct fuzz *fuzz);
uint32_t fuzz_memory(struct fuzz *fuzz); /* The name of what is likely to be a memory object. */
uint32_t fuzz_address(struct fuzz *fuzz);
uint32_t fuzz_size(struct fuzz *fuzz);
uint32_t fuzz_large_size(struct fuzz *fuzz); /* More than the kernel copies at once, mostly. */
uint32_t fuzz_offset(struct fuzz *fuzz);     /* In a memory object. */
uint32_t fuzz_disposition(struct fuzz *fuzz);
uint32_t fuzz_word(struct fuzz *fuzz); /* Any of these, or any other. */

/* Whether the word looks like the address of something in the kernel, and not of our making. */
bool fuzz_suspects(uint32_t word);

/* Takes out of `n` words what fuzz_search() would find. */
void fuzz_clean(uint32_t *words, uint32_t n);

/*
 * Before fuzz_search(): takes out of `n` words of memory, received with the message in the buffer,
 * what samples may tell of the kernel.
 */
void fuzz_forget_samples_own(const struct fuzz *fuzz, uint32_t *words, uint32_t n);

/*
 * The same, of the message in the buffer, for what a timer has left: that is what its caller chose,
 * less the time since then, and so any number.
 */
void fuzz_forget_timers_own(struct fuzz *fuzz);

/* Looks for a kernel address in memory that the kernel has written; notes the first in `found`. */
void fuzz_search(struct fuzz *fuzz, const void *memory, uint32_t size);

/* ---------------- fuzz_trap.c ---------------- */

/* A trap by its number, negated as %eax has it, with twelve words of arguments. */
uint32_t fuzz_raw_trap(uint32_t eax, const uint32_t *words);

/* Calls a random trap with random arguments. */
void fuzz_trap(struct fuzz *fuzz);

/* ---------------- fuzz_message.c ---------------- */

/*
 * Whether tasks may be made.  They outlive their makers, so only if somebody can find and end them.
 */
extern bool fuzz_makes_tasks;

/* Receives what came to one of the task's own ports, perhaps from a kernel that asks a pager. */
void fuzz_receive(struct fuzz *fuzz);

/* Searches the message in the buffer, the room behind it, and the memory that it brought. */
void fuzz_search_received(struct fuzz *fuzz);

/* Calls mach_msg with random options, header and body. */
void fuzz_random_message(struct fuzz *fuzz);

/* Calls a random routine of the kernel as it wants to be called but, often, for one field. */
void fuzz_broken_call(struct fuzz *fuzz);

/* ---------------- fuzz_calls.c ---------------- */

/* A routine: its message id, what kind of port it is sent to, and a letter for each argument. */
struct fuzz_call {
	uint16_t id;
	char target;
	const char *arguments;
};

extern const struct fuzz_call fuzz_calls[];
extern const uint32_t fuzz_n_calls;

#endif
