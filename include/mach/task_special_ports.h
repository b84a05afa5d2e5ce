/* SPDX-License-Identifier: MIT */
/* Ports that a task is given. */
#ifndef MACH_TASK_SPECIAL_PORTS_H
#define MACH_TASK_SPECIAL_PORTS_H

#define TASK_KERNEL_PORT    1 /* Stands for the task. */
#define TASK_EXCEPTION_PORT 3 /* Is told of its threads' exceptions. */
#define TASK_BOOTSTRAP_PORT 4 /* Whoever started it. */

#define TASK_PORT_REGISTER_MAX 4

#define task_get_kernel_port(task, port)    task_get_special_port(task, TASK_KERNEL_PORT, port)
#define task_set_kernel_port(task, port)    task_set_special_port(task, TASK_KERNEL_PORT, port)
#define task_get_exception_port(task, port) task_get_special_port(task, TASK_EXCEPTION_PORT, port)
#define task_set_exception_port(task, port) task_set_special_port(task, TASK_EXCEPTION_PORT, port)
#define task_get_bootstrap_port(task, port) task_get_special_port(task, TASK_BOOTSTRAP_PORT, port)
#define task_set_bootstrap_port(task, port) task_set_special_port(task, TASK_BOOTSTRAP_PORT, port)

#endif
