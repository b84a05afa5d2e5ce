/* SPDX-License-Identifier: MIT */
/*
 * lineprog [-l] [-s] [PACKETS]: packets of 56 bytes are received on the second serial line.
 *
 * The line is in its loop mode, in which what is sent comes in: to send costs an instruction a
 * byte.  Usually the program waits for each part of a packet, which another thread of it sends
 * then.  With -l it reads later, when all has come and nobody knew yet for whom.  With -s a server
 * reads the line, as the Unix server does the console, and the program asks that.  What it takes
 * is between markers.
 *
 * For root alone, who can have devices.  Nobody else may have the line: the kernel's log is on the
 * screen then (log=vga), and /sbin/agent, which reads it for tools/guest put, has been ended.
 */
#include <assay.h>
#include <cthreads.h>
#include <mach.h>
#include <mach/device.h>
#include <mach/mach_i386.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ux.h>
#include <sys/wait.h>
#include <unistd.h>

#define PACKETS     50
#define PACKETS_MAX 1000000
#define PART        14 /* Bytes for which the line interrupts, at once. */
#define PACKET      (4 * PART)

#define SERIAL      0x2f8
#define MODEM       (SERIAL + 4)
#define STATUS      (SERIAL + 5)
#define LAST        (SERIAL + 7)
#define MODEM_USUAL 0x0b
#define MODEM_LOOP  0x1b
#define RECEIVED    0x01 /* And nobody has taken it from the chip. */

#define NAME  0x7001 /* Of its port in the server. */
#define REPLY 100    /* What the id of a reply is more. */

static mach_port_t line;

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "lineprog: cannot %s\n", what);
	exit(1);
}

/* ---------------- The line ---------------- */

static void out(uint16_t port, uint8_t byte)
{
	__asm__ volatile("outb %0, %1" ::"a"(byte), "Nd"(port));
}

static uint8_t in(uint16_t port)
{
	uint8_t byte;

	__asm__ volatile("inb %1, %0" : "=a"(byte) : "Nd"(port));
	return byte;
}

static void open_line(void)
{
	mach_port_t master = ux_device_port(), ports;

	if (master == MACH_PORT_NULL)
		fail("have the device port: only root can");
	if (device_open(master, D_READ | D_WRITE, "com1", &line) != D_SUCCESS ||
	    i386_io_perm_create(master, SERIAL, LAST, &ports) != KERN_SUCCESS ||
	    i386_io_perm_modify(mach_task_self(), ports, TRUE) != KERN_SUCCESS)
		fail("open the second serial line: with log=vga the kernel's log is elsewhere");
}

/* Until the kernel has it all: the interrupt may come to another CPU. */
static void send_part(void)
{
	for (unsigned n = 0; n < PART; n++)
		out(SERIAL, 'x');
	while ((in(STATUS)&RECEIVED) != 0)
		continue;
}

static void end_loop(void)
{
	out(MODEM, MODEM_USUAL);
}

static void end_loop_and_exit(int signal)
{
	end_loop();
	_exit(128 + signal);
}

static void begin_loop(void)
{
	out(MODEM, MODEM_LOOP);
	if (atexit(end_loop) != 0 || signal(SIGINT, end_loop_and_exit) == SIG_ERR ||
	    signal(SIGTERM, end_loop_and_exit) == SIG_ERR)
		fail("have the line as it was at the end");
}

/* What has come: at least one byte. */
static unsigned read_line(io_buf_ptr_inband_t bytes)
{
	mach_msg_type_number_t size = IO_INBAND_MAX;

	if (device_read_inband(line, 0, 0, IO_INBAND_MAX, bytes, &size) != D_SUCCESS)
		fail("read from the line");
	return size;
}

static void receive_directly(unsigned size)
{
	io_buf_ptr_inband_t bytes;

	while (size != 0) {
		unsigned n = read_line(bytes);

		size -= n < size ? n : size;
	}
}

/* ---------------- The server ---------------- */

struct packet {
	mach_msg_header_t head; /* A request's id is how many bytes are wanted. */
	mach_msg_type_t type;
	char bytes[PACKET];
};

/* What the line has brought and nobody has been given yet. */
static struct {
	struct mutex mutex;
	struct condition more;
	char bytes[PACKET];
	unsigned size;
} kept;

/* Each read begins for nobody yet, and ends for whom it was if that is known by then. */
static void *read_for_clients(void *unused)
{
	io_buf_ptr_inband_t bytes;
	unsigned size;

	for (;;) {
		assay_thread_serve(line);
		size = read_line(bytes);
		mutex_lock(&kept.mutex);
		if (size > sizeof kept.bytes - kept.size)
			fail("keep what nobody asks for");
		memcpy(kept.bytes + kept.size, bytes, size);
		kept.size += size;
		condition_signal(&kept.more);
		mutex_unlock(&kept.mutex);
	}
	return unused;
}

/* In the client's name, who is the only one: what comes while it waits is for it. */
static void take_bytes(char *bytes, unsigned size)
{
	mutex_lock(&kept.mutex);
	assay_event_pass(line, TRUE);
	while (kept.size < size)
		condition_wait(&kept.more, &kept.mutex);
	assay_event_pass(line, FALSE);
	assay_event_attribute(line);
	memcpy(bytes, kept.bytes, size);
	kept.size -= size;
	mutex_unlock(&kept.mutex);
}

