/* SPDX-License-Identifier: MIT */
/*
 * Programs in place of others: arguments and environment, what stays of the process, what is no
 * program, and files that run.
 *
 * guest: limit=30
 * guest: cpus=2 seed=1 limit=30
 */
#include <limits.h>
#include <signal.h>
#include <sys/ux.h>

#include "help.h"

#define SELF "/tmp/exec"
#define F    "/tmp/exec.f"

#define DIFFERENT 77

static int what_stayed(void)
{
	sigset_t mask = 0;
	struct sigaction action;
	char path[PATH_MAX];

	sigprocmask(SIG_SETMASK, NULL, &mask);
	if (getpid() != atoi(getenv("TEST_PID")) || getppid() != atoi(getenv("TEST_PARENT")))
		return 1;
	if (getcwd(path, sizeof path) == NULL || strcmp(path, "/etc") != 0 || umask(0) != 0123)
		return 2;
	if (mask != SIGNAL_BIT(SIGUSR1) || lseek(9, 0, SEEK_CUR) != 3)
		return 3;
	if (sigaction(SIGUSR2, NULL, &action) != 0 || action.sa_handler != SIG_DFL)
		return 4;
	if (sigaction(SIGHUP, NULL, &action) != 0 || action.sa_handler != SIG_IGN)
		return 5;
	return 0;
}

/* In a new program the words lie before the environment, and before them is their number. */
static int find_words(char ***words)
{
	int count = 0;

	for (*words = environ - 1; (uintptr_t)(*words)[-1] != (uintptr_t)count; --*words)
		count++;
	return count;
}

/* Executed by a test: the status tells what was found. */
__attribute__((constructor)) static void play_role(void)
{
	const char *role = getenv(ROLE);
	char **argv, **environment = environ;
	int argc;

	if (role == NULL)
		return;
	argc = find_words(&argv);
	if (strcmp(role, "stayed") == 0)
		_exit(what_stayed());
	if (strcmp(role, "count") == 0)
		_exit(argc);
	if (strcmp(role, "script") == 0)
		_exit(argc == 4 && strcmp(argv[1], "an option") == 0 &&
				      strcmp(argv[2], "/tmp/exec.script") == 0 &&
				      strcmp(argv[3], "word") == 0
			      ? 0
			      : argc);
	if (strcmp(role, "words") == 0)
		_exit(argc == 4 && strcmp(argv[0], "zero") == 0 && argv[1][0] == '\0' &&
				      strcmp(argv[2], "a b\n") == 0 && argv[4] == NULL &&
				      strcmp(environment[1], "x=y=z") == 0 && environment[2] == NULL
			      ? 0
			      : 1);
	_exit(DIFFERENT);
}

static int status_of_exec(const char *path, char *const words[], char *const environment[])
{
	pid_t pid = fork();

	if (pid != 0)
		return status_of(pid);
	execve(path, words, environment);
	_exit(errno == E2BIG ? 98 : 99);
}

TEST(words_and_environment_arrive)
{
	char *const words[] = {"zero", "", "a b\n", "d", NULL};
	char *const environment[] = {ROLE "=words", "x=y=z", NULL};

	EXPECT_EQ(status_of_exec(SELF, words, environment), 0);
}

TEST(words_may_fill_their_room)
{
	enum {
		OWN = sizeof ROLE "=count" + sizeof(char *)
	};
	static char word[UX_ARGUMENTS_MAX];
	char *words[3] = {word, "b", NULL}, *const environment[] = {ROLE "=count", NULL};
	/* The strings with their zeros, and an address for each. */
	size_t most = UX_ARGUMENTS_MAX - OWN - 2 - sizeof(char *) - 1 - sizeof(char *);

	memset(word, 'w', most);
	EXPECT_EQ(status_of_exec(SELF, words, environment), W_EXITCODE(2, 0));
	word[most] = 'w';
	EXPECT_EQ(status_of_exec(SELF, words, environment), W_EXITCODE(98, 0));
	EXPECT_FAILS(execve(SELF, words, environment), E2BIG);
}

TEST(many_words_are_too_much_too)
{
	static char *words[UX_ARGUMENTS_MAX / 4];
	char *const environment[] = {ROLE "=count", NULL};
	int n = 0;

	while (n < 9000)
		words[n++] = "";
	EXPECT_EQ(status_of_exec(SELF, words, environment), W_EXITCODE(9000 & 0xff, 0));
	while (n < UX_ARGUMENTS_MAX / 4 - 1)
		words[n++] = "";
	EXPECT_FAILS(execve(SELF, words, environment), E2BIG);
}

static void do_nothing(int signal)
{
	(void)signal;
}

static void prepare_and_execute(void)
{
	char number[16];
	sigset_t mask = SIGNAL_BIT(SIGUSR1);

	snprintf(number, sizeof number, "%d", getpid());
	setenv("TEST_PID", number, 1);
	snprintf(number, sizeof number, "%d", getppid());
	setenv("TEST_PARENT", number, 1);
	chdir("/etc");
	umask(0123);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	signal(SIGUSR2, do_nothing);
	signal(SIGHUP, SIG_IGN);
	dup2(open("/etc/passwd", O_RDONLY), 9);
	lseek(9, 3, SEEK_SET);
	setenv(ROLE, "stayed", 1);
	execl(SELF, SELF, (char *)NULL);
	_exit(99);
}

