/* SPDX-License-Identifier: MIT */
/* Random messages, and calls of the kernel that are right but for one field: see fuzz.h. */
#include "fuzz.h"

#define HEADER_WORDS (sizeof(mach_msg_header_t) / sizeof(uint32_t))
#define XFLOAT_WORDS 148u                                         /* Of i386_get_xstate_size(). */
#define REPLY_ROOM   (FUZZ_BUFFER_WORDS * sizeof(uint32_t) - 256) /* The rest is not. */
#define UNTOUCHED    0x55aa55aau

enum header_word {
	WORD_BITS,
	WORD_SIZE,
	WORD_REMOTE,
	WORD_LOCAL,
	WORD_SEQNO,
	WORD_ID,
};

#define MAKE_TASK 2007 /* The ids of task_create() and thread_get_state(). */
#define GET_STATE 2017

/* Of a pager's first message, and of answers that bring a port in their fourth word: the ids. */
#define PAGER_INIT     2200
#define DEVICE_OPENED  2900
#define DEVICE_MAPPED  2909
#define PROXY_MADE     4110
#define PROXY_MADE_TOO 4111

#define IS_INLINE   (1u << 28)
#define IS_LONGFORM (1u << 29)
#define IS_MOVED    (1u << 30)

/* A message that is being built. */
struct draft {
	struct fuzz *fuzz;
	uint32_t *words;
	uint32_t n;
	bool is_complex;
};

static void put(struct draft *draft, uint32_t word)
{
	if (draft->n < FUZZ_BUFFER_WORDS)
		draft->words[draft->n++] = word;
}

static uint32_t type_word(uint32_t name, uint32_t bits, uint32_t number, uint32_t flags)
{
	return (name & 0xff) | (bits & 0xff) << 8 | (number & 0xfff) << 16 | flags;
}

static void put_typed(struct draft *draft, uint32_t name, uint32_t word)
{
	put(draft, type_word(name, 32, 1, IS_INLINE));
	put(draft, word);
}

/* Small numbers are flavors, options and rights; most others only have to be refused. */
static uint32_t integer(struct fuzz *fuzz)
{
	return fuzz_one_in(fuzz, 6) ? fuzz_word(fuzz) : fuzz_below(fuzz, 8);
}

static void put_integers(struct draft *draft, uint32_t n)
{
	put(draft, type_word(MACH_MSG_TYPE_INTEGER_32, 32, n, IS_INLINE));
	for (uint32_t i = 0; i < n; i++)
		put(draft, integer(draft->fuzz));
}

/* As many as some flavor has, and that flavor before them. */
static void put_state(struct draft *draft)
{
	static const struct {
		uint32_t flavor, words;
	} states[] = {
		{i386_THREAD_STATE, i386_THREAD_STATE_COUNT},
		{i386_REGS_SEGS_STATE, i386_REGS_SEGS_STATE_COUNT},
		{i386_FLOAT_STATE, i386_FLOAT_STATE_COUNT},
		{i386_XFLOAT_STATE, XFLOAT_WORDS},
		{i386_DEBUG_STATE, i386_DEBUG_STATE_COUNT},
		{i386_V86_ASSIST_STATE, i386_V86_ASSIST_STATE_COUNT},
	};
	uint32_t i = fuzz_below(draft->fuzz, sizeof states / sizeof states[0]);

	draft->words[draft->n - 1] = states[i].flavor;
	put_integers(draft, states[i].words);
}

static void put_string(struct draft *draft)
{
	uint32_t words = 1 + fuzz_below(draft->fuzz, 16);

	put(draft, type_word(MACH_MSG_TYPE_STRING_C, 8, 4 * words, IS_INLINE));
	for (uint32_t i = 1; i < words; i++)
		put(draft, 0x41414141);
	put(draft, fuzz_one_in(draft->fuzz, 4) ? 0x42424242 : 0x00424242);
}

