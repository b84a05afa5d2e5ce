/* SPDX-License-Identifier: MIT */
/* Names of tasks and threads in a recording's file: see names.h. */
#include <pwd.h>
#include <string.h>

#include "common/common.h"
#include "names.h"
#include "programs.h"
#include "records.h"

#define FOR_EVER            UINT64_MAX
#define HOLDER_BUCKETS      1024u
#define LABEL_IS_NOT_A_TASK 0x80000000u /* It is an event's whose beneficiary is not known yet. */

/* A set of small numbers; those of threads and tasks are given in turn. */
struct numbers {
	unsigned char *bits;
	uint32_t room;
};

static struct numbers threads, labels;

#define ROOM_MORE 64u /* Bytes by which a set grows at least. */

static void add_number(struct numbers *numbers, uint32_t number)
{
	uint32_t byte = number / 8;

	if (byte >= numbers->room) {
		uint32_t room = 2 * byte + ROOM_MORE;

		numbers->bits = reallocate(numbers->bits, room);
		memset(numbers->bits + numbers->room, 0, room - numbers->room);
		numbers->room = room;
	}
	numbers->bits[byte] |= (unsigned char)(1u << number % 8);
}

/* Adds a number; false if it was there, as it was nearly always: three are looked up a sample. */
static inline bool is_new(struct numbers *numbers, uint32_t number)
{
	if (number / 8 < numbers->room && (numbers->bits[number / 8] >> number % 8 & 1) != 0)
		return false;
	add_number(numbers, number);
	return true;
}

/* ---------------- Records ---------------- */

static void put_label(struct perf_file *file, const struct program *program)
{
	char path[PROGRAM_NAME_ROOM + 16];
	char *at = path;

	*at++ = '/';
	if (program->task != TASK_KERNEL) {
		if (program->pid < PID_OF_TASK)
			at = perf_decimal(at, program->pid);
		*at++ = ':';
	}
	strcpy(at, program->task == TASK_KERNEL ? "system" : program->name);
	perf_label(file, program->task, path);
}

/* `base` is 0 but for a client's, in the memory of its server. */
static void put_map(struct perf_file *file, const struct program *program, uint32_t pid,
		    uint64_t base, uint64_t time)
{
	const struct executable *executable = &program->executable;
	uint32_t start = (uint32_t)executable->elf.text_start;
	const unsigned char *text;

	if (executable->path == NULL)
		return;
	text = elfsym_bytes(&executable->elf, start, 1);
	perf_map(file, &(struct perf_map){
			       .is_kernel = program->task == TASK_KERNEL,
			       .pid = pid,
			       .start = base | start,
			       .length = (uint32_t)executable->elf.text_end - start,
			       .offset = text != NULL ? (uint32_t)(text - executable->image) : 0,
			       .inode = executable->inode,
			       .code = executable->program.sum,
			       .time = time,
			       .path = executable->path,
		       });
}

/* ---------------- Whose a number is ---------------- */

/* Those that have a number now, by these. */
static struct program *holders[HOLDER_BUCKETS];

static struct program **holder_link(uint32_t pid)
{
	struct program **link = &holders[pid % HOLDER_BUCKETS];

	while (*link != NULL && (*link)->pid != pid)
		link = &(*link)->next_holder;
	return link;
}

static struct program *holder_of(uint32_t pid)
{
	struct program *holder = *holder_link(pid);

	return holder != NULL && holder->until == FOR_EVER ? holder : NULL;
}

/* In the place of whoever had its number. */
static void become_holder(struct program *program)
{
	struct program **link = holder_link(program->pid);

	program->next_holder = *link != NULL ? (*link)->next_holder : NULL;
	*link = program;
}

