/* SPDX-License-Identifier: MIT */
/* audit: says to auditd what it is to do. */
#include <errno.h>
#include <mach.h>
#include <string.h>
#include <unistd.h>

#include <bsm.h>
#include <sys/ux.h>

#include "common/common.h"

#define USAGE    "audit -e | -i | -n | -s | -t | -q"
#define AUDITD   "/sbin/auditd"
#define PID_HOST (-1) /* What task_by_pid() answers with the host's control port. */

static const struct {
	char option;
	int trigger;
} triggers[] = {
	{'e', AUDIT_TRIGGER_EXPIRE_TRAILS}, {'i', AUDIT_TRIGGER_INITIALIZE},
	{'n', AUDIT_TRIGGER_ROTATE_USER},   {'s', AUDIT_TRIGGER_READ_FILE},
	{'t', AUDIT_TRIGGER_CLOSE_AND_DIE},
};

/* Without auditd a trigger would go nowhere, and in silence. */
static bool is_there(void)
{
	mach_port_t host = task_by_pid(PID_HOST), port = MACH_PORT_NULL;

	if (host == MACH_PORT_NULL)
		report_exit(1, "only root may say what auditd is to do");
	return host_get_audit_control_port(host, &port) == KERN_SUCCESS && MACH_PORT_VALID(port);
}

/* It says itself why it cannot begin, and its status is ours. */
static void become_auditd(void)
{
	execl(AUDITD, "auditd", (char *)NULL);
	report_exit(1, AUDITD ": %s", strerror(errno));
}

static void send_trigger(int option)
{
	for (size_t n = 0; n < sizeof triggers / sizeof triggers[0]; n++) {
		unsigned trigger = (unsigned)triggers[n].trigger;

		if (triggers[n].option != option)
			continue;
		if (auditon(A_SENDTRIGGER, &trigger, sizeof trigger) != 0)
			report_exit(1, "%s", strerror(errno));
		return;
	}
	usage(USAGE);
}

/* What has been recorded, and what of it no power cut takes away. */
static void print_counts(void)
{
	audit_stat_t counts;

	if (auditon(A_GETSTAT, &counts, sizeof counts) != 0)
		report_exit(1, "%s", strerror(errno));
	printf("generated %lu, written %lu, waiting %lu, dropped %lu\n",
	       (unsigned long)counts.as_generated, (unsigned long)counts.as_written,
	       (unsigned long)counts.as_waiting, (unsigned long)counts.as_dropped);
	printf("groups %lu, calls that waited %lu\n", (unsigned long)counts.as_groups,
	       (unsigned long)counts.as_waited);
}

int main(int count, char **arguments)
{
	int option;

	program_start(arguments);
	option = getopt(count, arguments, "einstq");
	if (option == -1 || option == '?' || optind != count)
		usage(USAGE);
	if (option == 'q') {
		print_counts();
	} else if (is_there()) {
		send_trigger(option);
	} else if (option == 'i') {
		become_auditd();
	} else {
		report_exit(1, "auditd does not run; start it: " AUDITD);
	}
	return program_end(0);
}
