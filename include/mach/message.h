/* SPDX-License-Identifier: MIT */
/* Messages: their layout, and what mach_msg() takes and answers. */
#ifndef MACH_MESSAGE_H
#define MACH_MESSAGE_H

#include <mach/kern_return.h>
#include <mach/port.h>

typedef natural_t mach_msg_timeout_t; /* Milliseconds. */

#define MACH_MSG_TIMEOUT_NONE ((mach_msg_timeout_t)0)

/* ---------------- The header ---------------- */

typedef unsigned int mach_msg_bits_t;
typedef unsigned int mach_msg_size_t;
typedef natural_t mach_msg_seqno_t;
typedef integer_t mach_msg_id_t;

typedef struct mach_msg_header {
	mach_msg_bits_t msgh_bits;
	mach_msg_size_t msgh_size;
	mach_port_t msgh_remote_port;
	union {
		mach_port_t msgh_local_port;
		natural_t msgh_protected_payload;
	};
	mach_port_seqno_t msgh_seqno;
	mach_msg_id_t msgh_id;
} mach_msg_header_t;

/* msgh_bits: two dispositions, and whether the body has rights or memory in it. */
#define MACH_MSGH_BITS_ZERO          0x00000000u
#define MACH_MSGH_BITS_REMOTE_MASK   0x000000ffu
#define MACH_MSGH_BITS_LOCAL_MASK    0x0000ff00u
#define MACH_MSGH_BITS_PORTS_MASK    (MACH_MSGH_BITS_REMOTE_MASK | MACH_MSGH_BITS_LOCAL_MASK)
#define MACH_MSGH_BITS_UNUSED        0x07ff0000u
#define MACH_MSGH_BITS_MIGRATED      0x08000000u
#define MACH_MSGH_BITS_COMPLEX_DATA  0x10000000u
#define MACH_MSGH_BITS_COMPLEX_PORTS 0x20000000u
#define MACH_MSGH_BITS_CIRCULAR      0x40000000u
#define MACH_MSGH_BITS_COMPLEX       0x80000000u

#define MACH_MSGH_BITS(remote, local) ((remote) | ((local) << 8))
#define MACH_MSGH_BITS_REMOTE(bits)   ((bits)&MACH_MSGH_BITS_REMOTE_MASK)
#define MACH_MSGH_BITS_LOCAL(bits)    (((bits)&MACH_MSGH_BITS_LOCAL_MASK) >> 8)
#define MACH_MSGH_BITS_PORTS(bits)    ((bits)&MACH_MSGH_BITS_PORTS_MASK)
#define MACH_MSGH_BITS_OTHER(bits)    ((bits) & ~MACH_MSGH_BITS_PORTS_MASK)

#define MACH_MSG_SIZE_MAX ((mach_msg_size_t)~0)

/* An older name of a field. */
#define MACH_MSGH_KIND_NORMAL 0x00000000u
#define msgh_kind             msgh_seqno
#define mach_msg_kind_t       mach_port_seqno_t

/* ---------------- Descriptors in the body ---------------- */

typedef unsigned int mach_msg_type_name_t;
typedef unsigned int mach_msg_type_size_t;
typedef natural_t mach_msg_type_number_t;

typedef struct {
	unsigned int msgt_name : 8;    /* MACH_MSG_TYPE_... */
	unsigned int msgt_size : 8;    /* Bits of one element, */
	unsigned int msgt_number : 12; /* and how many elements follow. */
	unsigned int msgt_inline : 1;  /* They do; else the address of them does. */
	unsigned int msgt_longform : 1;
	unsigned int msgt_deallocate : 1; /* The sender's own copy goes away. */
	unsigned int msgt_unused : 1;
} mach_msg_type_t;

/* With msgt_longform name, size and number are here, and those of the header are not looked at. */
typedef struct {
	mach_msg_type_t msgtl_header;
	unsigned short msgtl_name;
	unsigned short msgtl_size;
	natural_t msgtl_number;
} mach_msg_type_long_t;

