/* SPDX-License-Identifier: MIT */
/* Data of files: positions, holes, sizes, large reads and writes, memory that is not there. */
#include <limits.h>
#include <mach.h>
#include <signal.h>
#include <sys/ux.h>

#include "help.h"

#define F     "/tmp/data.f"
#define LARGE (3 * UX_TRANSFER_MAX / 2 + 5)

static int new_file(void)
{
	return open(F, O_RDWR | O_CREAT | O_TRUNC, 0600);
}

TEST(positions)
{
	int ends[2], fd = new_file();
	char bytes[10];

	EXPECT_EQ(write(fd, "0123456789", 10), 10);
	EXPECT_EQ(lseek(fd, 4, SEEK_SET), 4);
	EXPECT_EQ(read(fd, bytes, 2), 2);
	EXPECT(bytes[0] == '4' && bytes[1] == '5');
	EXPECT_EQ(lseek(fd, -3, SEEK_CUR), 3);
	EXPECT_EQ(lseek(fd, -1, SEEK_END), 9);
	EXPECT_EQ(read(fd, bytes, 10), 1);
	EXPECT_EQ(read(fd, bytes, 10), 0);
	EXPECT_EQ(lseek(fd, 5000000000, SEEK_SET), 5000000000);
	EXPECT_EQ(read(fd, bytes, 10), 0);
	EXPECT_FAILS(lseek(fd, -11, SEEK_END), EINVAL);
	EXPECT_FAILS(lseek(fd, -1, SEEK_SET), EINVAL);
	EXPECT_FAILS(lseek(fd, 0, 3), EINVAL);
	EXPECT_FAILS(lseek(fd, INT64_MAX, SEEK_CUR), EOVERFLOW);
	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 5000000000);
	EXPECT_EQ(pipe(ends), 0);
	EXPECT_FAILS(lseek(ends[0], 0, SEEK_CUR), ESPIPE);
	unlink(F);
}

TEST(holes_read_as_zeros_and_take_no_room)
{
	static char bytes[20000];
	struct stat status;
	int fd = new_file(), sum = 0;

	EXPECT_EQ(write(fd, "a", 1), 1);
	EXPECT_EQ(lseek(fd, 1 << 20, SEEK_SET), 1 << 20);
	EXPECT_EQ(write(fd, "b", 1), 1);
	EXPECT_EQ(fstat(fd, &status), 0);
	EXPECT_EQ(status.st_size, (1 << 20) + 1);
	EXPECT(status.st_blocks <= 3 * 8);
	EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
	EXPECT_EQ(read(fd, bytes, sizeof bytes), sizeof bytes);
	for (size_t n = 1; n < sizeof bytes; n++)
		sum += bytes[n];
	EXPECT(bytes[0] == 'a' && sum == 0);
	EXPECT_EQ(lseek(fd, (1 << 20) - 1, SEEK_SET), (1 << 20) - 1);
	EXPECT_EQ(read(fd, bytes, 10), 2);
	EXPECT(bytes[0] == 0 && bytes[1] == 'b');
	unlink(F);
}

static char byte_at(size_t n)
{
	return (char)(n * 7 + n / 251);
}

/* At the limits of what travels within a message, beside it, and in one. */
static void write_and_read(char *bytes, size_t size)
{
	int fd = new_file();

	for (size_t n = 0; n < size; n++)
		bytes[n] = byte_at(n);
	EXPECT_EQ(write(fd, bytes, size), size);
	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), size);
	EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
	memset(bytes, 0, size + 1);
	for (size_t done = 0; done < size;) {
		ssize_t n = read(fd, bytes + done, size + 1 - done);

		REQUIRE(n > 0);
		done += (size_t)n;
	}
	for (size_t n = 0; n < size; n++)
		REQUIRE(bytes[n] == byte_at(n));
	EXPECT_EQ(bytes[size], 0);
	EXPECT_EQ(read(fd, bytes, size), 0);
	close(fd);
}

TEST(data_of_any_size)
{
	static const size_t sizes[] = {1,
				       4095,
				       4096,
				       4097,
				       UX_INLINE_MAX - 1,
				       UX_INLINE_MAX,
				       8193,
				       16384,
				       UX_TRANSFER_MAX,
				       UX_TRANSFER_MAX + 1,
				       LARGE};
	char *bytes = malloc(LARGE + 1);

	REQUIRE(bytes != NULL);
	for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
		write_and_read(bytes, sizes[n]);
	unlink(F);
}

TEST(nothing_is_written_by_nothing)
{
	int fd = new_file();

	EXPECT_EQ(lseek(fd, 100, SEEK_SET), 100);
	EXPECT_EQ(write(fd, "", 0), 0);
	EXPECT_EQ(size_of(F), 0);
	EXPECT_EQ(read(fd, NULL, 0), 0);
	unlink(F);
}

/* The last byte before memory that is not there. */
static char *edge_of_memory(void)
{
	vm_address_t memory = 0;

	if (vm_allocate(mach_task_self(), &memory, 32 * PAGE, TRUE) != KERN_SUCCESS ||
	    vm_deallocate(mach_task_self(), memory + 16 * PAGE, 16 * PAGE) != KERN_SUCCESS)
		return NULL;
	return (char *)memory + 16 * PAGE;
}

