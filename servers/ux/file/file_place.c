/* SPDX-License-Identifier: MIT */
/* Places in directories: see file_place.h.  Guarded by the server's lock. */
#include <sys/unistd.h>

#include "file/file_place.h"

bool path_names_directory(const char *path)
{
	size_t length = strlen(path);

	return length > 0 && path[length - 1] == '/';
}

int place_find(struct process *process, const char *path, struct place *place)
{
	int error;

	assert(ux_lock_held());
	place->process = process;
	place->names_directory = path_names_directory(path);
	error = path_parent(process, path, &place->directory, place->name);
	if (error != 0)
		return error;
	error = vnode_access(place->directory, &process->credentials, X_OK);
	if (error != 0)
		place_release(place);
	return error;
}

void place_release(struct place *place)
{
	vnode_release(place->directory);
	place->directory = NULL;
}

bool place_is_special(const struct place *place)
{
	return place->name[0] == '\0' || strcmp(place->name, ".") == 0 ||
	       strcmp(place->name, "..") == 0;
}

/* What is there is told also to those who may not write. */
int place_check_free(struct place *place)
{
	struct vnode *found;
	int error;

	if (place_is_special(place))
		return EEXIST;
	error = directory_lookup(place->directory, place->name, &found);
	if (error == 0) {
		vnode_release(found);
		return EEXIST;
	}
	if (error != ENOENT)
		return error;
	return vnode_access(place->directory, &place->process->credentials, W_OK);
}

int place_removable(struct place *place, struct vnode **vnode)
{
	int error = directory_lookup(place->directory, place->name, vnode);

	if (error != 0)
		return error;
	error = vnode_may_remove(place->directory, *vnode, &place->process->credentials);
	if (error != 0)
		vnode_release(*vnode);
	return error;
}
