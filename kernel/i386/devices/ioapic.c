/* SPDX-License-Identifier: MIT */
/*
 * The I/O APICs, and the silence of the 8259s before them.
 *
 * A register is reached by two stores (select, then data), so everything here is for thread code
 * under the kernel lock, or for boot; no interrupt handler comes here.
 */
#include "i386/devices/ioapic.h"

#include <stddef.h>

#include "base/assert.h"
#include "i386/cpu/io.h"
#include "i386/cpu/vectors.h"
#include "i386/mmu/pmap.h"

/* Memory words of a chip, and the registers that they give access to. */
#define WORD_SELECT      0
#define WORD_DATA        4
#define WINDOW_SIZE      0x20
#define REGISTER_VERSION 1
#define REGISTER_PIN(n)  (0x10 + 2 * (n)) /* Low half; the high half follows. */

#define PIN_NMI        0x400u
#define PIN_LOGICAL    0x800u
#define PIN_ACTIVE_LOW 0x2000u
#define PIN_LEVEL      0x8000u
#define PIN_MASKED     0x10000u

/* In the high half: every logical id, that is the CPUs that have enabled their local APIC, see
 * lapic_enable(); or one CPU's own. */
#define TO_ALL 0xff000000u
#define TO(id) ((id) << 24)

#define PIC_MASTER  0x20
#define PIC_SLAVE   0xa0
#define PIC_INIT    0x11 /* Four words follow, on the port above: this one, */
#define PIC_CASCADE 2    /* vector, pin of the cascade, mode. */
#define PIC_8086    1
#define PIC_ALL     0xff

struct chip {
	volatile uint32_t *words;
	uint32_t first_gsi;
	uint32_t pins;
};

/* Constant after ioapic_init(). */
static struct chip chips[ACPI_MAX_IOAPICS];
static unsigned n_chips;
static struct acpi_isa_irq isa[ISA_IRQS];

static void ioapic_pic_set_up(uint16_t port, uint8_t vector, uint8_t cascade)
{
	outb(port, PIC_INIT);
	outb(port + 1, vector);
	outb(port + 1, cascade);
	outb(port + 1, PIC_8086);
	outb(port + 1, PIC_ALL); /* Masks every input. */
}

/* Even masked, an 8259 can raise a spurious interrupt: it must not look like an exception. */
void pic_silence(void)
{
	ioapic_pic_set_up(PIC_MASTER, VECTOR_PIC, 1 << PIC_CASCADE);
	ioapic_pic_set_up(PIC_SLAVE, VECTOR_PIC + 8, PIC_CASCADE);
}

static uint32_t ioapic_chip_read(const struct chip *chip, uint32_t reg)
{
	chip->words[WORD_SELECT] = reg;
	return chip->words[WORD_DATA];
}

static void ioapic_chip_write(const struct chip *chip, uint32_t reg, uint32_t value)
{
	chip->words[WORD_SELECT] = reg;
	chip->words[WORD_DATA] = value;
}

static void ioapic_chip_init(struct chip *chip, const struct acpi_ioapic *found)
{
	chip->words = device_map(found->address, WINDOW_SIZE);
	assert(chip->words != NULL);
	chip->first_gsi = found->first_gsi;
	chip->pins = (ioapic_chip_read(chip, REGISTER_VERSION) >> 16 & 0xff) + 1;
	for (uint32_t pin = 0; pin < chip->pins; pin++)
		ioapic_chip_write(chip, REGISTER_PIN(pin), PIN_MASKED);
}

void ioapic_init(const struct acpi_machine *machine)
{
	assert(machine->n_ioapics <= ACPI_MAX_IOAPICS);
	for (n_chips = 0; n_chips < machine->n_ioapics; n_chips++)
		ioapic_chip_init(&chips[n_chips], &machine->ioapics[n_chips]);
	for (unsigned irq = 0; irq < ISA_IRQS; irq++)
		isa[irq] = machine->isa[irq];
}

/* The chip that has a pin for this interrupt of the machine, or NULL. */
static const struct chip *ioapic_chip_of(uint32_t gsi)
{
	for (unsigned i = 0; i < n_chips; i++) {
		if (gsi - chips[i].first_gsi < chips[i].pins)
			return &chips[i];
	}
	return NULL;
}

bool ioapic_has(unsigned irq)
{
	return ioapic_chip_of(isa[irq].gsi) != NULL;
}

/*
 * To the CPUs that `high` says.  Masked while it changes, so that no interrupt goes half by the old
 * route and half by the new.
 */
static void ioapic_pin_write(unsigned irq, uint32_t low, uint32_t high)
{
	const struct chip *chip;
	uint32_t reg;

	assert(irq < ISA_IRQS);
	chip = ioapic_chip_of(isa[irq].gsi);
	assert(chip != NULL);
	reg = REGISTER_PIN(isa[irq].gsi - chip->first_gsi);
	ioapic_chip_write(chip, reg, PIN_MASKED);
	ioapic_chip_write(chip, reg + 1, high);
	if (low != PIN_MASKED)
		ioapic_chip_write(chip, reg, low);
}

static uint32_t ioapic_polarity(unsigned irq)
{
	return isa[irq].active_low ? PIN_ACTIVE_LOW : 0;
}

void ioapic_route_all(unsigned irq, uint8_t vector)
{
	assert(irq < ISA_IRQS && vector >= VECTOR_EXCEPTIONS);
	ioapic_pin_write(
		irq, PIN_LOGICAL | ioapic_polarity(irq) | (isa[irq].level ? PIN_LEVEL : 0) | vector,
		TO_ALL);
}

void ioapic_route_to(unsigned irq, uint8_t vector, uint32_t apic_id)
{
	assert(irq < ISA_IRQS && vector >= VECTOR_EXCEPTIONS);
	ioapic_pin_write(irq, ioapic_polarity(irq) | (isa[irq].level ? PIN_LEVEL : 0) | vector,
			 TO(apic_id));
}

/* An NMI has no end-of-interrupt, so it can only be an edge. */
void ioapic_route_all_nmi(unsigned irq)
{
	assert(irq < ISA_IRQS);
	ioapic_pin_write(irq, PIN_LOGICAL | PIN_NMI | ioapic_polarity(irq), TO_ALL);
}

void ioapic_mask(unsigned irq)
{
	ioapic_pin_write(irq, PIN_MASKED, TO_ALL);
}
