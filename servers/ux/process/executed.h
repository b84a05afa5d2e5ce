/* SPDX-License-Identifier: MIT */
/* What a process's program was called when it was executed: its file may be elsewhere by now. */
#ifndef UX_EXECUTED_H
#define UX_EXECUTED_H

/* An absolute path without links; processes that were forked from each other share it. */
struct executed;

struct executed *executed_new(const char *path); /* Null: there is no memory. */
struct executed *executed_reference(struct executed *executed);
void executed_release(struct executed *executed); /* Of null both do nothing. */
const char *executed_path(const struct executed *executed);

#endif
