/* SPDX-License-Identifier: MIT */
/*
 * Paths.
 *
 * A walk goes from directory to directory, part by part.  A symbolic link on the way is replaced by
 * its text, in front of what is left; so a path never needs more than one buffer, and links that
 * lead in a circle end when eight have been followed.
 */
#include <sys/unistd.h>

#include "fs/ext2.h"
#include "trace/trace.h"

#define LINKS_MAX 8

struct walk {
	const struct credentials *who;
	struct vnode *root;
	struct vnode *place; /* Where we are, with a reference: a directory on the way. */
	unsigned links;      /* Followed so far. */
	char *rest;          /* What is left of the path. */
	char name[NAME_MAX + 1];
	bool is_last; /* Nothing but slashes follows the name. */
	bool wants_directory;
	struct trail *trail; /* Null: nobody asks for it. */
	char path[PATH_MAX];
};

/* ---------------- The way that was gone ---------------- */

struct trail {
	char *path; /* PATH_MAX bytes; empty at the root. */
	size_t length;
	bool is_lost; /* It has no room. */
};

static void path_trail_start(struct trail *trail)
{
	if (trail != NULL)
		trail->length = 0;
}

static void path_trail_go_up(struct trail *trail)
{
	while (trail->length > 0 && trail->path[--trail->length] != '/')
		;
}

static void path_trail_step(struct trail *trail, const char *name)
{
	size_t length = strlen(name);

	if (trail == NULL || strcmp(name, ".") == 0)
		return;
	if (strcmp(name, "..") == 0) {
		path_trail_go_up(trail);
	} else if (trail->length + 1 + length >= PATH_MAX) {
		trail->is_lost = true;
	} else {
		trail->path[trail->length++] = '/';
		memcpy(trail->path + trail->length, name, length);
		trail->length += length;
	}
}

/* From where relative paths begin.  Whoever has no way back from there has none from further on. */
static void path_trail_start_in(struct trail *trail, struct vnode *directory)
{
	trail->is_lost = path_of_directory(directory, trail->path, PATH_MAX) != 0;
	trail->length = trail->is_lost || trail->path[1] == '\0' ? 0 : strlen(trail->path);
}

static void path_trail_end(struct trail *trail)
{
	if (trail->is_lost)
		trail->length = 0;
	else if (trail->length == 0)
		trail->path[trail->length++] = '/';
	trail->path[trail->length] = '\0';
}

/* ---------------- Parts ---------------- */

/* Moves the next part into walk->name; empty if there is none. */
static int path_next_part(struct walk *walk)
{
	size_t length = 0;
	char *end = walk->rest;

	while (*walk->rest == '/')
		walk->rest++;
	for (end = walk->rest; *end != '\0' && *end != '/'; end++)
		length++;
	if (length > NAME_MAX)
		return ENAMETOOLONG;
	memcpy(walk->name, walk->rest, length);
	walk->name[length] = '\0';
	walk->wants_directory = *end == '/';
	while (*end == '/')
		end++;
	walk->is_last = *end == '\0';
	walk->rest = end;
	return 0;
}

/* Begins again with a text in front of what is left, from the root if it begins there. */
static void path_go_to(struct walk *walk, struct vnode *place)
{
	vnode_reference(place);
	vnode_release(walk->place);
	walk->place = place;
}

static int path_put_in_front(struct walk *walk, struct vnode *link)
{
	size_t left = strlen(walk->rest);
	size_t length;
	int error;

	if ((size_t)link->size + 1 + left + 1 > sizeof walk->path)
		return ENAMETOOLONG;
	memmove(walk->path + link->size + 1, walk->rest, left + 1);
	walk->rest = walk->path;
	error = vnode_read_link(link, walk->path, (size_t)link->size, &length);
	if (error == 0 && length != (size_t)link->size)
		error = EIO;
	/* A slash only where one was, so that the last part stays without. */
	walk->path[link->size] = '/';
	if (left == 0 && !walk->wants_directory)
		walk->path[link->size] = '\0';
	if (error == 0 && walk->path[0] == '/') {
		path_go_to(walk, walk->root);
		path_trail_start(walk->trail);
	}
	return error;
}

static int path_follow(struct walk *walk, struct vnode *link)
{
	if (++walk->links > LINKS_MAX)
		return ELOOP;
	return path_put_in_front(walk, link);
}

/* ---------------- Steps ---------------- */

static int path_find(struct walk *walk, struct vnode **found)
{
	int error;

	if (!S_ISDIR(walk->place->mode))
		return ENOTDIR;
	error = vnode_access(walk->place, walk->who, X_OK);
	if (error != 0)
		return error;
	if (walk->place == walk->root && strcmp(walk->name, "..") == 0) {
		*found = vnode_reference(walk->root);
		return 0;
	}
	return directory_lookup(walk->place, walk->name, found);
}

