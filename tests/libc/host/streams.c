/* SPDX-License-Identifier: MIT */
/* libc: yes */
/* Streams: what is in a file after calls of each kind, and what errors leave behind. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libc/our.h"

#define ROOM    40000
#define STEPS   30000
#define THREADS 4
#define LINES   500

static char path[] = "/tmp/assay-streams";
static char text[ROOM];

/* What the file holds, read by the host. */
static const char *contents(void)
{
	FILE *file = fopen(path, "r");
	size_t size;

	if (file == NULL)
		return "no file";
	size = fread(text, 1, sizeof(text) - 1, file);
	text[size] = '\0';
	fclose(file);
	return text;
}

static OUR_FILE *open_new(const char *mode)
{
	OUR_FILE *file;

	unlink(path);
	our_host = (struct our_host){.pages = our_host.pages};
	file = our_fopen(path, mode);
	EXPECT(file != NULL);
	return file;
}

TEST(streams_write_when_full)
{
	OUR_FILE *file = open_new("w");

	for (int i = 0; i < 4096; i++)
		our_putc('a', file);
	EXPECT_EQ(our_host.writes, 0);
	our_putc('b', file);
	EXPECT_EQ(our_host.writes, 1);
	EXPECT_EQ(our_fclose(file), 0);
	EXPECT_EQ(our_host.writes, 2);
	EXPECT_EQ(strlen(contents()), 4097);
}

TEST(streams_write_lines)
{
	OUR_FILE *file = open_new("w");

	our_host.is_terminal = 1;
	our_fputs("no end", file);
	EXPECT_EQ(our_host.writes, 0);
	our_fputs(" end\nmore", file);
	EXPECT_EQ(our_host.writes, 1);
	EXPECT_EQ(our_fclose(file), 0);
	EXPECT_STREQ(contents(), "no end end\nmore");
}

TEST(streams_without_buffer)
{
	OUR_FILE *file = open_new("w");

	EXPECT_EQ(our_setvbuf(file, NULL, _IONBF, 0), 0);
	our_fputs("one", file);
	EXPECT_EQ(our_host.writes, 1);
	our_fprintf(file, "%d %s", 5, "six");
	EXPECT_EQ(our_host.writes, 2);
	EXPECT_STREQ(contents(), "one5 six");
	EXPECT_EQ(our_fclose(file), 0);
}

TEST(streams_go_on_after_short_writes)
{
	OUR_FILE *file = open_new("w");

	our_host.most = 3;
	our_fputs("0123456789", file);
	EXPECT_EQ(our_fclose(file), 0);
	EXPECT_STREQ(contents(), "0123456789");
}

TEST(streams_keep_what_an_error_leaves)
{
	OUR_FILE *file = open_new("w");

	our_host.most = 4;
	our_host.writes_good = 1;
	our_host.write_error = OUR_EINTR;
	our_fputs("0123456789", file);
	EXPECT_EQ(our_fflush(file), -1);
	EXPECT_EQ(our_errno, OUR_EINTR);
	EXPECT(our_ferror(file));
	our_clearerr(file);
	EXPECT_EQ(our_fflush(file), 0);
	EXPECT_STREQ(contents(), "0123456789");
	EXPECT(!our_ferror(file));
	EXPECT_EQ(our_fclose(file), 0);
}

TEST(streams_tell_of_errors_when_closed)
{
	OUR_FILE *file = open_new("w");

	our_host.write_error = OUR_ENOSPC;
	our_fputs("text", file);
	EXPECT_EQ(our_fclose(file), -1);
	EXPECT_EQ(our_errno, OUR_ENOSPC);
}

TEST(streams_refuse_the_other_way)
{
	OUR_FILE *file = open_new("w");

	EXPECT_EQ(our_getc(file), EOF);
	EXPECT_EQ(our_errno, OUR_EBADF);
	EXPECT(our_ferror(file));
	EXPECT_EQ(our_fclose(file), 0);
	file = our_fopen(path, "r");
	EXPECT_EQ(our_putc('x', file), EOF);
	EXPECT_EQ(our_errno, OUR_EBADF);
	EXPECT_EQ(our_fclose(file), 0);
	EXPECT(our_fopen(path, "q") == NULL);
	EXPECT_EQ(our_errno, OUR_EINVAL);
	EXPECT(our_fopen("/nowhere/x", "r") == NULL);
}

