/* SPDX-License-Identifier: MIT */
/* ACPI tables, as far as the kernel reads them: which CPUs and APICs there are. */
#ifndef I386_DEVICES_ACPI_H
#define I386_DEVICES_ACPI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"

#define ACPI_MAX_IOAPICS 4
#define ISA_IRQS         16

struct acpi_ioapic {
	uint32_t address;
	uint32_t first_gsi; /* Global system interrupt of its pin 0. */
};

struct acpi_isa_irq {
	uint32_t gsi;
	bool active_low;
	bool level;
};

struct acpi_machine {
	uint32_t lapic_address;
	unsigned n_cpus; /* Usable CPUs, at most MAX_CPUS; the log names those that were left. */
	uint8_t apic_ids[MAX_CPUS];
	unsigned n_ioapics;
	struct acpi_ioapic ioapics[ACPI_MAX_IOAPICS];
	struct acpi_isa_irq isa[ISA_IRQS]; /* Identity unless the table overrides. */
};

/* Reads the tables; NULL on success, else what is wrong with this machine, in a sentence. */
const char *acpi_read(struct acpi_machine *machine);

#endif