/* The name of a device, as long as all such names are. */
static void put_device(struct draft *draft)
{
	static const char *const names[] = {"rd0", "rd1", "vd0", "time", "rd", ""};
	uint32_t words[32] = {0};
	const char *name = names[fuzz_below(draft->fuzz, sizeof names / sizeof names[0])];

	memcpy(words, name, strlen(name));
	put(draft, IS_INLINE | IS_LONGFORM);
	put(draft, MACH_MSG_TYPE_STRING_C | 8 * sizeof words << 16);
	put(draft, 1);
	for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
		put(draft, words[i]);
}

/* Memory out of line, in the form that the kernel's stubs want, mostly. */
static void put_memory(struct draft *draft, uint32_t type, uint32_t number, uint32_t address)
{
	uint32_t name = type & 0xffff, bits = type >> 16;
	uint32_t flags = fuzz_one_in(draft->fuzz, 4) ? IS_MOVED : 0;

	draft->is_complex = true;
	if (fuzz_one_in(draft->fuzz, 8)) {
		put(draft, type_word(name, bits, number, flags));
	} else {
		put(draft, IS_LONGFORM | flags);
		put(draft, type);
		put(draft, number);
	}
	put(draft, address);
}

/* Of the scratch area, in bytes or integers. */
static void put_far(struct draft *draft, uint32_t name, uint32_t bits)
{
	uint32_t address =
		(uint32_t)draft->fuzz->scratch + 4 * fuzz_below(draft->fuzz, PAGE_SIZE / 2);

	put_memory(draft, name | bits << 16, fuzz_below(draft->fuzz, 64), address);
}

/* Whole pages, or nearly: of what the calls have allocated, or of the scratch area. */
static void put_pages(struct draft *draft)
{
	struct fuzz *fuzz = draft->fuzz;
	uint32_t address = (uint32_t)fuzz->scratch;
	uint32_t size = (1 + fuzz_below(fuzz, 3)) * PAGE_SIZE;

	if (fuzz_one_in(fuzz, 2)) {
		address = fuzz_address(fuzz);
		size = fuzz_large_size(fuzz);
	}
	put_memory(draft, MACH_MSG_TYPE_BYTE | 8u << 16, size, address);
}

static void put_port(struct draft *draft, uint32_t disposition)
{
	draft->is_complex = true;
	put_typed(draft, disposition, fuzz_name(draft->fuzz));
}

/* Names that lie in the scratch area, or in the message. */
static void put_ports(struct draft *draft, bool is_far)
{
	uint32_t n = fuzz_below(draft->fuzz, 5);
	uint32_t *names = (uint32_t *)draft->fuzz->scratch + fuzz_below(draft->fuzz, PAGE_SIZE / 4);

	draft->is_complex = true;
	put(draft, type_word(MACH_MSG_TYPE_COPY_SEND, 32, n, is_far ? 0 : IS_INLINE));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t name = fuzz_one_in(draft->fuzz, 3) ? fuzz_name(draft->fuzz) : FUZZ_SEND;

		if (is_far)
			names[i] = name;
		else
			put(draft, name);
	}
	if (is_far)
		put(draft, (uint32_t)names);
}

/* What can be mapped: of its own object the task has the receive right too. */
static void put_mappable(struct draft *draft, uint32_t name)
{
	bool make = name == FUZZ_RECEIVE && fuzz_one_in(draft->fuzz, 4);

	draft->is_complex = true;
	put_typed(draft, make ? MACH_MSG_TYPE_MAKE_SEND : MACH_MSG_TYPE_COPY_SEND, name);
}

/* Where samples go. */
static void put_reply_port(struct draft *draft)
{
	draft->is_complex = true;
	put_typed(draft, MACH_MSG_TYPE_MAKE_SEND,
		  fuzz_one_in(draft->fuzz, 4)   ? MACH_PORT_NULL
		  : fuzz_one_in(draft->fuzz, 8) ? fuzz_name(draft->fuzz)
						: FUZZ_RECEIVE);
}

