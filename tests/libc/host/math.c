/* SPDX-License-Identifier: MIT */
/* libc: yes */
/* Mathematics against the host's: exactly where the result is exact, else within a unit or so. */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "libc/our.h"
#include "libc/our_math.h"

#define TRIES 100000

static const double special[] = {
	0.0,
	-0.0,
	1,
	-1,
	0.5,
	-0.5,
	1.5,
	-1.5,
	2.5,
	2,
	-2,
	3,
	10,
	1e10,
	-1e10,
	1e22,
	1e300,
	-1e300,
	1e-300,
	5e-324,
	-5e-324,
	709.7,
	710,
	-745,
	-746,
	1024,
	-1080,
	171,
	172,
	INFINITY,
	-INFINITY,
	NAN,
	0.1,
	3.141592653589793,
	1.5707963267948966,
	4503599627370497.5,
	0.49999999999999994,
	9007199254740993.0,
};

#define SPECIALS (sizeof(special) / sizeof(special[0]))

/* Any number, or one that most functions have something to say about. */
static double random_number(double range)
{
	union {
		uint64_t bits;
		double value;
	} number = {.bits = our_random()};

	if (range == 0)
		return isnan(number.value) ? NAN : number.value; /* None that signals. */
	return ((double)(our_random() >> 11) * 0x1p-53 * 2 - 1) * range;
}

/* How many doubles lie between the two. */
static double distance(double one, double other)
{
	double unit;

	if (isnan(one) || isnan(other))
		return isnan(one) && isnan(other) ? 0 : INFINITY;
	if (one == other)
		return 0;
	if (isinf(one) || isinf(other))
		return 1e9;
	unit = nextafter(fabs(other), INFINITY) - fabs(other);
	return fabs(one - other) / unit;
}

static void near(const char *name, double x, double y, double ours, double theirs, double units)
{
	if (distance(ours, theirs) > units)
		check_fail("%s(%.17g, %.17g) is %.17g, not %.17g", name, x, y, ours, theirs);
}

static void same(const char *name, double x, double y, double ours, double theirs)
{
	if (memcmp(&ours, &theirs, sizeof(double)) != 0 && !(isnan(ours) && isnan(theirs)))
		check_fail("%s(%.17g, %.17g) is %.17g, not %.17g", name, x, y, ours, theirs);
}

struct function {
	const char *name;
	double (*ours)(double x);
	long double (*theirs)(long double x); /* It is more exact than the host's double. */
	double range;                         /* Of ordinary arguments; 0 for all numbers. */
	double units;
};

#define FUNCTION(name, range, units)                     \
	{                                                \
#name, our_##name, name##l, range, units \
	}

static const struct function functions[] = {
	FUNCTION(sin, 100, 1),      FUNCTION(sin, 0, 1),      FUNCTION(cos, 100, 1),
	FUNCTION(cos, 0, 1),        FUNCTION(tan, 100, 1),    FUNCTION(tan, 0, 1),
	FUNCTION(asin, 1, 1),       FUNCTION(acos, 1, 1),     FUNCTION(atan, 10, 1),
	FUNCTION(atan, 0, 1),       FUNCTION(sinh, 700, 2),   FUNCTION(sinh, 3, 2),
	FUNCTION(cosh, 700, 2),     FUNCTION(tanh, 5, 2),     FUNCTION(asinh, 100, 2),
	FUNCTION(acosh, 100, 2),    FUNCTION(atanh, 1, 2),    FUNCTION(exp, 700, 1),
	FUNCTION(exp, 1, 1),        FUNCTION(exp2, 1000, 1),  FUNCTION(expm1, 1, 1),
	FUNCTION(expm1, 100, 1),    FUNCTION(log, 0, 1),      FUNCTION(log, 3, 1),
	FUNCTION(log2, 0, 1),       FUNCTION(log10, 0, 2),    FUNCTION(log1p, 1, 1),
	FUNCTION(cbrt, 0, 1),       FUNCTION(erf, 4, 1),      FUNCTION(erfc, 5, 5),
	FUNCTION(erfc, 25, 5),      FUNCTION(tgamma, 170, 5), FUNCTION(tgamma, 5, 5),
	FUNCTION(lgamma, 1e6, 1e9),
};

