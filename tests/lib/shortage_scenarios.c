/* SPDX-License-Identifier: MIT */
/* The scenarios of shortage: every kind of call for which the kernel needs memory. */
#include "shortage.h"
#include "check.h"

#define PORTS    8u
#define MANY     10u
#define FAR_SIZE (3 * PAGE_SIZE)
#define LOCAL    0x27u /* The first selector of the local table that is a program's. */
#define FAR_NAME 0x12345678u

static uint8_t far_memory[FAR_SIZE] __attribute__((aligned(PAGE_SIZE)));

static mach_port_t self(void)
{
	return mach_task_self_cached();
}

/* A trap that answers a name has had no memory if that is MACH_PORT_NULL. */
static kern_return_t is_name(mach_port_t name)
{
	return name != MACH_PORT_NULL ? KERN_SUCCESS : KERN_RESOURCE_SHORTAGE;
}

/* A port with a send right, by calls that may fail. */
static kern_return_t new_port(mach_port_t *name)
{
	kern_return_t result = mach_port_allocate(self(), MACH_PORT_RIGHT_RECEIVE, name);

	if (result != KERN_SUCCESS)
		return result;
	return mach_port_insert_right(self(), *name, *name, MACH_MSG_TYPE_MAKE_SEND);
}

/* ---------------- Names ---------------- */

static void names_by_traps(void)
{
	mach_port_t port;

	TRY(is_name(mach_reply_port()));
	TRY(is_name(mach_thread_self()));
	TRY(is_name(mach_host_self()));
	TRY(syscall_mach_port_allocate(self(), MACH_PORT_RIGHT_RECEIVE, &port));
	TRY(syscall_mach_port_insert_right(self(), port, port, MACH_MSG_TYPE_MAKE_SEND));
	TRY(syscall_mach_port_allocate_name(self(), MACH_PORT_RIGHT_DEAD_NAME, FAR_NAME));
	TRY(syscall_mach_port_deallocate(self(), port));
}

static void names_by_calls(void)
{
	mach_port_t port, set, dead;

	TRY(new_port(&port));
	TRY(mach_port_allocate(self(), MACH_PORT_RIGHT_PORT_SET, &set));
	TRY(mach_port_allocate(self(), MACH_PORT_RIGHT_DEAD_NAME, &dead));
	TRY(mach_port_allocate_name(self(), MACH_PORT_RIGHT_RECEIVE, FAR_NAME));
	TRY(mach_port_rename(self(), port, FAR_NAME + 0x10000000));
	TRY(mach_port_move_member(self(), FAR_NAME, set));
}

/*
 * Each time more than ever before: zones have to grow.  In a task of their own, for a task keeps
 * the tables of names that it has used.
 */
static void more_ports_than_ever(void)
{
	static uint32_t most = 64;
	mach_port_t task, port;

	most += 100;
	TRY(task_create(self(), FALSE, &task));
	for (uint32_t i = 0; i < most; i++)
		TRY(mach_port_allocate(task, MACH_PORT_RIGHT_RECEIVE, &port));
	TRY(mach_port_allocate_name(task, MACH_PORT_RIGHT_RECEIVE, FAR_NAME));
}

static void lists_of_names(void)
{
	mach_port_t set, port;
	mach_port_name_array_t names, members;
	mach_port_type_array_t types;
	mach_msg_type_number_t n, n_types;

	TRY(mach_port_allocate(self(), MACH_PORT_RIGHT_PORT_SET, &set));
	for (uint32_t i = 0; i < PORTS; i++) {
		TRY(mach_port_allocate(self(), MACH_PORT_RIGHT_RECEIVE, &port));
		TRY(mach_port_move_member(self(), port, set));
	}
	TRY(mach_port_names(self(), &names, &n, &types, &n_types));
	TRY(mach_port_get_set_status(self(), set, &members, &n));
}

