/* SPDX-License-Identifier: MIT */
/*
 * links: servers/ux/paging/paging_answers.c
 * flags: -D_POSIX_C_SOURCE=200809L -isystem include -DUX_SERVER -Itests/lib/host/ux -Iservers/ux
 */
/*
 * What the Unix server tells the kernel of its memory objects, message by message: the words in
 * them, and what it does when the kernel has no memory for one, or answers nothing.
 */
#include <mach/messages.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "paging/paging.h"

#define CONTROL 21u
#define REPLY   22u
#define MOVED   23u /* The right in an answer of the kernel's. */
#define OFFSET  0x5000u
#define SIZE    0x2000u
#define MOST    4

/* A word of a message, with what it is. */
struct word {
	mach_msg_type_t type;
	natural_t value;
};

struct message {
	mach_msg_header_t head;
	struct word words[7];
};

static struct message sent[MOST];
static unsigned n_sent;

static struct {
	mach_msg_return_t sent;     /* Of the first message; the others go. */
	mach_msg_return_t received; /* Of the answer, */
	mach_msg_bits_t bits;       /* which has these. */
} kernel;

static unsigned kept, thrown_away, released;

/* ---------------- The kernel's side ---------------- */

bool ux_lock_held(void)
{
	return true;
}

void ux_panic(const char *file, int line, const char *condition)
{
	check_true(file, line, condition, false);
	exit(1);
}

mach_port_t mach_task_self_cached(void)
{
	return 1;
}

mach_port_t mig_get_reply_port(void)
{
	return REPLY;
}

void mig_put_reply_port(mach_port_t port)
{
	kept += port == REPLY;
}

void mig_dealloc_reply_port(mach_port_t port)
{
	thrown_away += port == REPLY;
}

kern_return_t mach_port_deallocate(mach_port_t task, mach_port_name_t name)
{
	(void)task;
	released += name == MOVED;
	return KERN_SUCCESS;
}

static mach_msg_return_t receive(struct message *answer)
{
	answer->head.msgh_bits = kernel.bits;
	answer->words[0].value = MOVED;
	return kernel.received;
}

mach_msg_return_t mach_msg(mach_msg_header_t *head, mach_msg_option_t option,
			   mach_msg_size_t send_size, mach_msg_size_t receive_size,
			   mach_port_t receive_name, mach_msg_timeout_t timeout, mach_port_t notify)
{
	(void)notify;
	EXPECT_EQ(timeout, 0);
	if (option == (MACH_RCV_MSG | MACH_RCV_TIMEOUT)) {
		EXPECT_EQ(receive_name, REPLY);
		EXPECT_LT(sizeof(mach_msg_header_t) + 3 * sizeof(struct word), receive_size);
		return receive((struct message *)head);
	}
	EXPECT_EQ(option, MACH_SEND_MSG | MACH_SEND_TIMEOUT);
	EXPECT(n_sent < MOST);
	memcpy(&sent[n_sent++], head, send_size < sizeof *sent ? (size_t)send_size : sizeof *sent);
	return n_sent == 1 ? kernel.sent : MACH_MSG_SUCCESS;
}

/* Forgets what was, and has the kernel take and answer all. */
static void begin(void)
{
	n_sent = kept = thrown_away = released = 0;
	memset(sent, 0, sizeof sent);
	memset(&kernel, 0, sizeof kernel);
}

/* ---------------- Messages ---------------- */

static void expect_head(unsigned n, mach_msg_id_t id, bool is_complex)
{
	const mach_msg_header_t *head = &sent[n].head;

	EXPECT_EQ(head->msgh_id, id);
	EXPECT_EQ(head->msgh_remote_port, CONTROL);
	EXPECT_EQ(head->msgh_local_port, MACH_PORT_NULL);
	EXPECT_EQ(head->msgh_bits, MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0) |
					   (is_complex ? MACH_MSGH_BITS_COMPLEX : 0));
}

/* A word of a message is of so many bits, and in it. */
static void expect_word(unsigned n, unsigned place, mach_msg_type_name_t name, natural_t value)
{
	const struct word *word = &sent[n].words[place];

	EXPECT_EQ(word->type.msgt_name, name);
	EXPECT_EQ(word->type.msgt_size, 32);
	EXPECT_EQ(word->type.msgt_number, 1);
	EXPECT_EQ(word->type.msgt_inline, 1);
	EXPECT_EQ(word->type.msgt_longform + word->type.msgt_deallocate, 0);
	EXPECT_EQ(word->value, value);
}

static void expect_error(unsigned n)
{
	expect_head(n, ID_MEMORY_OBJECT_DATA_ERROR, false);
	expect_word(n, 0, MACH_MSG_TYPE_INTEGER_32, OFFSET);
	expect_word(n, 1, MACH_MSG_TYPE_INTEGER_32, SIZE);
	expect_word(n, 2, MACH_MSG_TYPE_INTEGER_32, KERN_MEMORY_ERROR);
}

TEST(an_object_is_ready)
{
	begin();
	answer_ready(CONTROL, true);
	expect_head(0, ID_MEMORY_OBJECT_READY, false);
	expect_word(0, 0, MACH_MSG_TYPE_BOOLEAN, 1);
	expect_word(0, 1, MACH_MSG_TYPE_INTEGER_32, MEMORY_OBJECT_COPY_DELAY);
}

