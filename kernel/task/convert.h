/* SPDX-License-Identifier: MIT */
/*
 * From ports to the kernel's objects and back, for the stubs of the kernel's interfaces.
 *
 * A port that does not stand for a living object of the kind gives NULL, which the routine answers
 * with an error; so may any port, PORT_NULL and PORT_DEAD_NAME too.  Tasks, threads, maps and
 * spaces come with a reference, which the stub gives back when the routine has returned
 * (task_release() and its like, which pass NULL over); hosts, processors and processor sets are
 * there for good.  On the way out the stub makes a send right of an object, taking the reference
 * that the routine left.
 *
 * The types are those that the stubs name.  Guarded by the kernel lock; nothing here blocks.
 */
#ifndef TASK_CONVERT_H
#define TASK_CONVERT_H

#include "ipc/ipc_port.h"
#include "ipc/space.h"
#include "task/task.h"
#include "thread/thread.h"
#include "vm/map/map.h"

struct copy;
struct host;
struct processor;
struct processor_set;

typedef struct task *task_t;
typedef struct thread *thread_t;
typedef struct vm_map *vm_map_t;
typedef struct copy *vm_map_copy_t;
typedef struct host *host_t;
typedef struct processor *processor_t;
typedef struct processor_set *processor_set_t;

task_t convert_port_to_task(ipc_port_t port);
thread_t convert_port_to_thread(ipc_port_t port);
vm_map_t convert_port_to_map(ipc_port_t port);      /* A task's address space, */
ipc_space_t convert_port_to_space(ipc_port_t port); /* or its names. */
host_t convert_port_to_host(ipc_port_t port);       /* The privileged port will do as well. */
host_t convert_port_to_host_priv(ipc_port_t port);
processor_t convert_port_to_processor(ipc_port_t port);
processor_set_t convert_port_to_pset(ipc_port_t port);
processor_set_t convert_port_to_pset_name(ipc_port_t port); /* The set's own port will do. */

/* PORT_NULL for an object that has ended meanwhile. */
ipc_port_t convert_task_to_port(task_t task);
ipc_port_t convert_thread_to_port(thread_t thread);
ipc_port_t convert_host_to_port(host_t host);
ipc_port_t convert_processor_to_port(processor_t processor);
ipc_port_t convert_pset_to_port(processor_set_t set);
ipc_port_t convert_pset_name_to_port(processor_set_t set);

#endif
