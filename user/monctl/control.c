/* SPDX-License-Identifier: MIT */
/* -on, -off, -status and -monfile: what a program that exports profiling is asked for. */
#include <errno.h>
#include <mach.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <servers/gprof.h>
#include <ux/bsd.h>

#include "clock.h"
#include "common/common.h"
#include "control.h"
#include "monctl.h"
#include "output.h"
#include "proxies.h"
#include "target.h"

#define ANSWER_SECONDS 10u

/* ---------------- Calls ---------------- */

kern_return_t control_switch(const struct control *control, sampled_pc_flavor_t *flavors)
{
	if (control->is_server)
		return bsd_gprof_mon_switch(ux_server_port(), flavors);
	return gprof_mon_switch(control->port, flavors);
}

kern_return_t control_options(const struct control *control, gprof_options_t options)
{
	if (control->is_server)
		return bsd_gprof_mon_options(ux_server_port(), options);
	return gprof_mon_options(control->port, options);
}

kern_return_t control_status(const struct control *control, gprof_status_t *status)
{
	if (control->is_server)
		return bsd_gprof_mon_status(ux_server_port(), status);
	return gprof_mon_status(control->port, status);
}

kern_return_t control_dump(const struct control *control, char **data, size_t *size)
{
	mach_msg_type_number_t count = 0;
	kern_return_t result;

	if (control->is_server)
		result = bsd_gprof_mon_dump(ux_server_port(), data, &count);
	else
		result = gprof_mon_dump(control->port, data, &count);
	*size = count;
	return result;
}

/* ---------------- What went wrong ---------------- */

#define ENDED                                                                                     \
	"it has ended meanwhile; what was collected of it is in the file that it, or its proxy, " \
	"writes at the end"

static const struct {
	kern_return_t why;
	const char *text;
} reasons[] = {
	{GPROF_BAD_FLAVOR, "the program does not know these flavors"},
	{GPROF_BAD_OPTIONS, "the program does not know these options"},
	{GPROF_NO_MEMORY, "the program has no memory left for its profile"},
	{GPROF_NOT_ALLOWED, "only its owner and root may control this program's profiling"},
	{GPROF_NOT_PROFILED, "the program has not begun profiling: it does so by gprof_start()"},
	{GPROF_NO_SAMPLING, "the kernel samples no more: too many are being sampled; end one"},
	{GPROF_ENDED, ENDED},
	{MACH_SEND_INVALID_DEST, ENDED},
	{MIG_SERVER_DIED, ENDED},
	{EPERM, "only root and the group kmem may control the Unix server's profiling"},
};

void control_explain(const struct control *control, const char *what, kern_return_t why)
{
	const char *text = NULL;

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].why == why)
			text = reasons[i].text;
	if (text != NULL)
		report("process %d: %s: %s", control->pid, what, text);
	else
		report("process %d: %s: it answers error %d", control->pid, what, why);
}

/* ---------------- A program that does not answer ---------------- */

static int asked; /* The number of its process. */

static void give_up(int signal)
{
	(void)signal;
	report("process %d: there is no answer; if it or its proxy is stopped (T in ps -a), "
	       "kill -CONT lets that go on",
	       asked);
	_exit(EXIT_FAILED);
}

void control_expect_answer(int pid)
{
	asked = pid;
	signal(SIGALRM, give_up);
	alarm(ANSWER_SECONDS);
}

void control_has_answer(void)
{
	alarm(0);
}

/* Whoever answers the first question answers the others, too, however long they take. */
kern_return_t control_ask(const struct control *control, gprof_status_t *status)
{
	kern_return_t result;

	control_expect_answer(control->pid);
	result = control_status(control, status);
	control_has_answer();
	return result;
}

/* ---------------- Opening ---------------- */

/* What has another user's rights than its name: the name's owner must not see its token. */
static bool has_secret_token(int pid)
{
	char token[UX_TOKEN_ROOM];

	return geteuid() == 0 && ux_gprof_token(pid, token) != 0 && errno == EPERM;
}

/* It may have ended after its first answer. */
static void explain_closed(struct control *control, mach_port_t known)
{
	gprof_status_t status;
	kern_return_t result;

	control->port = known;
	result = control_ask(control, &status);
	if (result == GPROF_NOT_ALLOWED && has_secret_token(control->pid))
		report("process %d: it has other rights than its user, who has its name; so nobody "
		       "controls it by that: sample it with monctl -pid %d -record FILE",
		       control->pid, control->pid);
	else
		control_explain(control, "control",
				result != KERN_SUCCESS ? result : GPROF_NOT_ALLOWED);
}

