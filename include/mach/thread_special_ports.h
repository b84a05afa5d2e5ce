/* SPDX-License-Identifier: MIT */
/* Ports that a thread is given. */
#ifndef MACH_THREAD_SPECIAL_PORTS_H
#define MACH_THREAD_SPECIAL_PORTS_H

#define THREAD_KERNEL_PORT    1 /* Stands for the thread. */
#define THREAD_EXCEPTION_PORT 3 /* Is told of its exceptions, before the task's. */

#define thread_get_kernel_port(thread, port) \
	thread_get_special_port(thread, THREAD_KERNEL_PORT, port)
#define thread_set_kernel_port(thread, port) \
	thread_set_special_port(thread, THREAD_KERNEL_PORT, port)
#define thread_get_exception_port(thread, port) \
	thread_get_special_port(thread, THREAD_EXCEPTION_PORT, port)
#define thread_set_exception_port(thread, port) \
	thread_set_special_port(thread, THREAD_EXCEPTION_PORT, port)

#endif
