/* SPDX-License-Identifier: MIT */
/*
 * What hw.model is, of CPUs that say their name and of those that do not.
 *
 * links: servers/ux/sysctl/model.c
 * flags: -D_POSIX_C_SOURCE=200809L -isystem include -DUX_SERVER -Itests/lib/host/ux -Iservers/ux
 */
#include <assay.h>
#include <stdarg.h>
#include <stdio.h>

#include "check.h"
#include "sysctl/model.h"

#define LEAF_EXTENSIONS 0x80000000u
#define LEAF_NAME       0x80000002u

static const char *name; /* Of 48 characters; null: the CPU has none. */
static uint32_t version;

static struct cpuid_answer answer(uint32_t leaf)
{
	struct cpuid_answer given = {{0}};

	if (leaf == 0)
		given = (struct cpuid_answer){{1, 0x756e6547, 0x6c65746e, 0x49656e69}};
	if (leaf == 1)
		given.words[0] = version;
	if (leaf == LEAF_EXTENSIONS)
		given.words[0] = name != NULL ? LEAF_NAME + 2 : LEAF_EXTENSIONS;
	if (leaf >= LEAF_NAME && name != NULL)
		memcpy(&given, name + (leaf - LEAF_NAME) * sizeof given, sizeof given);
	return given;
}

size_t format(char *buffer, size_t room, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(buffer, room, format, arguments);
	va_end(arguments);
	return (size_t)length;
}

static void expect(const char *wanted)
{
	char text[MODEL_ROOM];

	model_describe(text, answer);
	EXPECT_STREQ(text, wanted);
}

TEST(by_its_name)
{
	name = "A CPU of sixteen\0                               ";
	expect("A CPU of sixteen");
	name = "      Forty-eight characters, no more, no zero :";
	expect("Forty-eight characters, no more, no zero :");
}

TEST(by_vendor_and_numbers)
{
	name = NULL;
	version = 0x00000673;
	expect("GenuineIntel family 6 model 7 stepping 3");
	version = 0x00a20f12;
	expect("GenuineIntel family 25 model 33 stepping 2");
	name = "                                                ";
	expect("GenuineIntel family 25 model 33 stepping 2");
}
