/* SPDX-License-Identifier: MIT */
/*
 * The C library's portable half, tested on the host beside the host's own.
 *
 * Its object files are made for the host, and all names in them, those that they call too, get
 * `our_` in front.  our_system.c is the system that they then find: the host's calls, which a test
 * can have fail.
 */
#ifndef LIBC_OUR_H
#define LIBC_OUR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "check.h"

typedef struct our_file OUR_FILE;

/* ---------------- What a test asks of the system below ---------------- */

#define OUR_EINTR  4
#define OUR_EBADF  9
#define OUR_ENOMEM 12
#define OUR_EINVAL 22
#define OUR_ENOSPC 28
#define OUR_ERANGE 34

struct our_host {
	unsigned most;        /* Bytes that one read or write takes; 0 is no limit. */
	unsigned writes_good; /* Writes before one fails with this error; */
	int write_error;      /* 0: none does. */
	unsigned writes;      /* Calls of write. */
	int is_terminal;      /* What isatty() says. */
	size_t pages_most;    /* Bytes of pages that there are; 0 is no limit. */
	size_t pages;         /* That are allocated. */
	int locks;            /* That are held. */
	int thread;           /* 0: the host's number. */
};

extern struct our_host our_host;

int *our___errno_location(void);
#define our_errno (*our___errno_location())

/* ---------------- What is tested ---------------- */

int our_snprintf(char *to, size_t size, const char *format, ...);
int our_vsnprintf(char *to, size_t size, const char *format, va_list arguments);
int our_asprintf(char **text, const char *format, ...);
int our_fprintf(OUR_FILE *file, const char *format, ...);
int our_dprintf(int descriptor, const char *format, ...);
int our_sscanf(const char *text, const char *format, ...);
int our_fscanf(OUR_FILE *file, const char *format, ...);

extern OUR_FILE *our_stdin;
extern OUR_FILE *our_stdout;
extern OUR_FILE *our_stderr;
OUR_FILE *our_fopen(const char *path, const char *mode);
OUR_FILE *our_fdopen(int descriptor, const char *mode);
OUR_FILE *our_freopen(const char *path, const char *mode, OUR_FILE *file);
int our_fclose(OUR_FILE *file);
int our_fflush(OUR_FILE *file);
int our_setvbuf(OUR_FILE *file, char *buffer, int mode, size_t size);
int our_fseek(OUR_FILE *file, long offset, int whence);
long our_ftell(OUR_FILE *file);
void our_rewind(OUR_FILE *file);
int our_feof(OUR_FILE *file);
int our_ferror(OUR_FILE *file);
void our_clearerr(OUR_FILE *file);
size_t our_fread(void *to, size_t size, size_t count, OUR_FILE *file);
size_t our_fwrite(const void *from, size_t size, size_t count, OUR_FILE *file);
int our_getc(OUR_FILE *file);
int our_ungetc(int character, OUR_FILE *file);
int our_putc(int character, OUR_FILE *file);
int our_fputs(const char *text, OUR_FILE *file);
char *our_fgets(char *line, int size, OUR_FILE *file);
int our_getline(char **line, size_t *size, OUR_FILE *file);
void our_flockfile(OUR_FILE *file);
int our_ftrylockfile(OUR_FILE *file);
void our_funlockfile(OUR_FILE *file);
OUR_FILE *our_popen(const char *command, const char *mode);
int our_pclose(OUR_FILE *file);
int our_system(const char *command);
void our___stdio_flush_all(void);
void our___stdio_exit(void);
void our___stdio_before_fork(void);
void our___stdio_after_fork(int in_child);

double our_strtod(const char *text, char **end);
float our_strtof(const char *text, char **end);
long double our_strtold(const char *text, char **end);
long our_strtol(const char *text, char **end, int base);
unsigned long our_strtoul(const char *text, char **end, int base);
long long our_strtoll(const char *text, char **end, int base);
unsigned long long our_strtoull(const char *text, char **end, int base);

void our_free(void *block);
void *our_malloc(size_t size);
void *our_calloc(size_t count, size_t size);
void *our_realloc(void *block, size_t size);
void *our_aligned_alloc(size_t alignment, size_t size);
int our_posix_memalign(void **block, size_t alignment, size_t size);
size_t our_malloc_usable_size(void *block);
size_t our___malloc_check(void);
void our___malloc_before_fork(void);
void our___malloc_after_fork(int in_child);

extern char **our_environ;
char *our_getenv(const char *name);
int our_setenv(const char *name, const char *value, int replace);
int our_unsetenv(const char *name);
int our_putenv(char *assignment);
int our_clearenv(void);
int our_atexit(void (*function)(void));
void our___run_atexit(void);
_Noreturn void our_abort(void);
void our_qsort(void *array, size_t count, size_t size, int (*compare)(const void *, const void *));
void *our_bsearch(const void *key, const void *array, size_t count, size_t size,
		  int (*compare)(const void *, const void *));
int our_rand(void);
void our_srand(unsigned seed);
int our_mkstemp(char *path);

void *our_memcpy(void *to, const void *from, size_t size);
void *our_memmove(void *to, const void *from, size_t size);
void *our_memset(void *to, int byte, size_t size);
int our_memcmp(const void *one, const void *other, size_t size);
void *our_memchr(const void *bytes, int byte, size_t size);
void *our_memrchr(const void *bytes, int byte, size_t size);
void *our_memmem(const void *bytes, size_t size, const void *wanted, size_t wanted_size);
void *our_memccpy(void *to, const void *from, int last, size_t size);
size_t our_strlen(const char *string);
size_t our_strnlen(const char *string, size_t limit);
char *our_strcpy(char *to, const char *from);
char *our_strncpy(char *to, const char *from, size_t size);
char *our_stpncpy(char *to, const char *from, size_t size);
size_t our_strlcpy(char *to, const char *from, size_t size);
size_t our_strlcat(char *to, const char *from, size_t size);
char *our_strcat(char *to, const char *from);
char *our_strncat(char *to, const char *from, size_t limit);
char *our_strdup(const char *string);
int our_strcmp(const char *one, const char *other);
int our_strncmp(const char *one, const char *other, size_t limit);
int our_strcasecmp(const char *one, const char *other);
int our_strncasecmp(const char *one, const char *other, size_t limit);
char *our_strchr(const char *string, int character);
char *our_strrchr(const char *string, int character);
char *our_strchrnul(const char *string, int character);
size_t our_strspn(const char *string, const char *accepted);
size_t our_strcspn(const char *string, const char *rejected);
char *our_strpbrk(const char *string, const char *accepted);
char *our_strstr(const char *string, const char *wanted);
char *our_strcasestr(const char *string, const char *wanted);
char *our_strtok_r(char *string, const char *separators, char **rest);
char *our_strsep(char **rest, const char *separators);
char *our_strerror(int number);
int our_strerror_r(int number, char *to, size_t size);
char *our_strsignal(int number);

int our_isprint(int character);
int our_isalnum(int character);
int our_isalpha(int character);
int our_isblank(int character);
int our_iscntrl(int character);
int our_isdigit(int character);
int our_isgraph(int character);
int our_islower(int character);
int our_ispunct(int character);
int our_isspace(int character);
int our_isupper(int character);
int our_isxdigit(int character);
int our_tolower(int character);
int our_toupper(int character);

/* ---------------- Numbers to try ---------------- */

static inline uint64_t our_random(void)
{
	static uint64_t state = 88172645463325252ull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 2685821657736338717ull;
}

#endif