/* Goes one part of the path further, by a link's text if that is to be followed. */
static int path_step(struct walk *walk, bool follows_last)
{
	struct vnode *found;
	int error = path_find(walk, &found);

	if (error != 0)
		return error;
	if (S_ISLNK(found->mode) && (!walk->is_last || walk->wants_directory || follows_last)) {
		error = path_follow(walk, found);
	} else if (walk->wants_directory && !S_ISDIR(found->mode)) {
		error = ENOTDIR;
	} else {
		path_go_to(walk, found);
		path_trail_step(walk->trail, walk->name);
	}
	vnode_release(found);
	return error;
}

static int path_begin(struct walk *walk, struct process *process, const char *path)
{
	size_t length = strlen(path);

	assert(ux_lock_held());
	if (trace_is_on(process))
		trace_path(process, path);
	if (length == 0)
		return ENOENT;
	if (length >= PATH_MAX)
		return ENAMETOOLONG;
	walk->who = &process->credentials;
	walk->links = 0;
	walk->trail = NULL;
	walk->wants_directory = false;
	walk->name[0] = '\0';
	memcpy(walk->path, path, length + 1);
	walk->rest = walk->path;
	walk->root = fs_root();
	walk->place = vnode_reference(path[0] == '/' ? walk->root : process->directory);
	return 0;
}

/* The place, or on an error nothing, is the caller's. */
static int path_end(struct walk *walk, int error, struct vnode **found)
{
	vnode_release(walk->root);
	if (error == 0)
		*found = walk->place;
	else
		vnode_release(walk->place);
	return error;
}

static int path_go_all_the_way(struct walk *walk, bool follow_last)
{
	int error = 0;

	while (error == 0 && *walk->rest != '\0') {
		error = path_next_part(walk);
		if (error == 0 && walk->name[0] != '\0')
			error = path_step(walk, follow_last);
	}
	return error;
}

int path_lookup(struct process *process, const char *path, bool follow_last, struct vnode **found)
{
	struct walk walk;
	int error = path_begin(&walk, process, path);

	if (error != 0)
		return error;
	error = path_go_all_the_way(&walk, follow_last);
	return path_end(&walk, error, found);
}

int path_lookup_whole(struct process *process, const char *path, struct vnode **found,
		      char whole[PATH_MAX])
{
	struct trail trail = {.path = whole};
	struct walk walk;
	int error = path_begin(&walk, process, path);

	if (error != 0)
		return error;
	walk.trail = &trail;
	if (path[0] != '/')
		path_trail_start_in(&trail, walk.place);
	error = path_go_all_the_way(&walk, true);
	path_trail_end(&trail);
	return path_end(&walk, error, found);
}

/* As far as the directory of the last part; that part is left in walk->name. */
static int path_go_to_last(struct walk *walk)
{
	int error = path_next_part(walk);

	while (error == 0 && !walk->is_last) {
		error = path_step(walk, true);
		if (error == 0)
			error = path_next_part(walk);
	}
	if (error == 0 && !S_ISDIR(walk->place->mode))
		error = ENOTDIR;
	return error != 0 ? error : vnode_access(walk->place, walk->who, X_OK);
}

int path_parent(struct process *process, const char *path, struct vnode **directory,
		char name[NAME_MAX + 1])
{
	struct walk walk;
	const char *last;
	int error = path_begin(&walk, process, path);

	if (error != 0)
		return error;
	error = path_go_to_last(&walk);
	last = walk.name[0] != '\0' ? walk.name : ".";
	memcpy(name, last, strlen(last) + 1);
	return path_end(&walk, error, directory);
}

/* ---------------- The way back ---------------- */

/* Puts the directory's name before the path that ends at *begin, and goes to its parent. */
static int path_prepend(struct vnode **directory, char *path, size_t *begin)
{
	char name[NAME_MAX + 1];
	struct vnode *parent;
	size_t length;
	int error = directory_lookup(*directory, "..", &parent);

	if (error != 0)
		return error;
	vnode_begin(parent);
	error = entry_name(node_of(parent), (*directory)->number, name);
	vnode_end(parent);
	vnode_release(*directory);
	*directory = parent;
	length = strlen(name);
	if (error == 0 && length + 1 > *begin)
		error = ERANGE;
	if (error != 0)
		return error;
	*begin -= length + 1;
	path[*begin] = '/';
	memcpy(path + *begin + 1, name, length);
	return 0;
}

int path_of_directory(struct vnode *directory, char *path, size_t room)
{
	struct vnode *root = fs_root();
	struct vnode *place = vnode_reference(directory);
	size_t begin = room - 1;
	int error = room < sizeof "/" ? ERANGE : 0;

	while (error == 0 && place != root)
		error = path_prepend(&place, path, &begin);
	if (error == 0 && begin == room - 1)
		path[--begin] = '/';
	if (error == 0) {
		memmove(path, path + begin, room - 1 - begin);
		path[room - 1 - begin] = '\0';
	}
	vnode_release(place);
	vnode_release(root);
	return error;
}
