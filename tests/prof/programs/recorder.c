/* SPDX-License-Identifier: MIT */
/*
 * recorder FILE FLAVORS RATE SEED COMMAND [ARGUMENT...]: runs a command, samples it from its first
 * instruction to its last, and writes all that the kernel sent to FILE, records as <mach/prof.h>
 * has them.  With RATE `host:N` it samples all that runs while the command does, which root may.
 *
 * Without flavors (0) it only sets the seed, and is the command from then on.
 *
 * It keeps everything until the command has ended, so that it does nothing of its own beside it.
 */
#include <fcntl.h>
#include <mach.h>
#include <mach/prof.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ux.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_MS  20
#define ROOM     (8u << 20)
#define HOST     "host:"
#define EXPECTED 2450 /* The id of the messages. */

static uint32_t words[ROOM / sizeof(uint32_t)];
static size_t n_words;
static bool ended;

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "recorder: cannot %s\n", what);
	exit(1);
}

static void must(kern_return_t result, const char *what)
{
	if (result != KERN_SUCCESS)
		fail(what);
}

/* ---------------- Messages ---------------- */

struct message {
	mach_msg_header_t head;
	mach_msg_type_long_t type;
	uint32_t *data;
	char rest[64];
};

static void look_for_end(const uint32_t *at, const uint32_t *end)
{
	for (; at < end; at += ((const struct prof_record *)at)->words)
		ended |= ((const struct prof_record *)at)->type == PROF_END;
}

static void keep(const struct message *message)
{
	size_t count = message->type.msgtl_number;

	if (n_words + count > sizeof words / sizeof words[0])
		fail("keep so many samples");
	memcpy(words + n_words, message->data, count * sizeof *words);
	look_for_end(words + n_words, words + n_words + count);
	n_words += count;
	vm_deallocate(mach_task_self(), (vm_address_t)message->data, count * sizeof *words);
}

/* One message, if one comes soon. */
static void receive(mach_port_t port)
{
	struct message message;
	mach_msg_return_t result = mach_msg(&message.head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0,
					    sizeof message, port, POLL_MS, MACH_PORT_NULL);

	if (result == MACH_RCV_TIMED_OUT)
		return;
	if (result != MACH_MSG_SUCCESS || message.head.msgh_id != EXPECTED)
		fail("receive samples");
	keep(&message);
}

/* ---------------- The command ---------------- */

static pid_t start(char **command)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (ux_stop_at_exec() == 0)
			execvp(command[0], command);
		fail("execute the command");
	}
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		fail("stop the command at its beginning");
	return pid;
}

struct sampling {
	mach_port_t host; /* MACH_PORT_NULL: the command's task. */
	mach_port_t task;
	mach_port_t reply;
};

static void set_seed(uint32_t seed)
{
	must(host_sample_control(task_by_pid(-1), 0, 0, seed), "set the seed");
}

static struct sampling begin(pid_t pid, char **arguments)
{
	const sample_options_t options = {.age_ms = 500};
	uint32_t flavors = strtoul(arguments[0], NULL, 0), seed = strtoul(arguments[2], NULL, 0);
	bool whole = strncmp(arguments[1], HOST, strlen(HOST)) == 0;
	uint32_t rate = strtoul(arguments[1] + (whole ? strlen(HOST) : 0), NULL, 0);
	struct sampling sampling = {.task = task_by_pid(pid)};

	must(mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_RECEIVE, &sampling.reply),
	     "make a port");
	if (seed != 0)
		set_seed(seed);
	if (whole)
		sampling.host = task_by_pid(-1);
	must(whole ? host_sample_start(sampling.host, 0, flavors, rate, options, sampling.reply)
		   : task_sample_start(sampling.task, flavors, rate, options, sampling.reply),
	     "begin to sample");
	return sampling;
}

/* What it left; a stream of the whole machine has to be told that it is over. */
static int collect(pid_t pid, const struct sampling *sampling)
{
	bool is_over = false;
	int status = 0;

	while (!is_over || !ended) {
		receive(sampling->reply);
		if (is_over || waitpid(pid, &status, WNOHANG) != pid)
			continue;
		is_over = true;
		if (sampling->host != MACH_PORT_NULL)
			must(host_sample_stop(sampling->host, sampling->reply), "stop");
	}
	return status;
}

static void write_file(const char *path)
{
	const char *bytes = (const char *)words;
	size_t left = n_words * sizeof *words;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	while (fd >= 0 && left > 0) {
		ssize_t done = write(fd, bytes, left);

		if (done <= 0)
			break;
		bytes += done;
		left -= (size_t)done;
	}
	if (fd < 0 || left > 0 || close(fd) != 0)
		fail("write the file");
}

int main(int argc, char **argv)
{
	struct sampling sampling;
	int status;
	pid_t pid;

	if (argc < 6) {
		fprintf(stderr, "usage: recorder FILE FLAVORS RATE SEED COMMAND [ARGUMENT...]\n");
		return 2;
	}
	if (strtoul(argv[2], NULL, 0) == 0) {
		set_seed(strtoul(argv[4], NULL, 0));
		execvp(argv[5], argv + 5);
		fail("execute the command");
	}
	pid = start(argv + 5);
	sampling = begin(pid, argv + 2);
	if (kill(pid, SIGCONT) != 0)
		fail("let the command go on");
	status = collect(pid, &sampling);
	write_file(argv[1]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
