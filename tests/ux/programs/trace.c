/* SPDX-License-Identifier: MIT */
/*
 * What ktrace() records of each kind, compared with what was done: every call and argument, result,
 * path, byte and signal.
 *
 * guest: user=root limit=60
 * guest: user=student limit=60
 */
#include <mach.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/ux.h>

#include "traces.h"

#define F     "/tmp/trace.f"
#define LINK  "/tmp/trace.link"
#define CALLS (KTRFAC_SYSCALL | KTRFAC_SYSRET)

/* Executed by a test: does two things that can be told apart. */
__attribute__((constructor)) static void play_role(void)
{
	if (getenv(ROLE) == NULL)
		return;
	utrace("in", 2);
	_exit(5);
}

static void begin(int facilities)
{
	EXPECT(trace_make_file());
	EXPECT_EQ(ktrace(TRACE, KTROP_SET, facilities, getpid()), 0);
}

static void end(void)
{
	EXPECT_EQ(ktrace(NULL, KTROP_CLEAR, ALL, getpid()), 0);
}

/* ---------------- Calls ---------------- */

TEST(calls_arguments_and_results)
{
	const pid_t pid = getpid();
	int fd;

	begin(CALLS);
	getpid();
	close(40);
	umask(022);
	fd = open(F, O_RDWR | O_CREAT | O_TRUNC, 0640);
	write(fd, "hello", 5);
	lseek(fd, 0x123456789aLL, SEEK_SET);
	chown("/nowhere", (uid_t)-1, 7);
	dup(fd);
	lseek(fd, 1, SEEK_SET);
	read(fd, (char[8]){0}, 8);
	ktrace(NULL, KTROP_CLEAR, CALLS, pid);

	const char *const lines[] = {
		"ret 83 0",
		"call 5",
		trace_line("ret 5 %d", pid),
		"call 31 40",
		trace_line("ret 31 error %d", EBADF),
		"call 60 18",
		"ret 60 18",
		trace_line("call 30 %d %d 416", (int)strlen(F), O_RDWR | O_CREAT | O_TRUNC),
		trace_line("ret 30 %d", fd),
		trace_line("call 34 %d 5", fd),
		"ret 34 5",
		trace_line("call 36 %d %lld 0", fd, 0x123456789aLL),
		trace_line("ret 36 %d", 0x3456789a),
		"call 55 8 4294967295 7",
		trace_line("ret 55 error %d", ENOENT),
		trace_line("call 47 %d 0 0", fd),
		trace_line("ret 47 %d", fd + 1),
		trace_line("call 36 %d 1 0", fd),
		"ret 36 1",
		trace_line("call 32 %d 8", fd),
		"ret 32 4",
		trace_line("call 83 0 1 %d %d", CALLS, pid),
	};
	EXPECT_TRACE(lines, pid);
}

TEST(a_call_that_there_is_not)
{
	struct {
		mach_msg_header_t head;
		char room[64];
	} message = {.head = {.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND,
							  MACH_MSG_TYPE_MAKE_SEND_ONCE),
			      .msgh_size = sizeof message.head,
			      .msgh_remote_port = ux_server_port(),
			      .msgh_local_port = mach_reply_port(),
			      .msgh_id = SYS_BASE + 999}};
	const pid_t pid = getpid();

	begin(CALLS);
	EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message.head,
			   sizeof message, message.head.msgh_local_port, 0, 0),
		  0);
	end();

	const char *const lines[] = {
		"ret 83 0",
		"call 999",
		trace_line("ret 999 error %d", MIG_BAD_ID),
		"call 5",
		trace_line("ret 5 %d", pid),
		trace_line("call 83 0 1 %d %d", ALL, pid),
	};
	EXPECT_TRACE(lines, pid);
}

/* ---------------- Paths ---------------- */

TEST(paths_that_are_looked_up)
{
	const pid_t pid = getpid();
	struct stat status;

	unlink(F);
	unlink(LINK);
	begin(KTRFAC_NAMEI);
	EXPECT_EQ(chdir("/tmp"), 0);
	EXPECT(open("trace.f", O_RDWR | O_CREAT, 0600) >= 0);
	EXPECT_EQ(symlink("trace.f", LINK), 0);
	EXPECT_EQ(stat(LINK, &status), 0);
	EXPECT_EQ(rename("trace.f", F "2"), 0);
	EXPECT_FAILS(rmdir("/none/at/all"), ENOENT);
	EXPECT_FAILS(stat("", &status), ENOENT);
	EXPECT_EQ(unlink(F "2"), 0);
	end();

	static const char *const lines[] = {
		"path /tmp",    /* A file is looked for before it is made, */
		"path trace.f", /* and then the place where it is to be. */
		"path trace.f", "path " LINK,        "path " LINK, "path trace.f",
		"path " F "2",  "path /none/at/all", "path ",      "path " F "2",
	};
	EXPECT_TRACE(lines, pid);
}