static void put_flavors(struct draft *draft)
{
	put_typed(draft, MACH_MSG_TYPE_INTEGER_32,
		  fuzz_one_in(draft->fuzz, 8)
			  ? integer(draft->fuzz)
			  : fuzz_word(draft->fuzz) & (SAMPLED_PC_ALL | SAMPLED_PC_WAIT));
}

/* Options of a stream: none, mostly. */
static void put_options(struct draft *draft)
{
	put(draft, type_word(MACH_MSG_TYPE_INTEGER_32, 32, 4, IS_INLINE));
	for (uint32_t i = 0; i < 4; i++)
		put(draft, fuzz_one_in(draft->fuzz, 4) ? integer(draft->fuzz) : 0);
}

/* A right in any of the ways that a task can give it. */
static void put_any_right(struct draft *draft)
{
	put_port(draft, fuzz_disposition(draft->fuzz));
}

static void put_scalar(struct draft *draft, char letter)
{
	struct fuzz *fuzz = draft->fuzz;

	switch (letter) {
	case 'b':
		put_typed(draft, MACH_MSG_TYPE_BOOLEAN, fuzz_below(fuzz, 2));
		break;
	case 'i':
		put_typed(draft, MACH_MSG_TYPE_INTEGER_32, integer(fuzz));
		break;
	case 'n':
		put_typed(draft, MACH_MSG_TYPE_PORT_NAME, fuzz_name(fuzz));
		break;
	case 'a':
		put_typed(draft, MACH_MSG_TYPE_INTEGER_32, fuzz_address(fuzz));
		break;
	case 's':
		put_typed(draft, MACH_MSG_TYPE_INTEGER_32, fuzz_size(fuzz));
		break;
	case 'S':
		put_typed(draft, MACH_MSG_TYPE_INTEGER_32, fuzz_large_size(fuzz));
		break;
	case 'f':
		put_typed(draft, MACH_MSG_TYPE_INTEGER_32, fuzz_offset(fuzz));
		break;
	case 'I':
		put_typed(draft, MACH_MSG_TYPE_INTEGER_32,
			  fuzz_one_in(fuzz, 8) ? integer(fuzz) : fuzz_below(fuzz, 3));
		break;
	case 'P':
		put_typed(draft, MACH_MSG_TYPE_INTEGER_32,
			  fuzz_one_in(fuzz, 4) ? integer(fuzz) : VM_PROT_ALL);
		break;
	case 'z':
		put_typed(draft, MACH_MSG_TYPE_INTEGER_32,
			  fuzz_one_in(fuzz, 8) ? fuzz_address(fuzz) : 0);
		break;
	case 'h':
		put(draft, type_word(MACH_MSG_TYPE_INTEGER_16, 16, 1, IS_INLINE));
		put(draft, fuzz_word(fuzz) & 0xffff);
		break;
	case 'l':
		put(draft, type_word(MACH_MSG_TYPE_INTEGER_64, 64, 1, IS_INLINE));
		put(draft, fuzz_word(fuzz));
		put(draft, integer(fuzz));
		break;
	}
}

/* Names, and what is out of line. */
static void put_data(struct draft *draft, char letter)
{
	switch (letter) {
	case 'A':
	case 'q':
		put_ports(draft, letter == 'q');
		break;
	case 'w':
		put_string(draft);
		break;
	case 'W':
		put_device(draft);
		break;
	case 'e':
		put_flavors(draft);
		break;
	case 'g':
		put_reply_port(draft);
		break;
	case 'x':
		put_options(draft);
		break;
	case 'y':
		put_far(draft, MACH_MSG_TYPE_BYTE, 8);
		break;
	case 'j':
		put_pages(draft);
		break;
	case 'Y':
		put_far(draft, MACH_MSG_TYPE_INTEGER_32, 32);
		break;
	default:
		put_scalar(draft, letter);
		break;
	}
}