static void answer(const struct packet *request)
{
	struct packet reply = {
		.head.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_MOVE_SEND_ONCE, 0),
		.head.msgh_size = sizeof reply,
		.head.msgh_remote_port = request->head.msgh_remote_port,
		.head.msgh_id = request->head.msgh_id + REPLY,
		.type = {.msgt_name = MACH_MSG_TYPE_CHAR,
			 .msgt_size = 8,
			 .msgt_number = PACKET,
			 .msgt_inline = TRUE},
	};

	take_bytes(reply.bytes, (unsigned)request->head.msgh_id);
	if (mach_msg(&reply.head, MACH_SEND_MSG, sizeof reply, 0, MACH_PORT_NULL,
		     MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL) != MACH_MSG_SUCCESS)
		fail("answer");
}

static _Noreturn void be_server(int begin)
{
	struct packet request;
	char go;

	if (read(begin, &go, 1) != 1)
		fail("begin");
	open_line();
	mutex_init(&kept.mutex);
	condition_init(&kept.more);
	cthread_detach(cthread_fork(read_for_clients, NULL));
	while (mach_msg(&request.head, MACH_RCV_MSG, 0, sizeof request, NAME, MACH_MSG_TIMEOUT_NONE,
			MACH_PORT_NULL) == MACH_MSG_SUCCESS &&
	       request.head.msgh_id > 0 && request.head.msgh_id <= PACKET)
		answer(&request);
	exit(0);
}

/* ---------------- Its client ---------------- */

static mach_port_t server;

static void start_server(void)
{
	int begin[2];
	pid_t pid;

	if (mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_RECEIVE, &server) !=
		    KERN_SUCCESS ||
	    mach_port_insert_right(mach_task_self(), server, server, MACH_MSG_TYPE_MAKE_SEND) !=
		    KERN_SUCCESS)
		fail("make a port");
	if (pipe(begin) != 0)
		fail("make a pipe");
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (pid == 0)
		be_server(begin[0]);
	if (mach_port_insert_right(task_by_pid(pid), NAME, server, MACH_MSG_TYPE_MOVE_RECEIVE) !=
	    KERN_SUCCESS)
		fail("give the server its port");
	if (write(begin[1], "", 1) != 1)
		fail("let the server begin");
}

static void receive_from_server(unsigned size)
{
	struct packet packet = {
		.head.msgh_bits =
			MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE),
		.head.msgh_size = sizeof packet.head,
		.head.msgh_remote_port = server,
		.head.msgh_local_port = mig_get_reply_port(),
		.head.msgh_id = (mach_msg_id_t)size,
	};
	mach_port_t reply = packet.head.msgh_local_port;

	if (mach_msg(&packet.head, MACH_SEND_MSG | MACH_RCV_MSG, sizeof packet.head, sizeof packet,
		     reply, MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL) != MACH_MSG_SUCCESS)
		fail("ask the server");
	mig_put_reply_port(reply);
}

/* Its last request is not answered. */
static void end_server(void)
{
	mach_msg_header_t last = {
		.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0),
		.msgh_size = sizeof last,
		.msgh_remote_port = server,
	};

	if (mach_msg(&last, MACH_SEND_MSG, sizeof last, 0, MACH_PORT_NULL, MACH_MSG_TIMEOUT_NONE,
		     MACH_PORT_NULL) != MACH_MSG_SUCCESS)
		fail("end the server");
	while (wait(NULL) > 0)
		continue;
}

/* ---------------- The sender ---------------- */

static volatile bool is_awaited;

/* Worse than all others of the program, so that it runs when they wait. */
static void *send_what_is_awaited(void *unused)
{
	if (thread_priority(mach_thread_self(), PRIORITY_USUAL + 1, FALSE) != KERN_SUCCESS)
		fail("have the sender wait for its turn");
	for (;;) {
		if (is_awaited) {
			is_awaited = false;
			send_part();
		} else {
			thread_switch(MACH_PORT_NULL, SWITCH_OPTION_WAIT, 1);
		}
	}
	return unused;
}

/* ---------------- Packets ---------------- */

static void (*receive)(unsigned size) = receive_directly;

static void receive_packet_at_once(void)
{
	for (unsigned n = 0; n < PACKET; n += PART) {
		is_awaited = true;
		receive(PART);
	}
}

static void receive_packet_later(void)
{
	for (unsigned n = 0; n < PACKET; n += PART)
		send_part();
	receive(PACKET);
}

static void receive_all(unsigned packets, bool is_later)
{
	void (*receive_packet)(void) = is_later ? receive_packet_later : receive_packet_at_once;

	open_line();
	begin_loop();
	if (!is_later)
		cthread_detach(cthread_fork(send_what_is_awaited, NULL));
	receive_packet();
	hot_start();
	while (packets-- != 0)
		receive_packet();
	hot_stop();
}

static _Noreturn void tell_usage(void)
{
	fprintf(stderr, "usage: lineprog [-l] [-s] [PACKETS (1 to %d)]\n", PACKETS_MAX);
	exit(2);
}

static unsigned number_of(const char *word)
{
	char *end;
	unsigned long number = strtoul(word, &end, 10);

	if (*word == '-' || *end != '\0' || number == 0 || number > PACKETS_MAX)
		tell_usage();
	return (unsigned)number;
}

int main(int argc, char **argv)
{
	bool is_later = false, has_server = false;
	unsigned packets = PACKETS;
	int option;

	while ((option = getopt(argc, argv, "ls")) != -1) {
		if (option == '?')
			tell_usage();
		is_later = is_later || option == 'l';
		has_server = has_server || option == 's';
	}
	if (optind < argc)
		packets = number_of(argv[optind++]);
	if (optind < argc)
		tell_usage();
	if (has_server) {
		receive = receive_from_server;
		start_server();
	}
	receive_all(packets, is_later);
	if (has_server)
		end_server();
	printf("lineprog: %u packets of %d bytes\n", packets, PACKET);
	return 0;
}