TEST(names_of_what_is_shared)
{
	const pid_t pid = getpid();
	sem_t *semaphore;

	begin(KTRFAC_NAMEI | CALLS);
	EXPECT_FAILS(shm_open("/none", O_RDWR, 0), ENOENT);
	semaphore = sem_open("/trace.s", O_CREAT, 0600, 1);
	sem_wait(semaphore);
	EXPECT_FAILS(sem_unlink("none"), EINVAL);
	ktrace(NULL, KTROP_CLEAR, CALLS | KTRFAC_NAMEI, pid);
	EXPECT_EQ(sem_unlink("/trace.s"), 0);

	const char *const lines[] = {
		"ret 83 0",
		trace_line("call 90 5 %d 0", O_RDWR),
		"path /none",
		trace_line("ret 90 error %d", ENOENT),
		trace_line("call 92 8 %d 384 1", O_CREAT),
		"path /trace.s",
		"ret 92 3",
		"call 94 3 1",
		"ret 94 0",
		"call 93 4",
		"path none",
		trace_line("ret 93 error %d", EINVAL),
		trace_line("call 83 0 1 %d %d", CALLS | KTRFAC_NAMEI, pid),
	};
	EXPECT_TRACE(lines, pid);
	sem_close(semaphore);
}

TEST(a_script_and_its_interpreter)
{
	pid_t pid;

	EXPECT(make_text(F, "#!/bin/true\n", 0755));
	begin(KTRFAC_NAMEI | KTRFAC_INHERIT);
	pid = fork();
	if (pid == 0) {
		execl(F, F, NULL);
		_exit(99);
	}
	EXPECT_EQ(status_of(pid), 0);
	end();

	static const char *const lines[] = {"path " F, "path /bin/true"};
	EXPECT_TRACE(lines, pid);
}

/* ---------------- Data ---------------- */

enum {
	LONG = 20000,
	PIECE = 4096
};

static char long_data[LONG];

static void fill_long_data(void)
{
	for (size_t n = 0; n < LONG; n++)
		long_data[n] = (char)(n * 7);
}

TEST(bytes_that_are_read_and_written)
{
	const pid_t pid = getpid();
	char bytes[8];
	int fd, ends[2];

	begin(KTRFAC_GENIO);
	fd = open(F, O_RDWR | O_CREAT | O_TRUNC, 0600);
	EXPECT_EQ(write(fd, "hello", 5), 5);
	lseek(fd, 2, SEEK_SET);
	EXPECT_EQ(read(fd, bytes, 8), 3);
	EXPECT_EQ(read(fd, bytes, 8), 0);
	EXPECT_EQ(pipe(ends), 0);
	EXPECT_EQ(write(ends[1], "x", 1), 1);
	EXPECT_EQ(read(ends[0], bytes, 8), 1);
	EXPECT_FAILS(write(ends[0], "y", 1), EBADF);
	end();

	const char *const lines[] = {
		trace_line("write %d hello", fd), trace_line("read %d llo", fd),
		trace_line("read %d ", fd),       trace_line("write %d x", ends[1]),
		trace_line("read %d x", ends[0]),
	};
	EXPECT_TRACE(lines, pid);
}

/* In pieces, which are all there is and in order. */
TEST(long_data_is_several_records)
{
	struct trace trace;
	const struct ktr_header *header;
	size_t at = 0;
	int fd;

	fill_long_data();
	begin(KTRFAC_GENIO);
	fd = open(F, O_RDWR | O_CREAT | O_TRUNC, 0600);
	EXPECT_EQ(write(fd, long_data, LONG), LONG);
	lseek(fd, 0, SEEK_SET);
	EXPECT_EQ(read(fd, long_data, LONG), LONG);
	end();
	trace = trace_read();
	while ((header = trace_next(&trace)) != NULL) {
		const struct ktr_genio *io = (const void *)(header + 1);
		size_t size = (size_t)header->ktr_len - sizeof *io;

		EXPECT(size == PIECE || (at + size) % LONG == 0);
		EXPECT_EQ(io->ktr_rw, at < LONG ? KTR_WRITE : KTR_READ);
		EXPECT(memcmp(io + 1, long_data + at % LONG, size) == 0);
		at += size;
	}
	EXPECT_EQ(at, 2 * LONG);
}