/* Adds the argument that the letter stands for (fuzz_calls.c). */
static void put_argument(struct draft *draft, char letter)
{
	switch (letter) {
	case 't':
	case 'd':
		put_integers(draft, 2);
		break;
	case 'k':
		put_state(draft);
		break;
	case 'N':
		put_typed(draft, MACH_MSG_TYPE_INTEGER_32,
			  MACH_NOTIFY_PORT_DELETED + fuzz_below(draft->fuzz, 8));
		break;
	case 'v':
		put_integers(draft, fuzz_below(draft->fuzz, 12));
		break;
	case 'L':
		put_integers(draft, 2 * fuzz_below(draft->fuzz, 6));
		break;
	case 'p':
		put_port(draft, MACH_MSG_TYPE_COPY_SEND);
		break;
	case 'o':
		put_port(draft, MACH_MSG_TYPE_MAKE_SEND_ONCE);
		break;
	case 'r':
		put_any_right(draft);
		break;
	case 'R':
		draft->is_complex = true;
		put_typed(draft, MACH_MSG_TYPE_MAKE_SEND_ONCE,
			  fuzz_one_in(draft->fuzz, 3)   ? MACH_PORT_NULL
			  : fuzz_one_in(draft->fuzz, 8) ? fuzz_name(draft->fuzz)
							: FUZZ_RECEIVE);
		break;
	case 'm':
	case 'B':
		put_mappable(draft, fuzz_memory(draft->fuzz));
		break;
	default:
		put_data(draft, letter);
		break;
	}
}

/* ---------------- What is not sent ---------------- */

bool fuzz_makes_tasks;

/* These end the run, or give the tasks under test a hold on the one that watches them. */
static const uint16_t forbidden[] = {2635, 2630};

/*
 * These end or stop a task, a thread or a memory object, or let the caller wait: a few of them are
 * enough.
 */
static const uint16_t seldom[] = {2008, 2016, 2018, 2056, 2062, 2092, 2603, 2604, 2641, 4201, 4204};

static bool is_listed(uint32_t id, const uint16_t *list, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes / sizeof list[0]; i++) {
		if (list[i] == id)
			return true;
	}
	return false;
}

static bool may_send(struct fuzz *fuzz, uint32_t id)
{
	if (is_listed(id, forbidden, sizeof forbidden) || (id == MAKE_TASK && !fuzz_makes_tasks))
		return false;
	return !is_listed(id, seldom, sizeof seldom) || fuzz_one_in(fuzz, 12);
}

static const struct fuzz_call *choose_call(struct fuzz *fuzz)
{
	const struct fuzz_call *call;

	do {
		call = &fuzz_calls[fuzz_below(fuzz, fuzz_n_calls)];
	} while (!may_send(fuzz, call->id));
	return call;
}

/* ---------------- What comes back ---------------- */

static bool is_port(uint32_t name)
{
	return name >= MACH_MSG_TYPE_MOVE_RECEIVE && name <= MACH_MSG_TYPE_MAKE_SEND_ONCE;
}

/* Searches the pages that came with a message, to their ends, and gives them back. */
static void search_far(struct fuzz *fuzz, uint32_t address, uint32_t size)
{
	uint32_t start = address & ~(PAGE_SIZE - 1);
	uint32_t end = (address + size + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);

	if (size == 0)
		return;
	fuzz_search(fuzz, (const void *)start, end - start);
	assay_memory_unmap((void *)start, end - start);
}

/* Goes through the body of a received message, which the kernel has written and is right. */
static void search_body(struct fuzz *fuzz, uint32_t words)
{
	const uint32_t *word = fuzz->buffer;
	uint32_t i = HEADER_WORDS;

	while (i < words) {
		uint32_t type = word[i++];
		uint32_t name = type & 0xff, bits = type >> 8 & 0xff, number = type >> 16 & 0xfff;
		uint32_t bytes;

		if ((type & IS_LONGFORM) != 0) {
			name = word[i] & 0xffff;
			bits = word[i] >> 16;
			number = word[i + 1];
			i += 2;
		}
		bytes = (bits * number + 7) / 8;
		if ((type & IS_INLINE) != 0) {
			i += (bytes + 3) / 4;
			continue;
		}
		if (bytes > 0)
			fuzz_forget_samples_own(fuzz, (void *)word[i], number);
		if (!is_port(name) || number < 0x10000)
			search_far(fuzz, word[i], bytes);
		i++;
	}
}