/* Asks a port that serves some only to serve us: as the proxy that it is, or as the program. */
static bool open_closed(struct control *control)
{
	struct ux_process_info proxy;
	mach_port_t name_server = ux_name_server(), known = control->port;

	control->port = proxies_open(name_server, control->pid, known, &proxy);
	if (control->port == MACH_PORT_NULL && proxy.pid == 0)
		control->port = proxies_open_program(name_server, control->pid, known);
	if (control->port != MACH_PORT_NULL)
		return true;
	if (proxy.pid != 0)
		proxies_explain(control->pid, &proxy);
	else
		explain_closed(control, known);
	return false;
}

/* Whoever has a name to check in might check in another's port: that one says whose it is. */
static bool is_of_whom_we_ask(const struct control *control, const gprof_status_t *status)
{
	if (status->pid == (unsigned)control->pid)
		return true;
	report("process %d: " GPROF_NAME_PREFIX "%d is checked in for the port of process %u, "
	       "which was not asked for; say -pid %u if that one is meant",
	       control->pid, control->pid, status->pid, status->pid);
	return false;
}

/* What is checked in for a process. */
static bool open_port(struct control *control)
{
	gprof_status_t status;
	kern_return_t result;

	control->port = export_await(control->pid);
	if (control->port == MACH_PORT_NULL)
		return false;
	result = control_ask(control, &status);
	if (result == GPROF_NOT_ALLOWED) {
		if (!open_closed(control))
			return false;
		result = control_ask(control, &status);
	}
	if (result == KERN_SUCCESS)
		return is_of_whom_we_ask(control, &status);
	control_explain(control, "control", result);
	return false;
}

/* The Unix server without profiling of its own may have a proxy. */
static bool open_server(struct control *control)
{
	gprof_status_t status;
	kern_return_t result;

	control->is_server = true;
	result = control_status(control, &status);
	if (result == KERN_SUCCESS)
		return true;
	if (result != ENOTSUP) {
		control_explain(control, "control", result);
		return false;
	}
	control->is_server = false;
	return open_port(control);
}

static bool open_control(struct control *control, int pid)
{
	*control = (struct control){.pid = pid};
	return pid == PID_SERVER ? open_server(control) : open_port(control);
}

/* ---------------- What is asked for ---------------- */

/* The form of its files is the program's own. */
static bool begin(const struct control *control, const struct arguments *arguments)
{
	gprof_options_t options = arguments_options(arguments);
	sampled_pc_flavor_t flavors = arguments->flavors;
	gprof_status_t status = {0};
	kern_return_t result;

	result = control_status(control, &status);
	options.format = status.options.format;
	if (result == KERN_SUCCESS)
		result = control_options(control, options);
	if (result == KERN_SUCCESS)
		result = control_switch(control, &flavors);
	if (result != KERN_SUCCESS)
		control_explain(control, "-on", result);
	return result == KERN_SUCCESS;
}

static bool end(const struct control *control)
{
	sampled_pc_flavor_t flavors = 0;
	kern_return_t result = control_switch(control, &flavors);

	if (result != KERN_SUCCESS)
		control_explain(control, "-off", result);
	return result == KERN_SUCCESS;
}

/* The program's own options stay what they were. */
static kern_return_t dump(const struct control *control, const struct arguments *arguments,
			  char **data, size_t *size)
{
	gprof_status_t status = {0};
	gprof_options_t options;
	kern_return_t result;

	if (!arguments->has_format)
		return control_dump(control, data, size);
	result = control_status(control, &status);
	options = status.options;
	options.format = arguments->format;
	if (result == KERN_SUCCESS)
		result = control_options(control, options);
	if (result != KERN_SUCCESS)
		return result;
	result = control_dump(control, data, size);
	control_options(control, status.options);
	return result;
}

/* What was collected stays with the program until it is switched on again: one can try again. */
static bool extract(const struct control *control, const struct arguments *arguments)
{
	size_t size = 0;
	char *data = NULL;
	kern_return_t result = dump(control, arguments, &data, &size);
	bool done;

	if (result != KERN_SUCCESS) {
		control_explain(control, "-monfile", result);
		return false;
	}
	clock_check_file(data, size);
	done = output_write(arguments->monfile, data, size);
	if (!done)
		report("%s: %s; nothing is lost, the program still has it: try another -monfile",
		       arguments->monfile, strerror(errno));
	vm_deallocate(mach_task_self_cached(), (vm_address_t)data, size);
	return done;
}

static unsigned long long number_of(const unsigned words[2])
{
	return prof_u64((const uint32_t *)words);
}

static void print_count(const char *name, const unsigned words[2])
{
	printf("%s=%llu\n", name, number_of(words));
}

static const char *how_cpus_run(const gprof_status_t *status)
{
	if (status->cpus == 1)
		return "one CPU";
	return status->in_turn
		       ? "in turn: an emulator runs one CPU at a time, the others are parked"
		       : "at once";
}

