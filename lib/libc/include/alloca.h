/* SPDX-License-Identifier: MIT */
/* Memory of the calling function's frame. */
#ifndef _ALLOCA_H
#define _ALLOCA_H

#define alloca(size) __builtin_alloca(size)

#endif
