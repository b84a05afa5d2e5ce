/* SPDX-License-Identifier: MIT */
/*
 * sysctl(): what is told is what the kernel and other calls tell, and who may set what.
 *
 * guest: user=root limit=30
 */
#include <mach.h>
#include <mach/host_info.h>
#include <mach/processor_info.h>
#include <mach/vm_statistics.h>
#include <signal.h>
#include <sys/sysctl.h>
#include <sys/time.h>
#include <sys/ux.h>
#include <sys/wait.h>
#include <sys/utsname.h>
#include <sys/vmmeter.h>
#include <time.h>

#include "help.h"

#define STUDENT 100
#define PAGES   16

static int number_of(const char *name)
{
	int number = -1;
	size_t size = sizeof number;

	EXPECT_EQ(sysctlbyname(name, &number, &size, NULL, 0), 0);
	EXPECT_EQ(size, sizeof number);
	return number;
}

/* ---------------- What is told ---------------- */

TEST(names_of_the_system_are_uname_s)
{
	static const int mib[] = {CTL_KERN, KERN_OSTYPE};
	struct utsname names;
	char text[256];
	size_t size = sizeof text;

	EXPECT_EQ(uname(&names), 0);
	EXPECT_EQ(sysctl(mib, 2, text, &size, NULL, 0), 0);
	EXPECT(strcmp(text, names.sysname) == 0);
	EXPECT_EQ(size, strlen(text) + 1);
	size = sizeof text;
	EXPECT_EQ(sysctlbyname("kern.version", text, &size, NULL, 0), 0);
	EXPECT(strcmp(text, names.version) == 0);
	size = sizeof text;
	EXPECT_EQ(sysctlbyname("hw.machine", text, &size, NULL, 0), 0);
	EXPECT(strcmp(text, names.machine) == 0);
}

TEST(the_machine_is_the_kernel_s)
{
	struct host_basic_info info;
	mach_msg_type_number_t count = HOST_BASIC_INFO_COUNT;

	EXPECT_EQ(host_info(mach_host_self(), HOST_BASIC_INFO, (host_info_t)&info, &count),
		  KERN_SUCCESS);
	EXPECT_EQ(number_of("hw.ncpu"), info.avail_cpus);
	EXPECT_EQ((unsigned)number_of("hw.physmem"), info.memory_size);
	EXPECT(number_of("hw.usermem") > 0 && number_of("hw.usermem") < number_of("hw.physmem"));
	EXPECT_EQ(number_of("hw.pagesize"), PAGE);
	EXPECT_EQ(number_of("kern.ngroups"), UX_GROUPS_MAX);
}

static struct vmtotal meter(void)
{
	static const int mib[] = {CTL_VM, VM_METER};
	struct vmtotal total = {0};
	size_t size = sizeof total;

	EXPECT_EQ(sysctl(mib, 2, &total, &size, NULL, 0), 0);
	EXPECT_EQ(size, sizeof total);
	return total;
}

/* What it tells changes by what this program does: by memory, and by a child that waits. */
TEST(the_meter_counts_processes_and_pages)
{
	struct vmtotal before = meter(), after;
	vm_address_t pages = 0;
	pid_t child;

	EXPECT_EQ(vm_allocate(mach_task_self(), &pages, PAGES * PAGE, TRUE), KERN_SUCCESS);
	for (unsigned n = 0; n < PAGES / 2; n++)
		((volatile char *)pages)[n * PAGE] = 1;
	after = meter();
	EXPECT_EQ(after.t_vm, before.t_vm + PAGES);
	EXPECT(after.t_rm >= before.t_rm + PAGES / 2 && after.t_free < before.t_free);
	EXPECT(after.t_rq + after.t_sl == before.t_rq + before.t_sl && after.t_sl > 0);
	EXPECT(after.t_avm <= after.t_vm && after.t_arm <= after.t_rm && after.t_rm < after.t_vm);
	vm_deallocate(mach_task_self(), pages, PAGES * PAGE);
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	after = meter();
	EXPECT_EQ(after.t_rq + after.t_sl, before.t_rq + before.t_sl + 1);
	kill(child, SIGKILL);
	EXPECT_EQ(waitpid(child, NULL, 0), child);
}

