/* SPDX-License-Identifier: MIT */
/* Builtins about the process that the shell is: directory, umask, times. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <unistd.h>

#include "builtins.h"
#include "common/common.h"
#include "sh.h"
#include "variables.h"

#define PATH_ROOM 4096

/* Takes `component` off or puts it behind the path, as .. and . mean it. */
static void add_component(struct string *path, const char *component, size_t length)
{
	if (length == 0 || (length == 1 && component[0] == '.'))
		return;
	if (length == 2 && strncmp(component, "..", 2) == 0) {
		while (path->used > 0 && path->bytes[path->used - 1] != '/')
			path->used--;
		if (path->used > 0)
			path->used--;
		if (path->room > 0)
			path->bytes[path->used] = '\0';
		return;
	}
	string_add(path, '/');
	string_add_bytes(path, component, length);
}

/* The directory's name as the user wrote it, whatever links are in it. */
static char *logical_path(const char *target)
{
	struct string whole, path;
	const char *current = variable_get("PWD");

	string_start(&whole, &scratch);
	if (*target != '/' && current != NULL) {
		string_add_text(&whole, current);
		string_add(&whole, '/');
	}
	string_add_text(&whole, target);
	string_start(&path, &scratch);
	for (const char *at = whole.bytes; *at != '\0';) {
		size_t length = strcspn(at, "/");

		add_component(&path, at, length);
		at += length + (at[length] == '/');
	}
	if (path.used == 0)
		string_add(&path, '/');
	return path.bytes;
}

static bool change_directory(const char *target, bool is_physical)
{
	char room[PATH_ROOM];
	const char *path = is_physical ? target : logical_path(target);
	const char *old = variable_get("PWD");

	if (chdir(path) != 0 && (is_physical || chdir(target) != 0)) {
		complain("cd: %s: %s", target, strerror(errno));
		return false;
	}
	if (is_physical || *path != '/')
		path = getcwd(room, sizeof(room)) != NULL ? room : target;
	if (old != NULL)
		variable_set("OLDPWD", old);
	variable_set("PWD", path);
	return true;
}

int builtin_cd(int count, char **arguments)
{
	bool is_physical = false;
	bool prints = false;
	const char *target;
	int first = 1;

	for (; first < count &&
	       (strcmp(arguments[first], "-P") == 0 || strcmp(arguments[first], "-L") == 0);
	     first++)
		is_physical = arguments[first][1] == 'P';
	first += first < count && strcmp(arguments[first], "--") == 0;
	target = first < count ? arguments[first] : variable_get("HOME");
	if (target != NULL && strcmp(target, "-") == 0) {
		target = variable_get("OLDPWD");
		prints = true;
	}
	if (target == NULL) {
		complain("cd: %s is not set", prints ? "OLDPWD" : "HOME");
		return STATUS_SYNTAX;
	}
	target = region_copy(&scratch, target, strlen(target));
	if (!change_directory(target, is_physical))
		return STATUS_SYNTAX;
	if (prints)
		printf("%s\n", variable_get("PWD"));
	return 0;
}

/* What PWD says if that is true. */
int builtin_pwd(int count, char **arguments)
{
	bool is_physical = count > 1 && strcmp(arguments[1], "-P") == 0;
	const char *name = variable_get("PWD");
	struct stat here, there;
	char room[PATH_ROOM];

	if (is_physical || name == NULL || *name != '/' || stat(name, &there) != 0 ||
	    stat(".", &here) != 0 || here.st_dev != there.st_dev || here.st_ino != there.st_ino)
		name = getcwd(room, sizeof(room));
	if (name == NULL) {
		complain("pwd: %s", strerror(errno));
		return 1;
	}
	printf("%s\n", name);
	return 0;
}

static void print_symbolic(mode_t mask)
{
	static const char who[] = "ugo";

	for (int i = 0; i < 3; i++) {
		unsigned allowed = ~(mask >> (6 - 3 * i)) & 7;

		printf("%s%c=%s%s%s", i > 0 ? "," : "", who[i], allowed & 4 ? "r" : "",
		       allowed & 2 ? "w" : "", allowed & 1 ? "x" : "");
	}
	putchar('\n');
}

int builtin_umask(int count, char **arguments)
{
	mode_t mask = umask(0);
	mode_t allowed;

	umask(mask);
	if (count == 1) {
		printf("%04o\n", (unsigned)mask);
	} else if (strcmp(arguments[1], "-S") == 0) {
		print_symbolic(mask);
	} else if (strspn(arguments[1], "01234567") == strlen(arguments[1])) {
		umask((mode_t)strtoul(arguments[1], NULL, 8) & 0777);
	} else if (mode_parse(arguments[1], ~mask & 0777, false, &allowed)) {
		umask(~allowed & 0777);
	} else {
		complain("umask: %s: bad mode", arguments[1]);
		return STATUS_SYNTAX;
	}
	return 0;
}

static void print_time(const struct timeval *time, const char *behind)
{
	printf("%ldm%ld.%03lds%s", (long)time->tv_sec / 60, (long)time->tv_sec % 60,
	       (long)time->tv_usec / 1000, behind);
}

/* The shell's own times, then those of its children. */
int builtin_times(int count, char **arguments)
{
	static const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
	struct rusage used;

	(void)count;
	(void)arguments;
	for (int i = 0; i < 2; i++) {
		if (getrusage(whose[i], &used) != 0) {
			complain("times: %s", strerror(errno));
			return 1;
		}
		print_time(&used.ru_utime, " ");
		print_time(&used.ru_stime, "\n");
	}
	return 0;
}
