/* SPDX-License-Identifier: MIT */
/* Has its profiling controlled by its owner alone, and is not sampled to begin with. */
#include <gprof.h>
#include <mach.h>
#include <servers/gprof.h>
#include <servers/netname.h>
#include <stdio.h>
#include <sys/ux.h>
#include <unistd.h>

#include "check_unix.h"
#include "work.h"

#define PAGE 4096u

int gprof_owner_only = 1;
int gprof_no_startup_from_crt0 = 1;
static char name_of_file[] = "mine.out";
char *gprof_gmon_out = name_of_file;

static KEPT void touch_pages(void)
{
	vm_address_t memory = 0;

	vm_allocate(mach_task_self_cached(), &memory, 100 * PAGE, TRUE);
	for (unsigned n = 0; n < 100; n++)
		((volatile char *)memory)[n * PAGE] = 1;
}

int main(void)
{
	gprof_token_t right, wrong = "wrong";
	mach_port_t known = MACH_PORT_NULL, control = MACH_PORT_NULL;
	sampled_pc_flavor_t flavors = SAMPLED_PC_VM_ZFILL_FAULTS | SAMPLED_PC_PERIODIC;
	gprof_status_t status;
	netname_name_t name;

	snprintf(name, sizeof name, "gprof.%d", getpid());
	EXPECT(netname_look_up(name_server_port, "", name, &known) == KERN_SUCCESS);
	EXPECT(gprof_mon_switch(known, &flavors) == GPROF_NOT_ALLOWED);
	EXPECT(gprof_mon_status(known, &status) == GPROF_NOT_ALLOWED);
	EXPECT(gprof_mon_open(known, wrong, &control) == GPROF_NOT_ALLOWED);
	EXPECT(ux_gprof_token(0, right) == 0);
	EXPECT(gprof_mon_open(known, right, &control) == KERN_SUCCESS);
	EXPECT(gprof_mon_status(control, &status) == KERN_SUCCESS && status.flavors == 0);
	flavors = SAMPLED_PC_VM_ZFILL_FAULTS;
	EXPECT(gprof_mon_switch(control, &flavors) == KERN_SUCCESS && flavors == 0);
	touch_pages();
	return check_failures;
}
