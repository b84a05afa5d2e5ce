/* SPDX-License-Identifier: MIT */
/* A round of random pagers, their clients and an innocent: see hostile.h. */
#include "hostile.h"
#include "check.h"

#define CREWS      (2 + HOSTILE_CLIENTS) /* The pager, the innocent, and then the clients. */
#define PAGER      0u
#define INNOCENT   1u
#define CLIENT     2u
#define MOST       3u   /* Threads of a task. */
#define TASKS_MAX  16u  /* That there are before. */
#define UNANSWERED 256u /* Exceptions of children of clients, which wait for the end. */
#define EXCEPTION  2400
#define MS         1000000ull

struct hostile_plan hostile_plan;

/* A task and its threads. */
struct crew {
	void (*run)(uint32_t);
	uint32_t n;
	mach_port_t task;
	mach_port_t threads[MOST];
};

static struct {
	mach_port_t host, control, stop;
	mach_port_t good;
	struct crew crews[CREWS];
	mach_port_t unanswered[UNANSWERED];
	uint32_t n_unanswered;
	uint32_t work; /* Rounds that the innocent says it has done, */
	bool is_over;  /* at its end. */
	struct dice dice;
} round;

/* ---------------- Chance ---------------- */

uint32_t dice_next(struct dice *dice)
{
	uint32_t x = dice->state;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	dice->state = x;
	return x;
}

uint32_t dice_below(struct dice *dice, uint32_t n)
{
	return (uint32_t)((uint64_t)dice_next(dice) * n >> 32);
}

bool dice_one_in(struct dice *dice, uint32_t n)
{
	return dice_below(dice, n) == 0;
}

/* ---------------- In the tasks ---------------- */

void hostile_report(enum hostile_report what, uint32_t a, uint32_t b, uint32_t c)
{
	struct message message;

	message_head(&message, HOSTILE_CONTROL, MACH_MSG_TYPE_COPY_SEND, MACH_PORT_NULL, 0,
		     (mach_msg_id_t)what);
	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 3);
	message.body[1] = a;
	message.body[2] = b;
	message.body[3] = c;
	mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head + 16, 0, MACH_PORT_NULL, 0,
		 MACH_PORT_NULL);
}

/* ---------------- Other tasks ---------------- */

static mach_port_t before[TASKS_MAX];
static uint32_t n_before;

/* Calls `visit` for each task, with a send right that it takes. */
static void each_task(void (*visit)(mach_port_t))
{
	mach_port_t self = mach_host_self(), name, set;
	mach_msg_type_number_t n = 0;
	task_array_t tasks;

	EXPECT_EQ(processor_set_default(self, &name), KERN_SUCCESS);
	EXPECT_EQ(host_processor_set_priv(round.host, name, &set), KERN_SUCCESS);
	EXPECT_EQ(processor_set_tasks(set, &tasks, &n), KERN_SUCCESS);
	for (uint32_t i = 0; i < n; i++) {
		if (MACH_PORT_VALID(tasks[i]))
			visit(tasks[i]);
	}
	vm_deallocate(mach_task_self(), (vm_address_t)tasks, n * sizeof *tasks);
	port_drop_send(set);
	port_drop_send(name);
	port_drop_send(self);
}

static void note_task(mach_port_t task)
{
	if (n_before < TASKS_MAX)
		before[n_before++] = task;
	else
		port_drop_send(task);
}

static bool was_there(mach_port_t task)
{
	for (uint32_t i = 0; i < n_before; i++) {
		if (before[i] == task)
			return true;
	}
	return false;
}

static void end_if_new(mach_port_t task)
{
	if (!was_there(task))
		task_terminate(task);
	port_drop_send(task);
}

static void forget_tasks(void)
{
	while (n_before > 0)
		port_drop_send(before[--n_before]);
}

/* ---------------- The beginning ---------------- */

static void start_threads(uint32_t c)
{
	struct crew *crew = &round.crews[c];

	for (uint32_t t = 0; t < crew->n; t++)
		crew->threads[t] =
			child_start(crew->task, t, crew->run,
				    c < CLIENT ? t : t + (c - CLIENT) * HOSTILE_CLIENT_THREADS);
}

