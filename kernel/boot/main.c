/* SPDX-License-Identifier: MIT */
/* The machine-independent steps of starting: see main.h. */
#include "boot/main.h"

#include "base/owner.h"
#include "device/device.h"
#include "host/host.h"
#include "i386/mmu/pmap.h"
#include "ipc/fast_path.h"
#include "ipc/kernel_object.h"
#include "ipc/message.h"
#include "ipc/port.h"
#include "ipc/port_set.h"
#include "ipc/request.h"
#include "ipc/space.h"
#include "prof/stream.h"
#include "task/gsync.h"
#include "task/task.h"
#include "task/traps.h"
#include "thread/sched.h"
#include "thread/thread.h"
#include "vm/map/copy.h"
#include "vm/map/map.h"
#include "vm/map/proxy.h"
#include "vm/object/object.h"
#include "vm/page/kernel_memory.h"
#include "vm/page/page_tree.h"
#include "vm/pager/pager.h"

void objects_init(void)
{
	owner_module_init();
	pmap_zone_init();
	machine_thread_module_init();
	page_tree_module_init();
	object_module_init();
	map_module_init();
	pager_module_init();
	proxy_module_init();
	copy_module_init();
	kernel_memory_init();
	gsync_module_init();
	space_module_init();
	port_module_init();
	port_set_module_init();
	request_module_init();
	message_module_init();
	kernel_object_module_init();
	fast_path_init();
	host_module_init();
	device_module_init();
	stream_module_init();
	task_module_init();
	thread_module_init();
	sched_init();
	traps_check();
}
