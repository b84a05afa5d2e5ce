/* SPDX-License-Identifier: MIT */
/* What is to be written (pager.c), and is called by the program that uses its memory (file.c). */
#ifndef GRADING_PAGER_H
#define GRADING_PAGER_H

#include <assay.h>
#include <mach.h>

#define FILE_PAGES 8

/* The file's port, with a send right; MACH_PORT_NULL if that could not be. */
mach_port_t pager_create(void);

/* Receives what the kernel says of the file, for ever. */
_Noreturn void pager_serve(void);

#endif
