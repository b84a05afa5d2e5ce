/* SPDX-License-Identifier: MIT */
/*
 * Whom auditreduce finds by a path: all who named it, however they wrote it.
 *
 * links: lib/bsm/read.c lib/bsm/choose.c lib/bsm/lines.c
 * flags: -D_GNU_SOURCE -Ilib/bsm
 */
#include <string.h>

#include "bsm.h"
#include "check.h"

/* Events have no names here. */
const struct bsm_event *bsm_event_by_number(uint32_t number)
{
	(void)number;
	return NULL;
}

static bool is_found(const char *asked, const char *named)
{
	const struct bsm_choice choice = {.path = asked};
	uint8_t token[64] = {AUT_PATH, 0, (uint8_t)(strlen(named) + 1)};
	struct bsm_record record = {.tokens = {token, token + 4 + strlen(named)}};

	memcpy(token + 3, named, strlen(named));
	return bsm_is_chosen(&choice, &record);
}

TEST(a_path_however_it_is_written)
{
	static const char *const same[] = {
		"/tmp/x",           "//tmp/x",     "/tmp//x",          "/tmp/./x",
		"/./tmp/x/",        "/tmp/d/../x", "/tmp/../tmp/x",    "/../tmp/x",
		"/tmp/a/b/../../x", "/tmp/x/y/..", "/a/../b/../tmp/x", "/tmp/x/.",
	};

	for (size_t n = 0; n < sizeof same / sizeof same[0]; n++) {
		EXPECT(is_found("/tmp/x", same[n]));
		EXPECT(is_found(same[n], "/tmp/x"));
		EXPECT(is_found(same[n], "/tmp/x/below"));
		EXPECT(is_found("/tmp", same[n]));
		EXPECT(is_found("/", same[n]));
		EXPECT(!is_found("/tmp/x/y", same[n]));
		EXPECT(!is_found("/tmp/d", same[n]));
	}
}

TEST(others_are_not_found)
{
	static const char *const others[] = {
		"/tmp/xx", "/tmp/.x", "/tmp/x..", "/tmp/x/..", "/x",
		"/tmp",    "/",       "",         "tmp/x",     "/y/x",
	};

	for (size_t n = 0; n < sizeof others / sizeof others[0]; n++)
		EXPECT(!is_found("/tmp/x", others[n]));
	EXPECT(!is_found("/", ""));
}
