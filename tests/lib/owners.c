/* SPDX-License-Identifier: MIT */
#include "owners.h"

#include "check.h"

mach_port_t host_priv(void)
{
	return check_number(0);
}

mach_port_t self(void)
{
	return mach_task_self();
}

bool owner_uses(unsigned owner, owner_uses_t *uses)
{
	unsigned found = owner;

	return host_owner(mach_host_self(), &found, uses) == KERN_SUCCESS && found == owner;
}

uint32_t used(unsigned owner, enum owner_kind kind)
{
	owner_uses_t uses;

	return owner_uses(owner, &uses) ? uses.uses[kind].used : 0;
}

bool is_unknown(unsigned owner)
{
	owner_uses_t uses;

	return !owner_uses(owner, &uses);
}

kern_return_t set_limit(unsigned owner, enum owner_kind kind, uint32_t limit)
{
	return host_owner_limit(host_priv(), owner, (int)kind, limit);
}

mach_port_t task_of(unsigned owner)
{
	mach_port_t task = MACH_PORT_NULL;

	EXPECT_EQ(task_create(self(), false, &task), KERN_SUCCESS);
	EXPECT_EQ(task_set_owner(host_priv(), task, owner), KERN_SUCCESS);
	return task;
}

void become(unsigned owner)
{
	EXPECT_EQ(task_set_owner(host_priv(), self(), owner), KERN_SUCCESS);
}