static void make_crew(uint32_t c, void (*run)(uint32_t), uint32_t n)
{
	struct crew *crew = &round.crews[c];

	*crew = (struct crew){.run = run, .n = n, .task = child_new()};
	EXPECT_EQ(task_suspend(crew->task), KERN_SUCCESS);
	EXPECT_EQ(task_set_exception_port(crew->task, round.control), KERN_SUCCESS);
	child_give(crew->task, HOSTILE_CONTROL, round.control, MACH_MSG_TYPE_MAKE_SEND);
	start_threads(c);
}

/* The clients get rights to the objects, and the pager gets both the objects and the clients. */
static void give_objects(void)
{
	mach_port_t pager = round.crews[PAGER].task;

	EXPECT_EQ(mach_port_allocate_name(pager, MACH_PORT_RIGHT_PORT_SET, HOSTILE_SET),
		  KERN_SUCCESS);
	for (uint32_t n = 0; n < HOSTILE_OBJECTS; n++) {
		mach_port_t port = port_new();

		for (uint32_t c = 0; c < HOSTILE_CLIENTS; c++)
			child_give(round.crews[CLIENT + c].task, HOSTILE_OBJECT + n, port,
				   MACH_MSG_TYPE_MAKE_SEND);
		child_give(pager, HOSTILE_OBJECT + n, port, MACH_MSG_TYPE_MAKE_SEND);
		child_give(pager, HOSTILE_OBJECT + n, port, MACH_MSG_TYPE_MOVE_RECEIVE);
		EXPECT_EQ(mach_port_move_member(pager, HOSTILE_OBJECT + n, HOSTILE_SET),
			  KERN_SUCCESS);
	}
	for (uint32_t c = 0; c < HOSTILE_CLIENTS; c++) {
		child_give(pager, HOSTILE_CLIENT + c, round.crews[CLIENT + c].task,
			   MACH_MSG_TYPE_COPY_SEND);
		child_give(round.crews[CLIENT + c].task, HOSTILE_HOST, round.host,
			   MACH_MSG_TYPE_COPY_SEND);
	}
}

/* What is made here goes over, but for a right to tell it to stop. */
static void give_innocent(void)
{
	mach_port_t innocent = round.crews[INNOCENT].task, good = port_new();

	child_give(innocent, HOSTILE_GOOD, good, MACH_MSG_TYPE_MAKE_SEND);
	child_give(innocent, HOSTILE_GOOD, good, MACH_MSG_TYPE_MOVE_RECEIVE);
	round.stop = port_new_with_send();
	EXPECT_EQ(mach_port_insert_right(innocent, HOSTILE_STOP, round.stop,
					 MACH_MSG_TYPE_MOVE_RECEIVE),
		  KERN_SUCCESS);
}

static void begin(mach_port_t host)
{
	round.host = host;
	round.n_unanswered = 0;
	round.is_over = false;
	round.work = 0;
	round.dice.state = hostile_plan.seed * 0x85ebca6bu | 1;
	round.control = port_new_with_send();
	mach_port_set_qlimit(mach_task_self(), round.control, MACH_PORT_QLIMIT_MAX);
	each_task(note_task);
	make_crew(PAGER, hostile_pager, HOSTILE_PAGER_THREADS);
	make_crew(INNOCENT, hostile_innocent, HOSTILE_INNOCENT_THREADS);
	for (uint32_t c = 0; c < HOSTILE_CLIENTS; c++)
		make_crew(CLIENT + c, hostile_client, HOSTILE_CLIENT_THREADS);
	give_objects();
	give_innocent();
	for (uint32_t c = 0; c < CREWS; c++)
		EXPECT_EQ(task_resume(round.crews[c].task), KERN_SUCCESS);
}

/* ---------------- Exceptions ---------------- */

static bool find_thread(mach_port_t thread, uint32_t *c, uint32_t *t)
{
	for (*c = 0; *c < CREWS; ++*c) {
		for (*t = 0; *t < round.crews[*c].n; ++*t) {
			if (round.crews[*c].threads[*t] == thread)
				return true;
		}
	}
	return false;
}

static uint32_t argument_of(uint32_t c, uint32_t t)
{
	return c < CLIENT ? t : t + (c - CLIENT) * HOSTILE_CLIENT_THREADS;
}

static void answer_exception(const struct message *request)
{
	struct message reply;

	message_head(&reply, request->head.msgh_remote_port, MACH_MSG_TYPE_MOVE_SEND_ONCE,
		     MACH_PORT_NULL, 0, EXCEPTION + 100);
	reply.body[0] = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1);
	reply.body[1] = KERN_SUCCESS;
	if (message_post(&reply, 2) != MACH_MSG_SUCCESS)
		message_drop_reply(request);
}

