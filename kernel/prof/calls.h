/* SPDX-License-Identifier: MIT */
/* The kernel's calls, counted: what the rest of the kernel knows of it. */
#ifndef PROF_CALLS_H
#define PROF_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct task;

/*
 * As the boot programs are about to run: counts from then on, if `count-calls` says so, or goes on
 * if the kernel's file does.
 */
void calls_start(void);

bool calls_are_counted(void);

/* What was counted for `event` until now counts for `label`. */
void calls_attribute(uint32_t event, uint32_t label);

/* The label, if its calls are told apart, or else HOST_CALLS_OTHERS. */
uint32_t calls_label(uint32_t label);

/* A task was made that has no thread yet: if its parent is measured with its children, so is it. */
void calls_follow_child(struct task *child, const struct task *parent);

#endif
