/* SPDX-License-Identifier: MIT */
/*
 * The Unix server:
 *
 *     ux ${host-port} ${device-port} ${kernel-command-line} root=DEVICE [init=PATH] [processes=N]
 *        [-- WORDS]
 *
 * It makes processes of tasks, files of a device, and answers calls.  The words are process 1's
 * arguments.  Whatever cannot be had at the beginning is said in one line, and ends the run.
 */
#include <mach/device_types.h>
#include <mach/host_info.h>
#include <mach/vm_wire.h>

#include "core/ux.h"
#include "file/descriptors.h"
#include "fs/vnode.h"
#include "paging/paging.h"
#include "process/process.h"
#include "process/program.h"
#include "signal/signal.h"
#include "signal/timer.h"
#include "sysctl/gmon.h"

#define FAILED      125 /* The run's status: there was no Unix. */
#define LINE_MAX    256 /* In the log. */
#define STRINGS_MAX 2048
#define N_PORTS     4 /* Arguments before the options. */
#define DIGITS_MAX  9 /* Of a number that is surely one. */

struct ux_boot ux_boot = {.root = "rd0"};

static const char *init = "/sbin/init";
static mach_port_t log_device;
static mach_port_t terminal; /* The console, where somebody sits at it and does not see the log. */

static const char environment[] = "PATH=/bin:/sbin\0HOME=/";

/* ---------------- The log ---------------- */

/* In pieces as large as a message carries; false if that does not succeed. */
static bool main_write_line(mach_port_t device, const char *line)
{
	for (size_t left = strlen(line), part; left > 0; line += part, left -= part) {
		int written;

		part = left < IO_INBAND_MAX ? left : IO_INBAND_MAX;
		if (device_write_inband(device, 0, 0, line, part, &written) != KERN_SUCCESS)
			return false;
	}
	return true;
}

static void main_write_log(const char *line)
{
	if (log_device == MACH_PORT_NULL || !main_write_line(log_device, line))
		mach_print(line);
}

#define PREFIX "ux: "

static void main_make_line(char line[LINE_MAX], const char *text, va_list arguments)
{
	size_t length = sizeof PREFIX - 1;

	memcpy(line, PREFIX, sizeof PREFIX);
	format_list(line + length, LINE_MAX - length - 1, text, arguments);
	length = strlen(line);
	line[length] = '\n';
	line[length + 1] = '\0';
}

void ux_log(const char *text, ...)
{
	char line[LINE_MAX];
	va_list arguments;

	va_start(arguments, text);
	main_make_line(line, text, arguments);
	va_end(arguments);
	main_write_log(line);
}

void ux_tell(const char *text, ...)
{
	char line[LINE_MAX];
	va_list arguments;

	va_start(arguments, text);
	main_make_line(line, text, arguments);
	va_end(arguments);
	main_write_log(line);
	if (terminal != MACH_PORT_NULL)
		main_write_line(terminal, line);
}

void ux_panic(const char *file, int line, const char *what)
{
	ux_log("%s:%d: not so: %s", file, line, what);
	assay_exit(FAILED);
}

/* ---------------- Arguments ---------------- */

/* What stands behind `name` in an argument that begins with it; null if it does not. */
static const char *main_value_of(const char *argument, const char *name)
{
	size_t length = strlen(name);

	return strncmp(argument, name, length) == 0 ? argument + length : NULL;
}

/* Whether one of the words of the kernel's command line is this, or begins so if it ends in `=`. */
static bool main_has_word(const char *line, const char *word)
{
	size_t length = strlen(word);

	while (*line != '\0') {
		if (strncmp(line, word, length) == 0 &&
		    (word[length - 1] == '=' || line[length] == ' ' || line[length] == '\0'))
			return true;
		while (*line != '\0' && *line != ' ')
			line++;
		while (*line == ' ')
			line++;
	}
	return false;
}

/* A limit; 0, and it is said, if that is none. */
static unsigned long main_read_limit(const char *text)
{
	char *end;
	unsigned long limit = strtoul(text, &end, 10);

	if (limit > 0 && *end == '\0' && end - text <= DIGITS_MAX)
		return limit;
	ux_log("processes=%s is no limit: say a number from 1 on, or leave it out for none", text);
	return 0;
}

/*
 * Reads the options; returns the number of the first word for process 1, or 0 if one is wrong,
 * which is said.
 */
static int main_read_options(int argc, char **argv)
{
	int n = N_PORTS;

	for (; n < argc && strcmp(argv[n], "--") != 0; n++) {
		const char *root = main_value_of(argv[n], "root=");
		const char *path = main_value_of(argv[n], "init=");
		const char *processes = main_value_of(argv[n], "processes=");

		if (root != NULL) {
			ux_boot.root = root;
		} else if (path != NULL) {
			init = path;
		} else if (processes != NULL) {
			ux_boot.processes = main_read_limit(processes);
			if (ux_boot.processes == 0)
				return 0;
		} else {
			ux_log("there is no option %s", argv[n]);
			return 0;
		}
	}
	return n + 1;
}