/* Nothing is left of what was mapped before, even if nothing is mapped now. */
static void take_away(struct perf_file *file, const struct program *from, struct program *to)
{
	if (from->low == from->high)
		return;
	perf_map(file, &(struct perf_map){.pid = to->pid,
					  .start = from->low,
					  .length = from->high - from->low,
					  .time = to->since,
					  .path = NO_PROGRAM});
	if (to->low == to->high || from->low < to->low)
		to->low = from->low;
	if (from->high > to->high)
		to->high = from->high;
}

static void hand_over(struct perf_file *file, struct program *from, struct program *to,
		      uint64_t time);

/* Whether the user was not named yet; then he is from now on. */
static bool is_new_user(uid_t uid)
{
	static uid_t *named;
	static size_t n;

	for (size_t i = 0; i < n; i++)
		if (named[i] == uid)
			return false;
	named = reallocate(named, (n + 1) * sizeof(*named));
	named[n++] = uid;
	return true;
}

/* Whoever reads it has other users, so their names are in it. */
static void put_user(struct perf_file *file, const struct program *program)
{
	uid_t uid = program->life.uid;
	const struct passwd *entry = is_new_user(uid) ? getpwuid(uid) : NULL;

	perf_user(file, program->pid, uid, entry != NULL ? entry->pw_name : NULL);
}

/*
 * A process's parent is named before it, whether anything was sampled of that or not: so all that
 * are named hang together.
 */
static void put_birth(struct perf_file *file, const struct program *program)
{
	const struct ux_task_life *life = &program->life;
	struct program *maker;

	if (life->task_id == 0 || (uint32_t)life->pid != program->pid)
		return;
	put_user(file, program);
	if (life->ppid == 0 || life->parent_task == 0)
		return;
	/* Of the process's earlier programs the first was forked, by whom is what is wanted. */
	for (maker = program_of(life->parent_task); maker->pid == program->pid;)
		maker = program_of(maker->life.task_id != 0 ? maker->life.parent_task
							    : TASK_KERNEL);
	if (maker->pid == (uint32_t)life->ppid && holder_of(maker->pid) == NULL)
		hand_over(file, NULL, maker, AT_ONCE);
	perf_fork(file, program->pid, (uint32_t)life->ppid);
}

void names_put_ends(struct perf_file *file)
{
	for (const struct program *program = programs_first(); program; program = program->next) {
		struct ux_task_life life = program->life;

		if (!program->has_pid || program->until != FOR_EVER || life.task_id == 0)
			continue;
		/* Most that are short had ended when they were asked for. */
		if (life.state != UX_LIFE_ENDED && ux_task_life(program->task, &life) != 0)
			continue;
		if (life.state == UX_LIFE_ENDED)
			perf_exit(file, program->pid, (uint32_t)life.ppid, prof_u64(life.ended));
	}
}

/* Says what lies where from the time on when it got its number. */
static void map_program(struct perf_file *file, const struct program *from, struct program *to)
{
	to->is_mapped = true;
	to->low = (uint32_t)to->executable.elf.text_start;
	to->high = (uint32_t)to->executable.elf.text_end;
	if (from != NULL)
		take_away(file, from, to);
	put_map(file, to, to->pid, 0, to->since);
}

/*
 * Somebody's parent that has a sample itself now.  If it has lost its number meanwhile, what lies
 * there is another's already: it is shown apart.
 */
static void map_late(struct perf_file *file, struct program *program)
{
	if (program->until == FOR_EVER)
		map_program(file, NULL, program);
	else
		program->until = program->since;
}

/* The label comes again, as whoever reads it in turn learns by it whose the number is now. */
static void hand_over(struct perf_file *file, struct program *from, struct program *to,
		      uint64_t time)
{
	become_holder(to);
	to->has_pid = true;
	to->since = from != NULL ? time : AT_ONCE;
	to->until = FOR_EVER;
	if (from == NULL)
		put_birth(file, to);
	put_label(file, to);
	perf_command(file, to->pid, to->pid, to->name, to->since);
	if (from != NULL)
		from->until = time;
	if (to->path == NULL)
		map_program(file, from, to);
}

