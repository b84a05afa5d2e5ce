/* SPDX-License-Identifier: MIT */
/* Dates from seconds and back: the Gregorian calendar, UTC. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "names.h"

#define SECONDS_PER_DAY 86400
#define DAYS_PER_ERA    146097 /* 400 years, after which the calendar repeats. */
#define YEARS_PER_ERA   400
#define DAYS_TO_1970    719468 /* From March 1st of year 0. */
#define YEAR_BASE       1900
#define EPOCH_WEEKDAY   4 /* 1970-01-01 was a Thursday. */
#define DATE_TEXT       26

/* Rounded down, for negative numbers too. */
static int64_t divide_down(int64_t number, int64_t by)
{
	return number / by - (number % by < 0);
}

static int is_leap(int64_t year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Years begin in March here, so that the leap day is a year's last. */
static int64_t days_of(int64_t year, int month, int day)
{
	int64_t shifted = month <= 2 ? year - 1 : year;
	int64_t era = divide_down(shifted, YEARS_PER_ERA);
	int64_t year_of_era = shifted - era * YEARS_PER_ERA;
	int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

	return era * DAYS_PER_ERA + day_of_era - DAYS_TO_1970;
}

static void date_of(int64_t days, struct tm *date)
{
	int64_t shifted = days + DAYS_TO_1970;
	int64_t era = divide_down(shifted, DAYS_PER_ERA);
	int64_t day = shifted - era * DAYS_PER_ERA;
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t day_of_year = day - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * day_of_year + 2) / 153;

	date->tm_mday = (int)(day_of_year - (153 * month + 2) / 5 + 1);
	date->tm_mon = (int)(month < 10 ? month + 2 : month - 10);
	year += era * YEARS_PER_ERA + (date->tm_mon < 2);
	date->tm_year = (int)(year - YEAR_BASE);
	date->tm_yday = (int)(days - days_of(year, 1, 1));
	date->tm_wday = (int)(days + EPOCH_WEEKDAY - divide_down(days + EPOCH_WEEKDAY, 7) * 7);
}

struct tm *gmtime_r(const time_t *when, struct tm *result)
{
	int64_t days = divide_down(*when, SECONDS_PER_DAY);
	int rest = (int)(*when - days * SECONDS_PER_DAY);

	*result =
		(struct tm){.tm_hour = rest / 3600, .tm_min = rest / 60 % 60, .tm_sec = rest % 60};
	date_of(days, result);
	return result;
}

/* The fields may be out of their ranges; afterwards they are not. */
time_t timegm(struct tm *date)
{
	int64_t months = (int64_t)date->tm_year * 12 + date->tm_mon;
	int64_t year = divide_down(months, 12);
	int64_t days =
		days_of(year + YEAR_BASE, (int)(months - year * 12) + 1, 1) + date->tm_mday - 1;
	int64_t seconds = days * SECONDS_PER_DAY + (int64_t)date->tm_hour * 3600 +
			  (int64_t)date->tm_min * 60 + date->tm_sec;
	time_t result = (time_t)seconds;

	if (result != seconds)
		return -1;
	gmtime_r(&result, date);
	return result;
}

time_t mktime(struct tm *date)
{
	return timegm(date);
}

struct tm *gmtime(const time_t *when)
{
	static struct tm date;

	return gmtime_r(when, &date);
}

struct tm *localtime_r(const time_t *when, struct tm *result)
{
	return gmtime_r(when, result);
}

struct tm *localtime(const time_t *when)
{
	return gmtime(when);
}

int __days_in_year(int year)
{
	return is_leap((int64_t)year + YEAR_BASE) ? 366 : 365;
}

char *asctime_r(const struct tm *date, char *text)
{
	snprintf(text, DATE_TEXT, "%.3s %.3s%3d %.2d:%.2d:%.2d %d\n",
		 __day_names[(unsigned)date->tm_wday % 7],
		 __month_names[(unsigned)date->tm_mon % 12], date->tm_mday, date->tm_hour,
		 date->tm_min, date->tm_sec, YEAR_BASE + date->tm_year);
	return text;
}

char *asctime(const struct tm *date)
{
	static char text[DATE_TEXT];

	return asctime_r(date, text);
}

char *ctime_r(const time_t *when, char *text)
{
	struct tm date;

	return asctime_r(gmtime_r(when, &date), text);
}

char *ctime(const time_t *when)
{
	return asctime(gmtime(when));
}
