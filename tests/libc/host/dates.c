/* SPDX-License-Identifier: MIT */
/*
 * Dates against those of the host's library: the same fields, the same seconds, the same text.
 *
 * links: lib/libc/time/date.c lib/libc/time/format.c
 * flags: -Dgmtime_r=our_gmtime_r -Dgmtime=our_gmtime -Dtimegm=our_timegm -Dmktime=our_mktime
 * flags: -Dlocaltime_r=our_localtime_r -Dlocaltime=our_localtime -Dasctime_r=our_asctime_r
 * flags: -Dasctime=our_asctime -Dctime_r=our_ctime_r -Dctime=our_ctime -Dstrftime=our_strftime
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"

#undef localtime_r
#undef timegm
#undef asctime_r
#undef strftime
struct tm *localtime_r(const time_t *when, struct tm *result);
time_t timegm(struct tm *date);
char *asctime_r(const struct tm *date, char *text);
size_t strftime(char *text, size_t room, const char *format, const struct tm *date);
time_t our_timegm(struct tm *date);

#define ROUNDS 20000

static int64_t random_below(int64_t limit)
{
	static uint64_t state = 88172645463325252ull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (int64_t)(state >> 1) % limit;
}

static void use_utc(void)
{
	setenv("TZ", "UTC0", 1);
	tzset();
}

static bool same(const struct tm *one, const struct tm *other)
{
	return one->tm_sec == other->tm_sec && one->tm_min == other->tm_min &&
	       one->tm_hour == other->tm_hour && one->tm_mday == other->tm_mday &&
	       one->tm_mon == other->tm_mon && one->tm_year == other->tm_year &&
	       one->tm_wday == other->tm_wday && one->tm_yday == other->tm_yday &&
	       one->tm_isdst == other->tm_isdst;
}

static void compare_at(time_t when)
{
	struct tm ours, theirs;

	our_gmtime_r(&when, &ours);
	localtime_r(&when, &theirs);
	if (!same(&ours, &theirs))
		check_fail("at %lld the dates differ", (long long)when);
	EXPECT_EQ(our_timegm(&ours), when);
}

TEST(dates_of_seconds)
{
	static const time_t places[] = {0,         -1,        -86400,     86399,      951782399,
					951782400, 951868800, 4107542400, 2147483647, -2147483648};

	use_utc();
	for (unsigned n = 0; n < sizeof places / sizeof places[0]; n++)
		compare_at(places[n]);
	for (unsigned n = 0; n < ROUNDS && !check_failed(); n++)
		compare_at((time_t)(random_below(1ll << 37) - (1ll << 36)));
}

/* Fields far out of their ranges, which are brought into them. */
TEST(seconds_of_dates)
{
	use_utc();
	for (unsigned n = 0; n < ROUNDS && !check_failed(); n++) {
		struct tm ours = {.tm_sec = (int)random_below(100000) - 50000,
				  .tm_min = (int)random_below(10000) - 5000,
				  .tm_hour = (int)random_below(1000) - 500,
				  .tm_mday = (int)random_below(1000) - 500,
				  .tm_mon = (int)random_below(100) - 50,
				  .tm_year = (int)random_below(400) - 200};
		struct tm theirs = ours;

		EXPECT_EQ(our_timegm(&ours), timegm(&theirs));
		if (!same(&ours, &theirs))
			check_fail("round %u: the fields differ", n);
	}
}

static void compare_text(const char *format, const struct tm *date)
{
	char ours[200], theirs[200];
	size_t size = strftime(theirs, sizeof theirs, format, date);

	EXPECT_EQ(our_strftime(ours, sizeof ours, format, date), size);
	EXPECT_STREQ(ours, theirs);
}

TEST(dates_as_text)
{
	static const char *const formats[] = {"%a %A %b %B %h", "%c",
					      "%C %d %D %e %F", "%g %G %V",
					      "%H %I %j %m %M", "%n%p%r%R%S%t%T",
					      "%u %U %w %W",    "%x %X %y %Y %z %Z %%",
					      "%Ey %Od",        "%s"};

	use_utc();
	for (unsigned n = 0; n < ROUNDS && !check_failed(); n++) {
		time_t when = (time_t)(random_below(1ll << 37) - 30000000000ll);
		struct tm date;

		localtime_r(&when, &date);
		compare_text(formats[n % (sizeof formats / sizeof formats[0])], &date);
	}
}

/* ISO weeks are hardest about New Year. */
TEST(weeks_of_every_new_year)
{
	use_utc();
	for (int year = 0; year < 400; year++) {
		for (int day = -4; day <= 5; day++) {
			struct tm date = {.tm_year = year, .tm_mday = day};

			timegm(&date);
			compare_text("%G %g %V %U %W %j", &date);
		}
	}
}

TEST(text_that_does_not_fit)
{
	struct tm date = {.tm_year = 100, .tm_mday = 1};
	char text[5] = "....";

	EXPECT_EQ(our_strftime(text, sizeof text, "%Y", &date), 4);
	EXPECT_STREQ(text, "2000");
	EXPECT_EQ(our_strftime(text, 4, "%Y", &date), 0);
	EXPECT_EQ(our_strftime(text, sizeof text, "%A %d", &date), 0);
	EXPECT_EQ(our_strftime(text, 0, "", &date), 0);
}

TEST(the_usual_text)
{
	time_t when = 951782400;
	struct tm date;
	char ours[30], theirs[30];

	localtime_r(&when, &date);
	EXPECT_STREQ(our_asctime_r(&date, ours), asctime_r(&date, theirs));
}
