/* SPDX-License-Identifier: MIT */
/* Tables of samples by process, command, job and user: see rollup.h. */
#include "rollup.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX  64u /* Of a job: what is deeper belongs to no parent. */
#define NO_ROW     SIZE_MAX
#define LABEL_ROOM 80

/* A line of a table.  Of a job it has what its children have, too. */
struct row {
	char name[ROLLUP_NAME];
	int32_t pid;   /* The first of them; -1: none. */
	int32_t uid;   /* By user: which; -1: not known. */
	size_t parent; /* The index of another row, or NO_ROW. */
	uint64_t served, ran;
	uint32_t processes;
	bool is_printed;
};

struct table {
	const struct rollup *rollup;
	enum rollup_by by;
	struct row *rows;
	size_t n;
	size_t room;
};

static void *more(void *memory, size_t size)
{
	memory = realloc(memory, size);
	if (memory == NULL) {
		fputs("no memory left to add samples up\n", stderr);
		exit(1);
	}
	return memory;
}

enum rollup_by rollup_way(const char *word)
{
	static const char *const ways[] = {[BY_PROCESS] = "process",
					   [BY_COMMAND] = "command",
					   [BY_JOB] = "job",
					   [BY_USER] = "user"};

	for (size_t i = BY_PROCESS; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(ways[i], word) == 0)
			return (enum rollup_by)i;
	return BY_NOTHING;
}

/* ---------------- Tasks ---------------- */

