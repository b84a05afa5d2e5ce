/* SPDX-License-Identifier: MIT */
/* Calls that profilers need beside those of Unix: whom they look at, and what they may. */
#include <mach.h>
#include <string.h>
#include <sys/ux.h>

#include "../internal.h"
#include "call.h"

mach_port_t ux_server_port(void)
{
	return ux_port();
}

int ux_executable(pid_t pid, char *path, size_t room)
{
	path_t found = "";
	size_t size;

	if (is_bad(path, room))
		return finish(EFAULT);
	if (finish(CALL(bsd_executable, pid, found)) != 0)
		return -1;
	size = strnlen(found, sizeof found - 1) + 1;
	if (size > room)
		return finish(ERANGE);
	memcpy(path, found, size);
	return 0;
}

int ux_task_program(uint32_t task_id, struct ux_task_program *program)
{
	if (is_bad(program, sizeof *program))
		return finish(EFAULT);
	return finish(
		CALL(bsd_task_program, task_id, &program->pid, program->command, program->path));
}

int ux_task_life(uint32_t task_id, struct ux_task_life *life)
{
	if (is_bad(life, sizeof *life))
		return finish(EFAULT);
	return finish(CALL(bsd_task_life, task_id, life));
}

int ux_stop_at_exec(void)
{
	return finish(CALL(bsd_stop_at_exec));
}

int ux_gprof_token(pid_t pid, char token[UX_TOKEN_ROOM])
{
	mach_msg_type_number_t length = UX_TOKEN_ROOM - 1;

	if (is_bad(token, UX_TOKEN_ROOM))
		return finish(EFAULT);
	if (finish(CALL(bsd_gprof_token, pid, token, &length)) != 0)
		return -1;
	token[length] = '\0';
	return 0;
}

mach_port_t ux_name_server(void)
{
	mach_port_t port = MACH_PORT_NULL;

	return finish(CALL(bsd_name_server, &port)) == 0 ? port : MACH_PORT_NULL;
}

int ux_set_name_server(mach_port_t port)
{
	/* The call takes a right of its own. */
	if (mach_port_mod_refs(mach_task_self_cached(), port, MACH_PORT_RIGHT_SEND, 1) !=
	    KERN_SUCCESS)
		return finish(EINVAL);
	return finish(CALL(bsd_set_name_server, port));
}

int ux_port_owner(mach_port_t port, pid_t *pid, uid_t *uid)
{
	if (is_bad(pid, sizeof *pid) || is_bad(uid, sizeof *uid))
		return finish(EFAULT);
	/* As above. */
	if (mach_port_mod_refs(mach_task_self_cached(), port, MACH_PORT_RIGHT_SEND, 1) !=
	    KERN_SUCCESS)
		return finish(EINVAL);
	return finish(CALL(bsd_port_owner, port, pid, uid));
}
