/* SPDX-License-Identifier: MIT */
/*
 * The battery clock, read once at boot.
 *
 * The chip takes its registers away for up to 2 ms once a second and announces it 0.2 ms ahead.  A
 * reading is good if no update is announced before it and a second one says the same.  The rest is
 * a question of notation: BCD or binary, twelve hours or twenty-four, a century or none.  It is
 * taken to run in UTC.
 */
#include "i386/devices/rtc.h"

#include <stdbool.h>

#include "base/machine.h"
#include "i386/cpu/io.h"

#define PORT_INDEX 0x70
#define PORT_VALUE 0x71

#define STATUS_A         0x0a
#define STATUS_B         0x0b
#define A_UPDATE_PENDING 0x80
#define B_24_HOURS       0x02
#define B_BINARY         0x04
#define HOURS_PM         0x80
#define NO_CHIP          0xff /* What an empty port answers. */

/* Longer than an update lasts where a read of the port is quick, and where it is slow 0.2 s. */
#define PATIENCE 65536
#define READINGS 8 /* Two in a row must agree. */

enum field {
	SECOND,
	MINUTE,
	HOUR,
	DAY,
	MONTH,
	YEAR,
	CENTURY,
	FIELDS
};

/* Registers.  The century's is where nearly every firmware has it; a strange value is not used. */
static const uint8_t registers[FIELDS] = {0x00, 0x02, 0x04, 0x07, 0x08, 0x09, 0x32};

struct reading {
	uint8_t status;
	uint8_t fields[FIELDS];
};

static bool rtc_wait_for_update(rtc_reader *read)
{
	for (unsigned turn = 0; turn < PATIENCE; turn++) {
		uint8_t status = read(STATUS_A);

		if (status == NO_CHIP)
			return false;
		if ((status & A_UPDATE_PENDING) == 0)
			return true;
	}
	return false;
}

static bool rtc_take_reading(rtc_reader *read, struct reading *reading)
{
	if (!rtc_wait_for_update(read))
		return false;
	reading->status = read(STATUS_B);
	for (unsigned i = 0; i < FIELDS; i++)
		reading->fields[i] = read(registers[i]);
	return true;
}

static bool rtc_is_same(const struct reading *one, const struct reading *other)
{
	bool same = one->status == other->status;

	for (unsigned i = 0; i < FIELDS; i++)
		same = same && one->fields[i] == other->fields[i];
	return same;
}

static bool rtc_take_sure_reading(rtc_reader *read, struct reading *reading)
{
	struct reading before;

	if (!rtc_take_reading(read, &before))
		return false;
	for (unsigned i = 1; i < READINGS; i++) {
		if (!rtc_take_reading(read, reading))
			return false;
		if (rtc_is_same(&before, reading))
			return true;
		before = *reading;
	}
	return false;
}

/* Two decimal digits; a value that is none comes out as 100 or more, beyond every limit. */
static unsigned rtc_from_bcd(uint8_t value)
{
	if ((value & 0xf) > 9)
		return 100;
	return (value >> 4) * 10u + (value & 0xf);
}

static unsigned rtc_number(const struct reading *reading, uint8_t value)
{
	return reading->status & B_BINARY ? value : rtc_from_bcd(value);
}

/* Twelve hours run 12, 1, 2 ... 11, with the top bit after noon. */
static unsigned rtc_hour_of(const struct reading *reading)
{
	uint8_t value = reading->fields[HOUR];
	unsigned hour;

	if (reading->status & B_24_HOURS)
		return rtc_number(reading, value);
	hour = rtc_number(reading, value & ~HOURS_PM);
	if (hour < 1 || hour > 12)
		return 100;
	return hour % 12 + (value & HOURS_PM ? 12 : 0);
}

static unsigned rtc_year_of(const struct reading *reading)
{
	unsigned century = rtc_number(reading, reading->fields[CENTURY]);
	unsigned year = rtc_number(reading, reading->fields[YEAR]);

	if (century < 20 || century > 21)
		century = 20;
	return century * 100 + year;
}

static bool rtc_is_leap(unsigned year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static unsigned rtc_days_in(unsigned month, unsigned year)
{
	static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	return days[month - 1] + (month == 2 && rtc_is_leap(year));
}

/* Days from 1970-01-01 to the first day of the month. */
static uint32_t rtc_days_before(unsigned month, unsigned year)
{
	unsigned past = year - 1;
	uint32_t days = past * 365 + past / 4 - past / 100 + past / 400 - 719162;

	for (unsigned m = 1; m < month; m++)
		days += rtc_days_in(m, year);
	return days;
}

uint64_t rtc_seconds(rtc_reader *read)
{
	struct reading reading;
	unsigned second, minute, hour, day, month, year;

	if (!rtc_take_sure_reading(read, &reading))
		return 0;
	second = rtc_number(&reading, reading.fields[SECOND]);
	minute = rtc_number(&reading, reading.fields[MINUTE]);
	hour = rtc_hour_of(&reading);
	day = rtc_number(&reading, reading.fields[DAY]);
	month = rtc_number(&reading, reading.fields[MONTH]);
	year = rtc_year_of(&reading);
	if (second > 59 || minute > 59 || hour > 23 ||
	    rtc_number(&reading, reading.fields[YEAR]) > 99)
		return 0;
	if (month < 1 || month > 12 || day < 1 || day > rtc_days_in(month, year))
		return 0;
	day += rtc_days_before(month, year) - 1;
	return day * 86400ull + hour * 3600 + minute * 60 + second;
}

/* The top bit of the index port masks NMIs; it stays clear. */
static uint8_t rtc_read_port(uint8_t index)
{
	outb(PORT_INDEX, index);
	return inb(PORT_VALUE);
}

uint64_t machine_wall_seconds(void)
{
	return rtc_seconds(rtc_read_port);
}
