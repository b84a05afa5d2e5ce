/* SPDX-License-Identifier: MIT */
/*
 * Files in and out of a machine that runs: the guest's half of tools/guest get, put and ls.
 *
 * Speaks over the second serial port, which it asks the kernel for.  The host sends a line, and the
 * answer begins with a line:
 *
 *     hello WORD            ok WORD
 *     get PATH              ok SIZE        and so many bytes
 *     put MODE SIZE PATH    ok             then the host sends the bytes, then again: ok
 *     ls PATH               ok SIZE        and so many bytes of names, a line each
 *
 * or `no REASON`, which says what to do.  A serial port has no way to say "not so fast", so who
 * sends bytes waits after each chunk for a full stop from the other side; `!` means that no more
 * are wanted.  Before each chunk the host sends a plus.  A host that went away in the middle is
 * noticed by that: who comes next begins with as many line ends as a chunk has bytes, and a hello.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mach.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/ux.h>
#include <unistd.h>

#define CHUNK_IN    768 /* The kernel keeps 1,024 bytes until somebody reads them, */
#define CHUNK_OUT   256 /* and the host's socket some 270, which QEMU writes one by one. */
#define LINE_ROOM   1200
#define REASON_ROOM 1600

static mach_port_t line; /* The serial port. */

/* ---------------- The serial port ---------------- */

/* On the console: from here on the host gets no answer. */
static _Noreturn void give_up(const char *what, kern_return_t error)
{
	fprintf(stderr,
		"agent: %s (error %d): tools/guest get, put and ls do not reach this machine\n",
		what, error);
	exit(EXIT_FAILURE);
}

static void send_bytes(const char *bytes, size_t size)
{
	while (size != 0) {
		mach_msg_type_number_t piece = size < IO_INBAND_MAX ? size : IO_INBAND_MAX;
		int written = 0;
		kern_return_t error =
			device_write_inband(line, 0, 0, (char *)(uintptr_t)bytes, piece, &written);

		if (error != D_SUCCESS || written <= 0)
			give_up("cannot write to the second serial port", error);
		bytes += written;
		size -= (size_t)written;
	}
}

/* What has come and was not asked for yet. */
static char waiting[IO_INBAND_MAX];
static size_t first, last;

static char receive_byte(void)
{
	while (first == last) {
		mach_msg_type_number_t size = sizeof waiting;
		kern_return_t error =
			device_read_inband(line, 0, 0, sizeof waiting, waiting, &size);

		if (error != D_SUCCESS)
			give_up("cannot read from the second serial port", error);
		first = 0;
		last = size;
	}
	return waiting[first++];
}

static void say(const char *text)
{
	send_bytes(text, strlen(text));
}