/* Whoever is not known waits until his task ends. */
static void handle_exception(const struct message *request)
{
	mach_port_t thread = request->body[1], task = request->body[3];
	mach_port_t reply = request->head.msgh_remote_port;
	uint32_t c, t;

	if (find_thread(thread, &c, &t)) {
		if (c == INNOCENT)
			check_fail("the innocent has exception %u, code 0x%x, at 0x%x",
				   request->body[5], request->body[7], request->body[9]);
		if (!child_restart(thread, t, round.crews[c].run, argument_of(c, t)))
			thread_terminate(thread);
		answer_exception(request);
	} else if (MACH_PORT_VALID(reply) && round.n_unanswered < UNANSWERED) {
		round.unanswered[round.n_unanswered++] = reply;
	} else if (MACH_PORT_VALID(reply)) {
		port_drop_send(reply);
	}
	if (MACH_PORT_VALID(thread))
		port_drop_send(thread);
	if (MACH_PORT_VALID(task))
		port_drop_send(task);
}

/* ---------------- The middle ---------------- */

static void take_message(const struct message *message)
{
	switch (message->head.msgh_id) {
	case HOSTILE_WRONG:
		check_fail("the innocent has found wrong %u: 0x%x, 0x%x", message->body[1],
			   message->body[2], message->body[3]);
		break;
	case HOSTILE_OVER:
		round.work = message->body[1];
		round.is_over = true;
		break;
	case EXCEPTION:
		handle_exception(message);
		break;
	}
}

/* A client's thread, which may wait for a pager that never answers, is called back, or replaced. */
static void meddle(void)
{
	uint32_t c = CLIENT + dice_below(&round.dice, HOSTILE_CLIENTS);
	uint32_t t = dice_below(&round.dice, HOSTILE_CLIENT_THREADS);
	struct crew *crew = &round.crews[c];

	if (!dice_one_in(&round.dice, 4)) {
		thread_abort(crew->threads[t]);
		return;
	}
	thread_terminate(crew->threads[t]);
	port_drop_send(crew->threads[t]);
	crew->threads[t] = child_start(crew->task, t, crew->run, argument_of(c, t));
}

/* A time in so many milliseconds. */
static uint64_t time_in(uint32_t milliseconds)
{
	uint64_t now = 0;

	assay_clock_read(ASSAY_CLOCK_MONOTONIC, &now);
	return now + milliseconds * MS;
}

static void watch(uint32_t milliseconds)
{
	uint64_t end = time_in(milliseconds);
	struct message message;

	while (time_in(0) < end && !check_failed()) {
		if (message_get(&message, round.control, 1) == MACH_MSG_SUCCESS)
			take_message(&message);
		if (dice_one_in(&round.dice, 4))
			meddle();
	}
}

/* ---------------- The end ---------------- */

/* The innocent comes to its end by itself, whatever the others do meanwhile. */
static void stop_innocent(void)
{
	uint64_t end = time_in(LONG_WAIT);
	struct message message;

	message_send_id(round.stop, MACH_MSG_TYPE_COPY_SEND, 1);
	while (!round.is_over && time_in(0) < end) {
		if (message_get(&message, round.control, 10) == MACH_MSG_SUCCESS)
			take_message(&message);
	}
	if (!round.is_over)
		check_fail("the innocent cannot go on");
	port_destroy(round.stop);
}

static void end_crew(struct crew *crew)
{
	child_end(crew->task);
	for (uint32_t t = 0; t < crew->n; t++)
		port_destroy(crew->threads[t]);
}

/* The pager first, now and then: its clients find out, and use much time for that. */
static void finish(void)
{
	uint32_t first = dice_one_in(&round.dice, 4) ? PAGER : CLIENT;

	for (uint32_t c = 0; c < CREWS; c++)
		end_crew(&round.crews[(first + c) % CREWS]);
	each_task(end_if_new);
	forget_tasks();
	while (round.n_unanswered > 0)
		port_drop_send(round.unanswered[--round.n_unanswered]);
	port_destroy(round.control);
}

bool hostile_round(mach_port_t host, uint32_t milliseconds)
{
	begin(host);
	watch(milliseconds);
	stop_innocent();
	finish();
	return !check_failed();
}
