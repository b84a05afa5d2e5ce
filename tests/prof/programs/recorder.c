/* SPDX-License-Identifier: MIT */
/*
 * recorder FILE FLAVORS RATE SEED COMMAND [ARGUMENT...]: runs a command, samples it from its first
 * instruction to its last, and writes all that the kernel sent to FILE, records as <mach/prof.h>
 * has them.  With RATE `host:N` it samples all that runs while the command does, which root may,
 * and with `nmi:N` the clock interrupts by NMI.
 * With SEED `1-10` there is a stream with each of these seeds, and FILE has one after the other.
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

#define POLL_MS     20
#define ROOM        (8u << 20) /* Of all streams. */
#define STREAMS_MAX 12u
#define HOST        "host:"
#define NMI         "nmi:"
#define EXPECTED    2450 /* The id of the messages. */

struct stream {
	mach_port_t reply;
	uint32_t *words;
	size_t n_words;
	bool ended;
};

static struct stream streams[STREAMS_MAX];
static unsigned n_streams = 1;
static uint32_t words[ROOM / sizeof(uint32_t)];

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

static bool has_end(const uint32_t *at, const uint32_t *end)
{
	while (at < end && ((const struct prof_record *)at)->type != PROF_END)
		at += ((const struct prof_record *)at)->words;
	return at < end;
}

static void keep(struct stream *stream, const struct message *message)
{
	size_t count = message->type.msgtl_number;

	if (stream->n_words + count > sizeof words / sizeof words[0] / n_streams)
		fail("keep so many samples");
	memcpy(stream->words + stream->n_words, message->data, count * sizeof *words);
	stream->ended = has_end(message->data, message->data + count);
	stream->n_words += count;
	vm_deallocate(mach_task_self(), (vm_address_t)message->data, count * sizeof *words);
}

static struct stream *find(mach_port_t reply)
{
	for (unsigned n = 0; n < n_streams; n++)
		if (streams[n].reply == reply)
			return &streams[n];
	fail("tell whose samples came");
}

/* One message, if one comes soon. */
static void receive(mach_port_t set)
{
	struct message message;
	mach_msg_return_t result = mach_msg(&message.head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0,
					    sizeof message, set, POLL_MS, MACH_PORT_NULL);

	if (result == MACH_RCV_TIMED_OUT)
		return;
	if (result != MACH_MSG_SUCCESS || message.head.msgh_id != EXPECTED)
		fail("receive samples");
	keep(find(message.head.msgh_local_port), &message);
}

static bool all_ended(void)
{
	unsigned n = 0;

	while (n < n_streams && streams[n].ended)
		n++;
	return n == n_streams;
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
	mach_port_t set; /* Of the streams' ports. */
	uint32_t flavors;
	uint32_t rate;
	uint32_t flags;
};

static void set_seed(uint32_t seed)
{
	must(host_sample_control(task_by_pid(-1), 0, seed), "set the seed");
}

static void make_stream(struct stream *stream, mach_port_t set)
{
	mach_port_t self = mach_task_self();

	must(mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &stream->reply), "make a port");
	must(mach_port_move_member(self, stream->reply, set), "join a set");
	stream->words = words + (stream - streams) * (sizeof words / sizeof words[0] / n_streams);
}

static void begin_stream(const struct sampling *to, mach_port_t reply)
{
	const sample_options_t options = {.flags = to->flags, .age_ms = 500};

	must(to->host != MACH_PORT_NULL
		     ? host_sample_start(to->host, 0, to->flavors, to->rate, options, reply)
		     : task_sample_start(to->task, to->flavors, to->rate, options, reply),
	     "begin to sample");
}

static bool skip(const char **text, const char *word)
{
	bool is_there = strncmp(*text, word, strlen(word)) == 0;

	if (is_there)
		*text += strlen(word);
	return is_there;
}

static void read_rate(struct sampling *sampling, const char *text)
{
	if (skip(&text, HOST))
		sampling->host = task_by_pid(-1);
	if (skip(&text, NMI))
		sampling->flags = SAMPLE_NMI;
	sampling->rate = strtoul(text, NULL, 0);
}

/* `1-10` is ten streams, a number one with this seed, and 0 one with any. */
static uint32_t read_seeds(const char *text)
{
	char *end = NULL;
	uint32_t first = strtoul(text, &end, 0);

	if (*end == '-')
		n_streams = strtoul(end + 1, NULL, 0) - first + 1;
	if (n_streams > STREAMS_MAX)
		fail("have so many streams");
	return first;
}

static struct sampling begin(pid_t pid, char **arguments)
{
	uint32_t seed = read_seeds(arguments[2]);
	struct sampling sampling = {
		.task = task_by_pid(pid),
		.flavors = strtoul(arguments[0], NULL, 0),
	};

	must(mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_PORT_SET, &sampling.set),
	     "make a set of ports");
	read_rate(&sampling, arguments[1]);
	for (unsigned n = 0; n < n_streams; n++) {
		make_stream(&streams[n], sampling.set);
		if (seed != 0)
			set_seed(seed + n);
		begin_stream(&sampling, streams[n].reply);
	}
	return sampling;
}

static void stop_all(const struct sampling *sampling)
{
	for (unsigned n = 0; n < n_streams; n++)
		must(host_sample_stop(sampling->host, streams[n].reply), "stop");
}

/* What it left; streams of the whole machine have to be told that it is over. */
static int collect(pid_t pid, const struct sampling *sampling)
{
	bool is_over = false;
	int status = 0;

	while (!is_over || !all_ended()) {
		receive(sampling->set);
		if (is_over || waitpid(pid, &status, WNOHANG) != pid)
			continue;
		is_over = true;
		if (sampling->host != MACH_PORT_NULL)
			stop_all(sampling);
	}
	return status;
}

static void write_all(int fd, const struct stream *stream)
{
	const char *bytes = (const char *)stream->words;
	size_t left = stream->n_words * sizeof *words;
	ssize_t done;

	for (; left > 0; left -= (size_t)done, bytes += done) {
		done = write(fd, bytes, left);
		if (done <= 0)
			fail("write the file");
	}
}

static void write_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0)
		fail("make the file");
	for (unsigned n = 0; n < n_streams; n++)
		write_all(fd, &streams[n]);
	if (close(fd) != 0)
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