/* Much more than the server's buffers: who is traced waits, and nothing is lost. */
TEST(more_than_the_buffer)
{
	enum {
		TIMES = 40
	};
	int fd;

	begin(KTRFAC_GENIO);
	fd = open(F, O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int n = 0; n < TIMES; n++)
		EXPECT_EQ(write(fd, long_data, LONG), LONG);
	end();
	EXPECT_EQ(trace_count(KTR_GENIO), TIMES * ((LONG + PIECE - 1) / PIECE));
	unlink(F);
}

/* ---------------- Signals ---------------- */

static void do_nothing(int signal)
{
	(void)signal;
}

TEST(signals_that_are_taken)
{
	const struct sigaction action = {.sa_handler = do_nothing};
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaction(SIGUSR1, &action, NULL);
	signal(SIGUSR2, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, &old);
	begin(KTRFAC_PSIG);
	kill(getpid(), SIGUSR2);
	kill(getpid(), SIGUSR1);
	sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 3});
	kill(getpid(), SIGHUP);
	end();

	const char *const lines[] = {
		trace_line("signal %d by %x code %d mask 1", SIGUSR1,
			   (unsigned)(uintptr_t)do_nothing, SI_USER),
		trace_line("signal %d by %x code %d mask 1", SIGUSR1,
			   (unsigned)(uintptr_t)do_nothing, SI_QUEUE),
	};
	EXPECT_TRACE(lines, getpid());
}

static volatile uintptr_t nowhere = 16; /* Nothing is there. */

static pid_t die_in_a_child(int signal)
{
	pid_t pid;

	begin(KTRFAC_PSIG | KTRFAC_INHERIT);
	pid = fork();
	if (pid == 0) {
		end(); /* Of its own: the parent's SIGCHLD is none of this. */
		EXPECT_EQ(ktrace(TRACE, KTROP_SET, KTRFAC_PSIG, getpid()), 0);
		if (signal == SIGSEGV)
			*(volatile int *)nowhere = 1;
		kill(getpid(), signal);
		_exit(99);
	}
	end();
	EXPECT_EQ(status_of(pid), signal);
	return pid;
}

TEST(signals_that_end_the_process)
{
	static const struct {
		int signal, code;
	} ends[] = {{SIGTERM, SI_USER}, {SIGKILL, SI_USER}, {SIGSEGV, SEGV_MAPERR}};

	for (size_t n = 0; n < sizeof ends / sizeof ends[0]; n++) {
		pid_t pid = die_in_a_child(ends[n].signal);
		const char *const lines[] = {
			trace_line("signal %d by 0 code %d mask 0", ends[n].signal, ends[n].code)};

		EXPECT_TRACE(lines, pid);
	}
}

/* ---------------- Words ---------------- */

TEST(words_of_the_program)
{
	static const char long_text[KTR_USER_MAX + 1];

	EXPECT_EQ(utrace("unheard", 7), 0);
	begin(KTRFAC_USER);
	EXPECT_EQ(utrace("one", 3), 0);
	EXPECT_EQ(utrace(NULL, 0), 0);
	EXPECT_EQ(utrace(long_text, KTR_USER_MAX), 0);
	EXPECT_FAILS(utrace(long_text, KTR_USER_MAX + 1), EINVAL);
	EXPECT_FAILS(utrace((void *)16, 3), EFAULT);
	end();

	static const char *const lines[] = {"words one", "words ", "words "};
	EXPECT_TRACE(lines, getpid());
}

/* ---------------- Processes and threads ---------------- */

TEST(children_are_traced_if_it_is_inherited)
{
	pid_t pid;

	begin(KTRFAC_USER);
	EXPECT_EQ(status_of_role("/tmp/trace", "words"), W_EXITCODE(5, 0));
	EXPECT_EQ(ktrace(TRACE, KTROP_SET, KTRFAC_USER | KTRFAC_SYSCALL | KTRFAC_INHERIT, getpid()),
		  0);
	pid = fork();
	if (pid == 0) {
		setenv(ROLE, "words", 1);
		execl("/tmp/trace", "/tmp/trace", NULL);
	}
	ktrace(NULL, KTROP_CLEAR, ALL, getpid());
	EXPECT_EQ(status_of(pid), W_EXITCODE(5, 0));

	struct trace trace = trace_read();
	const struct ktr_header *header;
	char line[LINE_MAX];
	unsigned words = 0, exits = 0;

	while ((header = trace_next(&trace)) != NULL) {
		trace_show(header, line);
		words += strcmp(line, "words in") == 0 && header->ktr_pid == pid &&
			 strcmp(header->ktr_comm, "trace") == 0;
		exits += strcmp(line, "call 2 5") == 0 && header->ktr_pid == pid;
	}
	EXPECT_EQ(words, 1);
	EXPECT_EQ(exits, 1);
}