TEST(streams_append)
{
	OUR_FILE *file = open_new("w");

	our_fputs("one", file);
	our_fclose(file);
	file = our_fopen(path, "a+");
	EXPECT_EQ(our_getc(file), 'o');
	our_fseek(file, 0, SEEK_SET);
	our_fputs("two", file);
	EXPECT_EQ(our_ftell(file), 6);
	our_fclose(file);
	EXPECT_STREQ(contents(), "onetwo");
	EXPECT(our_fopen(path, "wx") == NULL);
}

TEST(streams_unread)
{
	OUR_FILE *file = open_new("w+");
	char line[8];

	our_fputs("abc", file);
	our_rewind(file);
	EXPECT_EQ(our_getc(file), 'a');
	EXPECT_EQ(our_ungetc('x', file), 'x');
	EXPECT_EQ(our_ungetc('y', file), 'y');
	EXPECT_EQ(our_ftell(file), -1);
	EXPECT_STREQ(our_fgets(line, sizeof(line), file), "yxbc");
	EXPECT_EQ(our_getc(file), EOF);
	EXPECT(our_feof(file));
	EXPECT_EQ(our_ungetc('c', file), 'c');
	EXPECT(!our_feof(file));
	EXPECT_EQ(our_getc(file), 'c');
	EXPECT_EQ(our_ungetc(EOF, file), EOF);
	our_fclose(file);
}

TEST(streams_read_lines)
{
	OUR_FILE *file = open_new("w+");
	char *line = NULL;
	size_t size = 0;

	memset(text, 'x', 1000);
	strcpy(text + 1000, "\n\nlast");
	our_fputs(text, file);
	our_rewind(file);
	our_host.most = 7;
	EXPECT_EQ(our_getline(&line, &size, file), 1001);
	EXPECT_EQ(our_getline(&line, &size, file), 1);
	EXPECT_EQ(our_getline(&line, &size, file), 4);
	EXPECT_STREQ(line, "last");
	EXPECT_EQ(our_getline(&line, &size, file), -1);
	our_free(line);
	our_fclose(file);
}

/* One operation on both; what it returns is the same. */
static void step(OUR_FILE *ours, FILE *theirs)
{
	char our_bytes[6000];
	char their_bytes[6000];
	size_t size = our_random() % (our_random() % 8 == 0 ? sizeof(our_bytes) : 50);
	long offset = (long)(our_random() % 9000);
	int whence = (int)(our_random() % 3);

	switch (our_random() % 8) {
	case 0:
		offset = whence == SEEK_SET ? offset : offset % 100 - 50;
		EXPECT_EQ(our_fseek(ours, offset, whence), fseek(theirs, offset, whence));
		break;
	case 1:
	case 2:
		our_fseek(ours, 0, SEEK_CUR);
		fseek(theirs, 0, SEEK_CUR);
		EXPECT_EQ(our_fread(our_bytes, 1, size, ours), fread(their_bytes, 1, size, theirs));
		EXPECT_EQ(our_feof(ours), feof(theirs) != 0);
		our_fseek(ours, 0, SEEK_CUR);
		fseek(theirs, 0, SEEK_CUR);
		break;
	case 3:
	case 4:
		memset(our_bytes, 'a' + (int)(size % 26), size);
		EXPECT_EQ(our_fwrite(our_bytes, 1, size, ours), fwrite(our_bytes, 1, size, theirs));
		break;
	case 5:
		EXPECT_EQ(our_ftell(ours), ftell(theirs));
		break;
	case 6:
		EXPECT_EQ(our_fflush(ours), fflush(theirs));
		break;
	default:
		our_fseek(ours, 0, SEEK_CUR);
		fseek(theirs, 0, SEEK_CUR);
		EXPECT_EQ(our_getc(ours), fgetc(theirs));
		our_fseek(ours, 0, SEEK_CUR);
		fseek(theirs, 0, SEEK_CUR);
	}
}