static void rights_from_and_to_tasks(void)
{
	mach_port_t port, task, taken;
	mach_msg_type_name_t kind;

	TRY(new_port(&port));
	TRY(task_create(self(), FALSE, &task));
	TRY(mach_port_insert_right(task, 0x400, port, MACH_MSG_TYPE_COPY_SEND));
	TRY(mach_port_insert_right(task, 0x401, port, MACH_MSG_TYPE_MAKE_SEND_ONCE));
	TRY(mach_port_extract_right(task, 0x401, MACH_MSG_TYPE_MOVE_SEND_ONCE, &taken, &kind));
	TRY(mach_port_allocate_name(task, MACH_PORT_RIGHT_RECEIVE, 0x402));
	TRY(mach_port_extract_right(task, 0x402, MACH_MSG_TYPE_MOVE_RECEIVE, &taken, &kind));
}

static void another_pays(void)
{
	mach_port_t task;

	TRY(task_create(self(), FALSE, &task));
	TRY(task_set_owner(check_number(0), task, 100));
	TRY(mach_port_allocate_name(task, MACH_PORT_RIGHT_RECEIVE, 0x402));
}

/* ---------------- Notifications ---------------- */

static void requests(void)
{
	mach_port_t port, notify, previous;

	TRY(new_port(&port));
	TRY(new_port(&notify));
	TRY(mach_port_request_notification(self(), port, MACH_NOTIFY_DEAD_NAME, 1, notify,
					   MACH_MSG_TYPE_MAKE_SEND_ONCE, &previous));
	TRY(mach_port_request_notification(self(), port, MACH_NOTIFY_NO_SENDERS, 1, notify,
					   MACH_MSG_TYPE_MAKE_SEND_ONCE, &previous));
	TRY(mach_port_request_notification(self(), port, MACH_NOTIFY_PORT_DESTROYED, 0, notify,
					   MACH_MSG_TYPE_MAKE_SEND_ONCE, &previous));
	TRY(mach_port_deallocate(self(), port));
	TRY(mach_port_destroy(self(), port));
}

/* The name goes first; then the port does, with a send-once right in its queue. */
static void deaths(void)
{
	mach_port_t port, notify, previous;
	struct message message;

	TRY(new_port(&port));
	TRY(new_port(&notify));
	TRY(mach_port_request_notification(self(), port, MACH_NOTIFY_DEAD_NAME, 1, notify,
					   MACH_MSG_TYPE_MAKE_SEND_ONCE, &previous));
	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, notify, MACH_MSG_TYPE_MAKE_SEND_ONCE,
		     1);
	TRY(message_post(&message, 0));
	TRY(mach_port_mod_refs(self(), port, MACH_PORT_RIGHT_RECEIVE, -1));
	message_get(&message, notify, 0);
	message_get(&message, notify, 0);
}

static void accepted_messages(void)
{
	struct message message;
	mach_port_t port;

	TRY(new_port(&port));
	TRY(mach_port_set_qlimit(self(), port, 1));
	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, MACH_PORT_NULL, 0, 1);
	TRY(message_post(&message, 0));
	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, MACH_PORT_NULL, 0, 1);
	if (mach_msg(&message.head, MACH_SEND_MSG | MACH_SEND_TIMEOUT | MACH_SEND_NOTIFY,
		     sizeof message.head, 0, MACH_PORT_NULL, 0, port) == MACH_SEND_WILL_NOTIFY)
		TRY(message_get(&message, port, 0));
}

/* ---------------- Messages ---------------- */