/* Tasks are numbered in turn; the older one's samples are all taken before the newer one's. */
static bool may_have_pid(struct perf_file *file, struct program *program, uint64_t time)
{
	struct program *holder;

	if (!program->has_pid) {
		holder = holder_of(program->pid);
		if (holder != NULL && (holder->task > program->task || holder->last >= time))
			return false;
		hand_over(file, holder, program, time);
	}
	if (!program->is_mapped)
		map_late(file, program);
	if (time < program->since || time >= program->until)
		return false;
	if (time > program->last)
		program->last = time;
	return true;
}

/* By its number and nothing else from here on: another program's is what its process had. */
static uint32_t put_apart(struct perf_file *file, struct program *program)
{
	uint32_t pid = PID_OF_TASK + program->task;

	if (!program->is_apart) {
		program->is_apart = true;
		perf_command(file, pid, pid, program->name, AT_ONCE);
		put_map(file, program, pid, 0, AT_ONCE);
	}
	return pid;
}

/* ---------------- Samples ---------------- */

static void name_label(struct perf_file *file, uint32_t label)
{
	if (!(label & LABEL_IS_NOT_A_TASK) && is_new(&labels, label))
		put_label(file, program_of(label));
}

/* What a program is called by in the samples of a server's that works for it. */
static uint32_t name_client(struct perf_file *file, uint32_t task, uint64_t time)
{
	struct program *program = program_sampled(task);

	name_label(file, task);
	if (!may_have_pid(file, program, time))
		return put_apart(file, program);
	return program->pid < PID_OF_TASK ? task : program->pid;
}

/* Whether the client's program has not been said to lie in the server's memory yet. */
static bool is_new_server(struct program *client, uint32_t server)
{
	for (unsigned i = 0; i < client->n_servers; i++)
		if (client->servers[i] == server)
			return false;
	client->servers =
		reallocate(client->servers, (client->n_servers + 1) * sizeof(*client->servers));
	client->servers[client->n_servers++] = server;
	return true;
}

static uint32_t put_client(struct perf_file *file, uint32_t server, uint32_t task, uint64_t time)
{
	uint32_t client = name_client(file, task, time);
	struct program *program = program_of(task);

	if (is_new_server(program, server))
		put_map(file, program, server, perf_client_address(client, 0), AT_ONCE);
	return client;
}

static void put_clients(struct perf_file *file, const struct prof_sample *sample,
			struct perf_origin *origin)
{
	size_t words = record_sample_words(sample);
	uint64_t time = record_time(sample);
	const struct prof_client *client;

	for (unsigned n = 0; n < SAMPLE_CLIENTS_MAX; n++) {
		client = record_client(&sample->record, words);
		if (client == NULL)
			break;
		origin->clients[n] = put_client(file, origin->pid, client->task, time);
		words += record_client_words(client);
	}
	if ((sample->flags & PROF_CLIENTS_CUT) != 0 && sample->label != TASK_KERNEL)
		origin->label = name_client(file, sample->label, time);
}

void names_put(struct perf_file *file, const struct prof_sample *sample, struct perf_origin *origin)
{
	struct program *program = program_sampled(sample->task);

	/* Of `clients` there are as many as the sample has. */
	origin->pid = program->pid;
	origin->thread = THREAD_OF_KERNEL + sample->thread;
	origin->label = 0;
	name_label(file, sample->label);
	name_label(file, sample->task);
	/* perf keeps threads by their numbers alone, so the main one's does for all of them. */
	if (!may_have_pid(file, program, record_time(sample)))
		origin->pid = origin->thread = put_apart(file, program);
	else if (is_new(&threads, sample->thread))
		perf_command(file, origin->pid, origin->thread, program->name, AT_ONCE);
	put_clients(file, sample, origin);
}

void names_put_kernel(struct perf_file *file)
{
	name_label(file, TASK_KERNEL);
	may_have_pid(file, program_sampled(TASK_KERNEL), AT_ONCE);
}
