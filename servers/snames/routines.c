/* SPDX-License-Identifier: MIT */
/*
 * The calls of <servers/netname.h>.  A routine that succeeds has taken the rights that came with
 * the request, or given them up; else main.c gives them up.
 */
#include <servers/netname_server.h>
#include <stdio.h>
#include <string.h>

#include "names.h"

#define VERSION "snames 1 (Assay)"

/* A text that a message has brought need not end. */
static bool routines_is_text(const char *text)
{
	return strnlen(text, NETNAME_NAME_MAX) < NETNAME_NAME_MAX;
}

static bool routines_is_name(const char *text)
{
	return routines_is_text(text) && text[0] != '\0';
}

static bool routines_is_this_host(const char *text)
{
	return text[0] == '\0' || strcmp(text, "*") == 0;
}

static bool routines_is_dead(mach_port_t port)
{
	mach_port_type_t type = 0;

	return mach_port_type(mach_task_self_cached(), port, &type) != KERN_SUCCESS ||
	       (type & MACH_PORT_TYPE_DEAD_NAME) != 0;
}

/* The port may have died, and the kernel's word of that still be on its way. */
static struct name *routines_find_living(const char *text)
{
	struct name *name = names_find(text);

	if (name == NULL || !routines_is_dead(name_port(name)))
		return name;
	names_remove_port(name_port(name));
	return NULL;
}

/* Who has the name's signature, or has been told by another one to be the same process. */
static bool routines_may_change(const struct name *name, mach_port_t signature,
				const struct client *client)
{
	const struct client owner = name_client(name);

	return name_signature(name) == signature || users_are_same(&owner, client);
}

static bool routines_may_stay(const struct name *name, const char *text)
{
	return users_may_have(name_client(name).user, text);
}

/*
 * Whoever has checked a name in may have it mean another port.  Who had the name of a process from
 * before it was another user's has it no more.
 */
kern_return_t do_netname_check_in(mach_port_t server, const_netname_name_t text,
				  mach_port_t signature, mach_port_t port)
{
	const struct client client = users_who(signature);
	struct name *name;

	(void)server;
	if (!routines_is_name(text))
		return KERN_INVALID_ARGUMENT;
	if (!MACH_PORT_VALID(port))
		return NETNAME_INVALID_PORT;
	if (!users_may_have(client.user, text))
		return NETNAME_NOT_YOURS;
	name = routines_find_living(text);
	if (name != NULL && !routines_may_stay(name, text)) {
		names_remove(name);
		name = NULL;
	}
	if (name == NULL)
		return names_add(text, signature, port, &client);
	if (!routines_may_change(name, signature, &client))
		return NETNAME_NOT_YOURS;
	return names_change(name, signature, port);
}

/* A right to a port that has died cannot be doubled. */
kern_return_t do_netname_look_up(mach_port_t server, const_netname_name_t host,
				 const_netname_name_t text, mach_port_t *port)
{
	struct name *name;

	(void)server;
	if (!routines_is_text(host) || !routines_is_name(text))
		return KERN_INVALID_ARGUMENT;
	if (!routines_is_this_host(host))
		return NETNAME_NO_SUCH_HOST;
	name = names_find(text);
	if (name == NULL || !routines_may_stay(name, text) ||
	    mach_port_mod_refs(mach_task_self_cached(), name_port(name), MACH_PORT_RIGHT_SEND, 1) !=
		    KERN_SUCCESS)
		return NETNAME_NOT_CHECKED_IN;
	*port = name_port(name);
	return NETNAME_SUCCESS;
}

kern_return_t do_netname_check_out(mach_port_t server, const_netname_name_t text,
				   mach_port_t signature)
{
	const struct client client = users_who(signature);
	struct name *name;

	(void)server;
	if (!routines_is_name(text))
		return KERN_INVALID_ARGUMENT;
	name = routines_find_living(text);
	if (name == NULL)
		return NETNAME_NOT_CHECKED_IN;
	if (!routines_may_change(name, signature, &client))
		return NETNAME_NOT_YOURS;
	names_remove(name);
	if (MACH_PORT_VALID(signature))
		syscall_mach_port_deallocate(mach_task_self_cached(), signature);
	return NETNAME_SUCCESS;
}

kern_return_t do_netname_version(mach_port_t server, netname_name_t version)
{
	(void)server;
	snprintf(version, NETNAME_NAME_MAX, "%s", VERSION);
	return NETNAME_SUCCESS;
}