TEST(the_process_stays_the_same)
{
	pid_t pid = fork();

	if (pid == 0)
		prepare_and_execute();
	EXPECT_EQ(status_of(pid), 0);
}

TEST(a_line_names_the_interpreter)
{
	char *const words[] = {"zero", "word", NULL};
	char *const environment[] = {ROLE "=script", NULL};
	char line[300] = "#!/";

	REQUIRE(make_text("/tmp/exec.script", "#! \t" SELF "  an option \n", 0755));
	EXPECT_EQ(status_of_exec("/tmp/exec.script", words, environment), 0);
	REQUIRE(make_text("/tmp/exec.script", "#!\n", 0755));
	EXPECT_FAILS(execv("/tmp/exec.script", words), ENOEXEC);
	REQUIRE(make_text("/tmp/exec.script", "#!/etc/passwd\n", 0755));
	EXPECT_FAILS(execv("/tmp/exec.script", words), EACCES);
	memset(line + 3, 'x', sizeof line - 4);
	REQUIRE(make_text("/tmp/exec.script", line, 0755));
	EXPECT_FAILS(execv("/tmp/exec.script", words), ENOEXEC);
	REQUIRE(make_text("/tmp/exec.script", "#!" SELF "\n", 0644));
	EXPECT_FAILS(execv("/tmp/exec.script", words), EACCES);
	unlink("/tmp/exec.script");
}

/* A program with some of its bytes changed is refused, or ends by a signal; it harms nobody. */
TEST(programs_that_are_damaged)
{
	static const struct {
		off_t offset;
		size_t size;
		unsigned value;
	} damages[] = {
		{0, 1, 0x7e},        {4, 1, 2},   {16, 2, 1},      {18, 2, 62}, {28, 4, 0x7ffffff0},
		{28, 4, 0xfffffffc}, {42, 2, 31}, {44, 2, 0xffff}, {44, 2, 0},
	};
	char *const words[] = {F, NULL};

	for (size_t n = 0; n < sizeof damages / sizeof damages[0]; n++) {
		int fd;

		REQUIRE(copy_file(SELF, F, 0755));
		fd = open(F, O_WRONLY);
		EXPECT_EQ(lseek(fd, damages[n].offset, SEEK_SET), damages[n].offset);
		EXPECT_EQ(write(fd, &damages[n].value, damages[n].size), damages[n].size);
		close(fd);
		EXPECT_FAILS(execv(F, words), ENOEXEC);
	}
	REQUIRE(copy_file(SELF, F, 0755));
	for (off_t size = 0; size < 200; size += 20) {
		EXPECT_EQ(truncate(F, 199 - size), 0);
		EXPECT_FAILS(execv(F, words), ENOEXEC);
	}
	unlink(F);
}

TEST(files_that_run_are_not_written)
{
	char *const words[] = {F, NULL};
	pid_t pid;
	int fd, ends[2], ready[2];
	char byte;

	REQUIRE(copy_file("/bin/cat", F, 0755) && pipe2(ends, O_CLOEXEC) == 0);
	REQUIRE(pipe2(ready, O_CLOEXEC) == 0);
	fd = open(F, O_RDWR);
	EXPECT_FAILS(execv(F, words), ETXTBSY);
	EXPECT_EQ(close(fd), 0);
	pid = fork();
	if (pid == 0) {
		dup2(ends[0], 0);
		close(ends[1]);
		execv(F, words);
		_exit(99);
	}
	close(ready[1]);
	EXPECT_EQ(read(ready[0], &byte, 1), 0); /* Its end is the exec. */
	EXPECT_FAILS(open(F, O_WRONLY), ETXTBSY);
	EXPECT_FAILS(open(F, O_RDONLY | O_TRUNC), ETXTBSY);
	EXPECT_FAILS(truncate(F, 0), ETXTBSY);
	fd = open(F, O_RDONLY);
	EXPECT_EQ(read(fd, &byte, 1), 1);
	EXPECT_EQ(unlink(F), 0);
	EXPECT_EQ(close(ends[1]), 0);
	EXPECT_EQ(status_of(pid), 0);
}

/* Its pages come from the new data, not from what the kernel kept of the old. */
TEST(another_file_of_the_same_name)
{
	REQUIRE(copy_file(SELF, F, 0755));
	EXPECT_EQ(status_of_role(F, "count"), W_EXITCODE(1, 0));
	REQUIRE(copy_file("/bin/false", F, 0755));
	EXPECT_EQ(status_of_role(F, "count"), W_EXITCODE(1, 0));
	REQUIRE(copy_file("/bin/true", F, 0755));
	EXPECT_EQ(status_of_role(F, "count"), 0);
	REQUIRE(copy_file(SELF, F, 0755));
	EXPECT_EQ(status_of_role(F, ""), W_EXITCODE(DIFFERENT, 0));
	unlink(F);
}