/* To a port of the task's own, and back out of it, with so much data in line. */
static void in_line(uint32_t words)
{
	static struct {
		mach_msg_header_t head;
		uint32_t type[3];
		uint32_t data[8192];
	} message;
	mach_port_t port;
	uint32_t size = sizeof message.head + sizeof message.type + 4 * words;

	TRY(new_port(&port));
	memset(&message, 0, sizeof message.head);
	message.head.msgh_bits =
		MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE);
	message.head.msgh_remote_port = port;
	message.head.msgh_local_port = port;
	message.type[0] = TYPE_LONG | TYPE_IS_INLINE;
	message.type[1] = MACH_MSG_TYPE_INTEGER_32 | 32u << 16;
	message.type[2] = words;
	TRY(mach_msg(&message.head, MACH_SEND_MSG, size, 0, MACH_PORT_NULL, 0, MACH_PORT_NULL));
	TRY(mach_msg(&message.head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof message, port, 0,
		     MACH_PORT_NULL));
}

static void small_messages(void)
{
	in_line(4);
}

static void large_messages(void)
{
	in_line(900);
}

static void largest_messages(void)
{
	in_line(8000);
}

static void out_of_line(bool moved)
{
	vm_address_t address = (vm_address_t)far_memory;
	struct message message;
	mach_port_t port;

	TRY(new_port(&port));
	if (moved)
		TRY(vm_allocate(self(), &address, FAR_SIZE, TRUE));
	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, MACH_PORT_NULL, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE(MACH_MSG_TYPE_INTEGER_32, 32, FAR_SIZE / 4 - 8, 0, moved);
	message.body[1] = address + (moved ? 0 : 12);
	message.body[2] = TYPE_FAR(MACH_MSG_TYPE_BYTE, 8, 100);
	message.body[3] = (uint32_t)far_memory + 7;
	TRY(message_post(&message, 4));
	TRY(message_get(&message, port, 0));
}

static void memory_copied(void)
{
	out_of_line(false);
}

static void memory_moved(void)
{
	out_of_line(true);
}

/* More parts than the kernel has a place for without asking for memory. */
static void memory_moved_in_many_parts(void)
{
	vm_address_t address = 0;
	struct message message;
	mach_port_t port;

	TRY(new_port(&port));
	TRY(vm_allocate(self(), &address, MANY * PAGE_SIZE, TRUE));
	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, MACH_PORT_NULL, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	for (uint32_t i = 0; i < MANY; i++) {
		message.body[2 * i] = TYPE_MOVED(MACH_MSG_TYPE_BYTE, 8, 100);
		message.body[2 * i + 1] = address + i * PAGE_SIZE;
	}
	TRY(message_post(&message, 2 * MANY));
	TRY(message_get(&message, port, 0));
}

/* What another task has too does not leave with the message: it is copied. */
static void shared_memory_moved(void)
{
	vm_address_t address = 0;
	struct message message;
	mach_port_t port, task;

	TRY(new_port(&port));
	TRY(vm_allocate(self(), &address, FAR_SIZE, TRUE));
	TRY(vm_inherit(self(), address, FAR_SIZE, VM_INHERIT_SHARE));
	TRY(task_create(self(), TRUE, &task));
	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, MACH_PORT_NULL, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_MOVED(MACH_MSG_TYPE_INTEGER_32, 32, FAR_SIZE / 4);
	message.body[1] = address;
	TRY(message_post(&message, 2));
	TRY(message_get(&message, port, 0));
}

/* Rights in line and out of line, a receive right among them, to names that are new. */
static void rights(void)
{
	static mach_port_t array[PORTS];
	struct message message;
	mach_port_t port, carried;

	TRY(new_port(&port));
	TRY(new_port(&carried));
	for (uint32_t i = 0; i < PORTS; i++)
		array[i] = carried;
	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, port, MACH_MSG_TYPE_MAKE_SEND_ONCE,
		     1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_FAR(MACH_MSG_TYPE_MAKE_SEND_ONCE, 32, PORTS);
	message.body[1] = (uint32_t)array;
	message.body[2] = TYPE_INLINE(MACH_MSG_TYPE_MAKE_SEND_ONCE, 32, 2);
	message.body[3] = carried;
	message.body[4] = carried;
	message.body[5] = TYPE_INLINE(MACH_MSG_TYPE_MOVE_RECEIVE, 32, 1);
	message.body[6] = carried;
	TRY(message_post(&message, 7));
	TRY(message_get(&message, port, 0));
}

