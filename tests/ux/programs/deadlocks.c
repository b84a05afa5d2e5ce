/* SPDX-License-Identifier: MIT */
/*
 * The server is everybody's pager: it must not wait for itself.  Each test makes it page in for
 * some while it reads, writes or executes for others, with data that lies in mapped files.
 *
 * guest: limit=60
 * guest: cpus=2 seed=1 limit=60
 * guest: cpus=2 seed=2 limit=60
 */
#include <mach.h>
#include <mach/map_fd.h>
#include <sys/ux.h>

#include "help.h"

#define SELF "/tmp/deadlocks"
#define F    "/tmp/deadlocks.f"
#define G    "/tmp/deadlocks.g"

enum {
	SIZE = 40 * PAGE,
	ROUNDS = 3,
	OTHERS = 4
};

/* Text that nobody has touched yet: pages that come from the file when they are executed. */
#define FILLER(name)                                                        \
	__attribute__((noinline, aligned(4096))) static int name(int value) \
	{                                                                   \
		__asm__ volatile("" : "+r"(value));                         \
		return value + 1;                                           \
	}
FILLER(one)
FILLER(two)
FILLER(three)
FILLER(four)

__attribute__((constructor)) static void play_role(void)
{
	const char *role = getenv(ROLE);

	if (role != NULL)
		_exit(one(two(three(four(0)))));
}

static char pattern(int n)
{
	return (char)(n / PAGE + n);
}

static bool make_pattern(const char *path)
{
	char *bytes = malloc(SIZE);
	bool success;

	for (int n = 0; n < SIZE; n++)
		bytes[n] = pattern(n);
	success = make_file(path, bytes, SIZE, 0644);
	free(bytes);
	return success;
}

static char *map(const char *path)
{
	int fd = open(path, O_RDONLY);
	vm_offset_t address = 0;

	if (fd < 0 || map_fd(fd, 0, &address, TRUE, SIZE) != KERN_SUCCESS)
		return NULL;
	close(fd);
	return (char *)address;
}

static bool has_pattern(const char *bytes)
{
	for (int n = 0; n < SIZE; n++) {
		if (bytes[n] != pattern(n))
			return false;
	}
	return true;
}

/* Data that the server itself must page in to see it, larger than what a message holds. */
TEST(written_out_of_a_mapped_file)
{
	char *mapped;
	int fd;

	REQUIRE(make_pattern(F));
	mapped = map(F);
	REQUIRE(mapped != NULL);
	fd = open(G, O_RDWR | O_CREAT | O_TRUNC, 0600);
	EXPECT_EQ(write(fd, mapped, SIZE), SIZE);
	memset(mapped, 0, SIZE);
	EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
	EXPECT_EQ(read(fd, mapped, SIZE), SIZE);
	EXPECT(has_pattern(mapped));
	unlink(F);
	unlink(G);
}

/* And into the same file, which is changed while it is read. */
TEST(a_mapped_file_written_to_itself)
{
	char *mapped, *again;
	int fd;

	REQUIRE(make_pattern(F));
	mapped = map(F);
	REQUIRE(mapped != NULL);
	fd = open(F, O_RDWR);
	EXPECT_EQ(write(fd, mapped, SIZE), SIZE);
	again = map(F);
	EXPECT(again != NULL && has_pattern(again));
	EXPECT(has_pattern(mapped));
	EXPECT_EQ(ftruncate(fd, 0), 0);
	unlink(F);
}

/* Through a pipe to a reader that reads into a mapped file's pages. */
TEST(from_a_mapped_file_to_another)
{
	int ends[2], done = 0;
	char *mapped;
	pid_t pid;

	REQUIRE(make_pattern(F) && pipe(ends) == 0);
	pid = fork();
	if (pid == 0) {
		mapped = map(F);
		_exit(mapped == NULL || write(ends[1], mapped, SIZE) != SIZE);
	}
	close(ends[1]);
	REQUIRE(make_file(G, "", 0, 0600) && truncate(G, SIZE) == 0);
	mapped = map(G);
	REQUIRE(mapped != NULL);
	for (ssize_t n = 1; n > 0; done += (int)n)
		n = read(ends[0], mapped + done, (size_t)(SIZE - done));
	EXPECT_EQ(done, SIZE);
	EXPECT(has_pattern(mapped));
	EXPECT_EQ(status_of(pid), 0);
	unlink(F);
	unlink(G);
}

