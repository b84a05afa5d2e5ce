/* SPDX-License-Identifier: MIT */
/*
 * --diff: which profiles are to be compared, and of which programs they are.
 *
 * A profile is of the program before it.  With one program there are two profiles, the old one
 * first; with two programs each has its own, of which several are added up.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "diff.h"

static const char wanted[] = "--diff: is of PROGRAM OLD NEW, or of OLDPROGRAM OLD... NEWPROGRAM "
			     "NEW...";

/* What cannot be read is for who reads it all to tell. */
static bool side_is_program(const char *name)
{
	char magic[4] = "";
	int descriptor = open(name, O_RDONLY);
	bool is = descriptor >= 0 && read(descriptor, magic, sizeof(magic)) == sizeof(magic) &&
		  memcmp(magic, "\177ELF", sizeof(magic)) == 0;

	if (descriptor >= 0)
		close(descriptor);
	return is;
}

static struct names sides_part_of(const struct names *names, size_t from, size_t to)
{
	return (struct names){names->items + from, to - from};
}

static struct diff_sides sides_of(const struct options *options, const char *other,
				  struct names before, struct names after)
{
	struct diff_sides sides = {*options, *options};

	sides.after.program = other;
	sides.before.profiles = before;
	sides.after.profiles = after;
	return sides;
}

struct diff_sides diff_sides_of(const struct options *options)
{
	const struct names *names = &options->profiles;
	size_t at = 0;

	while (at < names->n && !side_is_program(names->items[at]))
		at++;
	if (at == names->n && names->n == 2)
		return sides_of(options, options->program, sides_part_of(names, 0, 1),
				sides_part_of(names, 1, 2));
	if (at == names->n && names->n == 1 && !side_is_program(options->program))
		fail("--diff: %s is no program; %s", options->program, wanted);
	if (at == 0 || at + 1 >= names->n)
		fail("%s", wanted);
	for (size_t i = at + 1; i < names->n; i++)
		if (side_is_program(names->items[i]))
			fail("--diff: %s is one program too many; %s", names->items[i], wanted);
	return sides_of(options, names->items[at], sides_part_of(names, 0, at),
			sides_part_of(names, at + 1, names->n));
}