/* A call that does not come back comes back as the new program. */
TEST(exec_comes_back_and_exit_does_not)
{
	pid_t pid;

	begin(CALLS | KTRFAC_INHERIT);
	pid = fork();
	if (pid == 0) {
		execl("/bin/none", "none", NULL);
		execl("/bin/true", "true", NULL);
	}
	ktrace(NULL, KTROP_CLEARFILE, 0, 0);
	ktrace(NULL, KTROP_CLEAR, ALL, getpid());
	EXPECT_EQ(status_of(pid), 0);

	struct trace trace = trace_read();
	const struct ktr_header *header, *last = NULL;
	char line[LINE_MAX] = "";
	unsigned failed = 0, back = 0;

	while ((header = trace_next(&trace)) != NULL) {
		if (header->ktr_pid != pid)
			continue;
		trace_show(header, line);
		failed += strcmp(line, "ret 1 error 2") == 0;
		back += strcmp(line, "ret 1 0") == 0 && strcmp(header->ktr_comm, "true") == 0;
		last = header;
	}
	EXPECT_EQ(failed, 1);
	EXPECT_EQ(back, 1);
	EXPECT(last != NULL && last->ktr_type == KTR_SYSCALL);
	EXPECT(strcmp(line, "call 2 0") == 0);
}

static void *say(void *word)
{
	for (int n = 0; n < 100; n++)
		utrace(word, 1);
	return NULL;
}

TEST(threads_are_told_apart)
{
	static char words[] = "abcd";
	int thread_of[4] = {0}, count[4] = {0};
	const struct ktr_header *header;
	pthread_t threads[4];
	struct trace trace;

	begin(KTRFAC_USER);
	for (int n = 0; n < 4; n++)
		REQUIRE(pthread_create(&threads[n], NULL, say, &words[n]) == 0);
	for (int n = 0; n < 4; n++)
		pthread_join(threads[n], NULL);
	end();
	trace = trace_read();
	while ((header = trace_next(&trace)) != NULL) {
		int which = *(const char *)(header + 1) - 'a';

		REQUIRE(which >= 0 && which < 4);
		if (count[which]++ == 0)
			thread_of[which] = header->ktr_thread;
		EXPECT_EQ(header->ktr_thread, thread_of[which]);
	}
	for (int n = 0; n < 4; n++) {
		EXPECT_EQ(count[n], 100);
		for (int other = 0; other < n; other++)
			EXPECT(thread_of[n] != thread_of[other]);
	}
}

enum {
	MANY = 30,
	TIMES = 5
};

/* A file of its own for each of many. */
static const char *own_path(int n)
{
	static char path[32];

	snprintf(path, sizeof path, F "%02d", n);
	return path;
}

static void do_something_of_each_kind(int n)
{
	const struct sigaction action = {.sa_handler = do_nothing};
	const pid_t pid = getpid();

	sigaction(SIGUSR1, &action, NULL);
	for (int at = 0; at < TIMES; at++) {
		char word = (char)('a' + at);
		int fd = open(own_path(n), O_RDWR);

		write(fd, &word, 1);
		close(fd);
		kill(pid, SIGUSR1);
		utrace(&word, 1);
	}
	_exit(n);
}

enum {
	LINES_BEFORE = 6, /* Those of fork() and of what is prepared: */
	LINES_OF_TURN = 14
};

/* What comes in each turn; the signal is taken before the call that sent it is over. */
static const char *line_of_turn(int which, int n, int at, pid_t pid)
{
	const char *path = own_path(which);
	char word = (char)('a' + at);
	const char *const lines[LINES_OF_TURN] = {
		trace_line("call 30 %d %d 0", (int)strlen(path), O_RDWR),
		trace_line("path %s", path),
		"ret 30 3",
		"call 34 3 1",
		trace_line("write 3 %c", word),
		"ret 34 1",
		"call 31 3",
		"ret 31 0",
		trace_line("call 20 %d %d", pid, SIGUSR1),
		trace_line("signal %d by %x code %d mask 0", SIGUSR1,
			   (unsigned)(uintptr_t)do_nothing, SI_USER),
		"ret 20 0",
		"call 84 1",
		trace_line("words %c", word),
		"ret 84 0",
	};

	return lines[n];
}

