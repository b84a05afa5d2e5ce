/* SPDX-License-Identifier: MIT */
/* The machine-independent steps of starting; i386/boot/start.c tells the whole story. */
#ifndef BOOT_MAIN_H
#define BOOT_MAIN_H

/* Sets up the zones and tables of all subsystems.  Memory can be allocated. */
void objects_init(void);

#endif
