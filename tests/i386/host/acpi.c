/* SPDX-License-Identifier: MIT */
/* links: i386/devices/acpi.c */
/*
 * Reading ACPI tables (i386/devices/acpi.h): a machine's tables as they should be, each broken on
 * purpose, and damaged at random.
 *
 * device_map() answers with a copy of exactly the bytes asked for, so that AddressSanitizer sees
 * any read beyond them, and remembers what was not unmapped.
 */
#include "i386/devices/acpi.h"

#include <stdlib.h>
#include <string.h>

#include "host/kernel.h"
#include "i386/mmu/pmap.h"

#define BIOS_SIZE   0x100000u
#define TABLES      0xbffe0000u /* Where QEMU puts them, far above small memories. */
#define TABLES_SIZE 0x1000u

#define RSDP 0xf5a40u
#define RSDT (TABLES + 0x100)
#define XSDT (TABLES + 0x180)
#define FACP (TABLES + 0x200)
#define MADT (TABLES + 0x300)

static uint8_t bios[BIOS_SIZE];
static uint8_t tables[TABLES_SIZE];
static unsigned mapped;
static bool no_room;

static uint8_t *at(uint32_t physical)
{
	return physical < BIOS_SIZE ? bios + physical : tables + (physical - TABLES);
}

/* Reads of addresses where nothing is give ones. */
void *device_map(uint32_t physical, uint32_t size)
{
	uint8_t *copy;

	EXPECT(size > 0 && physical + size > physical);
	if (no_room)
		return NULL;
	copy = malloc(size);
	for (uint32_t i = 0; i < size; i++) {
		uint32_t p = physical + i;

		copy[i] = p < BIOS_SIZE || p - TABLES < TABLES_SIZE ? *at(p) : 0xff;
	}
	mapped++;
	return copy;
}

void device_unmap(void *address, uint32_t size)
{
	EXPECT(size > 0);
	mapped--;
	free(address);
}

