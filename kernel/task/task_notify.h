/* SPDX-License-Identifier: MIT */
/*
 * Telling a program of every new task (<mach/task_notify.defs>), so that it knows whose child it
 * is.
 */
#ifndef TASK_TASK_NOTIFY_H
#define TASK_TASK_NOTIFY_H

struct task;

/* Tells whoever has registered; without memory nobody is told.  Does not block. */
void task_notify_new(struct task *task, struct task *parent);

/* A task has ended: if it was the one that had registered, nobody is registered any more. */
void task_notify_forget(void);

#endif
