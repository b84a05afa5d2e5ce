/* SPDX-License-Identifier: MIT */
/* Helpers for tests of memory pressure: see pressure.h. */
#include "pressure.h"
#include "check.h"
#include "ipc.h"

#define REPORT 0x101 /* In a child: where its numbers go. */

uint32_t pressure_part(uint32_t size)
{
	return size / check_parameter("small", 1);
}

mach_port_t pressure_host(void)
{
	return check_number(0);
}

bool pressure_ready(void)
{
	for (uint32_t tries = 0; tries < LONG_WAIT; tries++) {
		mach_port_t manager = MACH_PORT_NULL;

		if (!EXPECT_EQ(vm_set_default_memory_manager(pressure_host(), &manager),
			       KERN_SUCCESS))
			return false;
		if (MACH_PORT_VALID(manager)) {
			port_drop_send(manager);
			return true;
		}
		sleep_ms(1);
	}
	check_fail("there is no default pager");
	return false;
}

mach_port_t pressure_pager(void)
{
	mach_port_t host = pressure_host(), set_name, set, found = MACH_PORT_NULL;
	mach_port_t self = mach_task_self();
	mach_msg_type_number_t n = 0;
	task_array_t tasks;

	EXPECT_EQ(processor_set_default(host, &set_name), KERN_SUCCESS);
	EXPECT_EQ(host_processor_set_priv(host, set_name, &set), KERN_SUCCESS);
	EXPECT_EQ(processor_set_tasks(set, &tasks, &n), KERN_SUCCESS);
	for (uint32_t i = 0; i < n; i++) {
		if (tasks[i] != self && found == MACH_PORT_NULL)
			found = tasks[i];
		else
			port_drop_send(tasks[i]);
	}
	memory_free((vm_address_t)tasks, n * sizeof *tasks);
	port_drop_send(set_name);
	port_drop_send(set);
	return found;
}

void pressure_wire_program(void)
{
	EXPECT_EQ(vm_wire_all(pressure_host(), mach_task_self(), VM_WIRE_CURRENT), KERN_SUCCESS);
}

/* ---------------- Patterns ---------------- */

vm_address_t memory_new(vm_size_t size)
{
	vm_address_t address = 0;

	EXPECT_EQ(vm_allocate(mach_task_self(), &address, size, TRUE), KERN_SUCCESS);
	return address;
}

void memory_free(vm_address_t address, vm_size_t size)
{
	EXPECT_EQ(vm_deallocate(mach_task_self(), address, size), KERN_SUCCESS);
}

/* No two pages are equal, nor are those of two rounds. */
static uint32_t word_at(uint32_t offset, uint32_t round)
{
	return (offset ^ round << 28) * 2654435761u;
}

static void put_page(vm_address_t address, uint32_t page, uint32_t round)
{
	uint32_t *words = (uint32_t *)(address + page * PAGE_SIZE);

	for (uint32_t i = 0; i < PAGE_SIZE / sizeof *words; i++)
		words[i] = word_at(page * PAGE_SIZE + i * sizeof *words, round);
}

static uint32_t page_errors(vm_address_t address, uint32_t page, uint32_t round)
{
	const uint32_t *words = (const uint32_t *)(address + page * PAGE_SIZE);
	uint32_t errors = 0;

	for (uint32_t i = 0; i < PAGE_SIZE / sizeof *words; i++)
		errors += words[i] != word_at(page * PAGE_SIZE + i * sizeof *words, round);
	return errors;
}

void pattern_put_mixed(vm_address_t address, vm_size_t size, uint32_t round, uint32_t order)
{
	uint32_t pages = size / PAGE_SIZE;

	for (uint32_t n = 0; n < pages; n++)
		put_page(address, n * order % pages, round);
}

uint32_t pattern_errors_mixed(vm_address_t address, vm_size_t size, uint32_t round, uint32_t order)
{
	uint32_t pages = size / PAGE_SIZE;
	uint32_t errors = 0;

	for (uint32_t n = 0; n < pages; n++)
		errors += page_errors(address, n * order % pages, round);
	return errors;
}

void pattern_put(vm_address_t address, vm_size_t size, uint32_t round)
{
	pattern_put_mixed(address, size, round, 1);
}

uint32_t pattern_errors(vm_address_t address, vm_size_t size, uint32_t round)
{
	return pattern_errors_mixed(address, size, round, 1);
}

/* ---------------- Children ---------------- */

void pressure_child(struct child *child, uint32_t stack, void (*run)(uint32_t), uint32_t argument)
{
	child->answer = MACH_PORT_NULL;
	child->task = child_new();
	child->reports = port_new();
	child->handler = port_new_with_send();
	EXPECT_EQ(task_set_special_port(child->task, TASK_EXCEPTION_PORT, child->handler),
		  KERN_SUCCESS);
	child_give(child->task, REPORT, child->reports, MACH_MSG_TYPE_MAKE_SEND);
	child->thread = child_start(child->task, stack, run, argument);
}

void pressure_report(uint32_t number)
{
	struct message message;

	message_head(&message, REPORT, MACH_MSG_TYPE_COPY_SEND, 0, 0, (mach_msg_id_t)number);
	mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head, 0, 0, 0, 0);
}

uint32_t pressure_heard(const struct child *child)
{
	struct message message;

	if (!EXPECT_EQ(message_get(&message, child->reports, MINUTE_MS), MACH_MSG_SUCCESS))
		return ~0u;
	return (uint32_t)message.head.msgh_id;
}

/* As exception_raise() of <mach/exc.defs> comes: descriptors and values in turn. */
enum exception_words {
	EXC_THREAD = 1,
	EXC_TASK = 3,
	EXC_KIND = 5,
	EXC_CODE = 7
};

uint32_t pressure_exception(struct child *child)
{
	struct message message;

	if (!EXPECT_EQ(message_get(&message, child->handler, MINUTE_MS), MACH_MSG_SUCCESS))
		return ~0u;
	EXPECT_EQ(message.body[EXC_KIND], EXC_BAD_ACCESS);
	port_drop_send(message.body[EXC_THREAD]);
	port_drop_send(message.body[EXC_TASK]);
	child->answer = message.head.msgh_remote_port;
	return message.body[EXC_CODE];
}

void pressure_end(struct child *child)
{
	child_end(child->task);
	if (MACH_PORT_VALID(child->answer))
		port_destroy(child->answer);
	port_destroy(child->thread);
	port_destroy(child->reports);
	port_destroy(child->handler);
}
