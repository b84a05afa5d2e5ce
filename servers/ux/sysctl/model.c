/* SPDX-License-Identifier: MIT */
/* hw.model: see model.h. */
#include "sysctl/model.h"

#include <assay.h>

#define LEAF_VENDOR     0u
#define LEAF_VERSION    1u
#define LEAF_EXTENSIONS 0x80000000u
#define LEAF_NAME       0x80000002u /* And two more, with sixteen characters each. */
#define LEAF_NAME_END   0x80000005u

/* Fields of the version. */
#define STEPPING(word)    ((word)&0xf)
#define MODEL(word)       (((word) >> 4 & 0xf) | ((word) >> 12 & 0xf0))
#define FAMILY(word)      ((word) >> 8 & 0xf)
#define FAMILY_MORE(word) ((word) >> 20 & 0xff)
#define FAMILY_IS_MORE    0xf

struct cpuid_answer model_cpuid(uint32_t leaf)
{
	struct cpuid_answer answer;

	__asm__("cpuid"
		: "=a"(answer.words[0]), "=b"(answer.words[1]), "=c"(answer.words[2]),
		  "=d"(answer.words[3])
		: "a"(leaf), "c"(0));
	return answer;
}

/* Some begin with blanks, so that it stands at the right. */
static void model_trim(char text[MODEL_ROOM])
{
	size_t blanks = 0;

	while (text[blanks] == ' ')
		blanks++;
	memmove(text, text + blanks, MODEL_ROOM - blanks);
}

static void model_describe_by_name(char text[MODEL_ROOM], struct cpuid_answer (*ask)(uint32_t leaf))
{
	for (uint32_t leaf = LEAF_NAME; leaf < LEAF_NAME_END; leaf++) {
		struct cpuid_answer part = ask(leaf);

		memcpy(text + (leaf - LEAF_NAME) * sizeof part, &part, sizeof part);
	}
	model_trim(text);
}

static void model_describe_by_numbers(char text[MODEL_ROOM],
				      struct cpuid_answer (*ask)(uint32_t leaf))
{
	const struct cpuid_answer vendor = ask(LEAF_VENDOR);
	const uint32_t version = ask(LEAF_VERSION).words[0];
	const uint32_t name[] = {vendor.words[1], vendor.words[3], vendor.words[2], 0};
	uint32_t family = FAMILY(version);

	if (family == FAMILY_IS_MORE)
		family += FAMILY_MORE(version);
	format(text, MODEL_ROOM, "%s family %u model %u stepping %u", (const char *)name, family,
	       MODEL(version), STEPPING(version));
}

void model_describe(char text[MODEL_ROOM], struct cpuid_answer (*ask)(uint32_t leaf))
{
	memset(text, 0, MODEL_ROOM);
	if (ask(LEAF_EXTENSIONS).words[0] >= LEAF_NAME_END - 1)
		model_describe_by_name(text, ask);
	if (text[0] == '\0')
		model_describe_by_numbers(text, ask);
}