/* Messages with everything that is in them are destroyed, not received. */
static void messages_destroyed(void)
{
	struct message message;
	mach_port_t port, carried;

	TRY(new_port(&port));
	TRY(new_port(&carried));
	message_head(&message, carried, MACH_MSG_TYPE_COPY_SEND, port, MACH_MSG_TYPE_MAKE_SEND_ONCE,
		     1);
	TRY(message_post(&message, 0));
	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, carried, MACH_MSG_TYPE_COPY_SEND, 2);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_MOVE_RECEIVE, 32, 1);
	message.body[1] = carried;
	message.body[2] = TYPE_FAR(MACH_MSG_TYPE_BYTE, 8, 4000);
	message.body[3] = (uint32_t)far_memory;
	TRY(message_post(&message, 4));
	TRY(mach_port_destroy(self(), port));
}

/* ---------------- Tasks and threads ---------------- */

static void tasks(void)
{
	mach_port_t task, thread;
	thread_array_t threads;
	mach_msg_type_number_t n;

	TRY(task_create(self(), FALSE, &task));
	TRY(thread_create(task, &thread));
	TRY(task_threads(task, &threads, &n));
	TRY(syscall_task_create(self(), FALSE, &task));
	TRY(task_terminate(task));
}

static void tasks_with_memory(void)
{
	mach_port_t task;

	TRY(task_create(self(), TRUE, &task));
}

/* Each time more than ever before: stacks have to be made. */
/* Pages that are shared for copying and are needed alone, and shared ones that a child copies. */
static void memory_inherited(void)
{
	vm_address_t address = 0;
	mach_port_t task;

	TRY(vm_allocate(self(), &address, FAR_SIZE, TRUE));
	TRY(task_create(self(), TRUE, &task));
	TRY(vm_write(self(), address, address + PAGE_SIZE, PAGE_SIZE));
	TRY(vm_inherit(self(), address, FAR_SIZE, VM_INHERIT_SHARE));
	TRY(task_create(self(), TRUE, &task));
	TRY(vm_inherit(self(), address, FAR_SIZE, VM_INHERIT_COPY));
	TRY(task_create(self(), TRUE, &task));
}

static void more_threads_than_ever(void)
{
	static uint32_t most = 12;
	mach_port_t thread;

	most += 2;
	for (uint32_t i = 0; i < most; i++)
		TRY(thread_create(self(), &thread));
}

static uint8_t thread_stack[PAGE_SIZE];

static void end_at_once(void *argument)
{
	(void)argument;
}

static void threads_by_trap(void)
{
	uint32_t id;

	TRY(thread_start(end_at_once, NULL, thread_stack, sizeof thread_stack, PRIORITY_USUAL,
			 &id));
	TRY(assay_thread_join(id, LONG_WAIT));
}

static void special_ports(void)
{
	mach_port_t array[2], port, thread, found;
	mach_port_array_t looked_up;
	mach_msg_type_number_t n;

	TRY(new_port(&port));
	array[0] = array[1] = port;
	TRY(thread_create(self(), &thread));
	TRY(mach_ports_register(self(), array, 2));
	TRY(mach_ports_lookup(self(), &looked_up, &n));
	TRY(mach_ports_register(self(), array, 0));
	TRY(task_set_special_port(self(), TASK_EXCEPTION_PORT, port));
	TRY(task_get_special_port(self(), TASK_EXCEPTION_PORT, &found));
	TRY(thread_set_special_port(thread, THREAD_EXCEPTION_PORT, port));
	TRY(thread_get_special_port(thread, THREAD_EXCEPTION_PORT, &found));
}

