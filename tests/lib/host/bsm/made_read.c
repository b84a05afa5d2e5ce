/* SPDX-License-Identifier: MIT */
/* A trail as praudit and auditreduce read it: see made.h. */
#include <stdio.h>
#include <stdlib.h>

#include "bsm.h"
#include "made.h"

static const struct bsm_style styles[] = {
	{.delimiter = ","},
	{.delimiter = " ", .one_line = true, .short_names = true, .numeric_ids = true},
	{.delimiter = ",", .raw = true},
	{.delimiter = ",", .xml = true},
};

/* Events have no names here, and are in no class. */
const struct bsm_event *bsm_event_by_number(uint32_t number)
{
	(void)number;
	return NULL;
}

static const struct bsm_choice choices[] = {
	{.n_events = 2, .events = {23, 72}},
	{.path = "/t<&"},
	{.path = "/"},
	{.has_auid = true, .auid = 100, .has_pid = true, .pid = 12},
	{.has_flags = true, .flags = {0xffffffff, 0xffffffff}},
	{.is_inverted = true, .has_after = true, .after = 5, .has_before = true, .before = 6},
};

static void read_record(const struct bsm_record *record, FILE *out)
{
	for (size_t n = 0; n < sizeof styles / sizeof styles[0]; n++)
		bsm_print_record(&styles[n], record, out);
	for (size_t n = 0; n < sizeof choices / sizeof choices[0]; n++)
		fprintf(out, "%d", bsm_is_chosen(&choices[n], record));
}

int made_read_all(const uint8_t *bytes, size_t size)
{
	struct bsm_record record = {0};
	FILE *out = fopen("/dev/null", "w");
	FILE *file =
		size == 0 ? fopen("/dev/null", "r") : fmemopen((void *)(uintptr_t)bytes, size, "r");
	int n = 0, found;

	while ((found = bsm_next_record(file, &record)) > 0) {
		read_record(&record, out);
		n++;
	}
	if (found < 0 && bsm_error[0] == '\0')
		abort(); /* It is to say what is wrong. */
	free(record.bytes);
	fclose(file);
	fclose(out);
	return found == 0 ? n : -1;
}
