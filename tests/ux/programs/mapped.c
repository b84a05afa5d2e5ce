/* SPDX-License-Identifier: MIT */
/* Files as memory: what is mapped and what is read are the same. */
#include <fcntl.h>
#include <mach/map_fd.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "check_unix.h"

#define PAGE  4096
#define PAGES 5

static char bytes[PAGES * PAGE];

/* A file of four pages and a bit; *map is where it is mapped. */
static int begin(volatile char **map)
{
	vm_offset_t address = 0;
	int fd = open("/tmp/mapped.data", O_RDWR | O_CREAT | O_TRUNC, 0700);

	for (unsigned n = 0; n < sizeof bytes; n++)
		bytes[n] = (char)(n / PAGE + n);
	if (write(fd, bytes, 4 * PAGE + 100) != 4 * PAGE + 100 ||
	    map_fd(fd, 0, &address, TRUE, sizeof bytes) != KERN_SUCCESS)
		check_fail("no map (errno %d)", errno);
	unlink("/tmp/mapped.data");
	*map = (volatile char *)address;
	return fd;
}

static int major_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_majflt;
}

TEST(a_map_has_the_file)
{
	volatile char *map;

	begin(&map);
	for (unsigned n = 0; n < sizeof bytes; n++) {
		char expected = n < 4 * PAGE + 100 ? bytes[n] : 0;

		if (map[n] != expected)
			check_fail("byte %u is %d, not %d", n, map[n], expected);
	}
}

TEST(each_page_is_one_page_in)
{
	volatile char *map;
	int before;

	begin(&map);
	before = major_faults();
	for (unsigned n = 0; n < PAGES; n++) {
		(void)map[n * PAGE];
		(void)map[n * PAGE + 50];
	}
	EXPECT_EQ(major_faults() - before, PAGES);
}

/* Pages that the kernel has are taken away before the file changes. */
TEST(what_is_written_is_seen)
{
	volatile char *map;
	int fd = begin(&map);

	EXPECT_EQ(map[PAGE + 10], bytes[PAGE + 10]);
	EXPECT_EQ(lseek(fd, PAGE + 10, SEEK_SET), PAGE + 10);
	EXPECT_EQ(write(fd, "!", 1), 1);
	EXPECT_EQ(map[PAGE + 10], '!');
	EXPECT_EQ(map[PAGE + 11], bytes[PAGE + 11]);
}

TEST(what_is_stored_stays_here)
{
	volatile char *map;
	char byte = 0;
	int fd = begin(&map);

	map[20] = '!';
	EXPECT_EQ(lseek(fd, 20, SEEK_SET), 20);
	EXPECT_EQ(read(fd, &byte, 1), 1);
	EXPECT_EQ(byte, bytes[20]);
	EXPECT_EQ(lseek(fd, 20, SEEK_SET), 20);
	EXPECT_EQ(write(fd, "?", 1), 1);
	EXPECT_EQ(map[20], '!');
}

static void say_what(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	_exit(info->si_code == BUS_OBJERR ? 7 : 8);
}

TEST(behind_the_end_is_nothing)
{
	volatile char *map;
	int fd = begin(&map);
	int status = 0;

	EXPECT_EQ(map[0], bytes[0]);
	EXPECT_EQ(map[2 * PAGE], bytes[2 * PAGE]);
	EXPECT_EQ(ftruncate(fd, 10), 0);
	EXPECT_EQ(map[9], bytes[9]);
	EXPECT_EQ(map[10], 0);
	if (fork() == 0) {
		(void)map[2 * PAGE];
		_exit(0);
	}
	wait(&status);
	EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	if (fork() == 0) {
		const struct sigaction action = {.sa_sigaction = say_what, .sa_flags = SA_SIGINFO};

		sigaction(SIGBUS, &action, NULL);
		(void)map[2 * PAGE];
		_exit(0);
	}
	wait(&status);
	EXPECT_EQ(status, W_EXITCODE(7, 0));
}