static void forget_special_ports(void)
{
	mach_ports_register(self(), NULL, 0);
	task_set_special_port(self(), TASK_EXCEPTION_PORT, MACH_PORT_NULL);
}

/* The compiler is not to know what is wrong with the address. */
static void touch_nothing(uint32_t argument)
{
	volatile uint32_t *volatile nowhere = (volatile uint32_t *)4;

	*nowhere = argument;
}

/* If there is no memory to tell of the exception, the task may end by it. */
static void exceptions(void)
{
	struct message message;
	mach_port_t port, task, thread;
	struct i386_thread_state state = {0};
	mach_msg_type_number_t count = i386_THREAD_STATE_COUNT;

	TRY(new_port(&port));
	TRY(task_create(self(), TRUE, &task));
	TRY(task_set_special_port(task, TASK_EXCEPTION_PORT, port));
	TRY(thread_create(task, &thread));
	TRY(thread_get_state(thread, i386_THREAD_STATE, (thread_state_t)&state, &count));
	state.eip = (uint32_t)touch_nothing;
	state.uesp = (uint32_t)thread_stack + sizeof thread_stack - 16;
	TRY(thread_set_state(thread, i386_THREAD_STATE, (thread_state_t)&state, count));
	TRY(thread_resume(thread));
	if (message_get(&message, port, SHORT_WAIT) == MACH_MSG_SUCCESS)
		TRY(thread_terminate(thread));
}

static void machine_state(void)
{
	static uint32_t words[512];
	struct descriptor table[2] = {{0, 0}, {0, 0}};
	mach_msg_type_number_t n = 512;
	mach_port_t task, thread, ports;
	int selector = -1;

	TRY(thread_create(self(), &thread));
	TRY(thread_get_state(thread, i386_XFLOAT_STATE, (thread_state_t)words, &n));
	TRY(thread_set_state(thread, i386_XFLOAT_STATE, (thread_state_t)words, n));
	TRY(i386_set_ldt(thread, LOCAL, (descriptor_list_t)table, 2));
	TRY(i386_set_gdt(thread, &selector, table[0]));
	TRY(i386_io_perm_create(check_number(1), 0x80, 0x80, &ports));
	TRY(task_create(self(), FALSE, &task));
	TRY(i386_io_perm_modify(task, ports, TRUE));
	TRY(i386_io_perm_modify(task, ports, FALSE));
}

/* ---------------- Memory ---------------- */

static void memory(void)
{
	vm_address_t address = 0, other = 0;
	vm_offset_t data;
	mach_msg_type_number_t size;

	TRY(vm_allocate(self(), &address, FAR_SIZE, TRUE));
	TRY(syscall_vm_allocate(self(), &other, FAR_SIZE, TRUE));
	TRY(vm_read(self(), address, FAR_SIZE, &data, &size));
	TRY(vm_write(self(), address, data, size));
	TRY(vm_copy(self(), address, FAR_SIZE, other));
	TRY(vm_protect(self(), address, PAGE_SIZE, FALSE, VM_PROT_READ));
	TRY(vm_inherit(self(), address, PAGE_SIZE, VM_INHERIT_NONE));
	address = 0;
	TRY(vm_map(self(), &address, FAR_SIZE, 0, TRUE, MACH_PORT_NULL, 0, FALSE, VM_PROT_DEFAULT,
		   VM_PROT_ALL, VM_INHERIT_COPY));
}

/* Where nothing has been: page tables are made, which stay until the task ends. */
static void memory_far_away(void)
{
	vm_address_t address = 0x60000000;
	mach_port_t task;

	TRY(task_create(self(), FALSE, &task));
	TRY(vm_allocate(task, &address, PAGE_SIZE, FALSE));
}

static void memory_by_trap(void)
{
	void *address = (void *)0x70000000;

	TRY(assay_memory_map(address, FAR_SIZE, ASSAY_READ | ASSAY_WRITE));
	TRY(assay_memory_unmap(address, FAR_SIZE));
}

