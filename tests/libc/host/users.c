/* SPDX-License-Identifier: MIT */
/*
 * Lines of /etc/passwd and /etc/group, good ones and others; the host's library reads the same.
 *
 * links: lib/libc/users/passwd.c lib/libc/users/group.c lib/libc/users/lines.c
 * flags: -Dgetpwnam=our_getpwnam -Dgetpwuid=our_getpwuid -Dgetgrnam=our_getgrnam -D_GNU_SOURCE
 * flags: -Dgetgrgid=our_getgrgid -Dinitgroups=our_initgroups -Dsetgroups=our_setgroups
 * flags: -Dfopen=our_fopen
 */
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

#undef fopen

FILE *our_fopen(const char *path, const char *mode);

static const char *passwd_text, *group_text;
static gid_t groups[32];
static size_t n_groups;

FILE *our_fopen(const char *path, const char *mode)
{
	const char *text = strcmp(path, "/etc/passwd") == 0 ? passwd_text : group_text;

	(void)mode;
	return text == NULL ? NULL : fmemopen((void *)(uintptr_t)text, strlen(text), "r");
}

int our_setgroups(size_t count, const gid_t *list)
{
	n_groups = count;
	memcpy(groups, list, count * sizeof *list);
	return 0;
}

static const char users[] = "root:x:0:0:Root:/root:/bin/sh\n"
			    "short:x:3\n"
			    "\n"
			    "student:*:100:101::/home/student:/bin/sh\n"
			    "last:x:7:8:a:b:c";

static void same_user(const struct passwd *ours, const struct passwd *theirs)
{
	REQUIRE(ours != NULL);
	EXPECT_STREQ(ours->pw_name, theirs->pw_name);
	EXPECT_STREQ(ours->pw_passwd, theirs->pw_passwd);
	EXPECT_EQ(ours->pw_uid, theirs->pw_uid);
	EXPECT_EQ(ours->pw_gid, theirs->pw_gid);
	EXPECT_STREQ(ours->pw_gecos, theirs->pw_gecos);
	EXPECT_STREQ(ours->pw_dir, theirs->pw_dir);
	EXPECT_STREQ(ours->pw_shell, theirs->pw_shell);
}

TEST(users_by_name_and_by_number)
{
	FILE *file = fmemopen((void *)(uintptr_t)users, strlen(users), "r");
	struct passwd *theirs;
	unsigned count = 0;

	passwd_text = users;
	while ((theirs = fgetpwent(file)) != NULL) {
		same_user(our_getpwnam(theirs->pw_name), theirs);
		same_user(our_getpwuid(theirs->pw_uid), theirs);
		count++;
	}
	fclose(file);
	EXPECT_EQ(count, 3);
}

TEST(users_that_are_not_there)
{
	passwd_text = users;
	EXPECT(our_getpwnam("nobody") == NULL);
	EXPECT(our_getpwnam("short") == NULL);
	EXPECT(our_getpwuid(3) == NULL);
	passwd_text = NULL;
	EXPECT(our_getpwnam("root") == NULL);
}

TEST(a_line_that_is_too_long_is_passed_over)
{
	static char text[4000];
	struct passwd *user;

	memset(text, 'x', 3000);
	strcpy(text + 3000, ":x:1:1:::\nafter:x:9:9:::\n");
	passwd_text = text;
	EXPECT(our_getpwuid(1) == NULL);
	user = our_getpwnam("after");
	REQUIRE(user != NULL);
	EXPECT_EQ(user->pw_uid, 9);
}

static const char some_groups[] = "wheel:x:0:root\n"
				  "kmem:x:2:ta,root\n"
				  "empty:x:3:\n"
				  "student:x:100:\n"
				  "all:x:200:a,,student,ta\n";

static void same_group(const struct group *ours, const struct group *theirs)
{
	unsigned n = 0;

	REQUIRE(ours != NULL);
	EXPECT_STREQ(ours->gr_name, theirs->gr_name);
	EXPECT_EQ(ours->gr_gid, theirs->gr_gid);
	for (; theirs->gr_mem[n] != NULL && ours->gr_mem[n] != NULL; n++)
		EXPECT_STREQ(ours->gr_mem[n], theirs->gr_mem[n]);
	EXPECT(ours->gr_mem[n] == NULL && theirs->gr_mem[n] == NULL);
}

TEST(groups_by_name_and_by_number)
{
	FILE *file = fmemopen((void *)(uintptr_t)some_groups, strlen(some_groups), "r");
	struct group *theirs;
	unsigned count = 0;

	group_text = some_groups;
	while ((theirs = fgetgrent(file)) != NULL) {
		same_group(our_getgrnam(theirs->gr_name), theirs);
		same_group(our_getgrgid(theirs->gr_gid), theirs);
		count++;
	}
	fclose(file);
	EXPECT_EQ(count, 5);
	EXPECT(our_getgrnam("none") == NULL);
}

TEST(groups_of_a_user)
{
	group_text = some_groups;
	EXPECT_EQ(our_initgroups("ta", 2), 0);
	REQUIRE(EXPECT_EQ(n_groups, 2));
	EXPECT_EQ(groups[0], 2);
	EXPECT_EQ(groups[1], 200);
	EXPECT_EQ(our_initgroups("nobody", 5), 0);
	REQUIRE(EXPECT_EQ(n_groups, 1));
	EXPECT_EQ(groups[0], 5);
}
