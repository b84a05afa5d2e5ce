/* SPDX-License-Identifier: MIT */
/* Calls about the audit trail, which are root's: <bsm/audit.h>. */
#include <bsm/audit.h>
#include <string.h>
#include <sys/ux.h>

#include "call.h"

int audit(const void *record, int length)
{
	if (length < 0 || length > UX_INLINE_MAX)
		return finish(EINVAL);
	if (is_bad(record, (size_t)length))
		return finish(EFAULT);
	return finish(CALL(bsd_audit, (char *)(uintptr_t)record, (mach_msg_type_number_t)length));
}

/* What is asked for comes back in place of what was given, if there is room for all of it. */
int auditon(int command, void *data, uint32_t length)
{
	unsigned words[AUDITON_WORDS] = {0}, result[AUDITON_WORDS];
	mach_msg_type_number_t n_results = AUDITON_WORDS;

	if (length > sizeof words)
		return finish(EINVAL);
	if (is_bad(data, length))
		return finish(EFAULT);
	memcpy(words, data, length);
	if (finish(CALL(bsd_auditon, command, words, (length + sizeof *words - 1) / sizeof *words,
			result, &n_results)) != 0)
		return -1;
	if (n_results * sizeof *result > length)
		return finish(EINVAL);
	memcpy(data, result, n_results * sizeof *result);
	return 0;
}

int auditctl(const char *path)
{
	return finish(PATH_CALL(bsd_auditctl, path));
}

int getaudit(auditinfo_t *info)
{
	if (is_bad(info, sizeof *info))
		return finish(EFAULT);
	return finish(CALL(bsd_getaudit, info));
}

int setaudit(const auditinfo_t *info)
{
	if (is_bad(info, sizeof *info))
		return finish(EFAULT);
	return finish(CALL(bsd_setaudit, *info));
}

int getauid(au_id_t *auid)
{
	auditinfo_t info;

	if (is_bad(auid, sizeof *auid))
		return finish(EFAULT);
	if (getaudit(&info) != 0)
		return -1;
	*auid = info.ai_auid;
	return 0;
}

int setauid(const au_id_t *auid)
{
	auditinfo_t info;

	if (is_bad(auid, sizeof *auid))
		return finish(EFAULT);
	if (getaudit(&info) != 0)
		return -1;
	info.ai_auid = *auid;
	return setaudit(&info);
}
