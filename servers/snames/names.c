/* SPDX-License-Identifier: MIT */
/*
 * The name server's table: see names.h.
 *
 * Each name is in two lists: of those whose texts hash alike, and of those that mean ports of like
 * names.  Both begin in tables large enough that a list stays short when there are as many names
 * as there may be.  The hash of texts begins with a secret, lest somebody choose names that all
 * come into one list.  Clients and users have a count of their names each.
 *
 * The kernel is asked to tell of a port's death when the first name for it comes in; whatever else
 * it tells of such a request is of no interest.
 */
#include "names.h"

#include <assay/list.h>
#include <servers/netname_types.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS       2048u /* Powers of two. */
#define OWNER_BUCKETS 256u

struct owner {
	struct list link; /* In its bucket, as long as it has names. */
	uint32_t number;
	unsigned n_names;
};

struct name {
	struct list by_text;
	struct list by_port;
	struct owner *client;
	struct owner *user;
	mach_port_t port;
	mach_port_t signature;
	uint32_t hash;
	char text[]; /* With its zero. */
};

static struct list texts[BUCKETS];
static struct list ports[BUCKETS];
static struct list clients[OWNER_BUCKETS];
static struct list users[OWNER_BUCKETS];
static unsigned n_names;
static uint32_t secret;
static mach_port_t notify_port;

void names_start(mach_port_t port)
{
	notify_port = port;
	secret = (uint32_t)__builtin_ia32_rdtsc();
}

/* ---------------- Lists ---------------- */

static struct list *names_bucket(struct list *table, uint32_t size, uint32_t key)
{
	struct list *list = &table[key % size];

	if (list->next == NULL)
		list_init(list);
	return list;
}

/* FNV-1a, and its high bits where the low ones count. */
static uint32_t names_hash_of(const char *text)
{
	uint32_t hash = 2166136261u ^ secret;

	while (*text != '\0')
		hash = (hash ^ (unsigned char)*text++) * 16777619u;
	return hash ^ hash >> 16;
}

/* Names of ports lie close together, with their generations in the low bits. */
static struct list *names_bucket_of_port(mach_port_t port)
{
	return names_bucket(ports, BUCKETS, port * 2654435769u >> 16);
}

struct name *names_find(const char *text)
{
	uint32_t hash = names_hash_of(text);
	struct list *link;

	list_for_each (link, names_bucket(texts, BUCKETS, hash)) {
		struct name *name = list_object(link, struct name, by_text);

		if (name->hash == hash && strcmp(name->text, text) == 0)
			return name;
	}
	return NULL;
}

static struct name *names_find_port(mach_port_t port)
{
	struct list *link;

	list_for_each (link, names_bucket_of_port(port)) {
		struct name *name = list_object(link, struct name, by_port);

		if (name->port == port)
			return name;
	}
	return NULL;
}

mach_port_t name_port(const struct name *name)
{
	return name->port;
}

mach_port_t name_signature(const struct name *name)
{
	return name->signature;
}

struct client name_client(const struct name *name)
{
	return (struct client){.number = name->client->number, .user = name->user->number};
}

/* ---------------- Clients and users ---------------- */

/* The record of a client or a user, a new one if need be; null: there is no memory. */
static struct owner *names_owner_of(struct list *table, uint32_t number)
{
	struct list *list = names_bucket(table, OWNER_BUCKETS, number);
	struct owner *owner;
	struct list *link;

	list_for_each (link, list) {
		owner = list_object(link, struct owner, link);
		if (owner->number == number)
			return owner;
	}
	owner = malloc(sizeof *owner);
	if (owner == NULL)
		return NULL;
	*owner = (struct owner){.number = number};
	list_add_last(list, &owner->link);
	return owner;
}

static void names_forget_without_names(struct owner *owner)
{
	if (owner == NULL || owner->n_names > 0)
		return;
	list_remove(&owner->link);
	free(owner);
}

static bool names_may_have_more(const struct owner *client, const struct owner *user)
{
	if (client == NULL || user == NULL || client->n_names >= NAMES_OF_CLIENT_MAX)
		return false;
	if (user->number == USERS_ROOT)
		return n_names < NAMES_MAX;
	return n_names < NAMES_MAX - NAMES_KEPT_FOR_ROOT && user->n_names < NAMES_OF_USER_MAX;
}

/* ---------------- Coming and going ---------------- */

static void names_give_up(mach_port_t right)
{
	if (MACH_PORT_VALID(right))
		syscall_mach_port_deallocate(mach_task_self_cached(), right);
}

/*
 * Has the kernel tell of the port's death; false if it is dead.  An earlier request, from when it
 * had a name before, is replaced.
 */
static bool names_watch(mach_port_t port)
{
	mach_port_t previous = MACH_PORT_NULL;
	bool is_watched =
		names_find_port(port) != NULL ||
		mach_port_request_notification(mach_task_self_cached(), port, MACH_NOTIFY_DEAD_NAME,
					       TRUE, notify_port, MACH_MSG_TYPE_MAKE_SEND_ONCE,
					       &previous) == KERN_SUCCESS;

	names_give_up(previous);
	return is_watched;
}

static void names_mean(struct name *name, mach_port_t signature, mach_port_t port)
{
	name->port = port;
	name->signature = signature;
	list_add_last(names_bucket_of_port(port), &name->by_port);
}

static struct name *name_new(const char *text, struct owner *client, struct owner *user)
{
	size_t size = strlen(text) + 1;
	struct name *name = malloc(sizeof *name + size);

	if (name == NULL)
		return NULL;
	*name = (struct name){.client = client, .user = user, .hash = names_hash_of(text)};
	memcpy(name->text, text, size);
	return name;
}

kern_return_t names_add(const char *text, mach_port_t signature, mach_port_t port,
			const struct client *asks)
{
	struct owner *client = names_owner_of(clients, asks->number);
	struct owner *user = names_owner_of(users, asks->user);
	struct name *name = names_may_have_more(client, user) ? name_new(text, client, user) : NULL;

	if (name == NULL || !names_watch(port)) {
		names_forget_without_names(client);
		names_forget_without_names(user);
		free(name);
		return name == NULL ? KERN_RESOURCE_SHORTAGE : NETNAME_INVALID_PORT;
	}
	names_mean(name, signature, port);
	list_add_last(names_bucket(texts, BUCKETS, name->hash), &name->by_text);
	client->n_names++;
	user->n_names++;
	n_names++;
	return KERN_SUCCESS;
}

kern_return_t names_change(struct name *name, mach_port_t signature, mach_port_t port)
{
	if (!names_watch(port))
		return NETNAME_INVALID_PORT;
	list_remove(&name->by_port);
	names_give_up(name->port);
	names_give_up(name->signature);
	names_mean(name, signature, port);
	return KERN_SUCCESS;
}

void names_remove(struct name *name)
{
	list_remove(&name->by_text);
	list_remove(&name->by_port);
	n_names--;
	name->client->n_names--;
	name->user->n_names--;
	names_forget_without_names(name->client);
	names_forget_without_names(name->user);
	names_give_up(name->port);
	names_give_up(name->signature);
	free(name);
}

void names_remove_port(mach_port_t port)
{
	struct name *name;

	while ((name = names_find_port(port)) != NULL)
		names_remove(name);
}
