/* SPDX-License-Identifier: MIT */
/* The end of the run: emulators have a port for it, other machines stand still. */
#include "i386/devices/power.h"

#include "base/machine.h"
#include "i386/cpu/io.h"

#define PORT_QEMU_EXIT      0xf4 /* -device isa-debug-exit,iobase=0xf4: ends QEMU at once. */
#define PORT_BOCHS_SHUTDOWN 0x8900

#define PORT_KEYBOARD  0x64 /* The keyboard's controller has a line to the processor's reset, */
#define KEYBOARD_RESET 0xfe
#define PORT_RESET     0xcf9 /* and so have newer chipsets. */
#define RESET_HARD     0x06

/* Bochs and old QEMUs end when they have read this word, byte by byte. */
static void power_bochs_shutdown(void)
{
	for (const char *c = "Shutdown"; *c != '\0'; c++)
		outb(PORT_BOCHS_SHUTDOWN, (uint8_t)*c);
}

noreturn void machine_end(uint32_t outcome)
{
	/* A machine that goes off takes with it what its serial ports have not sent yet. */
	machine_console_drain();
	outl(PORT_QEMU_EXIT, outcome);
	power_bochs_shutdown();
	/* An NMI wakes a halted CPU; there is nothing left for it to do. */
	for (;;)
		__asm__ volatile("cli; hlt");
}

noreturn void machine_reset(void)
{
	static const struct {
		uint16_t limit;
		uint32_t base;
	} __attribute__((packed)) no_vectors;

	machine_console_drain();
	outb(PORT_KEYBOARD, KEYBOARD_RESET);
	outb(PORT_RESET, RESET_HARD);
	/* A processor that cannot tell of a fault, nor of the fault in telling, resets itself. */
	for (;;)
		__asm__ volatile("cli; lidt %0; int3" ::"m"(no_vectors));
}
