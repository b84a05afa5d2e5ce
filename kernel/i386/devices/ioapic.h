/* SPDX-License-Identifier: MIT */
/* The I/O APIC: where the interrupts of devices go.  The legacy 8259s are remapped and masked. */
#ifndef I386_DEVICES_IOAPIC_H
#define I386_DEVICES_IOAPIC_H

#include <stdbool.h>
#include <stdint.h>

#include "i386/devices/acpi.h"

/* Masks the 8259s, and moves what they may still raise to vectors of its own. */
void pic_silence(void);

/* Maps the chips that the tables name, with all their pins masked. */
void ioapic_init(const struct acpi_machine *machine);

/* Whether an I/O APIC has a pin for ISA interrupt `irq`: the others want one that has. */
bool ioapic_has(unsigned irq);

/* Sends ISA interrupt `irq`, edge-triggered as the tables say, to all CPUs by vector or as NMI. */
void ioapic_route_all(unsigned irq, uint8_t vector);
void ioapic_route_all_nmi(unsigned irq);

/* Sends ISA interrupt `irq` by vector to the one CPU whose local APIC has the id `apic_id`. */
void ioapic_route_to(unsigned irq, uint8_t vector, uint32_t apic_id);

/* ISA interrupt `irq` comes no more until it is routed again. */
void ioapic_mask(unsigned irq);

#endif