/* What became of the due times on each CPU; the sums are above. */
static void print_cpus(const gprof_status_t *status)
{
	if (status->cpus == 0)
		return;
	printf("cpus=%u\nrun=%s\n", status->cpus, how_cpus_run(status));
	for (unsigned cpu = 0; cpu < status->cpus && cpu < GPROF_CPUS; cpu++) {
		const gprof_clock_t *clock = &status->clocks[cpu];

		printf("cpu%u=due:%llu fired:%llu missed:%llu parked:%llu "
		       "idle:%llu elsewhere:%llu taken:%llu\n",
		       cpu, number_of(clock->due), number_of(clock->fired),
		       number_of(clock->missed), number_of(clock->parked), number_of(clock->idle),
		       number_of(clock->elsewhere), number_of(clock->taken));
	}
}

/* Sums over the CPUs, of which the status has each. */
struct clock_sums {
	unsigned long long idle;
	unsigned long long elsewhere;
	unsigned long long parked;
	unsigned long long taken;
};

static struct clock_sums sum_clocks(const gprof_status_t *status)
{
	struct clock_sums sums = {0};

	for (unsigned cpu = 0; cpu < status->cpus && cpu < GPROF_CPUS; cpu++) {
		sums.idle += number_of(status->clocks[cpu].idle);
		sums.elsewhere += number_of(status->clocks[cpu].elsewhere);
		sums.parked += number_of(status->clocks[cpu].parked);
		sums.taken += number_of(status->clocks[cpu].taken);
	}
	return sums;
}

static void say_what_is_sampled(const gprof_status_t *status, const char *flavors)
{
	if (status->pid == PID_SERVER)
		printf("the Unix server is ");
	else
		printf("process %u is ", status->pid);
	if (status->flavors == 0)
		printf("not sampled now");
	else if (status->flavors & SAMPLED_PC_PERIODIC)
		printf("sampled, %s at %u Hz", flavors, status->rate);
	else
		printf("sampled, %s", flavors);
	if (status->proxy != 0)
		printf("; its proxy, process %u, has", status->proxy);
	else
		printf("; there are");
	printf(" %llu samples, %llu lost\n", number_of(status->taken), number_of(status->lost));
}

/* Of the clock: what a program did not do while it waited, others did, or nobody. */
static void say_what_became(const gprof_status_t *status, const struct clock_sums *sums)
{
	if (number_of(status->due) == 0)
		return;
	printf("of %llu times that a sample was due it ran at %llu, something else at %llu, "
	       "nothing (idle) at %llu; %llu were missed",
	       number_of(status->due), sums->taken, sums->elsewhere, sums->idle,
	       number_of(status->missed));
	if (sums->parked != 0)
		printf(", %llu parked", sums->parked);
	putchar('\n');
}

/* A sentence for people, and each number by its name for scripts. */
static bool print_status(const struct control *control)
{
	gprof_status_t status = {0};
	struct clock_sums sums;
	char flavors[FLAVORS_ROOM];
	kern_return_t result = control_status(control, &status);

	if (result != KERN_SUCCESS) {
		control_explain(control, "-status", result);
		return false;
	}
	sums = sum_clocks(&status);
	flavors_format(status.flavors, flavors);
	say_what_is_sampled(&status, flavors);
	say_what_became(&status, &sums);
	printf("pid=%u\nflavors=%s\nrate=%u\nproxy=%u\narcs=%u\nlow=0x%08x\nhigh=0x%08x\ntask=%u\n",
	       status.pid, flavors, status.rate, status.proxy, status.arcs, status.low, status.high,
	       status.task);
	print_count("taken", status.taken);
	print_count("delivered", status.delivered);
	print_count("lost", status.lost);
	print_count("buffered", status.buffered);
	print_count("due", status.due);
	print_count("fired", status.fired);
	print_count("missed", status.missed);
	printf("parked=%llu\nidle=%llu\nelsewhere=%llu\n", sums.parked, sums.idle, sums.elsewhere);
	print_cpus(&status);
	return true;
}

int control_run(const struct arguments *arguments)
{
	const char *monfile = arguments->monfile;
	struct control control;
	bool done = (monfile == NULL || !executable_is_running(monfile, arguments->pid)) &&
		    open_control(&control, arguments->pid);

	if (done && arguments->flavors != 0)
		done = begin(&control, arguments);
	if (done && arguments->off)
		done = end(&control);
	if (done && monfile != NULL)
		done = extract(&control, arguments);
	if (done && arguments->status)
		done = print_status(&control);
	return program_end(done ? EXIT_DONE : EXIT_FAILED);
}
