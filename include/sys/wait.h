/* SPDX-License-Identifier: MIT */
/* How a process ended, and calls that wait for it. */
#ifndef SYS_WAIT_H
#define SYS_WAIT_H

#include <sys/types.h>

#define WNOHANG   1
#define WUNTRACED 2

/* The low seven bits are the signal that ended it, or 0x7f for a stopped one; then the status. */
#define WSTOPPED_MARK        0x7f
#define W_EXITCODE(ret, sig) ((ret) << 8 | (sig))
#define WIFEXITED(status)    (((status)&0x7f) == 0)
#define WEXITSTATUS(status)  ((status) >> 8 & 0xff)
#define WIFSTOPPED(status)   (((status)&0xff) == WSTOPPED_MARK)
#define WSTOPSIG(status)     WEXITSTATUS(status)
#define WIFSIGNALED(status)  (!WIFEXITED(status) && !WIFSTOPPED(status))
#define WTERMSIG(status)     ((status)&0x7f)

#ifndef UX_SERVER
struct rusage;

pid_t wait(int *status);
pid_t waitpid(pid_t pid, int *status, int options);
pid_t wait3(int *status, int options, struct rusage *usage);
pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage);
#endif

#endif
