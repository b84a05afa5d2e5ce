/* SPDX-License-Identifier: MIT */
/*
 * No port is shown a token that its owner may not know (user/monctl/proxies.c), whenever a process
 * whose token it is becomes another user's: between any two of the calls that are made meanwhile.
 *
 * Those calls are answered here, of a world of two programs that one process executes one after the
 * other: the first is a student's, who listens at the port that is asked, the second one root's.
 */
#include <mach.h>
#include <servers/gprof.h>
#include <servers/netname.h>

#include "check_unix.h"
#include "user/monctl/control.h"
#include "user/monctl/proxies.h"

#define PID     7
#define PROXY   8
#define STUDENT 100
#define PORT    ((mach_port_t)0x1000) /* Where the student listens. */
#define OTHERS  ((mach_port_t)0x2000) /* Where whoever comes next does. */
#define OPENED  ((mach_port_t)0x3000)
#define CALLS   6 /* More than one attempt makes. */

static int calls, change_at; /* Before which of the calls the process becomes another's, */
static pid_t changing;       /* and which one does. */
static int shown;            /* How often a token was shown, */
static bool is_stolen;       /* and whether it was root's. */
static const char *students = "student's", *roots = "root's";

static bool has_changed(pid_t pid)
{
	return pid == changing && calls >= change_at;
}

int __wrap_ux_gprof_token(pid_t pid, char token[UX_TOKEN_ROOM]);
int __wrap_ux_processes(struct ux_process_info *info, int room);
kern_return_t __wrap_netname_look_up(mach_port_t server, const_netname_name_t host,
				     const_netname_name_t name, mach_port_t *port);
kern_return_t __wrap_gprof_mon_open(mach_port_t port, const_gprof_token_t token,
				    mach_port_t *control);

int __wrap_ux_gprof_token(pid_t pid, char token[UX_TOKEN_ROOM])
{
	calls++;
	strcpy(token, has_changed(pid) ? roots : students);
	return 0;
}

int __wrap_ux_processes(struct ux_process_info *info, int room)
{
	EXPECT(room >= 2);
	info[0] = (struct ux_process_info){.pid = PID, .uid = STUDENT, .state = UX_WAITING};
	info[1] = (struct ux_process_info){.pid = PROXY, .uid = STUDENT, .state = UX_WAITING};
	return 2;
}

/* A name is the process's user's: another one's program has it for a port of his own. */
kern_return_t __wrap_netname_look_up(mach_port_t server, const_netname_name_t host,
				     const_netname_name_t name, mach_port_t *port)
{
	pid_t pid = atoi(strchr(name, '.') + 1);

	(void)server;
	(void)host;
	calls++;
	*port = has_changed(pid) ? OTHERS : PORT;
	return strncmp(name, "proxy.", 6) == 0 && pid == PID ? NETNAME_NOT_CHECKED_IN
							     : NETNAME_SUCCESS;
}

kern_return_t __wrap_gprof_mon_open(mach_port_t port, const_gprof_token_t token,
				    mach_port_t *control)
{
	EXPECT_EQ(port, PORT);
	calls++;
	shown++;
	is_stolen |= strcmp(token, roots) == 0;
	*control = OPENED;
	return KERN_SUCCESS;
}

/* ---------------- What proxies.c needs beside ---------------- */

void control_expect_answer(int pid)
{
	EXPECT_EQ(pid, PID);
}

void control_has_answer(void)
{
}

void report(const char *format, ...)
{
	(void)format;
}

/* ---------------- Tests ---------------- */

static void begin(pid_t pid, int at)
{
	calls = shown = 0;
	changing = pid;
	change_at = at;
}

TEST(a_program_is_shown_no_token_of_its_successors)
{
	for (int at = 1; at <= CALLS; at++) {
		begin(PID, at);
		proxies_open_program(MACH_PORT_NULL, PID, PORT);
		EXPECT(!is_stolen);
	}
	EXPECT_EQ(shown, 1); /* By the last attempt, meanwhile nothing has changed. */
}

TEST(a_proxy_is_shown_no_token_of_its_successors)
{
	struct ux_process_info proxy;

	for (int at = 1; at <= CALLS; at++) {
		begin(PROXY, at);
		proxies_open(MACH_PORT_NULL, PID, PORT, &proxy);
		EXPECT(!is_stolen);
	}
	begin(PROXY, CALLS + 1);
	EXPECT_EQ(proxies_open(MACH_PORT_NULL, PID, PORT, &proxy), OPENED);
	EXPECT_EQ(proxy.pid, PROXY);
	EXPECT_EQ(shown, 1);
}
