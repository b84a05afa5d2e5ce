/* SPDX-License-Identifier: MIT */
/*
 * What a pipe does.  Its bytes are made of a SEED; what comes out of it is told by a sum.
 *
 * pipes through SEED PIECES           pieces that one process writes and another reads
 * pipes sizes SIZE...                 what fcntl() says of each: of setting it, and then of asking
 * pipes change SEED PIECES LESS SIZE  pieces are written, and all but LESS of them read again; then
 *                                     it shall have that size, and is filled and emptied
 * pipes refuse SEED PIECES SIZE       it shall have a size that its pieces do not fit in
 * pipes wait SEED SIZE                one process waits for room until the pipe is larger
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SET_SIZE 1031
#define GET_SIZE 1032
#define PIECE    1000
#define READ     777

static unsigned seed, sum;
static int ends[2];

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

static unsigned argument(char **argv, int number)
{
	return argv[number] != NULL ? (unsigned)strtoul(argv[number], NULL, 10) : 0;
}

/* Writes so many bytes; false, and nothing is, if there is no room for them. */
static bool put(size_t size)
{
	unsigned char piece[PIECE];
	unsigned next = seed;
	ssize_t written;

	for (size_t i = 0; i < size; i++) {
		next = next * 1664525 + 1013904223;
		piece[i] = (unsigned char)(next >> 24);
	}
	written = write(ends[1], piece, size);
	if (written < 0 && errno == EAGAIN)
		return false;
	if (written != (ssize_t)size)
		fail("write");
	seed = next;
	return true;
}

static void put_pieces(unsigned pieces)
{
	while (pieces-- > 0)
		if (!put(PIECE))
			fail("a pipe of 16,384 bytes");
}

/* Until there is no room for one byte more; tells how many there were. */
static unsigned fill(void)
{
	unsigned bytes = 0;

	for (size_t size = PIECE; size > 0; size = size == PIECE ? 1 : 0)
		while (put(size))
			bytes += size;
	return bytes;
}

/* At most so many bytes, or all that come before the end, if that is nearer. */
static unsigned take(unsigned most)
{
	unsigned char piece[READ];
	unsigned bytes = 0;
	ssize_t size = 1;

	while (bytes < most && size > 0) {
		unsigned left = most - bytes;

		size = read(ends[0], piece, left < READ ? left : READ);
		if (size < 0)
			fail("read");
		for (ssize_t i = 0; i < size; i++)
			sum = sum * 31 + piece[i];
		bytes += (unsigned)size;
	}
	return bytes;
}

static void take_all(void)
{
	close(ends[1]);
	printf("%u", take(~0u));
	printf(" %u\n", sum);
}

static void do_not_wait(void)
{
	if (fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0)
		fail("fcntl");
}

static void set_size(unsigned size)
{
	if (fcntl(ends[1], SET_SIZE, size) < 0)
		fail("the size");
}

/* ---------------- What is tried ---------------- */

static void through(char **argv)
{
	unsigned pieces = argument(argv, 3);
	pid_t child = fork();

	if (child < 0)
		fail("fork");
	if (child == 0) {
		put_pieces(pieces);
		exit(0);
	}
	take_all();
}

static void tell(int result)
{
	printf("%s%d\n", result < 0 ? "error " : "", result < 0 ? errno : result);
}

static void sizes(char **argv)
{
	tell(fcntl(ends[0], GET_SIZE, 0));
	for (int i = 2; argv[i] != NULL; i++) {
		tell(fcntl(ends[1], SET_SIZE, atoi(argv[i])));
		tell(fcntl(ends[0], GET_SIZE, 0));
	}
	tell(fcntl(STDIN_FILENO, GET_SIZE, 0));
}

static void change(char **argv)
{
	unsigned left = argument(argv, 4);

	do_not_wait();
	put_pieces(argument(argv, 3));
	take(argument(argv, 3) * PIECE - left);
	set_size(argument(argv, 5));
	printf("%u ", left + fill());
	take_all();
}

static void refuse(char **argv)
{
	do_not_wait();
	put_pieces(argument(argv, 3));
	tell(fcntl(ends[1], SET_SIZE, argument(argv, 4)));
	take_all();
}

static void wait_for_room(char **argv)
{
	unsigned size = argument(argv, 3);
	int status = -1;
	pid_t child = fork();

	if (child < 0)
		fail("fork");
	if (child == 0) {
		put_pieces(size / PIECE);
		exit(0);
	}
	usleep(100000); /* It waits by then.  If it does not yet, it need not be woken. */
	set_size(size);
	waitpid(child, &status, 0);
	printf("%d ", status);
	take_all();
}

static const struct {
	const char *name;
	void (*run)(char **argv);
} tests[] = {
	{"through", through}, {"sizes", sizes},        {"change", change},
	{"refuse", refuse},   {"wait", wait_for_room},
};

int main(int argc, char **argv)
{
	if (argc < 3 || pipe(ends) != 0)
		fail("pipes");
	seed = argument(argv, 2);
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
		if (strcmp(argv[1], tests[i].name) == 0)
			tests[i].run(argv);
	return 0;
}