static const struct function exact[] = {
	FUNCTION(floor, 0, 0),   FUNCTION(floor, 100, 0), FUNCTION(ceil, 100, 0),
	FUNCTION(trunc, 100, 0), FUNCTION(round, 100, 0), FUNCTION(round, 0, 0),
	FUNCTION(rint, 100, 0),  FUNCTION(fabs, 0, 0),    FUNCTION(logb, 0, 0),
};

TEST(math_functions_of_one)
{
	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		const struct function *function = &functions[i];

		for (int k = 0; k < TRIES; k++) {
			double x = random_number(function->range);

			near(function->name, x, 0, function->ours(x), (double)function->theirs(x),
			     function->units);
		}
		for (unsigned k = 0; k < SPECIALS; k++)
			near(function->name, special[k], 0, function->ours(special[k]),
			     (double)function->theirs(special[k]), function->units);
	}
}

TEST(math_exact_functions)
{
	for (unsigned i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
		const struct function *function = &exact[i];

		for (int k = 0; k < TRIES; k++) {
			double x = random_number(function->range);

			same(function->name, x, 0, function->ours(x), (double)function->theirs(x));
		}
		for (unsigned k = 0; k < SPECIALS; k++)
			same(function->name, special[k], 0, function->ours(special[k]),
			     (double)function->theirs(special[k]));
	}
}

/* Rounded once: by way of a long double it would be wrong now and then. */
TEST(math_sqrt)
{
	for (int k = 0; k < 10 * TRIES; k++) {
		double x = fabs(random_number(k % 2 == 0 ? 0 : 10));

		same("sqrt", x, 0, our_sqrt(x), sqrt(x));
	}
	for (unsigned k = 0; k < SPECIALS; k++)
		same("sqrt", special[k], 0, our_sqrt(special[k]), sqrt(special[k]));
}

/* Zeros of lgamma apart, where the host is not exact either. */
TEST(math_lgamma)
{
	for (int k = 0; k < TRIES; k++) {
		double x = fabs(random_number(k % 2 == 0 ? 4 : 200));

		near("lgamma", x, 0, our_lgamma(x), (double)lgammal(x), 4);
	}
}

static void pairs(double x, double y)
{
	int ours;
	int theirs;

	near("atan2", x, y, our_atan2(x, y), atan2(x, y), 1);
	near("pow", x, y, our_pow(x, y), pow(x, y), 1);
	near("hypot", x, y, our_hypot(x, y), hypot(x, y), 1);
	same("fmod", x, y, our_fmod(x, y), fmod(x, y));
	same("remainder", x, y, our_remainder(x, y), remainder(x, y));
	same("copysign", x, y, our_copysign(x, y), copysign(x, y));
	same("fdim", x, y, our_fdim(x, y), fdim(x, y));
	near("fmax", x, y, our_fmax(x, y), fmax(x, y), 0);
	near("fmin", x, y, our_fmin(x, y), fmin(x, y), 0);
	near("nextafter", x, y, our_nextafter(x, y), nextafter(x, y), 0);
	same("remquo", x, y, our_remquo(x, y, &ours), remquo(x, y, &theirs));
	if (isfinite(x) && !isnan(y) && y != 0)
		EXPECT_EQ(ours & 7, theirs & 7);
}

TEST(math_functions_of_two)
{
	for (unsigned i = 0; i < SPECIALS; i++) {
		for (unsigned k = 0; k < SPECIALS; k++)
			pairs(special[i], special[k]);
	}
	for (int k = 0; k < TRIES; k++)
		pairs(random_number(k % 2 == 0 ? 0 : 30), random_number(k % 3 == 0 ? 0 : 30));
}

/* Powers of whole numbers, multiplied out: the nearest double to each. */
TEST(math_whole_powers)
{
	for (int x = 1; x < 20; x++) {
		unsigned __int128 power = 1;

		for (int y = 0; y < 15; y++, power *= (unsigned)x)
			same("pow", x, y, our_pow(x, y), (double)power);
	}
}

/* ---------------- Long doubles, against numbers of 113 bits ---------------- */

static double long_distance(long double ours, _Float128 theirs)
{
	long double near = (long double)theirs;

	return (double)(fabsf128(ours - theirs) /
			(nextafterl(fabsl(near), INFINITY) - fabsl(near)));
}

static long double random_long(long double range)
{
	long double bits = (long double)our_random() + (long double)our_random() * 0x1p-64L;

	return (bits * 0x1p-63L - 1) * range;
}