static void memory_of_the_host(void)
{
	mach_port_t host = check_number(0);
	vm_address_t address = 0;
	rpc_phys_addr_t physical;
	static rpc_phys_addr_t addresses[8];
	rpc_phys_addr_array_t pages = addresses;
	mach_msg_type_number_t n = 8;

	TRY(vm_allocate_contiguous(host, self(), &address, &physical, PAGE_SIZE, 0, ~0ull,
				   PAGE_SIZE));
	TRY(vm_wire(host, self(), (vm_address_t)far_memory, FAR_SIZE, VM_PROT_READ));
	TRY(vm_wire(host, self(), (vm_address_t)far_memory, FAR_SIZE, VM_PROT_NONE));
	TRY(vm_pages_phys(host, self(), (vm_address_t)far_memory, FAR_SIZE, &pages, &n));
	TRY(vm_pages_phys(host, self(), 0x10000000, 2048 * PAGE_SIZE, &pages, &n));
}

/* Entries of wired memory stay apart from those beside them. */
static void unwire_memory(void)
{
	EXPECT_EQ(
		vm_wire(check_number(0), self(), (vm_address_t)far_memory, FAR_SIZE, VM_PROT_NONE),
		KERN_SUCCESS);
}

static void waits_for_words(void)
{
	static volatile uint32_t word = 1;
	kern_return_t result =
		gsync_wait(self(), (vm_address_t)&word, 1, 0, 1, GSYNC_TIMED | GSYNC_SHARED);

	if (result != KERN_TIMEDOUT)
		TRY(result);
	TRY(gsync_wake(self(), (vm_address_t)&word, 1, GSYNC_MUTATE));
}

/* ---------------- The host ---------------- */

static void lists_of_the_host(void)
{
	mach_port_t host = check_number(0), name, control;
	processor_array_t processors;
	processor_set_name_array_t sets;
	task_array_t tasks;
	thread_array_t threads;
	mach_msg_type_number_t n;

	TRY(host_processors(host, &processors, &n));
	TRY(host_processor_sets(host, &sets, &n));
	TRY(processor_set_default(host, &name));
	TRY(host_processor_set_priv(host, name, &control));
	TRY(processor_set_tasks(control, &tasks, &n));
	TRY(processor_set_threads(control, &threads, &n));
	TRY(processor_set_processors(control, &processors, &n));
}

static uint16_t ticks[2];

/* A child's are counted as well. */
static void ticks_are_counted(void)
{
	mach_port_t task;

	TRY(task_profil(self(), (vm_address_t)ticks, sizeof ticks, 0, 0x10000, FALSE));
	TRY(task_create(self(), TRUE, &task));
}

static void forget_ticks(void)
{
	task_profil(self(), 0, 0, 0, 0, FALSE);
}

static void new_tasks_are_told_of(void)
{
	mach_port_t port, task;
	struct message message;

	TRY(new_port(&port));
	TRY(register_new_task_notification(check_number(0), port, MACH_MSG_TYPE_MAKE_SEND));
	TRY(task_create(self(), FALSE, &task));
	message_get(&message, port, 0);
}

/* The port is dead by then; the next one to register makes the kernel forget it. */
static void forget_new_tasks(void)
{
	register_new_task_notification(check_number(0), MACH_PORT_NULL, MACH_MSG_TYPE_COPY_SEND);
}

static void names_of_things(void)
{
	TRY(task_set_name(self(), "shortage"));
	TRY(thread_set_name(mach_thread_self(), "main"));
}

/* ---------------- Devices ---------------- */

/* Several requests wait at once; with the names that go in the end the device is closed. */
static void requests_that_wait(void)
{
	mach_port_t device, reply;

	TRY(device_open(check_number(1), D_READ, "console", &device));
	TRY(mach_port_allocate(self(), MACH_PORT_RIGHT_RECEIVE, &reply));
	for (uint32_t n = 0; n < MANY; n++)
		TRY(device_read_request_inband(device, reply, 0, 0, 1));
}