/* Read and mapped data are the same, also after a change. */
TEST(maps_see_what_is_written)
{
	char *mapped;
	int fd;

	REQUIRE(make_pattern(F));
	mapped = map(F);
	REQUIRE(mapped != NULL);
	EXPECT_EQ(mapped[5], pattern(5));
	fd = open(F, O_WRONLY);
	EXPECT_EQ(write(fd, "new data", 8), 8);
	mapped = map(F);
	REQUIRE(mapped != NULL);
	EXPECT(memcmp(mapped, "new data", 8) == 0);
	EXPECT_EQ(mapped[8], pattern(8));
	mapped[0] = 'X';
	EXPECT(memcmp(map(F), "new", 3) == 0);
	unlink(F);
}

static int page_in_often(const char *path)
{
	int wrong = 0;

	for (int n = 0; n < 2 * ROUNDS; n++)
		wrong += status_of_role(path, "") != W_EXITCODE(4, 0);
	return wrong;
}

static int read_often(const char *path)
{
	static char bytes[64 << 10];
	ssize_t n = 1;

	for (int round = 0; round < 2 * ROUNDS && n >= 0; round++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		do
			n = read(fd, bytes, sizeof bytes);
		while (n > 0);
		close(fd);
	}
	return n != 0;
}

/* New copies are written, executed and removed, while others do nothing but page in and read. */
TEST(programs_begin_while_others_page_in)
{
	pid_t others[OTHERS];

	for (int n = 0; n < OTHERS; n++) {
		others[n] = fork();
		if (others[n] == 0)
			_exit(n % 2 == 0 ? page_in_often(SELF) : read_often(SELF));
	}
	for (int n = 0; n < ROUNDS; n++) {
		REQUIRE(copy_file(SELF, F, 0755));
		EXPECT_EQ(status_of_role(F, ""), W_EXITCODE(4, 0));
		EXPECT_EQ(unlink(F), 0);
	}
	for (int n = 0; n < OTHERS; n++)
		EXPECT_EQ(status_of(others[n]), 0);
}

/* A file that is executed is read whole, by read() and by write() out of its map. */
TEST(a_running_program_is_read)
{
	char *text = (char *)((uintptr_t)one & ~(uintptr_t)4095);
	int fd = open(F, O_RDWR | O_CREAT, 0600);
	char *bytes = malloc(4 * PAGE);

	REQUIRE(bytes != NULL);
	EXPECT_EQ(write(fd, text, 4 * PAGE), 4 * PAGE);
	EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
	EXPECT_EQ(read(fd, bytes, 4 * PAGE), 4 * PAGE);
	EXPECT(memcmp(bytes, text, 4 * PAGE) == 0);
	EXPECT_EQ(one(two(three(four(0)))), 4);
	EXPECT(copy_file(SELF, F, 0600));
	unlink(F);
}

/* Words of a new program that lie in a mapped file, which the server must get in itself. */
TEST(words_out_of_a_mapped_file)
{
	char *words[] = {SELF, NULL, NULL}, *const environment[] = {ROLE "=", NULL};
	int fd = open(F, O_RDWR | O_CREAT | O_TRUNC, 0600);
	pid_t pid;

	for (int n = 0; n < 5000; n++)
		REQUIRE(write(fd, "words", 5) == 5);
	REQUIRE(ftruncate(fd, SIZE) == 0);
	words[1] = map(F);
	REQUIRE(words[1] != NULL);
	pid = fork();
	if (pid == 0) {
		execve(SELF, words, environment);
		_exit(99);
	}
	EXPECT_EQ(status_of(pid), W_EXITCODE(4, 0));
	unlink(F);
}

/* It is still mapped when the machine halts; the file system is sound after that. */
TEST(a_mapped_file_is_removed)
{
	char *mapped;

	REQUIRE(make_pattern(F));
	mapped = map(F);
	REQUIRE(mapped != NULL);
	EXPECT_EQ(mapped[0], pattern(0));
	EXPECT_EQ(unlink(F), 0);
	EXPECT(has_pattern(mapped));
}
