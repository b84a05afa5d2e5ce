/* SPDX-License-Identifier: MIT */
/* Memory, numbers, sorting, the environment, and the end of a program. */
#ifndef _STDLIB_H
#define _STDLIB_H

#include <alloca.h>
#include <stddef.h>
#include <sys/types.h>

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX     0x7fffffff
#define MB_CUR_MAX   1

typedef struct {
	int quot;
	int rem;
} div_t;

typedef struct {
	long quot;
	long rem;
} ldiv_t;

typedef struct {
	long long quot;
	long long rem;
} lldiv_t;

typedef int (*__compare_t)(const void *one, const void *other);
typedef int (*__compare_with_t)(const void *one, const void *other, void *context);

void free(void *block);
void *malloc(size_t size) __attribute__((malloc));
void *calloc(size_t count, size_t size) __attribute__((malloc));
void *realloc(void *block, size_t size);
void *reallocarray(void *block, size_t count, size_t size);
void *aligned_alloc(size_t alignment, size_t size) __attribute__((malloc));
int posix_memalign(void **block, size_t alignment, size_t size);
size_t malloc_usable_size(void *block);

int atoi(const char *text);
long atol(const char *text);
long long atoll(const char *text);
double atof(const char *text);
long strtol(const char *text, char **end, int base);
long long strtoll(const char *text, char **end, int base);
unsigned long strtoul(const char *text, char **end, int base);
unsigned long long strtoull(const char *text, char **end, int base);
float strtof(const char *text, char **end);
double strtod(const char *text, char **end);
long double strtold(const char *text, char **end);

int abs(int number) __attribute__((const));
long labs(long number) __attribute__((const));
long long llabs(long long number) __attribute__((const));
div_t div(int number, int by) __attribute__((const));
ldiv_t ldiv(long number, long by) __attribute__((const));
lldiv_t lldiv(long long number, long long by) __attribute__((const));

void qsort(void *array, size_t count, size_t size, __compare_t compare);
void qsort_r(void *array, size_t count, size_t size, __compare_with_t compare, void *context);
void *bsearch(const void *key, const void *array, size_t count, size_t size, __compare_t compare);

int rand(void);
int rand_r(unsigned *seed);
void srand(unsigned seed);
long random(void);
void srandom(unsigned seed);

char *getenv(const char *name);
int setenv(const char *name, const char *value, int replace);
int unsetenv(const char *name);
int putenv(char *assignment);
int clearenv(void);

int atexit(void (*function)(void));
int at_quick_exit(void (*function)(void));
_Noreturn void exit(int status);
_Noreturn void quick_exit(int status);
_Noreturn void _Exit(int status);
_Noreturn void abort(void);

char *realpath(const char *path, char *result);
const char *getprogname(void);
void setprogname(const char *path);
int system(const char *command);
int mkstemp(char *path);
int mkostemp(char *path, int flags);
char *mkdtemp(char *path);

#endif