static void put32(uint32_t physical, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		at(physical)[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t get32(uint32_t physical)
{
	uint8_t *p = at(physical);

	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Makes the byte at `place` such that the sum over the bytes is zero. */
static void add_up(uint32_t physical, uint32_t size, uint32_t place)
{
	uint8_t sum = 0;

	at(physical)[place] = 0;
	for (uint32_t i = 0; i < size; i++)
		sum += at(physical)[i];
	at(physical)[place] = -sum & 0xff;
}

static void table(uint32_t physical, const char *signature, const void *body, uint32_t size)
{
	memcpy(at(physical), signature, 4);
	put32(physical + 4, 36 + size);
	memcpy(at(physical) + 36, body, size);
	add_up(physical, 36 + size, 9);
}

static void sum_again(uint32_t physical)
{
	add_up(physical, get32(physical + 4), 9);
}

static const uint8_t madt_body[] = {
	0x00, 0x00, 0xe0, 0xfe, 1,    0,    0,    0, /* Local APICs; there are 8259s. */
	0,    8,    0,    0,    1,    0,    0,    0, /* CPU, APIC id 0, */
	0,    8,    1,    2,    1,    0,    0,    0, /* 2, */
	0,    8,    2,    3,    0,    0,    0,    0, /* and one that is not usable. */
	1,    12,   0,    0,    0x00, 0x00, 0xc0, 0xfe, 0,  0, 0, 0, /* I/O APIC. */
	2,    10,   0,    0,    2,    0,    0,    0,    0,  0,       /* IRQ 0 is GSI 2. */
	2,    10,   0,    9,    9,    0,    0,    0,    15, 0,       /* IRQ 9: level, active low. */
	4,    6,    0xff, 0,    0,    1,                             /* LINT1 is NMI. */
	77,   3,    1,                                               /* Something new. */
};

/* Where in the MADT things are. */
#define MADT_CPU0     44
#define MADT_IOAPIC   68
#define MADT_OVERRIDE 80
#define MADT_LINT     100

static void machine_good(void)
{
	const uint32_t list[] = {FACP, MADT};
	const uint64_t long_list[] = {FACP, MADT};

	memset(bios, 0, sizeof(bios));
	memset(tables, 0, sizeof(tables));
	mapped = 0;
	no_room = false;
	memcpy(at(RSDP), "RSD PTR ", 8);
	put32(RSDP + 16, RSDT);
	add_up(RSDP, 20, 8);
	table(RSDT, "RSDT", list, sizeof(list));
	table(XSDT, "XSDT", long_list, sizeof(long_list));
	table(FACP, "FACP", "firmware", 8);
	table(MADT, "APIC", madt_body, sizeof(madt_body));
}

/* The pointer's second revision, with an XSDT. */
static void machine_revision_2(void)
{
	machine_good();
	at(RSDP)[15] = 2;
	put32(RSDP + 16, 0);
	put32(RSDP + 20, 36);
	put32(RSDP + 24, XSDT);
	add_up(RSDP, 20, 8);
	add_up(RSDP, 36, 32);
}

static struct acpi_machine machine;

static const char *read_machine(void)
{
	const char *wrong = acpi_read(&machine);

	EXPECT_EQ(mapped, 0);
	return wrong == NULL ? "" : wrong;
}

static void expect_good(void)
{
	EXPECT_STREQ(read_machine(), "");
	EXPECT_EQ(machine.lapic_address, 0xfee00000);
	EXPECT_EQ(machine.n_cpus, 2);
	EXPECT_EQ(machine.apic_ids[0], 0);
	EXPECT_EQ(machine.apic_ids[1], 2);
	EXPECT_EQ(machine.n_ioapics, 1);
	EXPECT_EQ(machine.ioapics[0].address, 0xfec00000);
	EXPECT_EQ(machine.ioapics[0].first_gsi, 0);
	EXPECT_EQ(machine.isa[0].gsi, 2);
	EXPECT(!machine.isa[0].level && !machine.isa[0].active_low);
	EXPECT_EQ(machine.isa[1].gsi, 1);
	EXPECT(machine.isa[9].level && machine.isa[9].active_low);
}

TEST(reads_a_machine)
{
	machine_good();
	expect_good();
	machine_revision_2();
	expect_good();
}

TEST(finds_the_pointer_in_the_data_area)
{
	machine_good();
	memmove(at(0x9fc40), at(RSDP), 36);
	memset(at(RSDP), 0, 36);
	EXPECT_STREQ(read_machine(), "there are no ACPI tables");
	at(0x40e)[0] = 0xc0;
	at(0x40f)[0] = 0x9f;
	expect_good();
}

TEST(passes_over_a_pointer_that_is_none)
{
	machine_good();
	memcpy(at(0xe0000), "RSD PTR ", 8);
	at(0xe0000)[9] = 1;
	expect_good();
}

/* Without the longer pointer's checksum the XSDT is not believed. */
TEST(takes_the_rsdt_where_the_xsdt_is_doubtful)
{
	machine_revision_2();
	put32(RSDP + 16, RSDT);
	add_up(RSDP, 20, 8);
	at(RSDP)[32]++;
	put32(XSDT + 4, 0);
	expect_good();
	machine_revision_2();
	put32(RSDP + 16, RSDT);
	put32(RSDP + 28, 1); /* Beyond 4 GiB. */
	add_up(RSDP, 20, 8);
	add_up(RSDP, 36, 32);
	expect_good();
}

/* ---------------- Each thing that can be wrong ---------------- */

TEST(tables_that_are_wrong)
{
	machine_good();
	at(RSDP)[8]++;
	EXPECT_STREQ(read_machine(), "there are no ACPI tables");
	machine_good();
	put32(RSDP + 16, 0xfffffff0);
	add_up(RSDP, 20, 8);
	EXPECT_STREQ(read_machine(), "there is no room to map an ACPI table");
	machine_good();
	put32(RSDP + 16, FACP);
	add_up(RSDP, 20, 8);
	EXPECT_STREQ(read_machine(), "an ACPI table is not where the firmware says");
	machine_good();
	put32(RSDT + 36, MADT + 1);
	put32(RSDT + 40, FACP);
	sum_again(RSDT);
	EXPECT_STREQ(read_machine(), "the ACPI tables do not list the interrupt controllers");
	machine_good();
	no_room = true;
	EXPECT_STREQ(read_machine(), "there are no ACPI tables");
}

TEST(lengths_and_checksums_that_are_wrong)
{
	const uint32_t places[] = {RSDT, MADT};
	const uint32_t lengths[] = {0, 35, 0x100001, 0xffffffff};

	for (unsigned p = 0; p < COUNT_OF(places); p++) {
		machine_good();
		at(places[p])[9]++;
		EXPECT_STREQ(read_machine(), "an ACPI table has a wrong checksum");
		for (unsigned i = 0; i < COUNT_OF(lengths); i++) {
			machine_good();
			put32(places[p] + 4, lengths[i]);
			EXPECT_STREQ(read_machine(), "an ACPI table has an impossible length");
		}
	}
	machine_good();
	put32(MADT + 4, 40);
	sum_again(MADT);
	EXPECT_STREQ(read_machine(), "the ACPI interrupt table is too short");
}

/* Writes one byte of the MADT, with the checksum put right, and reads. */
static const char *with_byte(uint32_t place, uint8_t value)
{
	machine_good();
	at(MADT)[place] = value;
	sum_again(MADT);
	return read_machine();
}

TEST(entries_that_are_wrong)
{
	const char *no_fit = "an entry of the ACPI interrupt table does not fit in it";
	const char *too_short = "an entry of the ACPI interrupt table is too short";

	EXPECT_STREQ(with_byte(MADT_CPU0 + 1, 0), no_fit);
	EXPECT_STREQ(with_byte(MADT_CPU0 + 1, 1), no_fit);
	EXPECT_STREQ(with_byte(MADT_CPU0 + 1, 255), no_fit);
	EXPECT_STREQ(with_byte(MADT_CPU0 + 1, 7), too_short);
	EXPECT_STREQ(with_byte(MADT_IOAPIC + 1, 11), too_short);
	EXPECT_STREQ(with_byte(MADT_OVERRIDE + 1, 9), too_short);
	EXPECT_STREQ(with_byte(MADT_OVERRIDE + 2, 1),
		     "an interrupt override is for no ISA interrupt");
	EXPECT_STREQ(with_byte(MADT_OVERRIDE + 3, 16),
		     "an interrupt override is for no ISA interrupt");
	EXPECT_STREQ(with_byte(MADT_IOAPIC + 4, 2), "an I/O APIC has an impossible address");
	EXPECT_STREQ(with_byte(36, 1), "the local APICs have an impossible address");
	EXPECT_STREQ(with_byte(MADT_IOAPIC, 78), "there is no I/O APIC");
}

/* Behind the last entry there may be a byte too few for another. */
TEST(a_byte_behind_the_entries)
{
	machine_good();
	put32(MADT + 4, 36 + sizeof(madt_body) + 1);
	sum_again(MADT);
	expect_good();
}

TEST(cpus_that_do_not_count)
{
	EXPECT_STREQ(with_byte(MADT_CPU0 + 4, 0), "");
	EXPECT_EQ(machine.n_cpus, 1);
	EXPECT_STREQ(with_byte(MADT_CPU0 + 3, 255), "");
	EXPECT_EQ(machine.n_cpus, 1);
	EXPECT_STREQ(with_byte(MADT_CPU0 + 3, 2), ""); /* The same one twice. */
	EXPECT_EQ(machine.n_cpus, 1);
	machine_good();
	at(MADT)[MADT_CPU0 + 4] = 0;
	at(MADT)[MADT_CPU0 + 12] = 0;
	sum_again(MADT);
	EXPECT_STREQ(read_machine(), "the ACPI tables list no CPU");
}

TEST(more_than_there_is_room_for)
{
	uint8_t body[8 + 8 * (MAX_CPUS + 2) + 12 * (ACPI_MAX_IOAPICS + 1)] = {0, 0, 0xe0, 0xfe};
	uint8_t *entry = body + 8;

	for (uint8_t i = 0; i < MAX_CPUS + 2; i++, entry += 8)
		memcpy(entry, (uint8_t[]){0, 8, i, i, 1, 0, 0, 0}, 8);
	for (uint8_t i = 0; i < ACPI_MAX_IOAPICS + 1; i++, entry += 12)
		memcpy(entry, (uint8_t[]){1, 12, i, 0, 0, i << 4, 0xc0, 0xfe, i * 24, 0, 0, 0}, 12);
	machine_good();
	table(MADT, "APIC", body, sizeof(body));
	EXPECT_STREQ(read_machine(), "");
	EXPECT_EQ(machine.n_cpus, MAX_CPUS);
	EXPECT_EQ(machine.n_ioapics, ACPI_MAX_IOAPICS);
	EXPECT(strstr(host_log(), "APIC id 9") != NULL);
}

TEST(the_longer_address_of_the_local_apics)
{
	uint8_t entry[12] = {5, 12, 0, 0, 0, 0, 0xd0, 0xfe};

	machine_good();
	memcpy(at(MADT) + MADT_IOAPIC - 24, entry, sizeof(entry)); /* Over the first CPU and */
	at(MADT)[MADT_IOAPIC - 11] = 12;                           /* a part of the second. */
	at(MADT)[MADT_IOAPIC - 12] = 99;
	sum_again(MADT);
	EXPECT_STREQ(read_machine(), "the ACPI tables list no CPU");
	EXPECT_EQ(machine.lapic_address, 0xfed00000);
	at(MADT)[MADT_IOAPIC - 16] = 1;
	sum_again(MADT);
	EXPECT_STREQ(read_machine(), "the local APICs are beyond 4 GiB");
}

/* ---------------- Damage ---------------- */

static void damage(uint32_t *random)
{
	const uint32_t places[] = {RSDP, RSDT, XSDT, FACP, MADT};
	uint32_t place = places[host_random_below(random, COUNT_OF(places))];
	uint32_t byte = host_random_below(random, 128);
	const uint8_t values[] = {0, 1, 0x7f, 0xff};

	if (host_random_below(random, 2) == 0)
		at(place)[byte] = values[host_random_below(random, COUNT_OF(values))];
	else
		at(place)[byte] = (uint8_t)host_random_below(random, 256);
}

/* Half the time the checksums are right all the same, so that the damage is looked at. */
TEST(survives_any_damage)
{
	uint32_t random = 11;
	unsigned good = 0;

	for (int i = 0; i < 4000; i++) {
		if (i & 1)
			machine_good();
		else
			machine_revision_2();
		for (unsigned n = host_random_below(&random, 4) + 1; n > 0; n--)
			damage(&random);
		if (i & 2) {
			add_up(RSDP, 20, 8);
			add_up(RSDP, 36, 32);
			add_up(MADT, 36 + sizeof(madt_body), 9);
			add_up(RSDT, 44, 9);
			add_up(XSDT, 52, 9);
		}
		good += *read_machine() == '\0';
		EXPECT_LE(machine.n_cpus, MAX_CPUS);
		EXPECT_LE(machine.n_ioapics, ACPI_MAX_IOAPICS);
		host_log();
	}
	EXPECT_LT(0, good);
	EXPECT_LT(good, 3500);
}
