/* SPDX-License-Identifier: MIT */
/* links: i386/devices/rtc.c */
/* The battery clock (i386/devices/rtc.h), with a chip made of an array. */
#include "i386/devices/rtc.h"

#include <string.h>
#include <time.h>

#include "host/kernel.h"

#define UPDATE_PENDING 0x80
#define HOURS_24       0x02
#define BINARY         0x04
#define PM             0x80

/* The chip: its registers, and what it does while it is read. */
static struct {
	uint8_t registers[128];
	unsigned reads;
	unsigned pending_until; /* An update is announced for so many reads. */
	unsigned tear_at;       /* At this read a second passes, from 59 to 00. */
	bool unsteady;          /* It never says the same twice. */
} chip;

static uint8_t read_chip(uint8_t index)
{
	chip.reads++;
	if (index == 0x0a)
		return chip.reads <= chip.pending_until ? UPDATE_PENDING | 0x26 : 0x26;
	if (chip.reads == chip.tear_at) {
		chip.registers[0] = 0x00;
		chip.registers[2]++;
	}
	if (chip.unsteady && index == 0)
		return chip.reads % 60;
	return chip.registers[index];
}

static uint8_t bcd(int value)
{
	return (uint8_t)(value / 10 * 16 + value % 10);
}

static void set(uint8_t status, int year, int month, int day, int hour, int minute, int second)
{
	static const uint8_t places[] = {0x00, 0x02, 0x04, 0x07, 0x08, 0x09, 0x32};
	const int values[] = {second, minute, hour, day, month, year % 100, year / 100};

	memset(&chip, 0, sizeof(chip));
	chip.registers[0x0b] = status;
	for (unsigned i = 0; i < COUNT_OF(values); i++)
		chip.registers[places[i]] = status & BINARY ? (uint8_t)values[i] : bcd(values[i]);
	if ((status & HOURS_24) == 0) {
		int twelve = hour % 12 == 0 ? 12 : hour % 12;

		chip.registers[4] =
			(status & BINARY ? (uint8_t)twelve : bcd(twelve)) | (hour >= 12 ? PM : 0);
	}
}

/* Every notation against the host's own calendar, at times all over two centuries. */
TEST(every_notation_and_calendar)
{
	const uint8_t notations[] = {0, HOURS_24, BINARY, HOURS_24 | BINARY};
	const time_t first = 946684800; /* 2000-01-01 */

	for (unsigned n = 0; n < COUNT_OF(notations); n++) {
		for (time_t t = first; t < first + 6300000000; t += 1234567 + n) {
			struct tm tm;

			gmtime_r(&t, &tm);
			set(notations[n], tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
			    tm.tm_min, tm.tm_sec);
			EXPECT_EQ(rtc_seconds(read_chip), t);
		}
	}
}

TEST(noon_and_midnight)
{
	set(0, 2026, 1, 1, 0, 0, 0);
	EXPECT_EQ(chip.registers[4], 0x12);
	EXPECT_EQ(rtc_seconds(read_chip), 1767225600);
	set(0, 2026, 1, 1, 12, 0, 0);
	EXPECT_EQ(chip.registers[4], 0x12 | PM);
	EXPECT_EQ(rtc_seconds(read_chip), 1767225600 + 12 * 3600);
}

TEST(a_strange_century_is_this_one)
{
	set(HOURS_24, 2026, 1, 1, 0, 0, 0);
	chip.registers[0x32] = 0xff;
	EXPECT_EQ(rtc_seconds(read_chip), 1767225600);
	chip.registers[0x32] = 0x00;
	EXPECT_EQ(rtc_seconds(read_chip), 1767225600);
}

TEST(waits_for_an_update)
{
	set(HOURS_24, 2026, 1, 1, 0, 0, 0);
	chip.pending_until = 5000;
	EXPECT_EQ(rtc_seconds(read_chip), 1767225600);
}

TEST(a_second_that_passes_meanwhile)
{
	for (unsigned at = 1; at < 30; at++) {
		uint64_t seconds;

		set(HOURS_24, 2026, 1, 1, 0, 0, 59);
		chip.tear_at = at;
		seconds = rtc_seconds(read_chip);
		EXPECT(seconds == 1767225600 + 59 || seconds == 1767225600 + 60);
	}
}

/* A missing, a dead and a mad chip answer 0, and soon. */
static uint8_t read_nothing(uint8_t index)
{
	(void)index;
	chip.reads++;
	return 0xff;
}

TEST(chips_that_make_no_sense)
{
	chip.reads = 0;
	EXPECT_EQ(rtc_seconds(read_nothing), 0);
	EXPECT_LT(chip.reads, 10);
	set(HOURS_24, 2026, 1, 1, 0, 0, 0);
	chip.pending_until = UINT32_MAX;
	EXPECT_EQ(rtc_seconds(read_chip), 0);
	EXPECT_LT(chip.reads, 100000);
	set(HOURS_24, 2026, 1, 1, 0, 0, 0);
	chip.unsteady = true;
	EXPECT_EQ(rtc_seconds(read_chip), 0);
}

static const int no_times[][6] = {
	{2026, 0, 1, 0, 0, 0},  {2026, 13, 1, 0, 0, 0}, {2026, 1, 0, 0, 0, 0},
	{2026, 1, 32, 0, 0, 0}, {2026, 2, 29, 0, 0, 0}, {2026, 4, 31, 0, 0, 0},
	{2026, 1, 1, 24, 0, 0}, {2026, 1, 1, 0, 60, 0}, {2026, 1, 1, 0, 0, 60},
	{2100, 2, 29, 0, 0, 0},
};

TEST(times_that_are_none)
{
	for (unsigned i = 0; i < COUNT_OF(no_times); i++) {
		const int *t = no_times[i];

		set(HOURS_24, t[0], t[1], t[2], t[3], t[4], t[5]);
		EXPECT_EQ(rtc_seconds(read_chip), 0);
	}
	set(HOURS_24, 2026, 1, 1, 0, 0, 0);
	chip.registers[9] = 0x2f; /* No BCD. */
	EXPECT_EQ(rtc_seconds(read_chip), 0);
	set(0, 2026, 1, 1, 0, 0, 0);
	chip.registers[4] = 0x00; /* No hour of twelve. */
	EXPECT_EQ(rtc_seconds(read_chip), 0);
}

TEST(any_registers_at_all)
{
	uint32_t random = 9;

	for (int i = 0; i < 100000; i++) {
		memset(&chip, 0, sizeof(chip));
		for (unsigned r = 0; r < COUNT_OF(chip.registers); r++)
			chip.registers[r] = (uint8_t)host_random_below(&random, 256);
		EXPECT_LT(rtc_seconds(read_chip), 7300000000);
	}
}