/* Keeps the names that a received message has brought, where they say what they are. */
static void note_names(struct fuzz *fuzz)
{
	const uint32_t *body = fuzz->buffer + HEADER_WORDS;

	switch (fuzz->buffer[WORD_ID]) {
	case PAGER_INIT:
		fuzz_known[FUZZ_KNOWN_CONTROL] = body[1];
		fuzz_known[FUZZ_KNOWN_NAME] = body[3];
		break;
	case DEVICE_OPENED:
		fuzz_known[FUZZ_KNOWN_DEVICE] = body[3];
		break;
	case DEVICE_MAPPED:
	case PROXY_MADE:
	case PROXY_MADE_TOO:
		fuzz_known[FUZZ_KNOWN_MEMORY] = body[3];
		break;
	}
}

void fuzz_search_received(struct fuzz *fuzz)
{
	const mach_msg_header_t *head = (const mach_msg_header_t *)fuzz->buffer;
	uint32_t words = head->msgh_size / 4;

	fuzz_forget_timers_own(fuzz);
	fuzz_search(fuzz, fuzz->buffer, sizeof fuzz->buffer);
	if (words > FUZZ_BUFFER_WORDS || words < HEADER_WORDS)
		return;
	if ((head->msgh_bits & MACH_MSGH_BITS_COMPLEX) == 0)
		return;
	note_names(fuzz);
	search_body(fuzz, words);
}

/*
 * A thread that runs has registers of which anything may be true, and those of the FPU come back in
 * another form than they were set in.
 */
static bool tells_registers(const uint32_t *request)
{
	uint32_t flavor = request[HEADER_WORDS + 1];

	return request[WORD_ID] == GET_STATE &&
	       (request[WORD_REMOTE] != FUZZ_IDLE_THREAD || flavor == i386_FLOAT_STATE ||
		flavor == i386_XFLOAT_STATE);
}

/* Where the reply will be, nothing that the kernel could be suspected of has been before. */
static mach_msg_return_t call(struct fuzz *fuzz, uint32_t option, uint32_t size, uint32_t room,
			      uint32_t from, uint32_t timeout, uint32_t notify)
{
	mach_msg_header_t *head = (mach_msg_header_t *)fuzz->buffer;
	mach_msg_return_t result;
	bool search = !tells_registers(fuzz->buffer);

	fuzz_clean(fuzz->buffer, FUZZ_BUFFER_WORDS);
	for (uint32_t i = (size & 0xffff) / 4; i < FUZZ_BUFFER_WORDS; i++)
		fuzz->buffer[i] = UNTOUCHED;
	fuzz->last = (uint32_t)head->msgh_id;
	result = mach_msg_trap(head, (mach_msg_option_t)option, size, room, from, timeout, notify);
	if ((option & MACH_RCV_MSG) != 0 && result == MACH_MSG_SUCCESS && search)
		fuzz_search_received(fuzz);
	else if (search)
		fuzz_search(fuzz, fuzz->buffer, sizeof fuzz->buffer);
	return result;
}

/* ---------------- Calls ---------------- */

/* A name that a message has brought, mostly, or another one of the kind. */
static uint32_t known_or(struct fuzz *fuzz, enum fuzz_known kind, uint32_t other)
{
	return fuzz_known[kind] == MACH_PORT_NULL || fuzz_one_in(fuzz, 4) ? other
									  : fuzz_known[kind];
}

