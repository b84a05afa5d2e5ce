/* SPDX-License-Identifier: MIT */
/* Calls of Unix. */
#ifndef _UNISTD_H
#define _UNISTD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/unistd.h>

#define STDIN_FILENO  0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2

extern char **environ;

/* ---------------- Files ---------------- */

int close(int fd);
ssize_t read(int fd, void *buffer, size_t size);
ssize_t write(int fd, const void *buffer, size_t size);
off_t lseek(int fd, off_t offset, int whence);
int dup(int fd);
int dup2(int fd, int copy);
int dup3(int fd, int copy, int flags);
int pipe(int ends[2]);
int pipe2(int ends[2], int flags);
int fsync(int fd);
void sync(void);
int ftruncate(int fd, off_t size);
int truncate(const char *path, off_t size);
int isatty(int fd);
char *ttyname(int fd);

int unlink(const char *path);
int rmdir(const char *path);
int link(const char *old_path, const char *new_path);
int symlink(const char *text, const char *path);
ssize_t readlink(const char *path, char *text, size_t room);
int chdir(const char *path);
int chown(const char *path, uid_t uid, gid_t gid);
int access(const char *path, int mode);
char *getcwd(char *buffer, size_t room);

/* ---------------- Processes ---------------- */

pid_t fork(void);
pid_t vfork(void);
_Noreturn void _exit(int status);
int execve(const char *path, char *const arguments[], char *const environment[]);
int execv(const char *path, char *const arguments[]);
int execvp(const char *file, char *const arguments[]);
int execvpe(const char *file, char *const arguments[], char *const environment[]);
int execl(const char *path, const char *argument, ...);
int execlp(const char *file, const char *argument, ...);
int execle(const char *path, const char *argument, ...);

pid_t getpid(void);
pid_t getppid(void);
pid_t getpgrp(void);
int setpgid(pid_t pid, pid_t pgrp);
uid_t getuid(void);
uid_t geteuid(void);
gid_t getgid(void);
gid_t getegid(void);
int setuid(uid_t uid);
int setgid(gid_t gid);
int seteuid(uid_t uid);
int setegid(gid_t gid);
int getgroups(int room, gid_t groups[]);
int setgroups(size_t count, const gid_t *groups);
char *getlogin(void); /* NULL if the user has no name. */

/* ---------------- Times and signals ---------------- */

unsigned alarm(unsigned seconds);
unsigned sleep(unsigned seconds);
int usleep(useconds_t microseconds);
int pause(void);

/* ---------------- Words of the command line ---------------- */

extern char *optarg;
extern int optind, opterr, optopt;
int getopt(int argc, char *const argv[], const char *options);

/* ---------------- Its own profile (docs/calls/profil.md) ---------------- */

/* The kernel counts ticks of the process's CPU time by where they find it. */
int profil(char *samples, size_t size, unsigned long offset, unsigned scale);
int add_profil(char *samples, size_t size, unsigned long offset, unsigned scale);

/* ---------------- The system ---------------- */

int gethostname(char *name, size_t room);
int sethostname(const char *name, size_t length); /* Root's. */
int getpagesize(void);
long sysconf(int what);

#define _SC_CLK_TCK          1
#define _SC_OPEN_MAX         2
#define _SC_PAGESIZE         3
#define _SC_PAGE_SIZE        _SC_PAGESIZE
#define _SC_ARG_MAX          4
#define _SC_CHILD_MAX        5
#define _SC_NGROUPS_MAX      6
#define _SC_HOST_NAME_MAX    7
#define _SC_NPROCESSORS_CONF 8
#define _SC_NPROCESSORS_ONLN 9

#endif