#define MACH_MSG_TYPE_UNSTRUCTURED 0
#define MACH_MSG_TYPE_BIT          0
#define MACH_MSG_TYPE_BOOLEAN      0
#define MACH_MSG_TYPE_INTEGER_16   1
#define MACH_MSG_TYPE_INTEGER_32   2
#define MACH_MSG_TYPE_INTEGER_T    MACH_MSG_TYPE_INTEGER_32
#define MACH_MSG_TYPE_CHAR         8
#define MACH_MSG_TYPE_BYTE         9
#define MACH_MSG_TYPE_INTEGER_8    9
#define MACH_MSG_TYPE_REAL         10
#define MACH_MSG_TYPE_INTEGER_64   11
#define MACH_MSG_TYPE_STRING       12
#define MACH_MSG_TYPE_STRING_C     12

/* Dispositions: what is to be done with a right of the sender's. */
#define MACH_MSG_TYPE_PORT_NAME      15 /* Nothing: a number that happens to be a name. */
#define MACH_MSG_TYPE_MOVE_RECEIVE   16
#define MACH_MSG_TYPE_MOVE_SEND      17
#define MACH_MSG_TYPE_MOVE_SEND_ONCE 18
#define MACH_MSG_TYPE_COPY_SEND      19
#define MACH_MSG_TYPE_MAKE_SEND      20
#define MACH_MSG_TYPE_MAKE_SEND_ONCE 21

/* The right that the receiver has got. */
#define MACH_MSG_TYPE_PORT_RECEIVE   MACH_MSG_TYPE_MOVE_RECEIVE
#define MACH_MSG_TYPE_PORT_SEND      MACH_MSG_TYPE_MOVE_SEND
#define MACH_MSG_TYPE_PORT_SEND_ONCE MACH_MSG_TYPE_MOVE_SEND_ONCE

/* In place of a received message's local right: the word there is the port's payload. */
#define MACH_MSG_TYPE_PROTECTED_PAYLOAD 23
#define MACH_MSG_TYPE_LAST              23

#define MACH_MSG_TYPE_POLYMORPHIC ((mach_msg_type_name_t)-1)

#define MACH_MSG_TYPE_PORT_ANY(name) \
	((name) >= MACH_MSG_TYPE_MOVE_RECEIVE && (name) <= MACH_MSG_TYPE_MAKE_SEND_ONCE)
#define MACH_MSG_TYPE_PORT_ANY_SEND(name) \
	((name) >= MACH_MSG_TYPE_MOVE_SEND && (name) <= MACH_MSG_TYPE_MAKE_SEND_ONCE)
#define MACH_MSG_TYPE_PORT_ANY_RIGHT(name) \
	((name) >= MACH_MSG_TYPE_MOVE_RECEIVE && (name) <= MACH_MSG_TYPE_MOVE_SEND_ONCE)

/* ---------------- Options ---------------- */

typedef integer_t mach_msg_option_t;

#define MACH_MSG_OPTION_NONE 0x00000000

#define MACH_SEND_MSG       0x00000001
#define MACH_RCV_MSG        0x00000002
#define MACH_SEND_TIMEOUT   0x00000010
#define MACH_SEND_NOTIFY    0x00000020
#define MACH_SEND_INTERRUPT 0x00000040 /* Not the kernel's business: the library's mach_msg(), */
#define MACH_SEND_CANCEL    0x00000080
#define MACH_RCV_TIMEOUT    0x00000100
#define MACH_RCV_NOTIFY     0x00000200
#define MACH_RCV_INTERRUPT  0x00000400 /* with both, tells its caller of interruptions. */
#define MACH_RCV_LARGE      0x00000800
#define MACH_SEND_ALWAYS    0x00010000

/* ---------------- Answers ---------------- */

typedef kern_return_t mach_msg_return_t;

