/* SPDX-License-Identifier: MIT */
/*
 * Files in and out of a machine that runs: the guest's half of tools/guest get, put and ls.
 *
 * Speaks over the second serial port, which it asks the kernel for: without it there is nothing to
 * do.  The host sends a line, and the answer begins with a line:
 *
 *     get PATH              ok SIZE        and so many bytes
 *     put MODE SIZE PATH    ok             then the host sends the bytes, then again: ok
 *     ls PATH               ok SIZE        and so many bytes of names, a line each
 *
 * or `no REASON`.  A serial port has no way to say "not so fast", so whoever sends bytes waits
 * after each CHUNK for a full stop from the other side.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mach.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/ux.h>
#include <unistd.h>

#define CHUNK     256
#define LINE_ROOM 1200

static mach_port_t line; /* The serial port. */

/* ---------------- The serial port ---------------- */

static void send_bytes(const char *bytes, size_t size)
{
	while (size != 0) {
		mach_msg_type_number_t piece = size < CHUNK ? (mach_msg_type_number_t)size : CHUNK;
		int written = 0;

		if (device_write_inband(line, 0, 0, (char *)(uintptr_t)bytes, piece, &written) !=
			    D_SUCCESS ||
		    written <= 0)
			exit(EXIT_FAILURE);
		bytes += written;
		size -= (size_t)written;
	}
}

/* What has come and was not asked for yet. */
static char waiting[CHUNK];
static size_t first, last;

static char receive_byte(void)
{
	while (first == last) {
		mach_msg_type_number_t size = sizeof waiting;

		if (device_read_inband(line, 0, 0, sizeof waiting, waiting, &size) != D_SUCCESS)
			exit(EXIT_FAILURE);
		first = 0;
		last = size;
	}
	return waiting[first++];
}

static void say(const char *text)
{
	send_bytes(text, strlen(text));
}

static void refuse(const char *why)
{
	char text[LINE_ROOM];

	snprintf(text, sizeof text, "no %s\n", why);
	say(text);
}

/* A line without its end; what does not fit is dropped. */
static void receive_line(char *text, size_t room)
{
	size_t size = 0;
	char byte;

	while ((byte = receive_byte()) != '\n') {
		if (size + 1 < room)
			text[size++] = byte;
	}
	text[size] = '\0';
}

/* ---------------- Bytes in chunks ---------------- */

static void send_chunks(const char *bytes, size_t size)
{
	while (size != 0) {
		size_t piece = size < CHUNK ? size : CHUNK;

		send_bytes(bytes, piece);
		bytes += piece;
		size -= piece;
		while (receive_byte() != '.')
			;
	}
}

static void send_answer(const char *bytes, size_t size)
{
	char text[32];

	snprintf(text, sizeof text, "ok %zu\n", size);
	say(text);
	send_chunks(bytes, size);
}

static void receive_chunks(char *bytes, size_t size)
{
	for (size_t done = 0; done < size; done++) {
		bytes[done] = receive_byte();
		if ((done + 1) % CHUNK == 0 || done + 1 == size)
			say(".");
	}
}

/* ---------------- Orders ---------------- */

/* All of a file, in memory that the caller frees; null, with errno, if it cannot be had. */
static char *read_file(const char *path, size_t *size)
{
	struct stat status;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	char *bytes = NULL;
	ssize_t n = -1;

	*size = 0;
	if (file < 0)
		return NULL;
	if (fstat(file, &status) == 0 && S_ISREG(status.st_mode))
		bytes = malloc((size_t)status.st_size + 1);
	else
		errno = EISDIR;
	while (bytes != NULL && (n = read(file, bytes + *size, (size_t)status.st_size - *size)) > 0)
		*size += (size_t)n;
	close(file);
	if (bytes != NULL && n < 0) {
		free(bytes);
		return NULL;
	}
	return bytes;
}

static void get(const char *path)
{
	size_t size;
	char *bytes = read_file(path, &size);

	if (bytes == NULL) {
		refuse(strerror(errno));
		return;
	}
	send_answer(bytes, size);
	free(bytes);
}

/* A new file belongs to whom its folder belongs to. */
static void give_to_owner_of_folder(const char *path)
{
	char folder[LINE_ROOM];
	struct stat status;
	char *slash;

	snprintf(folder, sizeof folder, "%s", path);
	slash = strrchr(folder, '/');
	if (slash == NULL)
		return;
	slash[slash == folder] = '\0';
	if (stat(folder, &status) == 0 && chown(path, status.st_uid, status.st_gid) != 0)
		fprintf(stderr, "agent: %s: %s\n", path, strerror(errno));
}

static bool write_file(const char *path, mode_t mode, const char *bytes, size_t size)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	bool is_whole;

	if (file < 0)
		return false;
	is_whole = write(file, bytes, size) == (ssize_t)size;
	if (close(file) != 0 || !is_whole)
		return false;
	give_to_owner_of_folder(path);
	return true;
}

static void put(char *words)
{
	char *rest;
	mode_t mode = (mode_t)strtoul(words, &rest, 8);
	size_t size = strtoul(rest, &rest, 10);
	const char *path = rest + (*rest == ' ');
	char *bytes = malloc(size + 1);

	if (bytes == NULL) {
		refuse("there is no memory for so much");
		return;
	}
	say("ok\n");
	receive_chunks(bytes, size);
	if (write_file(path, mode, bytes, size))
		say("ok\n");
	else
		refuse(strerror(errno));
	free(bytes);
}

/* Text that grows. */
struct text {
	char *bytes;
	size_t size;
};

static bool append(struct text *text, const char *name, const char *end)
{
	size_t more = strlen(name) + strlen(end);
	char *bytes = realloc(text->bytes, text->size + more + 1);

	if (bytes == NULL)
		return false;
	text->bytes = bytes;
	snprintf(bytes + text->size, more + 1, "%s%s", name, end);
	text->size += more;
	return true;
}

/* Names of a directory's files, a line each; directories end with a slash. */
static struct text list(DIR *directory)
{
	struct text text = {.bytes = calloc(1, 1)};
	struct dirent *entry;

	while ((entry = readdir(directory)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (!append(&text, entry->d_name, entry->d_type == DT_DIR ? "/\n" : "\n"))
			break;
	}
	return text;
}

static void ls(const char *path)
{
	DIR *directory = opendir(path);
	struct text text;

	if (directory == NULL) {
		refuse(strerror(errno));
		return;
	}
	text = list(directory);
	send_answer(text.bytes, text.size);
	free(text.bytes);
	closedir(directory);
}

static void obey(char *order)
{
	if (strncmp(order, "get ", 4) == 0)
		get(order + 4);
	else if (strncmp(order, "put ", 4) == 0)
		put(order + 4);
	else if (strncmp(order, "ls ", 3) == 0)
		ls(order + 3);
	else
		refuse("not understood");
}

int main(void)
{
	char order[LINE_ROOM];
	mach_port_t master = ux_device_port();

	if (master == MACH_PORT_NULL ||
	    device_open(master, D_READ | D_WRITE, "com1", &line) != D_SUCCESS)
		return EXIT_SUCCESS; /* The kernel's log has it, or nobody listens. */
	for (;;) {
		receive_line(order, sizeof order);
		obey(order);
	}
}