static void refuse(const char *format, ...)
{
	char reason[REASON_ROOM], text[REASON_ROOM + 8];
	va_list values;

	va_start(values, format);
	vsnprintf(reason, sizeof reason, format, values);
	va_end(values);
	snprintf(text, sizeof text, "no %s\n", reason);
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

/* A host that wants no more says something else than a full stop. */
static void send_chunks(const char *bytes, size_t size)
{
	while (size != 0) {
		size_t piece = size < CHUNK_OUT ? size : CHUNK_OUT;

		send_bytes(bytes, piece);
		bytes += piece;
		size -= piece;
		if (receive_byte() != '.')
			return;
	}
}

static void send_answer(const char *bytes, size_t size)
{
	char text[32];

	snprintf(text, sizeof text, "ok %zu\n", size);
	say(text);
	send_chunks(bytes, size);
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

/* What is wrong with a path of a file that is to be read. */
static void refuse_to_read(const char *path)
{
	if (errno == EISDIR)
		refuse("%s is no file of bytes: get copies one; `tools/guest ls %s` lists a folder",
		       path, path);
	else if (errno == ENOENT)
		refuse("there is no %s in the machine: `tools/guest ls` lists its folders", path);
	else
		refuse("%s: %s", path, strerror(errno));
}

static void get(const char *path)
{
	size_t size;
	char *bytes = read_file(path, &size);

	if (bytes == NULL) {
		refuse_to_read(path);
		return;
	}
	send_answer(bytes, size);
	free(bytes);
}

/* A file that is being put: under a name of its own until it is whole. */
struct coming {
	const char *path;
	char name[LINE_ROOM + 8];
	int file;
	int error; /* Why it cannot be had; 0: nothing is wrong yet. */
};

/* A new file belongs to whom its folder belongs to. */
static int give_to_owner_of_folder(const char *name)
{
	char folder[LINE_ROOM + 8];
	struct stat status;
	char *slash;

	snprintf(folder, sizeof folder, "%s", name);
	slash = strrchr(folder, '/');
	slash[slash == folder] = '\0';
	if (stat(folder, &status) != 0)
		return -1;
	return chown(name, status.st_uid, status.st_gid);
}

static void begin(struct coming *coming)
{
	struct stat status;

	if (stat(coming->path, &status) == 0 && !S_ISREG(status.st_mode)) {
		coming->error = EISDIR;
		return;
	}
	snprintf(coming->name, sizeof coming->name, "%s.XXXXXX", coming->path);
	coming->file = mkstemp(coming->name);
	if (coming->file < 0)
		coming->error = errno;
}

static void add(struct coming *coming, const char *bytes, size_t size)
{
	ssize_t n = 0;

	while (coming->error == 0 && size != 0) {
		n = write(coming->file, bytes, size);
		if (n <= 0) {
			coming->error = n < 0 ? errno : ENOSPC;
			return;
		}
		bytes += n;
		size -= (size_t)n;
	}
}

/* Takes the place of what was there, or leaves that as it was. */
static void finish(struct coming *coming, mode_t mode)
{
	bool is_closed = close(coming->file) == 0;

	if (coming->error == 0 &&
	    (!is_closed || give_to_owner_of_folder(coming->name) != 0 ||
	     chmod(coming->name, mode) != 0 || rename(coming->name, coming->path) != 0))
		coming->error = errno;
	if (coming->error != 0)
		unlink(coming->name);
}

/* Chunks until all are there, one cannot be kept, or the host is gone: then false. */
static bool receive_chunks(struct coming *coming, size_t size)
{
	static char chunk[CHUNK_IN];

	while (size != 0) {
		size_t piece = size < CHUNK_IN ? size : CHUNK_IN;

		if (receive_byte() != '+')
			return false;
		for (size_t n = 0; n < piece; n++)
			chunk[n] = receive_byte();
		add(coming, chunk, piece);
		if (coming->error != 0) {
			say("!");
			return true;
		}
		say(".");
		size -= piece;
	}
	return true;
}

static void refuse_to_write(const struct coming *coming)
{
	if (coming->error == EISDIR)
		refuse("%s is there and is no file; a folder's name ends with a slash: %s/",
		       coming->path, coming->path);
	else if (coming->error == ENOENT || coming->error == ENOTDIR)
		refuse("%s: there is no such folder in the machine: `mkdir` makes one there",
		       coming->path);
	else if (coming->error == ENOSPC)
		refuse("%s: the machine's disk has no room for it: `rm` there what nobody needs",
		       coming->path);
	else
		refuse("%s: %s", coming->path, strerror(coming->error));
}

static void put(char *words)
{
	char *rest;
	mode_t mode = (mode_t)strtoul(words, &rest, 8);
	size_t size = strtoul(rest, &rest, 10);
	struct coming coming = {.path = rest + (*rest == ' '), .file = -1};

	begin(&coming);
	if (coming.error != 0) {
		refuse_to_write(&coming);
		return;
	}
	say("ok\n");
	if (!receive_chunks(&coming, size))
		coming.error = EPIPE;
	finish(&coming, mode);
	if (coming.error == 0)
		say("ok\n");
	else if (coming.error != EPIPE)
		refuse_to_write(&coming);
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
		if (errno == ENOENT || errno == ENOTDIR)
			refuse("there is no folder %s in the machine", path);
		else
			refuse("%s: %s", path, strerror(errno));
		return;
	}
	text = list(directory);
	send_answer(text.bytes, text.size);
	free(text.bytes);
	closedir(directory);
}

static void greet(const char *word)
{
	char text[LINE_ROOM + 8];

	snprintf(text, sizeof text, "ok %s\n", word);
	say(text);
}

static void obey(char *order)
{
	if (strncmp(order, "hello ", 6) == 0)
		greet(order + 6);
	else if (strncmp(order, "get ", 4) == 0)
		get(order + 4);
	else if (strncmp(order, "put ", 4) == 0)
		put(order + 4);
	else if (strncmp(order, "ls ", 3) == 0)
		ls(order + 3);
	else if (*order != '\0')
		refuse("not understood");
}

/* A machine whose second serial port is the host's for something else has no device of that name:
 * nobody will ask us anything, and nothing is wrong. */
static void open_line(void)
{
	mach_port_t master = ux_device_port();
	kern_return_t error;

	if (master == MACH_PORT_NULL)
		give_up("only root has the machine's devices", KERN_NO_ACCESS);
	error = device_open(master, D_READ | D_WRITE, "com1", &line);
	if (error == D_NO_SUCH_DEVICE)
		exit(EXIT_SUCCESS);
	if (error != D_SUCCESS)
		give_up("cannot have the second serial port", error);
}

int main(void)
{
	char order[LINE_ROOM];

	open_line();
	close(STDOUT_FILENO); /* /etc/rc waits for it. */
	for (;;) {
		receive_line(order, sizeof order);
		obey(order);
	}
}