TEST(its_attributes_change)
{
	begin();
	answer_attributes(CONTROL, false);
	expect_head(0, ID_MEMORY_OBJECT_CHANGE_ATTRIBUTES, true);
	expect_word(0, 0, MACH_MSG_TYPE_BOOLEAN, 0);
	expect_word(0, 1, MACH_MSG_TYPE_INTEGER_32, MEMORY_OBJECT_COPY_DELAY);
	expect_word(0, 2, MACH_MSG_TYPE_MAKE_SEND_ONCE, MACH_PORT_NULL);
}

TEST(a_page_is_unlocked)
{
	begin();
	answer_unlock(CONTROL, OFFSET, SIZE);
	expect_head(0, ID_MEMORY_OBJECT_LOCK_REQUEST, true);
	expect_word(0, 0, MACH_MSG_TYPE_INTEGER_32, OFFSET);
	expect_word(0, 1, MACH_MSG_TYPE_INTEGER_32, SIZE);
	expect_word(0, 2, MACH_MSG_TYPE_INTEGER_32, MEMORY_OBJECT_RETURN_NONE);
	expect_word(0, 3, MACH_MSG_TYPE_BOOLEAN, 0);
	expect_word(0, 4, MACH_MSG_TYPE_INTEGER_32, VM_PROT_NONE);
	expect_word(0, 5, MACH_MSG_TYPE_MAKE_SEND_ONCE, MACH_PORT_NULL);
}

TEST(a_page_that_cannot_be_had)
{
	begin();
	answer_error(CONTROL, OFFSET, SIZE);
	EXPECT_EQ(n_sent, 1);
	expect_error(0);
}

/* Whoever waits for the page would wait for ever if nothing were said. */
TEST(a_page_that_there_is_no_memory_for_is_an_error)
{
	static const char data[SIZE];
	mach_msg_type_long_t type;

	begin();
	answer_supply(CONTROL, OFFSET, data, SIZE);
	EXPECT_EQ(n_sent, 1);
	expect_head(0, ID_MEMORY_OBJECT_DATA_SUPPLY, true);
	expect_word(0, 0, MACH_MSG_TYPE_INTEGER_32, OFFSET);
	memcpy(&type, &sent[0].words[1], sizeof type);
	EXPECT_EQ(type.msgtl_header.msgt_longform, 1);
	EXPECT_EQ(type.msgtl_header.msgt_inline + type.msgtl_header.msgt_deallocate, 0);
	EXPECT_EQ(type.msgtl_name, MACH_MSG_TYPE_BYTE);
	EXPECT_EQ(type.msgtl_size, 8);
	EXPECT_EQ(type.msgtl_number, SIZE);
	begin();
	kernel.sent = MACH_SEND_NO_BUFFER;
	answer_supply(CONTROL, OFFSET, data, SIZE);
	EXPECT_EQ(n_sent, 2);
	expect_error(1);
}

/* The port is the object's that has ended: nobody waits. */
TEST(a_page_that_nobody_wants_any_more)
{
	static const mach_msg_return_t results[] = {MACH_SEND_INVALID_DEST, MACH_SEND_TIMED_OUT};
	static const char data[SIZE];

	for (unsigned i = 0; i < sizeof results / sizeof *results; i++) {
		begin();
		kernel.sent = results[i];
		answer_supply(CONTROL, OFFSET, data, SIZE);
		EXPECT_EQ(n_sent, 1);
	}
}

/* ---------------- Flushing ---------------- */

static void flush(mach_msg_return_t send, mach_msg_return_t receive_result, mach_msg_bits_t bits)
{
	begin();
	kernel.sent = send;
	kernel.received = receive_result;
	kernel.bits = bits;
	answer_flush(CONTROL, OFFSET, SIZE);
	expect_head(0, ID_MEMORY_OBJECT_LOCK_REQUEST, true);
	expect_word(0, 3, MACH_MSG_TYPE_BOOLEAN, 1);
	expect_word(0, 5, MACH_MSG_TYPE_MAKE_SEND_ONCE, REPLY);
	EXPECT_EQ(kept + thrown_away, 1);
}

TEST(what_is_flushed_is_answered)
{
	flush(MACH_MSG_SUCCESS, MACH_MSG_SUCCESS, 0);
	EXPECT_EQ(kept, 1);
	EXPECT_EQ(released, 0);
	flush(MACH_MSG_SUCCESS, MACH_MSG_SUCCESS, MACH_MSGH_BITS_COMPLEX);
	EXPECT_EQ(kept, 1);
	EXPECT_EQ(released, 1);
}

/* An answer that may yet come must not be taken for the next one's. */
TEST(a_port_that_may_yet_be_answered_is_not_used_again)
{
	flush(MACH_MSG_SUCCESS, MACH_RCV_TIMED_OUT, 0);
	EXPECT_EQ(thrown_away, 1);
	flush(MACH_SEND_INVALID_DEST, MACH_MSG_SUCCESS, 0);
	EXPECT_EQ(thrown_away, 1);
}
