/* SPDX-License-Identifier: MIT */
/* What the library's files share. */
#ifndef BSM_INTERNAL_H
#define BSM_INTERNAL_H

#include "bsm.h"

/* Reads audit_class; once, whoever asks. */
bool classes_load(void);

/* A class by its name, which need not end with a zero. */
bool classes_find(const char *name, size_t length, au_class_t *bits);

#endif