TEST(streams_do_as_the_host)
{
	OUR_FILE *ours = open_new("w+");
	FILE *theirs = tmpfile();
	static char their_text[400000];
	static char our_text[400000];
	size_t size;

	for (int i = 0; i < STEPS && !check_failed(); i++)
		step(ours, theirs);
	our_rewind(ours);
	rewind(theirs);
	size = fread(their_text, 1, sizeof(their_text), theirs);
	EXPECT_EQ(our_fread(our_text, 1, sizeof(our_text), ours), size);
	EXPECT(memcmp(our_text, their_text, size) == 0);
	our_fclose(ours);
	fclose(theirs);
	EXPECT_EQ(our_host.locks, 0);
}

/* Input that was read too early is there for who has the descriptor next. */
TEST(streams_give_back)
{
	OUR_FILE *file = open_new("w+");

	our_fputs("first\nsecond\n", file);
	our_rewind(file);
	our_fgets(text, sizeof(text), file);
	EXPECT_EQ(our_fflush(file), 0);
	EXPECT_EQ(our_ftell(file), 6);
	our_fgets(text, sizeof(text), file);
	EXPECT_STREQ(text, "second\n");
	our_fclose(file);
}

TEST(streams_reopen)
{
	OUR_FILE *file = open_new("w");

	our_fputs("old", file);
	EXPECT(our_freopen("/tmp/assay-streams-2", "w", file) == file);
	EXPECT_STREQ(contents(), "old");
	our_fputs("new", file);
	our_fclose(file);
	EXPECT_STREQ(contents(), "old");
	unlink("/tmp/assay-streams-2");
}

static void *write_lines(void *file)
{
	for (int i = 0; i < LINES; i++)
		our_fprintf(file, "%s %s\n", "01234567890123456789", "abcdefghij");
	return NULL;
}

/* A call's output is in one piece. */
TEST(streams_of_several_threads)
{
	OUR_FILE *file = open_new("w");
	pthread_t threads[THREADS];
	int lines = 0;
	char line[64];
	FILE *reader;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, write_lines, file);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	our_flockfile(file);
	our_flockfile(file);
	EXPECT_EQ(our_ftrylockfile(file), 0);
	our_funlockfile(file);
	our_funlockfile(file);
	our_funlockfile(file);
	our_fclose(file);
	reader = fopen(path, "r");
	while (fgets(line, sizeof(line), reader) != NULL)
		lines += strcmp(line, "01234567890123456789 abcdefghij\n") == 0;
	fclose(reader);
	EXPECT_EQ(lines, THREADS * LINES);
	EXPECT_EQ(our_host.locks, 0);
}

TEST(streams_to_commands)
{
	OUR_FILE *file;

	our_host = (struct our_host){.pages = our_host.pages};
	file = our_popen("echo hello; exit 3", "r");
	EXPECT_STREQ(our_fgets(text, sizeof(text), file), "hello\n");
	EXPECT_EQ(WEXITSTATUS(our_pclose(file)), 3);
	unlink(path);
	file = our_popen("cat > /tmp/assay-streams", "w");
	our_fputs("to a command", file);
	EXPECT_EQ(our_pclose(file), 0);
	EXPECT_STREQ(contents(), "to a command");
	EXPECT_EQ(WEXITSTATUS(our_system("exit 5")), 5);
	EXPECT(our_system(NULL));
	unlink(path);
}

/* A child has the buffer's bytes too; the locks that its thread did not hold are free. */
TEST(streams_over_fork)
{
	OUR_FILE *file = open_new("w");
	int status = 0;

	our_fputs("twice ", file);
	our_flockfile(file);
	our___stdio_before_fork();
	if (fork() == 0) {
		our_host.thread = 99;
		our___stdio_after_fork(1);
		our_funlockfile(file);
		our___stdio_exit();
		_exit(our_host.locks);
	}
	our___stdio_after_fork(0);
	our_funlockfile(file);
	wait(&status);
	our___stdio_flush_all();
	EXPECT_STREQ(contents(), "twice twice ");
	our_fclose(file);
	unlink(path);
	EXPECT_EQ(our_host.locks, 0);
}
