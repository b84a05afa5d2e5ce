/* SPDX-License-Identifier: MIT */
/* A pager with one file (pager.c), and what the program does with that (main.c). */
#ifndef MEMFILE_H
#define MEMFILE_H

#include <assay.h>
#include <mach.h>

#define FILE_PAGES 4

/* The file's port, with a send right; MACH_PORT_NULL if that could not be. */
mach_port_t pager_create(void);

/* Receives what the kernel says of the file, for ever. */
_Noreturn void pager_serve(void);

/* What came back for a page; empty if nothing did. */
const char *pager_page(uint32_t index);

/* Prints what was asked for and what came back. */
void pager_report(void);

#endif