/* The n-th record of a process. */
static void expect_line(int which, pid_t pid, int n, const char *line)
{
	const int turn = (n - LINES_BEFORE) / LINES_OF_TURN;
	const char *wanted;

	if (n < LINES_BEFORE)
		return;
	if (turn < TIMES)
		wanted = line_of_turn(which, (n - LINES_BEFORE) % LINES_OF_TURN, turn, pid);
	else
		wanted = trace_line("call 2 %d", which);
	if (strcmp(line, wanted) != 0)
		check_fail("record %d of process %d is `%s`, not `%s`", n, which, line, wanted);
}

/* Each does what it does, and all is there, each process's in its order. */
TEST(thirty_processes_at_once)
{
	static pid_t pids[MANY];
	static int next[MANY];
	const struct ktr_header *header;
	struct trace trace;
	char line[LINE_MAX];

	for (int n = 0; n < MANY; n++)
		EXPECT(make_file(own_path(n), "", 0, 0600));
	begin(ALL | KTRFAC_INHERIT);
	for (int n = 0; n < MANY; n++) {
		pids[n] = fork();
		if (pids[n] == 0)
			do_something_of_each_kind(n);
	}
	for (int n = 0; n < MANY; n++)
		EXPECT_EQ(status_of(pids[n]), W_EXITCODE(n, 0));
	end();
	trace = trace_read();
	for (uint32_t n = 1; (header = trace_next(&trace)) != NULL; n++) {
		int which = 0;

		EXPECT_EQ(header->ktr_sequence, n);
		while (which < MANY && pids[which] != header->ktr_pid)
			which++;
		if (which == MANY)
			continue;
		trace_show(header, line);
		expect_line(which, header->ktr_pid, next[which]++, line);
	}
	for (int n = 0; n < MANY; n++) {
		EXPECT_EQ(next[n], LINES_BEFORE + TIMES * LINES_OF_TURN + 1);
		unlink(own_path(n));
	}
}

/* ---------------- Time ---------------- */

TEST(records_are_in_the_order_of_their_times)
{
	struct timeval before, after;
	const struct ktr_header *header;
	struct trace trace;
	long long last, now;

	begin(KTRFAC_USER);
	gettimeofday(&before, NULL);
	for (int n = 0; n < 100; n++)
		utrace("x", 1);
	gettimeofday(&after, NULL);
	end();
	last = before.tv_sec * 1000000LL + before.tv_usec;
	trace = trace_read();
	while ((header = trace_next(&trace)) != NULL) {
		now = header->ktr_time.tv_sec * 1000000LL + header->ktr_time.tv_usec;
		EXPECT(now >= last - 1);
		last = now;
	}
	EXPECT(last <= after.tv_sec * 1000000LL + after.tv_usec + 1);
}

#define TIMED    80
#define PAUSE_US 1000 /* All of them take longer than the server goes without asking the kernel. */

static int64_t now_us(void)
{
	struct timeval now;

	gettimeofday(&now, NULL);
	return now.tv_sec * 1000000LL + now.tv_usec;
}

/* Each record is made between two looks at the clock, which have a millisecond between them. */
TEST(records_have_the_time_when_they_are_made)
{
	static int64_t before[TIMED], after[TIMED];
	const struct ktr_header *header;
	struct trace trace;
	int n = 0;

	begin(KTRFAC_USER);
	for (int i = 0; i < TIMED; i++) {
		before[i] = now_us();
		utrace("x", 1);
		after[i] = now_us();
		while (now_us() < after[i] + PAUSE_US)
			continue;
	}
	end();
	trace = trace_read();
	while ((header = trace_next(&trace)) != NULL && n < TIMED) {
		int64_t at = header->ktr_time.tv_sec * 1000000LL + header->ktr_time.tv_usec;

		EXPECT_LE(before[n] - 1, at);
		EXPECT_LE(at, after[n] + 1);
		EXPECT(header->ktr_time.tv_usec >= 0 && header->ktr_time.tv_usec < 1000000);
		n++;
	}
	EXPECT_EQ(n, TIMED);
	EXPECT(header == NULL);
	free(trace.bytes);
}