static void disk_requests(void)
{
	mach_port_t device;
	io_buf_ptr_t data;
	mach_msg_type_number_t n;
	int written;

	TRY(device_open(check_number(1), D_READ | D_WRITE, "rd0", &device));
	TRY(device_write(device, 0, 0, (char *)far_memory, FAR_SIZE, &written));
	TRY(device_read(device, 0, 0, FAR_SIZE + 512, &data, &n));
}

static void mapped_time(void)
{
	mach_port_t device, memory;
	vm_address_t address = 0;

	TRY(device_open(check_number(1), D_READ, "time", &device));
	TRY(device_map(device, VM_PROT_READ, 0, PAGE_SIZE, &memory, 0));
	TRY(vm_map(self(), &address, PAGE_SIZE, 0, TRUE, memory, 0, FALSE, VM_PROT_READ,
		   VM_PROT_READ, VM_INHERIT_NONE));
	address = 0;
	TRY(vm_map(self(), &address, PAGE_SIZE, 0, TRUE, memory, 0, TRUE, VM_PROT_READ,
		   VM_PROT_READ, VM_INHERIT_NONE));
}

const struct scenario scenarios[] = {
	{"names by traps", names_by_traps, NULL},
	{"names by calls", names_by_calls, NULL},
	{"more ports than ever", more_ports_than_ever, NULL},
	{"lists of names", lists_of_names, NULL},
	{"counted calls", shortage_counted_calls, shortage_forget_calls},
	{"counted ticks", ticks_are_counted, forget_ticks},
	{"rights from and to tasks", rights_from_and_to_tasks, NULL},
	{"another pays", another_pays, NULL},
	{"requests", requests, NULL},
	{"deaths", deaths, NULL},
	{"accepted messages", accepted_messages, NULL},
	{"small messages", small_messages, NULL},
	{"large messages", large_messages, NULL},
	{"largest messages", largest_messages, NULL},
	{"memory copied", memory_copied, NULL},
	{"memory moved", memory_moved, NULL},
	{"memory moved in many parts", memory_moved_in_many_parts, NULL},
	{"shared memory moved", shared_memory_moved, NULL},
	{"rights", rights, NULL},
	{"messages destroyed", messages_destroyed, NULL},
	{"tasks", tasks, NULL},
	{"tasks with memory", tasks_with_memory, NULL},
	{"memory inherited", memory_inherited, NULL},
	{"more threads than ever", more_threads_than_ever, NULL},
	{"threads by trap", threads_by_trap, NULL},
	{"long calls", shortage_long_calls, NULL},
	{"special ports", special_ports, forget_special_ports},
	{"exceptions", exceptions, NULL},
	{"machine state", machine_state, NULL},
	{"memory", memory, NULL},
	{"memory far away", memory_far_away, NULL},
	{"memory by trap", memory_by_trap, NULL},
	{"memory of the host", memory_of_the_host, unwire_memory},
	{"waits for words", waits_for_words, NULL},
	{"lists of the host", lists_of_the_host, NULL},
	{"new tasks are told of", new_tasks_are_told_of, forget_new_tasks},
	{"names of things", names_of_things, NULL},
	{"requests that wait", requests_that_wait, NULL},
	{"disk requests", disk_requests, NULL},
	{"mapped time", mapped_time, NULL},
	{"large copies", shortage_large_copies, NULL},
	{"more kernel memory than ever", shortage_more_kernel_memory_than_ever, NULL},
	{"memory objects", shortage_memory_objects, NULL},
	{"proxies", shortage_proxies, NULL},
	{"streams of samples", shortage_streams, NULL},
	{"kept samples", shortage_kept_samples, shortage_forget_kept_samples},
};

const uint32_t n_scenarios = sizeof scenarios / sizeof scenarios[0];