static int load_of_kernel(void)
{
	struct host_load_info info = {0};
	mach_msg_type_number_t count = HOST_LOAD_INFO_COUNT;

	EXPECT_EQ(host_info(mach_host_self(), HOST_LOAD_INFO, (host_info_t)&info, &count),
		  KERN_SUCCESS);
	return info.avenrun[0];
}

TEST(the_load_is_the_kernel_s)
{
	struct loadavg load = {0};
	size_t size = sizeof load;
	time_t end = time(NULL) + 2;
	int before, after;

	while (time(NULL) < end)
		continue;
	before = load_of_kernel();
	EXPECT_EQ(sysctlbyname("vm.loadavg", &load, &size, NULL, 0), 0);
	after = load_of_kernel();
	EXPECT_EQ(size, sizeof load);
	EXPECT_LT(0, load.ldavg[0]);
	EXPECT((int)load.ldavg[0] == before || (int)load.ldavg[0] == after);
	EXPECT_EQ(load.fscale, LOAD_SCALE);
}

TEST(the_start_lies_as_far_back_as_the_kernel_runs)
{
	struct timeval start;
	struct timespec up;
	size_t size = sizeof start;
	time_t now = time(NULL);

	EXPECT_EQ(sysctlbyname("kern.boottime", &start, &size, NULL, 0), 0);
	EXPECT_EQ(clock_gettime(CLOCK_MONOTONIC, &up), 0);
	EXPECT(start.tv_sec + up.tv_sec >= now - 1 && start.tv_sec + up.tv_sec <= now + 1);
}

/* The kernel's own counts around what is known to fault. */
TEST(faults_are_counted_by_kind)
{
	int filled = number_of("vm.zero_fill"), any = number_of("vm.faults");
	struct vm_statistics statistics;
	vm_address_t pages = 0;

	EXPECT_EQ(vm_allocate(mach_task_self(), &pages, PAGES * PAGE, TRUE), KERN_SUCCESS);
	for (unsigned n = 0; n < PAGES; n++)
		((volatile char *)pages)[n * PAGE] = 1;
	EXPECT(number_of("vm.zero_fill") >= filled + PAGES);
	EXPECT(number_of("vm.faults") >= any + PAGES);
	EXPECT_EQ(vm_statistics(mach_task_self(), &statistics), KERN_SUCCESS);
	EXPECT(number_of("vm.pageins") >= statistics.pageins);
	EXPECT(number_of("vm.cow_faults") >= statistics.cow_faults);
	EXPECT(number_of("vm.reactivations") >= statistics.reactivations);
	vm_deallocate(mach_task_self(), pages, PAGES * PAGE);
}

/* ---------------- Room ---------------- */

TEST(a_value_without_room_tells_its_size)
{
	static const int mib[] = {CTL_KERN, KERN_OSTYPE};
	char text[8] = "xxxxxxx";
	size_t size = 0;

	EXPECT_EQ(sysctl(mib, 2, NULL, &size, NULL, 0), 0);
	EXPECT_EQ(size, sizeof "Assay");
	size = 3;
	EXPECT_FAILS(sysctl(mib, 2, text, &size, NULL, 0), ENOMEM);
	EXPECT_EQ(size, 3);
	EXPECT(memcmp(text, "Assxxxx", 7) == 0);
	size = 0;
	EXPECT_FAILS(sysctl(mib, 2, text, &size, NULL, 0), ENOMEM);
}

/* ---------------- Setting ---------------- */

