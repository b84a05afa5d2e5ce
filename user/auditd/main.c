/* SPDX-License-Identifier: MIT */
/*
 * auditd [-f]
 *
 * Two ports are in one set: the control port, at which `audit` and the Unix server say what is to
 * be done, and one at which this program's own signal handlers do.  A signal comes in the middle
 * of anything; so its handler sends a message, and what is to be done for it is done when that is
 * received, between one thing and the next.
 */
#include <errno.h>
#include <fcntl.h>
#include <mach.h>
#include <mach/messages.h>
#include <servers/audit_triggers.h>
#include <servers/audit_triggers_server.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ux.h>
#include <sys/wait.h>
#include <unistd.h>

#include "auditd.h"

#define USAGE       "auditd [-f]"
#define PID_HOST    (-1) /* What task_by_pid() answers with the host's control port. */
#define MESSAGE_MAX 128
#define LOG         "/dev/log"

boolean_t audit_triggers_server(mach_msg_header_t *request, mach_msg_header_t *reply);

union message {
	mach_msg_header_t head;
	mig_reply_header_t reply;
	char room[MESSAGE_MAX];
};

static mach_port_t all_ports, control_port, signal_port;
static mach_port_t host;
static bool is_over;
static bool was_unwritten; /* The trail that there is could once not be written: that is said. */

void complain(const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "auditd: ");
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	putc('\n', stderr);
}

/* ---------------- Its own records ---------------- */

static void record_own(int event, const char *what)
{
	int record = au_open();

	if (record < 0 || au_write(record, au_to_me()) != 0 ||
	    au_write(record, au_to_text(what)) != 0 ||
	    au_write(record, au_to_return32(0, 0)) != 0 || au_close(record, 1, event) != 0)
		complain("\"%s\" could not be recorded: %s", what, strerror(errno));
}

/* ---------------- What is to be done ---------------- */

static void terminate(void)
{
	record_own(AUE_audit_shutdown, "auditd: audit shutdown");
	trail_end();
	is_over = true;
}

static void rotate(void)
{
	was_unwritten &= !trail_begin();
	trail_expire();
}

/* What is wrong in a file is said, and the settings stay as they were. */
static void read_again(void)
{
	if (settings_apply())
		rotate();
}

static void make_space(void)
{
	complain("there is little space left for the trail in %s", control.folder);
	rotate();
}

/* The server tries again each second, and what has become too old by then can go. */
static void find_space(void)
{
	if (!was_unwritten)
		complain("the trail could not be written: policy %s",
			 (control.policy & AUDIT_AHLT) != 0  ? "ahlt, the machine ends"
			 : (control.policy & AUDIT_CNT) != 0 ? "cnt, records are dropped"
							     : "none, callers wait");
	was_unwritten = true;
	trail_expire();
}

static void do_trigger(int trigger)
{
	switch (trigger) {
	case AUDIT_TRIGGER_CLOSE_AND_DIE:
		terminate();
		break;
	case AUDIT_TRIGGER_READ_FILE:
		read_again();
		break;
	case AUDIT_TRIGGER_ROTATE_KERNEL:
	case AUDIT_TRIGGER_ROTATE_USER:
		rotate();
		break;
	case AUDIT_TRIGGER_LOW_SPACE:
		make_space();
		break;
	case AUDIT_TRIGGER_NO_SPACE:
		find_space();
		break;
	case AUDIT_TRIGGER_EXPIRE_TRAILS:
		trail_expire();
		break;
	default: /* AUDIT_TRIGGER_INITIALIZE: that has been done. */
		break;
	}
}

static void do_signal(int number)
{
	switch (number) {
	case SIGTERM:
		terminate();
		break;
	case SIGHUP:
		read_again();
		break;
	case SIGCHLD:
		while (waitpid(-1, NULL, WNOHANG) > 0)
			continue;
		break;
	}
}

kern_return_t do_audit_triggers(mach_port_t port, int trigger)
{
	if (port == signal_port)
		do_signal(trigger);
	else
		do_trigger(trigger);
	return KERN_SUCCESS;
}

