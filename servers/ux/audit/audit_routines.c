/* SPDX-License-Identifier: MIT */
/*
 * The calls of <bsm/audit.h>, which are root's.  What auditon() is given and gives is words, as
 * many as the command has.  Called with the server's lock held.
 */
#include <bsm/audit_record.h>
#include <ux/bsd_server.h>

#include "audit/audit.h"
#include "fs/vnode.h"

#define WORDS_OF(type) (sizeof(type) / sizeof(unsigned))

/* ---------------- Records of programs ---------------- */

static uint32_t routine_read_32(const char *bytes)
{
	const uint8_t *from = (const void *)bytes;

	return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

/* Whether bytes are framed as a record is; its tokens are the program's affair. */
static bool routine_is_record(const char *bytes, size_t size)
{
	const char *trailer = bytes + size - AUDIT_TRAILER_SIZE;

	return size >= AUDIT_HEADER_SIZE + AUDIT_TRAILER_SIZE && size <= MAX_AUDIT_RECORD &&
	       bytes[0] == AUT_HEADER32 && routine_read_32(bytes + 1) == size &&
	       trailer[0] == AUT_TRAILER && (uint8_t)trailer[1] == AUT_TRAILER_MAGIC >> 8 &&
	       (uint8_t)trailer[2] == (AUT_TRAILER_MAGIC & 0xff) &&
	       routine_read_32(trailer + 3) == size;
}

kern_return_t ux_audit(caller_t caller, bytes_t record, mach_msg_type_number_t size)
{
	if (!is_root(caller->process))
		return EPERM;
	if (!routine_is_record(record, size))
		return EINVAL;
	if (!audit_is_on)
		return ENXIO;
	audit_commit(record, size);
	return 0;
}

/* ---------------- The trail ---------------- */

static int routine_open_trail(struct process *process, const char *path, struct vnode **trail)
{
	struct vnode *found;
	int error = path_lookup(process, path, true, &found);

	if (error != 0)
		return error;
	if (S_ISREG(found->mode)) {
		*trail = found;
		return 0;
	}
	vnode_release(found);
	return EINVAL;
}

kern_return_t ux_auditctl(caller_t caller, const_path_t path)
{
	struct vnode *trail = NULL;
	int error = 0;

	if (!is_root(caller->process))
		return EPERM;
	audit_await_end();
	if (path[0] != '\0')
		error = routine_open_trail(caller->process, path, &trail);
	if (error == 0 && trail != NULL)
		error = audit_start_worker();
	if (error == 0 && trail == NULL)
		audit_drain();
	if (error == 0)
		audit_change_trail(trail);
	else if (trail != NULL)
		vnode_release(trail);
	return error;
}

/* ---------------- auditon() ---------------- */

/* What a command is given, and what it gives: as many words. */
struct exchange {
	const unsigned *given;
	unsigned *result;
};

static int routine_get_counts(const struct exchange *words)
{
	audit_get_counts((audit_stat_t *)(void *)words->result);
	return 0;
}

static int routine_get_mask(const struct exchange *words)
{
	memcpy(words->result, &audit_mask_of_nobody, sizeof audit_mask_of_nobody);
	return 0;
}

static int routine_set_mask(const struct exchange *words)
{
	memcpy(&audit_mask_of_nobody, words->given, sizeof audit_mask_of_nobody);
	return 0;
}

static int routine_get_class(const struct exchange *words)
{
	const au_class_t *class = audit_class_of(words->given[0]);

	words->result[0] = words->given[0];
	words->result[1] = class != NULL ? *class : 0;
	return 0;
}

/* The server keeps no class of an event that only programs record: nothing is to be set. */
static int routine_set_class(const struct exchange *words)
{
	au_class_t *class = audit_class_of(words->given[0]);

	if (class != NULL)
		*class = words->given[1];
	return 0;
}

static struct process *routine_process_of(const struct exchange *words)
{
	struct process *process = process_by_pid((pid_t)words->given[0]);

	return process != NULL && !process->is_zombie ? process : NULL;
}

static int routine_get_process(const struct exchange *words)
{
	const struct process *process = routine_process_of(words);

	if (process == NULL)
		return ESRCH;
	words->result[0] = (unsigned)process->pid;
	memcpy(words->result + 1, &process->audit, sizeof process->audit);
	return 0;
}

static int routine_set_process_mask(const struct exchange *words)
{
	const auditpinfo_t *wanted = (const void *)words->given;
	struct process *process = routine_process_of(words);

	if (process == NULL)
		return ESRCH;
	process->audit.ai_mask = wanted->ap_mask;
	return 0;
}

static int routine_get_file(const struct exchange *words)
{
	au_fstat_t file;

	audit_get_file(&file);
	memcpy(words->result, &file, sizeof file);
	return 0;
}

static int routine_set_file(const struct exchange *words)
{
	au_fstat_t file;

	memcpy(&file, words->given, sizeof file);
	audit_set_file_size(file.af_filesz);
	return 0;
}

static int routine_send_trigger(const struct exchange *words)
{
	if (words->given[0] < AUDIT_TRIGGER_LOW_SPACE ||
	    words->given[0] > AUDIT_TRIGGER_EXPIRE_TRAILS)
		return EINVAL;
	audit_send_trigger((int)words->given[0]);
	return 0;
}

static int routine_get_policy(const struct exchange *words)
{
	words->result[0] = (unsigned)audit_policy;
	return 0;
}

static int routine_set_policy(const struct exchange *words)
{
	if ((words->given[0] & ~(AUDIT_CNT | AUDIT_AHLT | AUDIT_ARGV)) != 0)
		return EINVAL;
	audit_set_policy((int)words->given[0]);
	return 0;
}

static int routine_get_limits(const struct exchange *words)
{
	memcpy(words->result, &audit_limits, sizeof audit_limits);
	return 0;
}

static int routine_set_limits(const struct exchange *words)
{
	au_qctrl_t limits;

	memcpy(&limits, words->given, sizeof limits);
	if (limits.aq_hiwater == 0 || limits.aq_hiwater > AQ_MAXHIGH ||
	    limits.aq_lowater >= limits.aq_hiwater || limits.aq_bufsz != MAX_AUDIT_RECORD ||
	    limits.aq_minfree < 0 || limits.aq_minfree > 100)
		return EINVAL;
	audit_limits = limits;
	return 0;
}

static int routine_get_condition(const struct exchange *words)
{
	words->result[0] = audit_is_on ? AUC_AUDITING : AUC_NOAUDIT;
	return 0;
}

static int routine_set_condition(const struct exchange *words)
{
	if (words->given[0] != AUC_AUDITING && words->given[0] != AUC_NOAUDIT)
		return EINVAL;
	audit_set_condition(words->given[0] == AUC_AUDITING);
	return 0;
}

static const struct command {
	int number;
	unsigned takes, gives; /* Words. */
	int (*run)(const struct exchange *words);
} commands[] = {
	{A_GETSTAT, 0, WORDS_OF(audit_stat_t), routine_get_counts},
	{A_GETKMASK, 0, WORDS_OF(au_mask_t), routine_get_mask},
	{A_SETKMASK, WORDS_OF(au_mask_t), 0, routine_set_mask},
	{A_GETCLASS, 1, WORDS_OF(au_evclass_map_t), routine_get_class},
	{A_SETCLASS, WORDS_OF(au_evclass_map_t), 0, routine_set_class},
	{A_GETPINFO, 1, WORDS_OF(auditpinfo_t), routine_get_process},
	{A_SETPMASK, WORDS_OF(auditpinfo_t), 0, routine_set_process_mask},
	{A_GETFSIZE, 0, WORDS_OF(au_fstat_t), routine_get_file},
	{A_SETFSIZE, WORDS_OF(au_fstat_t), 0, routine_set_file},
	{A_SENDTRIGGER, 1, 0, routine_send_trigger},
	{A_GETPOLICY, 0, 1, routine_get_policy},
	{A_SETPOLICY, 1, 0, routine_set_policy},
	{A_GETQCTRL, 0, WORDS_OF(au_qctrl_t), routine_get_limits},
	{A_SETQCTRL, WORDS_OF(au_qctrl_t), 0, routine_set_limits},
	{A_GETCOND, 0, 1, routine_get_condition},
	{A_SETCOND, 1, 0, routine_set_condition},
};

_Static_assert(WORDS_OF(auditpinfo_t) <= AUDITON_WORDS, "a message has room for all");

kern_return_t ux_auditon(caller_t caller, int number, const audit_words_t given,
			 mach_msg_type_number_t n_given, audit_words_t result,
			 mach_msg_type_number_t *n_results)
{
	const struct exchange words = {given, result};

	*n_results = 0;
	if (!is_root(caller->process))
		return EPERM;
	for (size_t n = 0; n < sizeof commands / sizeof commands[0]; n++) {
		if (commands[n].number != number)
			continue;
		if (n_given < commands[n].takes)
			return EINVAL;
		*n_results = commands[n].gives;
		return commands[n].run(&words);
	}
	return EINVAL;
}

/* ---------------- A process's own ---------------- */

kern_return_t ux_getaudit(caller_t caller, audit_info_t *info)
{
	*info = caller->process->audit;
	return is_root(caller->process) ? 0 : EPERM;
}

kern_return_t ux_setaudit(caller_t caller, audit_info_t info)
{
	if (!is_root(caller->process))
		return EPERM;
	caller->process->audit = info;
	return 0;
}