/* Every write is seen whole by whoever maps the file, also while he touches it. */
TEST(writers_and_touchers_at_once)
{
	volatile char *map;
	int fd = begin(&map);
	pid_t child = fork();

	if (child == 0)
		for (unsigned n = 0;; n++)
			(void)map[n % PAGES * PAGE];
	for (int n = 0; n < 100; n++) {
		memset(bytes, 'a' + n % 20, 2 * PAGE);
		EXPECT_EQ(lseek(fd, n * 50, SEEK_SET), n * 50);
		EXPECT_EQ(write(fd, bytes, 2 * PAGE), 2 * PAGE);
		EXPECT_EQ(map[n * 50], bytes[0]);
		EXPECT_EQ(map[n * 50 + 2 * PAGE - 1], bytes[0]);
	}
	kill(child, SIGKILL);
	EXPECT_EQ(waitpid(child, NULL, 0), child);
}

TEST(what_cannot_be_mapped)
{
	vm_offset_t address = 0;
	int ends[2];

	REQUIRE(pipe(ends) == 0);
	EXPECT(map_fd(ends[0], 0, &address, TRUE, PAGE) != KERN_SUCCESS);
	EXPECT(map_fd(open("/tmp", O_RDONLY), 0, &address, TRUE, PAGE) != KERN_SUCCESS);
	EXPECT(map_fd(open("/dev/zero", O_RDONLY), 0, &address, TRUE, PAGE) != KERN_SUCCESS);
	EXPECT(map_fd(open("/tmp/w", O_WRONLY | O_CREAT, 0600), 0, &address, TRUE, PAGE) !=
	       KERN_SUCCESS);
	EXPECT(map_fd(50, 0, &address, TRUE, PAGE) != KERN_SUCCESS);
	unlink("/tmp/w");
}

/* ---------------- Programs ---------------- */

static int copy(const char *from, const char *to)
{
	static char buffer[65536];
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	ssize_t n;

	while ((n = read(in, buffer, sizeof buffer)) > 0)
		if (write(out, buffer, (size_t)n) != n)
			return -1;
	return close(in) + close(out);
}

static pid_t run_sleep(const char *path)
{
	pid_t child = fork();

	if (child == 0) {
		execl(path, path, "1000", NULL);
		_exit(1);
	}
	return child;
}

/* Waits until the child's program has been executed: its file cannot be written then. */
static void await_executed(const char *path)
{
	int fd;

	while ((fd = open(path, O_WRONLY)) >= 0) {
		close(fd);
		usleep(1000);
	}
	EXPECT_EQ(errno, ETXTBSY);
}

TEST(a_program_that_runs_is_not_written)
{
	pid_t child;

	REQUIRE(copy("/bin/sleep", "/tmp/asleep") == 0);
	child = run_sleep("/tmp/asleep");
	await_executed("/tmp/asleep");
	EXPECT_FAILS(truncate("/tmp/asleep", 0), ETXTBSY);
	EXPECT_FAILS(open("/tmp/asleep", O_RDONLY | O_TRUNC), ETXTBSY);
	EXPECT_EQ(unlink("/tmp/asleep"), 0);
	EXPECT_EQ(kill(child, SIGTERM), 0);
	EXPECT_EQ(waitpid(child, NULL, 0), child);
}

TEST(a_file_that_is_written_is_not_executed)
{
	int fd;

	REQUIRE(copy("/bin/true", "/tmp/program") == 0);
	fd = open("/tmp/program", O_WRONLY);
	EXPECT_FAILS(execl("/tmp/program", "program", NULL), ETXTBSY);
	close(fd);
	unlink("/tmp/program");
}

/* What the kernel has kept of a program is of no use when its file has become another. */
TEST(a_program_can_become_another)
{
	static const char *const sources[] = {"/bin/true", "/bin/false"};
	int status;

	for (int n = 0; n < 6; n++) {
		REQUIRE(copy(sources[n % 2], "/tmp/changing") == 0);
		if (fork() == 0) {
			execl("/tmp/changing", "changing", NULL);
			_exit(9);
		}
		wait(&status);
		EXPECT_EQ(WEXITSTATUS(status), n % 2);
	}
	unlink("/tmp/changing");
}