/* ---------------- Messages ---------------- */

/* Nothing but a message: whatever was interrupted may be in the middle of something. */
static void reflect(int number)
{
	int error = errno;

	audit_triggers(signal_port, number);
	errno = error;
}

static void reflect_signals(void)
{
	static const int numbers[] = {SIGTERM, SIGHUP, SIGCHLD};

	for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++)
		signal(numbers[n], reflect);
}

static bool make_port(mach_port_t *port)
{
	mach_port_t self = mach_task_self_cached();

	return syscall_mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, port) == KERN_SUCCESS &&
	       mach_port_move_member(self, *port, all_ports) == KERN_SUCCESS &&
	       syscall_mach_port_insert_right(self, *port, *port, MACH_MSG_TYPE_MAKE_SEND) ==
		       KERN_SUCCESS;
}

static bool make_ports(void)
{
	return syscall_mach_port_allocate(mach_task_self_cached(), MACH_PORT_RIGHT_PORT_SET,
					  &all_ports) == KERN_SUCCESS &&
	       make_port(&control_port) && make_port(&signal_port);
}

/* Its own calls are not audited: it must not wait for room that only it can make. */
static bool leave_out_own_calls(void)
{
	auditinfo_t info;

	if (getaudit(&info) != 0) {
		complain("%s", strerror(errno));
		return false;
	}
	info.ai_auid = info.ai_auid == AU_DEFAUDITID ? 0 : info.ai_auid;
	info.ai_mask = (au_mask_t){0, 0};
	return setaudit(&info) == 0;
}

/* There is one auditd: false, and it is said, if another one is there already. */
static bool become_auditd(void)
{
	mach_port_t other = MACH_PORT_NULL;

	host = task_by_pid(PID_HOST);
	if (host == MACH_PORT_NULL) {
		complain("only root may keep the audit trail");
		return false;
	}
	if (host_get_audit_control_port(host, &other) == KERN_SUCCESS && MACH_PORT_VALID(other)) {
		complain("it runs already; `audit -t` ends it");
		return false;
	}
	if (make_ports() && host_set_audit_control_port(host, control_port) == KERN_SUCCESS)
		return true;
	complain("there is no memory for its ports");
	return false;
}

static void serve_one(void)
{
	union message request, reply;
	mach_msg_return_t result = mach_msg(&request.head, MACH_RCV_MSG, 0, sizeof request,
					    all_ports, MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);

	if (result == MACH_MSG_SUCCESS && !audit_triggers_server(&request.head, &reply.head))
		mach_msg_destroy(&request.head);
}

/* ---------------- The beginning ---------------- */

static bool begin(void)
{
	if (!become_auditd() || !leave_out_own_calls() || !settings_apply() || !trail_begin())
		return false;
	reflect_signals();
	record_own(AUE_audit_startup, "auditd: audit startup");
	trail_expire();
	return true;
}

static int serve(void)
{
	while (!is_over)
		serve_one();
	return EXIT_SUCCESS;
}

/* In the background what there is to be said goes to the log. */
static int serve_as_child(int to_parent)
{
	int log;

	setpgid(0, 0);
	if (!begin())
		return EXIT_FAILURE;
	write(to_parent, "", 1);
	close(to_parent);
	log = open(LOG, O_WRONLY);
	if (log >= 0) {
		dup2(log, STDERR_FILENO);
		close(log);
	}
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	return serve();
}

/* Waits until the trail has begun, or the child has said why it cannot, and is gone. */
static int run_in_background(void)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends) != 0 || (pid = fork()) < 0)
		report_exit(1, "%s", strerror(errno));
	if (pid == 0) {
		close(ends[0]);
		return serve_as_child(ends[1]);
	}
	close(ends[1]);
	return read(ends[0], &byte, 1) == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int count, char **arguments)
{
	program_start(arguments);
	if (count == 1)
		return run_in_background();
	if (count > 2 || strcmp(arguments[1], "-f") != 0)
		usage(USAGE);
	return begin() ? serve() : EXIT_FAILURE;
}
