/* SPDX-License-Identifier: MIT */
/*
 * Mathematics in the machine, whose floating-point unit may be an emulator's: what its flags and
 * its own functions leave out must not show.  Expected values had 113 bits, and were rounded to 64.
 */
#include <math.h>

#include "check_unix.h"

struct one {
	const char *name;
	long double (*function)(long double x);
	long double x;
	long double expected;
};

static const struct one of_one[] = {
	{"tan", tanl, 0xf.d1bf1447f2b5c47p-4L, 0xc.27b735568b6a68bp-3L},
	{"tan", tanl, 0xcp-4L, 0xe.e7d1b0887775f06p-4L},
	{"tan", tanl, 0xcp-3L, 0xe.19f6a85c43bbad3p+0L},
	{"tan", tanl, 0x9.333333333333333p-2L, -0x8.f4264823e19aba9p-3L},
	{"tan", tanl, -0xb.19999999999999ap+0L, 0x9.8a9605c51b84541p+0L},
	{"tan", tanl, 0xf.424p+16L, -0xb.f4bb455b9a60084p-5L},
	{"tan", tanl, 0xa.e9f7bccp+38L, 0x9.680661121033151p-2L},
	{"tan", tanl, 0x8p+197L, 0x8.ba75535bd92e5e2p-4L},
	{"tan", tanl, 0xa.7c5ac471b478423p-20L, 0xa.7c5ac47334c6e4cp-20L},
	{"sin", sinl, 0xc.90fdaa22168bde9p-2L, 0x8.97898cc51701b84p-55L},
	{"sin", sinl, 0xb.333333333333333p-4L, 0xa.4eb734a30cdc2a7p-4L},
	{"sin", sinl, 0xe.35fa931ap+46L, 0xd.bb7c409b675ce4ap-4L},
	{"cos", cosl, 0xc.90fda6896c24ec5p-3L, 0xe.62a99cdbf1311cap-29L},
	{"cos", cosl, 0xc.ccccccccccccccdp-4L, 0xb.25b5ef38cc32a6fp-4L},
	{"cos", cosl, -0xd.72cb2a95c7ef6cdp+16380L, 0xf.f783fff16eced75p-4L},
	{"erf", erfl, 0xc.ccccccccccccccdp-7L, 0xe.652f5127d999cf6p-7L},
	{"erf", erfl, 0x8p-4L, 0x8.53f7ae0c76e915fp-4L},
	{"erf", erfl, 0xe.666666666666666p-4L, 0xc.c022d3645172d86p-4L},
	{"erf", erfl, 0xa.666666666666666p-3L, 0xe.f1b2509b969d0eep-4L},
	{"erf", erfl, -0xb.eb851eb851eb852p-3L, -0xf.7038be57b569b3dp-4L},
	{"erf", erfl, 0xa.ccccccccccccccdp-2L, 0xf.ff732454671c326p-4L},
	{"erf", erfl, 0x8.cbccc096f5088ccp-43L, 0x9.ece24db5481f04dp-43L},
};

struct power {
	long double x;
	long double y;
	long double expected;
};

static const struct power powers[] = {
	{0x8.ccccccccccccccdp-3L, 0xf.ap+6L, 0xb.576466b254cefa4p+134L},
	{0x9.99999999999999ap-5L, -0x8.cap+10L, 0xc.e8ccf1b6aaaeddfp+15629L},
	{0xap-2L, 0xd.99999999999999ap-3L, 0x9.7ee7a9f9f3796e7p-1L},
	{0xap+0L, 0xf.ap+8L, 0xd.1ba8323fe558c61p+13284L},
	{0xf.fffef39085f4a12p-4L, 0xf.424p+16L, 0xb.c5aab855f906d7ap-5L},
	{0xep-1L, -0x9.99999999999999ap-5L, 0x8.ecb5061b8100c7p-4L},
	{0x8.00008637bd05af7p-3L, 0xe.e6b28p+26L, 0xc.f1e9738058ca73dp+1439L},
	{0xcp-2L, 0xa.2p+2L, 0x9.21dfab022218b0dp+61L},
};

#define ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

/* How many long doubles lie between the two. */
static long double distance(long double value, long double expected)
{
	long double magnitude = fabsl(expected);

	return fabsl(value - expected) / (nextafterl(magnitude, HUGE_VALL) - magnitude);
}

TEST(functions_of_one_are_near)
{
	for (size_t i = 0; i < ELEMENTS(of_one); i++) {
		long double value = of_one[i].function(of_one[i].x);

		if (!(distance(value, of_one[i].expected) <= 1))
			check_fail("%sl(%La) is %La, not %La", of_one[i].name, of_one[i].x, value,
				   of_one[i].expected);
	}
}

TEST(powers_are_near)
{
	for (size_t i = 0; i < ELEMENTS(powers); i++) {
		long double value = powl(powers[i].x, powers[i].y);

		if (!(distance(value, powers[i].expected) <= 1))
			check_fail("powl(%La, %La) is %La, not %La", powers[i].x, powers[i].y,
				   value, powers[i].expected);
	}
}

TEST(remquo_counts_the_quotient)
{
	for (int x = -40; x <= 40; x++) {
		int quotient;
		double rest = remquo(x, 5, &quotient);
		int whole = (int)((x - rest) / 5);

		EXPECT(fabs(rest) <= 2.5);
		EXPECT_EQ(abs(quotient), abs(whole) & 7);
		EXPECT((quotient < 0) == (whole < 0 && quotient != 0));
	}
}

/* Between two poles the gamma function is negative if an odd number of them is passed. */
TEST(signgam_is_the_sign_of_gamma)
{
	for (int pole = 0; pole < 10; pole++) {
		lgamma(-pole - 0.5);
		EXPECT_EQ(signgam, pole % 2 == 0 ? -1 : 1);
	}
	lgamma(2.5);
	EXPECT_EQ(signgam, 1);
}

TEST(neighbours_of_zero)
{
	EXPECT(nextafterl(-0.0L, HUGE_VALL) > 0);
	EXPECT(nextafterl(0.0L, -HUGE_VALL) < 0);
	EXPECT(nextafterl(nextafterl(-0.0L, HUGE_VALL), -1) == 0);
	EXPECT(nextafter(-0.0, HUGE_VAL) > 0);
}
