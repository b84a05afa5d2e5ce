/* SPDX-License-Identifier: MIT */
/* The table of background jobs, as the builtin `wait` sees it. */
#ifndef SH_JOBS_H
#define SH_JOBS_H

#include <stdbool.h>
#include <sys/types.h>

struct job {
	struct job *next;
	pid_t pid;
	int number;
	int status; /* As waitpid() gave it. */
	bool has_ended;
	bool is_announced; /* The user saw it begin and wants to see it end. */
};

/* NULL if there is none. */
struct job *job_find(pid_t pid);
struct job *job_first_running(void);

void job_remove(struct job *job);

/* Says by which signal a process was ended, if anybody should wonder. */
void job_tell_death(int wait_status);

int builtin_wait(int count, char **arguments);

#endif
