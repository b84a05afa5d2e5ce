/* SPDX-License-Identifier: MIT */
/*
 * What several commands, or a command and the shell, share.
 *
 * The shell has its own complain(); test, echo and printf are in both and so complain by
 * report() alone.
 */
#ifndef COMMON_COMMON_H
#define COMMON_COMMON_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What a user's PATH begins as: what only root may use is in root's. */
#define PATH_FOR(uid) ((uid) == 0 ? "/bin:/sbin" : "/bin")

/* ---- report.c: messages of the form `NAME: what: why` ---- */

/* The name that messages begin with. */
extern const char *program_name;

/* Sets the name and reads no further. */
void program_start(char **arguments);

void report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same with the reason that errno has. */
void report_errno(const char *what);

/* Reports and exits. */
_Noreturn void report_exit(int status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints `usage: TEXT` and exits with status 2. */
_Noreturn void usage(const char *text);

/* The exit status of main(): `status`, or 1 if standard output could not be written. */
int program_end(int status);

/* ---- numbers.c ---- */

/* A whole number, nothing behind it; else false. */
bool parse_number(const char *text, long long *number);

/* ---- files.c ---- */

#define COPY_BYTES 8192

/* Opens a file for reading; "-" is standard input.  Reports and returns -1 if it cannot. */
int open_input(const char *name);
void close_input(int descriptor);

/* Reads so many bytes; false if there are not as many, with errno if that is an error. */
bool read_bytes(int descriptor, void *bytes, size_t length);

/* Writes all bytes; false with errno if that could not be. */
bool write_all(int descriptor, const void *bytes, size_t length);

/* Opens a file that was not there, whose name begins with `path`; -1 with errno. */
int open_beside(const char *path, char name[PATH_MAX]);

/*
 * Makes a file of these bytes: what it was before, it stays until all of them are written; false
 * with errno if that could not be.  What is no file, such as a terminal, is written to.
 */
bool replace_file(const char *path, const void *bytes, size_t length);

/* Copies all that is left of one file into another; false with a report. */
bool copy_all(int from, const char *from_name, int to, const char *to_name);

/* `directory/name`, in memory of its own. */
char *path_join(const char *directory, const char *name);

/* What comes behind the last slash; slashes at the end do not count.  In memory of its own. */
char *path_last(const char *path);

bool is_directory(const char *path);

/* Memory or the end. */
void *allocate(size_t size);
void *reallocate(void *memory, size_t size);
char *copy_text(const char *text);

/* ---- lines.c: reading by lines of any length ---- */

struct line_reader {
	int descriptor;
	const char *name;
	char *line; /* Without the newline, a zero behind it; it may have zeros in it. */
	size_t length;
	bool has_newline; /* The last line of a file may have none. */
	size_t room;
	char block[COPY_BYTES];
	size_t block_used;
	size_t block_position;
	bool failed;
};

/* False if the file cannot be opened, with a report. */
bool lines_open(struct line_reader *reader, const char *name);

/* The next line; false at the end, or after an error, which is reported. */
bool lines_next(struct line_reader *reader);
void lines_close(struct line_reader *reader);

/* ---- mode.c ---- */

/*
 * A mode such as 755 or u+x,go-w, which changes `old`; false if it is none.  Without `who` letters
 * all bits are meant.  X is x for directories and for files that somebody may execute.
 */
bool mode_parse(const char *text, mode_t old, bool is_directory, mode_t *mode);

/* As ls shows it: -rwxr-xr-x and a zero. */
#define MODE_ROOM 11
void mode_format(mode_t mode, char text[MODE_ROOM]);

/* ---- signals.c ---- */

/* A number, or a name with or without SIG; -1 if there is no such signal.  0 is allowed. */
int signal_number(const char *name);

/* Without SIG; NULL if it has none. */
const char *signal_name(int number);

/* ---- test.c, echo.c, printf.c: commands that the shell has built in ---- */

int test_command(int count, char **arguments);
int echo_command(int count, char **arguments);
int printf_command(int count, char **arguments);

/* Prints what a backslash and the characters behind it mean; \c says that nothing more follows. */
const char *print_escape(const char *text, bool octal_needs_zero, bool *stops);

#endif
