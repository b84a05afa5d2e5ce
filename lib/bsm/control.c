/* SPDX-License-Identifier: MIT */
/* What is to be audited, and how: /etc/security/audit_control and audit_user. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

#define DAY 86400u

/* ---------------- Values ---------------- */

struct unit {
	const char *name;
	uint64_t worth;
};

static const struct unit sizes[] = {{"", 1},         {"B", 1},        {"K", 1u << 10},
				    {"M", 1u << 20}, {"G", 1u << 30}, {NULL, 0}};
static const struct unit times[] = {{"s", 1}, {"h", 3600}, {"d", DAY}, {"y", 365 * DAY}, {NULL, 0}};

/* A number and its unit. */
static bool control_read_amount(const char *text, const struct unit *units, uint64_t *amount)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	for (; end != text && units->name != NULL; units++) {
		if (strcmp(end, units->name) == 0) {
			*amount = number * units->worth;
			return true;
		}
	}
	return false;
}

static bool control_copy(char *to, size_t size, const char *text)
{
	if (strlen(text) >= size)
		return bsm_fail("%s is too long", text);
	strcpy(to, text);
	return true;
}

/* ---------------- Lines ---------------- */

static bool control_set_folder(struct bsm_control *control, const char *text)
{
	return text[0] == '/' ? control_copy(control->folder, sizeof control->folder, text)
			      : bsm_fail("%s is no path from the root on", text);
}

static bool control_set_free(struct bsm_control *control, const char *text)
{
	uint64_t percent;

	if (!control_read_amount(text, sizes, &percent) || percent > 100)
		return bsm_fail("%s is no percentage", text);
	control->minimum_free = (int)percent;
	return true;
}

static bool control_set_size(struct bsm_control *control, const char *text)
{
	return control_read_amount(text, sizes, &control->file_size) ||
	       bsm_fail("%s is no size, such as 512K", text);
}

/* 60d, 100M, or one OR the other. */
static bool control_set_expiry(struct bsm_control *control, const char *text)
{
	uint64_t age;

	if (control_read_amount(text, sizes, &control->expire_size))
		return true;
	if (!control_read_amount(text, times, &age) || age > UINT32_MAX)
		return bsm_fail("%s is neither a size, such as 10M, nor an age, such as 60d", text);
	control->expire_age = (uint32_t)age;
	return true;
}

static bool control_set_queue(struct bsm_control *control, const char *text)
{
	uint64_t records;

	if (!control_read_amount(text, sizes, &records) || records == 0 || records > AQ_MAXHIGH)
		return bsm_fail("%s is no number of records from 1 to %d", text, AQ_MAXHIGH);
	control->queue = (uint32_t)records;
	return true;
}

static bool control_set_policy(struct bsm_control *control, const char *text)
{
	static const struct {
		const char *name;
		int policy;
	} policies[] = {{"cnt", AUDIT_CNT}, {"ahlt", AUDIT_AHLT}, {"argv", AUDIT_ARGV}};

	control->policy = 0;
	while (*text != '\0') {
		size_t length = strcspn(text, ","), n = 0;

		while (n < 3 && (strlen(policies[n].name) != length ||
				 memcmp(policies[n].name, text, length) != 0))
			n++;
		if (n == 3)
			return bsm_fail("%.*s is no policy: there are cnt, ahlt and argv",
					(int)length, text);
		control->policy |= policies[n].policy;
		text += length;
		text += *text == ',';
	}
	return true;
}

static bool control_set_flags(struct bsm_control *control, const char *text)
{
	au_mask_t mask = {0, 0};

	return bsm_flags(text, &mask) && control_copy(control->flags, sizeof control->flags, text);
}

static bool control_set_naflags(struct bsm_control *control, const char *text)
{
	au_mask_t mask = {0, 0};

	return bsm_flags(text, &mask) &&
	       control_copy(control->naflags, sizeof control->naflags, text);
}

static const struct {
	const char *name;
	bool (*set)(struct bsm_control *control, const char *text);
} settings[] = {
	{"dir", control_set_folder},  {"minfree", control_set_free},
	{"filesz", control_set_size}, {"expire-after", control_set_expiry},
	{"qsize", control_set_queue}, {"policy", control_set_policy},
	{"flags", control_set_flags}, {"naflags", control_set_naflags},
};

static bool control_take(char *words[BSM_WORDS], int n, void *context)
{
	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
		if (strcmp(settings[i].name, words[0]) == 0)
			return settings[i].set(context, n > 1 ? words[1] : "");
	}
	return bsm_fail("there is no setting %s", words[0]);
}

bool bsm_read_control(struct bsm_control *control)
{
	*control = (struct bsm_control){
		.folder = AUDIT_TRAILS,
		.minimum_free = AU_FS_MINFREE,
		.policy = AUDIT_CNT,
	};
	return bsm_read_lines(AUDIT_FOLDER "audit_control", control_take, control);
}

/* ---------------- Users ---------------- */

struct user {
	const char *name;
	au_mask_t always, never;
};

/* root:lo,ad:no */
static bool control_take_user(char *words[BSM_WORDS], int n, void *context)
{
	struct user *user = context;

	if (strcmp(words[0], user->name) != 0)
		return true;
	return bsm_flags(n > 1 ? words[1] : "", &user->always) &&
	       bsm_flags(n > 2 ? words[2] : "", &user->never);
}

bool bsm_user_mask(const char *name, au_mask_t *mask)
{
	struct user user = {.name = name};
	struct bsm_control control;

	*mask = (au_mask_t){0, 0};
	if (!bsm_read_control(&control) || !bsm_flags(control.flags, mask) ||
	    !bsm_read_lines(AUDIT_FOLDER "audit_user", control_take_user, &user))
		return false;
	mask->am_success = (mask->am_success | user.always.am_success) & ~user.never.am_success;
	mask->am_failure = (mask->am_failure | user.always.am_failure) & ~user.never.am_failure;
	return true;
}

/* Where nothing says what is audited, nothing is; but who it was stays known. */
bool bsm_log_in(const char *user, uid_t uid)
{
	auditinfo_t info = {.ai_auid = uid, .ai_asid = (au_asid_t)getpid()};

	if (access(AUDIT_FOLDER "audit_control", F_OK) == 0 && !bsm_user_mask(user, &info.ai_mask))
		return false;
	return setaudit(&info) == 0 || bsm_fail("audit: %s", strerror(errno));
}
