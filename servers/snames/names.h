/* SPDX-License-Identifier: MIT */
/*
 * The name server's table: which port a name means, who may take it out, and when it goes by
 * itself.  One thread uses it.
 */
#ifndef SNAMES_NAMES_H
#define SNAMES_NAMES_H

#include <mach.h>
#include <stdbool.h>

#include "users.h"

/*
 * How many names there may be; of one client; and of one user, root excepted, for whom the last
 * ones are kept.  A name counts for as long as it is there, also after the end of its client.
 */
#define NAMES_MAX           8192
#define NAMES_KEPT_FOR_ROOT 1024
#define NAMES_OF_CLIENT_MAX 64
#define NAMES_OF_USER_MAX   2048

/* A name, for `port` and with `signature`: of both the table has a right of its own then. */
struct name;

/*
 * Puts a name in, which is not there yet.  0 and the rights are the table's; or
 * KERN_RESOURCE_SHORTAGE, or NETNAME_INVALID_PORT if the port is dead, and they are not.
 */
kern_return_t names_add(const char *text, mach_port_t signature, mach_port_t port,
			const struct client *client);

/* The same for a name that is there: what it had is given up. */
kern_return_t names_change(struct name *name, mach_port_t signature, mach_port_t port);

struct name *names_find(const char *text); /* Null if there is none. */
mach_port_t name_port(const struct name *name);
mach_port_t name_signature(const struct name *name);
struct client name_client(const struct name *name); /* Who checked it in. */

/* Takes a name out, and gives up what it has. */
void names_remove(struct name *name);

/* All that mean a port, which has died. */
void names_remove_port(mach_port_t port);

/* Before anything else: where the kernel is to tell of ports that have died. */
void names_start(mach_port_t notify_port);

#endif