TEST(root_gives_the_host_a_name)
{
	static const char name[] = "elsewhere";
	char text[HOST_NAME_ROOM];
	size_t size = 4;

	/* What was there does not fit, so nothing is set. */
	EXPECT_FAILS(sysctlbyname("kern.hostname", text, &size, name, sizeof name), ENOMEM);
	EXPECT_EQ(gethostname(text, sizeof text), 0);
	EXPECT(strcmp(text, "assay") == 0);
	size = sizeof text;
	EXPECT_EQ(sysctlbyname("kern.hostname", text, &size, name, sizeof name), 0);
	EXPECT(strcmp(text, "assay") == 0);
	EXPECT_EQ(gethostname(text, sizeof text), 0);
	EXPECT(strcmp(text, name) == 0);
	EXPECT_FAILS(gethostname(text, sizeof name - 1), ENAMETOOLONG);
	/* The size is of what was there. */
	size = 0;
	EXPECT_EQ(sysctlbyname("kern.hostname", NULL, &size, "short", 5), 0);
	EXPECT_EQ(size, sizeof name);
	EXPECT_EQ(sethostname("assay", 5), 0);
	EXPECT_EQ(gethostname(text, sizeof text), 0);
	EXPECT(strcmp(text, "assay") == 0);
}

static void set_as_student(void)
{
	char text[HOST_NAME_ROOM];
	size_t size = sizeof text;

	EXPECT_EQ(setgroups(0, NULL), 0);
	EXPECT_EQ(setgid(STUDENT), 0);
	EXPECT_EQ(setuid(STUDENT), 0);
	EXPECT_FAILS(sethostname("mine", 4), EPERM);
	EXPECT_FAILS(sysctlbyname("kern.hostname", text, &size, "mine", 4), EPERM);
	EXPECT_EQ(gethostname(text, sizeof text), 0);
	EXPECT(strcmp(text, "assay") == 0);
}

TEST(nobody_else_does)
{
	EXPECT(all_is_well_in_a_child(set_as_student));
}

/* ---------------- Names ---------------- */

TEST(every_name_has_numbers_and_a_value)
{
	size_t count = 0;
	struct sysctl_name *names = sysctl_names(&count);

	REQUIRE(names != NULL && count > 0);
	for (size_t n = 0; n < count; n++) {
		int mib[CTL_MAXNAME];
		size_t length = CTL_MAXNAME, size = 0;

		EXPECT_EQ(sysctlnametomib(names[n].name, mib, &length), 0);
		EXPECT_EQ(length, names[n].length);
		EXPECT(memcmp(mib, names[n].mib, length * sizeof mib[0]) == 0);
		if (names[n].type == CTLTYPE_NODE)
			EXPECT_FAILS(sysctl(mib, (unsigned)length, NULL, &size, NULL, 0), EISDIR);
		else
			EXPECT_EQ(sysctl(mib, (unsigned)length, NULL, &size, NULL, 0), 0);
		for (size_t other = 0; other < n; other++)
			EXPECT(strcmp(names[n].name, names[other].name) != 0 &&
			       memcmp(names[n].mib, names[other].mib, sizeof names[n].mib) != 0);
	}
	free(names);
}

TEST(names_that_there_are_not)
{
	int mib[1], number;
	size_t length = 1, size = sizeof number;

	EXPECT_FAILS(sysctlbyname("kern.none", &number, &size, NULL, 0), ENOENT);
	EXPECT_FAILS(sysctlbyname("", &number, &size, NULL, 0), ENOENT);
	EXPECT_FAILS(sysctlbyname("kern.os", &number, &size, NULL, 0), ENOENT);
	EXPECT_FAILS(sysctlbyname("kern", &number, &size, NULL, 0), EISDIR);
	EXPECT_FAILS(sysctlnametomib("hw.ncpu", mib, &length), ENOMEM);
	EXPECT_EQ(sysctlnametomib("hw", mib, &length), 0);
	EXPECT_EQ(mib[0], CTL_HW);
	EXPECT_FAILS(sysctlbyname((char *)8, &number, &size, NULL, 0), EFAULT);
	EXPECT_FAILS(sysctlbyname("hw.ncpu", (char *)8, &size, NULL, 0), EFAULT);
	EXPECT_FAILS(sysctlbyname("hw.ncpu", &number, NULL, NULL, 0), EFAULT);
}