/* Where the task is, or where it belongs. */
static size_t place_of(const struct rollup *rollup, uint32_t task)
{
	size_t low = 0, high = rollup->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (rollup->tasks[middle].task < task)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct rollup_task *rollup_task(struct rollup *rollup, uint32_t task)
{
	size_t place = place_of(rollup, task);
	struct rollup_task *at;

	if (place < rollup->n && rollup->tasks[place].task == task)
		return &rollup->tasks[place];
	if (rollup->n == rollup->room) {
		rollup->room = 2 * rollup->room + 32;
		rollup->tasks = more(rollup->tasks, rollup->room * sizeof(*rollup->tasks));
	}
	at = &rollup->tasks[place];
	memmove(at + 1, at, (rollup->n - place) * sizeof(*at));
	rollup->n++;
	*at = (struct rollup_task){.task = task, .pid = -1, .ppid = -1, .uid = -1};
	return at;
}

void rollup_free(struct rollup *rollup)
{
	free(rollup->tasks);
	free(rollup->users);
	*rollup = (struct rollup){.n = 0};
}

void rollup_name_user(struct rollup *rollup, int32_t uid, const char *name)
{
	struct rollup_user *user;

	if (rollup->n_users == rollup->users_room) {
		rollup->users_room = 2 * rollup->users_room + 4;
		rollup->users = more(rollup->users, rollup->users_room * sizeof(*rollup->users));
	}
	user = &rollup->users[rollup->n_users++];
	user->uid = uid;
	snprintf(user->name, sizeof(user->name), "%s", name);
}

const char *rollup_user_name(const struct rollup *rollup, int32_t uid)
{
	for (size_t i = 0; i < rollup->n_users; i++)
		if (rollup->users[i].uid == uid)
			return rollup->users[i].name;
	return NULL;
}

/* The last of a process's tasks, by whose program it is called; NULL: there is none. */
static const struct rollup_task *last_of(const struct rollup *rollup, int32_t pid)
{
	for (size_t i = rollup->n; i > 0; i--)
		if (rollup->tasks[i - 1].pid == pid)
			return &rollup->tasks[i - 1];
	return NULL;
}

/* ---------------- Rows ---------------- */

static size_t add_row(struct table *table, const struct row *row)
{
	if (table->n == table->room) {
		table->room = 2 * table->room + 32;
		table->rows = more(table->rows, table->room * sizeof(*table->rows));
	}
	table->rows[table->n] = *row;
	return table->n++;
}

static bool is_same(const struct table *table, const struct row *one, const struct row *other)
{
	switch (table->by) {
	case BY_PROCESS:
		return one->pid == other->pid &&
		       (one->pid >= 0 || strcmp(one->name, other->name) == 0);
	case BY_USER:
		return one->uid == other->uid;
	default:
		return one->parent == other->parent && strcmp(one->name, other->name) == 0;
	}
}

/* The row that is the same as this one, which is new if there was none. */
static size_t find_row(struct table *table, const struct row *wanted)
{
	for (size_t i = 0; i < table->n; i++)
		if (is_same(table, &table->rows[i], wanted))
			return i;
	return add_row(table, wanted);
}

static struct row row_of(const struct rollup_task *task)
{
	struct row row = {.pid = task->pid, .uid = task->uid, .parent = NO_ROW};

	memcpy(row.name, task->name, sizeof(row.name));
	if (row.name[0] == '\0')
		snprintf(row.name, sizeof(row.name), task->task == 0 ? "the system" : "task %lu",
			 (unsigned long)task->task);
	return row;
}

/* Of a task's process, below that of the process's parent. */
static size_t row_in_tree(struct table *table, const struct rollup *rollup,
			  const struct rollup_task *task, unsigned depth)
{
	const struct rollup_task *last = task->pid >= 0 ? last_of(rollup, task->pid) : task;
	const struct rollup_task *parent = NULL;
	struct row row = row_of(last);

	if (last->pid > 0 && last->ppid > 0 && last->ppid != last->pid && depth < DEPTH_MAX)
		parent = last_of(rollup, last->ppid);
	if (parent != NULL)
		row.parent = row_in_tree(table, rollup, parent, depth + 1);
	return find_row(table, &row);
}

/* Whether this is the first of its process's tasks that are in one row. */
static bool is_first(const struct rollup *rollup, enum rollup_by by, const struct rollup_task *task)
{
	if (task->pid < 0)
		return false;
	for (const struct rollup_task *other = rollup->tasks; other < task; other++)
		if (other->pid == task->pid &&
		    (by != BY_COMMAND || strcmp(other->name, task->name) == 0))
			return false;
	return true;
}

static void add_task(struct table *table, const struct rollup *rollup,
		     const struct rollup_task *task)
{
	struct row wanted = row_of(task);
	size_t row;

	if (table->by == BY_JOB)
		row = row_in_tree(table, rollup, task, 0);
	else if (table->by == BY_PROCESS && task->pid >= 0)
		row = find_row(table, &(struct row){.pid = task->pid, .parent = NO_ROW});
	else
		row = find_row(table, &wanted);
	if (table->by == BY_PROCESS)
		memcpy(table->rows[row].name, wanted.name, sizeof(wanted.name));
	table->rows[row].processes += is_first(rollup, table->by, task);
	for (; row != NO_ROW; row = table->rows[row].parent) {
		table->rows[row].served += task->served;
		table->rows[row].ran += task->ran;
	}
}

/* ---------------- Printing ---------------- */

static bool is_more(const struct row *one, const struct row *other)
{
	if (one->served != other->served)
		return one->served > other->served;
	return one->ran > other->ran;
}

/* Of the rows with that parent the one with most that is not printed yet; NO_ROW. */
static size_t next_row(const struct table *table, size_t parent)
{
	size_t best = NO_ROW;

	for (size_t i = 0; i < table->n; i++) {
		const struct row *row = &table->rows[i];

		if (row->parent != parent || row->is_printed || row->served + row->ran == 0)
			continue;
		if (best == NO_ROW || is_more(row, &table->rows[best]))
			best = i;
	}
	return best;
}

static void print_share(FILE *file, uint64_t count, uint64_t all)
{
	uint64_t tenths = all == 0 ? 0 : (count * 1000 + all / 2) / all;

	fprintf(file, "%5u.%u %% %8llu", (unsigned)(tenths / 10), (unsigned)(tenths % 10),
		(unsigned long long)count);
}

static void label_user(const struct table *table, int32_t uid, char label[LABEL_ROOM])
{
	const char *name = rollup_user_name(table->rollup, uid);

	if (uid < 0)
		snprintf(label, LABEL_ROOM, "nobody: the system, and what is no process");
	else if (name != NULL && name[0] != '\0')
		snprintf(label, LABEL_ROOM, "%ld %s", (long)uid, name);
	else
		snprintf(label, LABEL_ROOM, "%ld", (long)uid);
}

static void label_of(const struct table *table, const struct row *row, char label[LABEL_ROOM])
{
	if (table->by == BY_USER)
		label_user(table, row->uid, label);
	else if (row->processes > 1)
		snprintf(label, LABEL_ROOM, "%s, %lu processes", row->name,
			 (unsigned long)row->processes);
	else if (row->pid >= 0 && table->by != BY_COMMAND)
		snprintf(label, LABEL_ROOM, "%ld %s", (long)row->pid, row->name);
	else
		snprintf(label, LABEL_ROOM, "%s", row->name);
}

struct printing {
	FILE *file;
	uint64_t served, ran;
	size_t left; /* Of the rows that there is room for. */
};

static void print_rows(struct table *table, size_t parent, unsigned depth,
		       struct printing *printing)
{
	size_t i;

	while (printing->left > 0 && (i = next_row(table, parent)) != NO_ROW) {
		struct row *row = &table->rows[i];
		char label[LABEL_ROOM];

		row->is_printed = true;
		printing->left--;
		label_of(table, row, label);
		print_share(printing->file, row->served, printing->served);
		if (printing->ran > 0) {
			fputc(' ', printing->file);
			print_share(printing->file, row->ran, printing->ran);
		}
		fprintf(printing->file, "  %*s%s\n", (int)(2 * depth), "", label);
		if (table->by == BY_JOB)
			print_rows(table, i, depth + 1, printing);
	}
}

void rollup_print(const struct rollup *rollup, enum rollup_by by, size_t rows, FILE *file)
{
	static const char *const titles[] = {[BY_PROCESS] = "process",
					     [BY_COMMAND] = "command",
					     [BY_JOB] = "job: with descendants",
					     [BY_USER] = "user"};
	struct table table = {.rollup = rollup, .by = by};
	struct printing printing = {.file = file, .left = rows != 0 ? rows : SIZE_MAX};

	for (size_t i = 0; i < rollup->n; i++) {
		add_task(&table, rollup, &rollup->tasks[i]);
		printing.served += rollup->tasks[i].served;
		printing.ran += rollup->tasks[i].ran;
	}
	if (printing.ran > 0)
		fprintf(file, " for whom           by whom\n   share  samples   ");
	fprintf(file, printing.ran > 0 ? " share  samples  %s\n" : "   share  samples  for %s\n",
		titles[by]);
	print_rows(&table, NO_ROW, 0, &printing);
	free(table.rows);
}