static bool main_read_arguments(int argc, char **argv, int *words)
{
	if (argc < N_PORTS)
		return false;
	ux_boot.host_control = strtoul(argv[1], NULL, 10);
	ux_boot.device_master = strtoul(argv[2], NULL, 10);
	ux_boot.sigprof_process = main_has_word(argv[3], "sigprof=process");
	ux_boot.profiles_kernel = main_has_word(argv[3], "profile=kernel");
	*words = main_read_options(argc, argv);
	return *words != 0 && MACH_PORT_VALID(ux_boot.host_control) &&
	       MACH_PORT_VALID(ux_boot.device_master);
}

/* ---------------- Process 1 ---------------- */

static size_t main_append(char *strings, size_t size, const char *string)
{
	size_t length = strlen(string) + 1;

	if (length > STRINGS_MAX - sizeof environment - size)
		return size;
	memcpy(strings + size, string, length);
	return size + length;
}

/* init's arguments are its path and the words; one for which there is no room is left out. */
static int main_execute_init(struct process *process, int n_words, char **words)
{
	char strings[STRINGS_MAX];
	size_t size = main_append(strings, 0, init);
	unsigned argc = 1;

	for (int n = 0; n < n_words; n++) {
		size_t grown = main_append(strings, size, words[n]);

		argc += grown > size;
		size = grown;
	}
	memcpy(strings + size, environment, sizeof environment);
	return program_start_first(process, init, strings, size + sizeof environment, argc);
}

/* Descriptors 0, 1 and 2 are the console, whoever opens them. */
static int main_open_console(struct process *process)
{
	int error = 0;

	for (int wanted = 0; wanted <= 2 && error == 0; wanted++) {
		int fd;

		error = descriptors_open(process, "/dev/console", O_RDWR, 0, &fd);
	}
	return error;
}

static bool main_succeeded(bool success, const char *what)
{
	if (!success)
		ux_log("cannot %s", what);
	return success;
}

static bool main_start_init(int n_words, char **words)
{
	struct process *process;
	int error = process_new(NULL, &process);

	if (error != 0)
		return main_succeeded(false, "make a process");
	error = main_open_console(process);
	if (error != 0)
		ux_log("cannot open /dev/console (error %d)", error);
	error = main_execute_init(process, n_words, words);
	if (error != 0)
		ux_log("cannot execute %s (error %d)", init, error);
	return error == 0;
}

/* ---------------- The beginning ---------------- */

/* Bytes of memory of the machine; 0 if it does not say. */
static vm_size_t main_machine_memory(void)
{
	struct host_basic_info info = {.memory_size = 0};
	mach_msg_type_number_t count = HOST_BASIC_INFO_COUNT;
	mach_port_t host = mach_host_self();

	host_info(host, HOST_BASIC_INFO, (host_info_t)&info, &count);
	syscall_mach_port_deallocate(mach_task_self_cached(), host);
	return info.memory_size;
}

/*
 * All that the server has is there from here on, and whatever it allocates (memory.c).  It takes no
 * more than half of what there is, whatever a client sends.
 */
static bool main_wire(void)
{
	mach_port_t self = mach_task_self_cached();
	vm_size_t limit = main_machine_memory() / 2;

	return vm_set_size_limit(ux_boot.host_control, self, limit, limit) == KERN_SUCCESS &&
	       vm_wire_all(ux_boot.host_control, self, VM_WIRE_CURRENT) == KERN_SUCCESS;
}

static bool main_start_services(void)
{
	return main_succeeded(serve_start(), "make its ports") &&
	       main_succeeded(paging_start(), "page files") &&
	       main_succeeded(exceptions_start(), "wait for exceptions") &&
	       main_succeeded(timers_start(), "wait for timers") &&
	       main_succeeded(console_start(), "read the console");
}

static bool main_mount_root(void)
{
	int error;

	ux_lock();
	error = fs_mount_root(ux_boot.device_master, ux_boot.root);
	ux_unlock();
	return error == 0;
}

static bool main_start(int n_words, char **words)
{
	bool is_started;

	if (!main_succeeded(main_wire(), "wire its memory") ||
	    !main_succeeded(main_mount_root(), "mount the root") || !main_start_services())
		return false;
	ux_lock();
	if (ux_boot.profiles_kernel)
		gmon_start();
	is_started = main_start_init(n_words, words);
	ux_unlock();
	return is_started;
}

int main(int argc, char **argv)
{
	int words;

	mach_msg_patience = UX_PATIENCE;
	if (!main_read_arguments(argc, argv, &words)) {
		print("usage: ux ${host-port} ${device-port} ${kernel-command-line} root=DEVICE "
		      "[init=PATH] [processes=N] [-- WORDS]\n");
		return 2;
	}
	device_open(ux_boot.device_master, D_WRITE, "log", &log_device);
	if (main_has_word(argv[3], "log=") && !main_has_word(argv[3], "raw"))
		device_open(ux_boot.device_master, D_WRITE, "console", &terminal);
	if (!main_start(words < argc ? argc - words : 0, argv + words))
		return FAILED;
	assay_thread_exit();
}