static uint32_t target_of(struct fuzz *fuzz, char letter)
{
	switch (letter) {
	case 'C':
		return known_or(fuzz, FUZZ_KNOWN_CONTROL, fuzz_name(fuzz));
	case 'N':
		return known_or(fuzz, FUZZ_KNOWN_NAME, fuzz_name(fuzz));
	case 'D':
		return known_or(fuzz, FUZZ_KNOWN_DEVICE,
				fuzz_one_in(fuzz, 3) ? FUZZ_CLOCK : FUZZ_DISK);
	case 'X':
		return FUZZ_DEVICES;
	case 'K':
		return FUZZ_CONSOLE;
	case 'T':
		return fuzz_one_in(fuzz, 3)   ? FUZZ_OTHER_TASK
		       : fuzz_one_in(fuzz, 3) ? FUZZ_IDLE_TASK
					      : FUZZ_TASK;
	case 'H':
		return fuzz_one_in(fuzz, 2) ? FUZZ_IDLE_THREAD : FUZZ_THREAD;
	case 'h':
		return FUZZ_HOST;
	case 'M':
		return FUZZ_HOST_PRIV;
	case 'S':
		return FUZZ_PSET;
	default:
		return fuzz_name(fuzz);
	}
}

static void put_header(struct draft *draft, uint32_t remote, uint32_t id)
{
	draft->n = HEADER_WORDS;
	draft->words[WORD_BITS] =
		MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE);
	draft->words[WORD_REMOTE] = remote;
	draft->words[WORD_LOCAL] = draft->fuzz->reply_port;
	draft->words[WORD_SEQNO] = 0;
	draft->words[WORD_ID] = id;
}

/* One word of the message, its size, or a bit of one word is not what it should be. */
static void break_field(struct fuzz *fuzz, struct draft *draft, uint32_t *size)
{
	uint32_t i = fuzz_below(fuzz, draft->n);

	if (i == WORD_ID || i == WORD_SEQNO)
		i = WORD_BITS;
	switch (fuzz_below(fuzz, 4)) {
	case 0:
		*size = fuzz_one_in(fuzz, 2) ? *size + 4 * fuzz_below(fuzz, 4) - 8
					     : fuzz_word(fuzz) % REPLY_ROOM;
		break;
	case 1:
		draft->words[i] = fuzz_word(fuzz);
		break;
	default:
		/* The upper bits of an address are left alone: it would not be found again. */
		draft->words[i] ^= 1u << fuzz_below(fuzz, i % 2 == 0 ? 32 : 20);
		break;
	}
}

void fuzz_broken_call(struct fuzz *fuzz)
{
	const struct fuzz_call *routine = choose_call(fuzz);
	struct draft draft = {.fuzz = fuzz, .words = fuzz->buffer};
	uint32_t size;

	put_header(&draft, target_of(fuzz, routine->target), routine->id);
	for (const char *letter = routine->arguments; *letter != '\0'; letter++)
		put_argument(&draft, *letter);
	if (draft.is_complex)
		draft.words[WORD_BITS] |= MACH_MSGH_BITS_COMPLEX;
	if (routine->id == 4204)
		draft.words[draft.n - 1] |= GSYNC_TIMED;
	size = draft.n * sizeof(uint32_t);
	draft.words[WORD_SIZE] = size;
	if (fuzz_one_in(fuzz, 2))
		break_field(fuzz, &draft, &size);
	call(fuzz, MACH_SEND_MSG | MACH_RCV_MSG | MACH_SEND_TIMEOUT | MACH_RCV_TIMEOUT, size,
	     REPLY_ROOM, fuzz->reply_port, 0, MACH_PORT_NULL);
}

void fuzz_receive(struct fuzz *fuzz)
{
	mach_msg_header_t *head = (mach_msg_header_t *)fuzz->buffer;
	uint32_t port = fuzz_one_in(fuzz, 4) ? FUZZ_RECEIVE_TOO : FUZZ_RECEIVE;

	head->msgh_id = 0;
	call(fuzz, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, REPLY_ROOM, port, 0, MACH_PORT_NULL);
}

