/* SPDX-License-Identifier: MIT */
/* In which function an instruction is, as the symbol table of its program's file has it. */
#ifndef UX_FUNCTION_H
#define UX_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

#define FUNCTION_NAME_MAX 40 /* What is longer is cut off. */

struct vnode;

struct function {
	char name[FUNCTION_NAME_MAX + 1];
	uint32_t offset; /* Of the instruction, from the function's beginning. */
};

/*
 * Reads the file, and no more of it than a bound, whatever it says of itself.  False: it names no
 * such function, or cannot be read.  Needs no memory but the stack's and the cache's.  Unlocks.
 */
bool function_find(struct vnode *vnode, uint32_t address, struct function *function);

/* Copies a name of somebody's who may mean harm: letters, digits and `_.-+$@`, others as `?`. */
void function_copy_name(char *to, const char *from, unsigned most);

#endif