static void long_near(const char *name, long double x, long double ours, _Float128 theirs)
{
	double units = long_distance(ours, theirs);

	if (!(units <= 1))
		check_fail("%s(%.21Lg) is %.21Lg, %g units off", name, x, ours, units);
}

TEST(math_long_doubles_are_near)
{
	for (int k = 0; k < TRIES && !check_failed(); k++) {
		long double x = random_long(k % 2 == 0 ? 1.6L : k % 3 == 0 ? 1e12L : 100);
		long double small = random_long(k % 2 == 0 ? 1.6L : 5);
		long double y = random_long(k % 2 == 0 ? 3 : 2000);

		long_near("sinl", x, our_sinl(x), sinf128(x));
		long_near("cosl", x, our_cosl(x), cosf128(x));
		long_near("tanl", x, our_tanl(x), tanf128(x));
		long_near("erfl", small, our_erfl(small), erff128(small));
		x = fabsl(x) + 0x1p-60L;
		if (fabsl(y * log2l(x)) < 16000)
			long_near("powl", x, our_powl(x, y), powf128(x, y));
	}
}

/* remquo() of long doubles, where quotients are large and divisors at the ends of the range. */
TEST(math_long_quotients)
{
	static const long double ends[] = {0x1p-16445L, 0x1p-16382L, 0x1p16380L, 0x1p16383L, 3};

	for (int k = 0; k < TRIES && !check_failed(); k++) {
		long double y = ends[k % 5] * (k % 7 + 1);
		long double x = ldexpl(y, k % 3) * (random_long(9) / 4);
		int ours;
		int theirs;
		long double rest = our_remquol(x, y, &ours);

		if (!isfinite(x) || !isfinite(y))
			continue;
		EXPECT(rest == remquol(x, y, &theirs));
		EXPECT_EQ(ours & 7, theirs & 7);
		EXPECT((ours < 0) == (theirs < 0) || ours == 0 || (theirs & 7) == 0);
	}
}

TEST(math_signs)
{
	for (int k = 1; k < 1000; k++) {
		our_lgamma(-k / 7.0 - 0x1p-20);
		lgamma(-k / 7.0 - 0x1p-20);
		EXPECT_EQ(our_signgam, signgam);
	}
	EXPECT(our_nextafterl(-0.0L, INFINITY) == nextafterl(-0.0L, INFINITY));
	EXPECT(our_nextafterl(0.0L, -INFINITY) == nextafterl(0.0L, -INFINITY));
}

TEST(math_parts)
{
	for (int k = 0; k < TRIES && !check_failed(); k++) {
		double x = random_number(k % 2 == 0 ? 0 : 1000);
		double our_whole;
		double their_whole;
		int ours = 0;
		int theirs = 0;

		same("frexp", x, 0, our_frexp(x, &ours), frexp(x, &theirs));
		EXPECT_EQ(ours, theirs);
		same("modf", x, 0, our_modf(x, &our_whole), modf(x, &their_whole));
		same("modf", x, 0, our_whole, their_whole);
		same("ldexp", x, k % 3000 - 1500, our_ldexp(x, k % 3000 - 1500),
		     ldexp(x, k % 3000 - 1500));
		if (isfinite(x))
			EXPECT_EQ(our_ilogb(x), ilogb(x));
		if (fabs(x) < 1e9) {
			EXPECT_EQ(our_lround(x), lround(x));
			EXPECT_EQ(our_llrint(x), llrint(x));
		}
	}
}

/* Rounded once: factors and summand whose exponents meet. */
TEST(math_fma)
{
	for (int k = 0; k < TRIES && !check_failed(); k++) {
		double x = random_number(2);
		double y = random_number(2);
		double z = ldexp(k % 4 == 0 ? -x * y : random_number(2),
				 k % 4 == 0 ? 0 : k % 200 - 100);

		same("fma", x, y, our_fma(x, y, z), fma(x, y, z));
		x = random_number(0);
		y = random_number(0);
		same("fma", x, y, our_fma(x, y, z), fma(x, y, z));
	}
}

TEST(math_float)
{
	for (int k = 0; k < TRIES; k++) {
		float x = (float)random_number(50);

		EXPECT(distance(our_sinf(x), sinf(x)) * 0x1p-29 <= 1);
		EXPECT(distance(our_expf(x), expf(x)) * 0x1p-29 <= 1);
		EXPECT(our_sqrtf(fabsf(x)) == sqrtf(fabsf(x)));
		EXPECT(our_floorf(x) == floorf(x));
	}
}
