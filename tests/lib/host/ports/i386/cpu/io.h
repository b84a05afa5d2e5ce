/* SPDX-License-Identifier: MIT */
/*
 * In place of kernel/i386/cpu/io.h on the host, where a test that reaches for ports says what is
 * behind them: those that say so in their flags.
 */
#ifndef I386_CPU_IO_H
#define I386_CPU_IO_H

#include <stdint.h>

void outl(uint16_t port, uint32_t value);
uint32_t inl(uint16_t port);

#endif
