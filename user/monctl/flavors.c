/* SPDX-License-Identifier: MIT */
/* Names of what samples are taken for. */
#include <string.h>

#include "monctl.h"

/* The second name is that of <mach/pc_sample.h>. */
static const struct {
	const char *name;
	const char *constant;
	sampled_pc_flavor_t bits;
	const char *meaning;
} names[] = {
	{"periodic", "SAMPLED_PC_PERIODIC", SAMPLED_PC_PERIODIC, "the sampling clock"},
	{"zfill", "SAMPLED_PC_VM_ZFILL_FAULTS", SAMPLED_PC_VM_ZFILL_FAULTS, "a page was zeroed"},
	{"reactivation", "SAMPLED_PC_VM_REACTIVATION_FAULTS", SAMPLED_PC_VM_REACTIVATION_FAULTS,
	 "a page was found inactive"},
	{"pagein", "SAMPLED_PC_VM_PAGEIN_FAULTS", SAMPLED_PC_VM_PAGEIN_FAULTS,
	 "a page was asked of a pager"},
	{"cow", "SAMPLED_PC_VM_COW_FAULTS", SAMPLED_PC_VM_COW_FAULTS,
	 "a page was copied because it was written to"},
	{"any", "SAMPLED_PC_VM_FAULTS_ANY", SAMPLED_PC_VM_FAULTS_ANY,
	 "a page fault of any kind was completed"},
	{"faults", "SAMPLED_PC_VM_FAULTS", SAMPLED_PC_VM_FAULTS, "zfill,reactivation,pagein,cow"},
	{"wait", "SAMPLED_PC_WAIT", SAMPLED_PC_WAIT,
	 "a thread had waited; with how long, and for what (-record)"},
};

/* Those before FLAVORS are single bits. */
#define NAMES (sizeof(names) / sizeof(names[0]))

static bool is_word(const char *word, const char *text, size_t length)
{
	return strlen(word) == length && memcmp(word, text, length) == 0;
}

static sampled_pc_flavor_t parse_name(const char *name, size_t length)
{
	for (size_t i = 0; i < NAMES; i++)
		if (is_word(names[i].name, name, length) ||
		    is_word(names[i].constant, name, length))
			return names[i].bits;
	return 0;
}

sampled_pc_flavor_t flavors_parse(const char *list)
{
	sampled_pc_flavor_t flavors = 0;

	for (;;) {
		size_t length = strcspn(list, ",|");
		sampled_pc_flavor_t one = parse_name(list, length);

		if (one == 0)
			return 0;
		flavors |= one;
		if (list[length] == '\0')
			return flavors;
		list += length + 1;
	}
}

void flavors_format(sampled_pc_flavor_t flavors, char text[FLAVORS_ROOM])
{
	text[0] = '\0';
	for (unsigned i = 0; i < FLAVORS; i++) {
		if (!(flavors & names[i].bits))
			continue;
		if (text[0] != '\0')
			strcat(text, ",");
		strcat(text, names[i].name);
	}
	if (text[0] == '\0')
		strcpy(text, "none");
}

void flavors_list(FILE *file)
{
	for (size_t i = 0; i < NAMES; i++)
		fprintf(file, "  %-13s %s\n", names[i].name, names[i].meaning);
}

sampled_pc_flavor_t flavor_bit(unsigned number)
{
	return names[number].bits;
}

const char *flavor_name(unsigned number)
{
	return names[number].name;
}

unsigned flavor_number(sampled_pc_flavor_t bit)
{
	for (unsigned i = 0; i < FLAVORS; i++)
		if (names[i].bits == bit)
			return i;
	return FLAVORS;
}
