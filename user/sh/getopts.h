/* SPDX-License-Identifier: MIT */
/* The builtin `getopts` keeps its place within an argument such as -abc. */
#ifndef SH_GETOPTS_H
#define SH_GETOPTS_H

/* The next call begins with the first letter of argument OPTIND. */
void getopts_reset(void);

int builtin_getopts(int count, char **arguments);

#endif
