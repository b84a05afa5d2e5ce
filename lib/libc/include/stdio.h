/* SPDX-License-Identifier: MIT */
/* Streams, and text made from values and read into them. */
#ifndef _STDIO_H
#define _STDIO_H

#include <stdarg.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/unistd.h>

#define BUFSIZ       4096
#define EOF          (-1)
#define FOPEN_MAX    64
#define FILENAME_MAX 1024
#define L_tmpnam     20
#define TMP_MAX      238328
#define P_tmpdir     "/tmp"

/* How setvbuf() is asked: full buffer, line buffer, none. */
#define _IOFBF 0
#define _IOLBF 1
#define _IONBF 2

typedef struct libc_file FILE;
typedef off_t fpos_t;

extern FILE *stdin;
extern FILE *stdout;
extern FILE *stderr;

#define stdin  stdin
#define stdout stdout
#define stderr stderr

/* Letters of the mode: r w a, then + both ways, x a new file only, e closed by exec, b nothing. */
FILE *fopen(const char *path, const char *mode);
FILE *fdopen(int descriptor, const char *mode);
FILE *freopen(const char *path, const char *mode, FILE *file);
FILE *tmpfile(void);
int fclose(FILE *file);
int fflush(FILE *file);
int fileno(FILE *file);
FILE *popen(const char *command, const char *mode);
int pclose(FILE *file);

void setbuf(FILE *file, char *buffer);
void setlinebuf(FILE *file);
int setvbuf(FILE *file, char *buffer, int mode, size_t size);

void flockfile(FILE *file);
int ftrylockfile(FILE *file);
void funlockfile(FILE *file);

int fseek(FILE *file, long offset, int whence);
int fseeko(FILE *file, off_t offset, int whence);
long ftell(FILE *file);
off_t ftello(FILE *file);
void rewind(FILE *file);
int fgetpos(FILE *file, fpos_t *position);
int fsetpos(FILE *file, const fpos_t *position);

int feof(FILE *file);
int ferror(FILE *file);
void clearerr(FILE *file);
void perror(const char *what);

size_t fread(void *to, size_t size, size_t count, FILE *file);
int fgetc(FILE *file);
int getc(FILE *file);
int getchar(void);
int getc_unlocked(FILE *file);
int getchar_unlocked(void);
int ungetc(int character, FILE *file);
char *fgets(char *line, int size, FILE *file);
ssize_t getline(char **line, size_t *size, FILE *file);
ssize_t getdelim(char **line, size_t *size, int delimiter, FILE *file);

size_t fwrite(const void *from, size_t size, size_t count, FILE *file);
int fputc(int character, FILE *file);
int putc(int character, FILE *file);
int putchar(int character);
int putc_unlocked(int character, FILE *file);
int putchar_unlocked(int character);
int fputs(const char *text, FILE *file);
int puts(const char *text);

#define __PRINTF(text, first) __attribute__((format(printf, text, first)))
#define __SCANF(text, first)  __attribute__((format(scanf, text, first)))

int printf(const char *format, ...) __PRINTF(1, 2);
int fprintf(FILE *file, const char *format, ...) __PRINTF(2, 3);
int dprintf(int descriptor, const char *format, ...) __PRINTF(2, 3);
int sprintf(char *to, const char *format, ...) __PRINTF(2, 3);
int snprintf(char *to, size_t size, const char *format, ...) __PRINTF(3, 4);
int asprintf(char **text, const char *format, ...) __PRINTF(2, 3);
int vprintf(const char *format, va_list arguments) __PRINTF(1, 0);
int vfprintf(FILE *file, const char *format, va_list arguments) __PRINTF(2, 0);
int vdprintf(int descriptor, const char *format, va_list arguments) __PRINTF(2, 0);
int vsprintf(char *to, const char *format, va_list arguments) __PRINTF(2, 0);
int vsnprintf(char *to, size_t size, const char *format, va_list arguments) __PRINTF(3, 0);
int vasprintf(char **text, const char *format, va_list arguments) __PRINTF(2, 0);

int scanf(const char *format, ...) __SCANF(1, 2);
int fscanf(FILE *file, const char *format, ...) __SCANF(2, 3);
int sscanf(const char *text, const char *format, ...) __SCANF(2, 3);
int vscanf(const char *format, va_list arguments) __SCANF(1, 0);
int vfscanf(FILE *file, const char *format, va_list arguments) __SCANF(2, 0);
int vsscanf(const char *text, const char *format, va_list arguments) __SCANF(2, 0);

int remove(const char *path);
int rename(const char *from, const char *to);

#endif