#define MACH_MSG_SUCCESS 0x00000000

/* Bits within an error: what there was no room for, in the task or in the kernel. */
#define MACH_MSG_MASK       0x00003c00
#define MACH_MSG_IPC_SPACE  0x00002000 /* The task's names, */
#define MACH_MSG_VM_SPACE   0x00001000 /* its address space, */
#define MACH_MSG_IPC_KERNEL 0x00000800 /* the kernel's memory for rights, */
#define MACH_MSG_VM_KERNEL  0x00000400 /* or for memory. */

#define MACH_SEND_IN_PROGRESS        0x10000001
#define MACH_SEND_INVALID_DATA       0x10000002 /* The message cannot be read. */
#define MACH_SEND_INVALID_DEST       0x10000003
#define MACH_SEND_TIMED_OUT          0x10000004
#define MACH_SEND_WILL_NOTIFY        0x10000005 /* Not yet: msg-accepted will tell. */
#define MACH_SEND_NOTIFY_IN_PROGRESS 0x10000006 /* Not at all: that is promised already. */
#define MACH_SEND_INTERRUPTED        0x10000007
#define MACH_SEND_MSG_TOO_SMALL      0x10000008 /* Descriptors speak of more than there is. */
#define MACH_SEND_INVALID_REPLY      0x10000009
#define MACH_SEND_INVALID_RIGHT      0x1000000a /* In the body. */
#define MACH_SEND_INVALID_NOTIFY     0x1000000b
#define MACH_SEND_INVALID_MEMORY     0x1000000c /* Out-of-line data cannot be read. */
#define MACH_SEND_NO_BUFFER          0x1000000d
#define MACH_SEND_NO_NOTIFY          0x1000000e
#define MACH_SEND_INVALID_TYPE       0x1000000f /* A descriptor without meaning. */
#define MACH_SEND_INVALID_HEADER     0x10000010

#define MACH_RCV_IN_PROGRESS    0x10004001
#define MACH_RCV_INVALID_NAME   0x10004002
#define MACH_RCV_TIMED_OUT      0x10004003
#define MACH_RCV_TOO_LARGE      0x10004004
#define MACH_RCV_INTERRUPTED    0x10004005
#define MACH_RCV_PORT_CHANGED   0x10004006 /* The port was put into a set meanwhile. */
#define MACH_RCV_INVALID_NOTIFY 0x10004007
#define MACH_RCV_INVALID_DATA   0x10004008 /* The buffer cannot be written. */
#define MACH_RCV_PORT_DIED      0x10004009 /* The right went away meanwhile. */
#define MACH_RCV_IN_SET         0x1000400a /* The port is a member of a set: ask that. */
#define MACH_RCV_HEADER_ERROR   0x1000400b /* The header's rights were lost: see the bits. */
#define MACH_RCV_BODY_ERROR     0x1000400c /* Part of the body was lost: see the bits. */

/* ---------------- The call ---------------- */

#ifndef KERNEL
/* The trap, and the function around it that starts again when it was interrupted. */
mach_msg_return_t mach_msg_trap(mach_msg_header_t *msg, mach_msg_option_t option,
				mach_msg_size_t send_size, mach_msg_size_t rcv_size,
				mach_port_name_t rcv_name, mach_msg_timeout_t timeout,
				mach_port_name_t notify);
mach_msg_return_t mach_msg(mach_msg_header_t *msg, mach_msg_option_t option,
			   mach_msg_size_t send_size, mach_msg_size_t rcv_size,
			   mach_port_name_t rcv_name, mach_msg_timeout_t timeout,
			   mach_port_name_t notify);
#endif

_Static_assert(sizeof(mach_msg_header_t) == 24, "a message's layout is an interface");
_Static_assert(sizeof(mach_msg_type_t) == 4, "a message's layout is an interface");
_Static_assert(sizeof(mach_msg_type_long_t) == 12, "a message's layout is an interface");

#endif
