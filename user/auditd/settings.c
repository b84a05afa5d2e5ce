/* SPDX-License-Identifier: MIT */
/* What /etc/security says, told to the Unix server. */
#include <errno.h>
#include <string.h>

#include "auditd.h"

struct bsm_control control;

static bool settings_tell(int command, void *data, uint32_t length, const char *what)
{
	if (auditon(command, data, length) == 0)
		return true;
	complain("%s could not be set: %s", what, strerror(errno));
	return false;
}

static bool settings_tell_classes(void)
{
	size_t count;
	const struct bsm_event *events = bsm_events(&count);

	for (size_t n = 0; n < count; n++) {
		au_evclass_map_t map = {events[n].number, events[n].classes};

		if (!settings_tell(A_SETCLASS, &map, sizeof map, events[n].name))
			return false;
	}
	return true;
}

static bool settings_tell_limits(void)
{
	au_qctrl_t limits;

	if (auditon(A_GETQCTRL, &limits, sizeof limits) != 0)
		return settings_tell(A_GETQCTRL, &limits, sizeof limits, "the queue");
	limits.aq_minfree = control.minimum_free;
	if (control.queue != 0) {
		limits.aq_hiwater = control.queue;
		limits.aq_lowater = control.queue / 10;
	}
	return settings_tell(A_SETQCTRL, &limits, sizeof limits, "the queue");
}

bool settings_apply(void)
{
	struct bsm_control wanted;
	au_mask_t nobody = {0, 0};
	au_fstat_t file = {0, 0};

	if (!bsm_load() || !bsm_read_control(&wanted) || !bsm_flags(wanted.naflags, &nobody)) {
		complain("%s", bsm_error);
		return false;
	}
	control = wanted;
	file.af_filesz = control.file_size;
	return settings_tell_classes() && settings_tell_limits() &&
	       settings_tell(A_SETKMASK, &nobody, sizeof nobody, "naflags") &&
	       settings_tell(A_SETFSIZE, &file, sizeof file, "filesz") &&
	       settings_tell(A_SETPOLICY, &control.policy, sizeof control.policy, "policy");
}