static int status_of_transfer(int fd, char *bytes, size_t size, bool writes)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit((writes ? write(fd, bytes, size) : read(fd, bytes, size)) >= 0);
	return status_of(pid);
}

/* Data within a message is copied by the program, whose own fault it is; other is by the kernel. */
TEST(memory_that_is_not_there)
{
	char *edge = edge_of_memory();
	int fd = new_file();

	REQUIRE(edge != NULL);
	EXPECT_FAILS(write(fd, edge - 10000, 10001), EFAULT);
	EXPECT_FAILS(write(fd, edge, UX_TRANSFER_MAX), EFAULT);
	EXPECT_EQ(status_of_transfer(fd, edge - 10, 20, true), SIGSEGV);
	EXPECT_EQ(size_of(F), 0);
	EXPECT_EQ(write(fd, edge - 20000, 20000), 20000);
	EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
	EXPECT_EQ(status_of_transfer(fd, edge, 20, false), SIGSEGV);
	EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
	EXPECT_EQ(read(fd, edge - 20000, 20000), 20000);
	unlink(F);
}

TEST(files_become_shorter_and_longer)
{
	char bytes[5000];
	int fd = new_file();

	memset(bytes, 'x', sizeof bytes);
	EXPECT_EQ(write(fd, bytes, sizeof bytes), sizeof bytes);
	EXPECT_EQ(ftruncate(fd, 10), 0);
	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), sizeof bytes);
	EXPECT_EQ(truncate(F, 4200), 0);
	EXPECT_EQ(size_of(F), 4200);
	EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
	EXPECT_EQ(read(fd, bytes, sizeof bytes), 4200);
	EXPECT(bytes[9] == 'x' && bytes[10] == 0 && bytes[4095] == 0 && bytes[4199] == 0);
	EXPECT_FAILS(truncate(F, -1), EINVAL);
	EXPECT_FAILS(ftruncate(fd, -1), EINVAL);
	EXPECT_FAILS(truncate("/tmp/nothing", 0), ENOENT);
	EXPECT_FAILS(ftruncate(fd, INT64_MAX), EFBIG);
	unlink(F);
}

/* Several processes append at a time: no byte is lost, none written twice. */
TEST(appending_is_atomic)
{
	enum {
		WRITERS = 4,
		LINES = 50,
		LENGTH = 100
	};
	int fd = open(F, O_RDWR | O_CREAT | O_APPEND, 0600), counts[WRITERS] = {0};
	char line[LENGTH];

	for (int writer = 0; writer < WRITERS; writer++) {
		if (fork() != 0)
			continue;
		memset(line, 'A' + writer, LENGTH);
		for (int n = 0; n < LINES; n++) {
			if (write(open(F, O_WRONLY | O_APPEND | O_CLOEXEC), line, LENGTH) != LENGTH)
				_exit(1);
			close(fd + 1);
		}
		_exit(0);
	}
	for (int status; wait(&status) > 0;)
		EXPECT_EQ(status, 0);
	EXPECT_EQ(size_of(F), WRITERS * LINES * LENGTH);
	while (read(fd, line, LENGTH) == LENGTH) {
		for (int n = 1; n < LENGTH; n++)
			REQUIRE(line[n] == line[0]);
		counts[line[0] - 'A']++;
	}
	for (int writer = 0; writer < WRITERS; writer++)
		EXPECT_EQ(counts[writer], LINES);
	unlink(F);
}

/* A disk that is full is told, and goes on when there is room again. */
TEST(a_full_disk)
{
	enum {
		PIECE = 512 << 10
	};
	char *bytes = calloc(1, PIECE);
	int fd = new_file();
	ssize_t n;

	REQUIRE(bytes != NULL);
	while ((n = write(fd, bytes, PIECE)) == PIECE)
		continue;
	while (n > 0)
		n = write(fd, bytes, 1000);
	EXPECT(n == -1 && errno == ENOSPC);
	EXPECT_FAILS(mkdir("/tmp/data.d", 0700), ENOSPC);
	EXPECT_EQ(ftruncate(fd, 0), 0);
	EXPECT_EQ(mkdir("/tmp/data.d", 0700), 0);
	EXPECT_EQ(rmdir("/tmp/data.d"), 0);
	EXPECT_EQ(write(fd, bytes, PIECE), PIECE);
	unlink(F);
}

TEST(devices_that_are_no_things)
{
	char bytes[10000];
	int null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDWR);
	int full = open("/dev/full", O_RDWR);

	memset(bytes, 'x', sizeof bytes);
	EXPECT_EQ(write(null, bytes, sizeof bytes), sizeof bytes);
	EXPECT_EQ(read(null, bytes, sizeof bytes), 0);
	EXPECT_EQ(write(zero, bytes, 10), 10);
	EXPECT_EQ(read(zero, bytes, sizeof bytes), sizeof bytes);
	EXPECT(bytes[0] == 0 && bytes[sizeof bytes - 1] == 0);
	EXPECT_FAILS(write(full, bytes, 10), ENOSPC);
}