/* A descriptor of anything, with data where data can be. */
static void put_random_item(struct draft *draft)
{
	static const char letters[] = "biinashlvpporrAqyYwjm";
	struct fuzz *fuzz = draft->fuzz;
	uint32_t first = draft->n;

	if (fuzz_one_in(fuzz, 8)) {
		put(draft, fuzz_word(fuzz));
		return;
	}
	put_argument(draft, letters[fuzz_below(fuzz, sizeof letters - 1)]);
	if (first >= draft->n)
		return;
	if (fuzz_one_in(fuzz, 8))
		draft->words[first] ^= 1u << fuzz_below(fuzz, 32);
	if (fuzz_one_in(fuzz, 16)) {
		draft->words[first] |= IS_LONGFORM;
		put(draft, fuzz_disposition(fuzz) | 32u << 16);
		put(draft, fuzz_below(fuzz, 8));
	}
}

static uint32_t random_bits(struct fuzz *fuzz, const struct draft *draft)
{
	uint32_t bits = MACH_MSGH_BITS(fuzz_disposition(fuzz), 0);

	if (fuzz_one_in(fuzz, 2))
		bits |= MACH_MSGH_BITS(0, fuzz_disposition(fuzz));
	if (draft->is_complex != fuzz_one_in(fuzz, 16))
		bits |= MACH_MSGH_BITS_COMPLEX;
	if (fuzz_one_in(fuzz, 16))
		bits ^= 1u << fuzz_below(fuzz, 32);
	return bits;
}

/* Nearly always with a limit to every wait: whoever waits for ever calls nothing more. */
static uint32_t random_option(struct fuzz *fuzz)
{
	static const uint32_t some[] = {
		MACH_SEND_NOTIFY, MACH_SEND_CANCEL, MACH_RCV_NOTIFY,     MACH_RCV_LARGE,
		0x10000,          MACH_RCV_LARGE,   MACH_SEND_INTERRUPT, MACH_RCV_INTERRUPT,
	};
	uint32_t option = 1 + fuzz_below(fuzz, 3);

	if (!fuzz_one_in(fuzz, 300))
		option |= MACH_SEND_TIMEOUT | MACH_RCV_TIMEOUT;
	if (fuzz_one_in(fuzz, 2))
		option |= some[fuzz_below(fuzz, sizeof some / sizeof some[0])];
	if (fuzz_one_in(fuzz, 32))
		option ^= 1u << fuzz_below(fuzz, 32);
	return option;
}

static uint32_t random_room(struct fuzz *fuzz)
{
	return fuzz_one_in(fuzz, 4) ? fuzz_below(fuzz, 200) : REPLY_ROOM;
}

void fuzz_random_message(struct fuzz *fuzz)
{
	struct draft draft = {.fuzz = fuzz, .words = fuzz->buffer};
	uint32_t items = fuzz_below(fuzz, 6), size, id;

	do {
		id = fuzz_one_in(fuzz, 2) ? fuzz_word(fuzz) : choose_call(fuzz)->id;
	} while (!may_send(fuzz, id));
	put_header(&draft, fuzz_name(fuzz), id);
	draft.words[WORD_LOCAL] = fuzz_name(fuzz);
	while (items-- > 0)
		put_random_item(&draft);
	draft.words[WORD_BITS] = random_bits(fuzz, &draft);
	size = draft.n * sizeof(uint32_t);
	draft.words[WORD_SIZE] = size;
	if (fuzz_one_in(fuzz, 8))
		size = fuzz_word(fuzz) % REPLY_ROOM;
	call(fuzz, random_option(fuzz), size, random_room(fuzz),
	     fuzz_one_in(fuzz, 2) ? FUZZ_RECEIVE : fuzz_name(fuzz), fuzz_below(fuzz, 2),
	     fuzz_name(fuzz));
}
