/* SPDX-License-Identifier: MIT */
/* What stat() tells of files, and what changes it: seen by a user who owns only some of them. */
#include <sys/time.h>
#include <time.h>
#include <utime.h>

#include "help.h"

#define F "/tmp/attributes.f"
#define D "/tmp/attributes.d"

static struct stat told(const char *path)
{
	struct stat status = {.st_mode = 0};

	EXPECT_EQ(stat(path, &status), 0);
	return status;
}

TEST(what_is_told_of_files)
{
	struct stat file, same, folder, device;
	int fd;

	REQUIRE(make_text(F, "0123456789", 0640));
	file = told(F);
	EXPECT_EQ(file.st_mode, S_IFREG | 0640);
	EXPECT_EQ(file.st_nlink, 1);
	EXPECT_EQ(file.st_size, 10);
	EXPECT_EQ(file.st_blocks, 8);
	EXPECT_EQ(file.st_uid, getuid());
	EXPECT(file.st_blksize >= 1024 && file.st_ino > 0);
	EXPECT(time(NULL) - file.st_mtime < 100 && time(NULL) >= file.st_mtime);
	fd = open(F, O_RDONLY);
	EXPECT_EQ(fstat(fd, &same), 0);
	EXPECT(memcmp(&same, &file, sizeof same) == 0);
	folder = told("/tmp");
	EXPECT_EQ(folder.st_mode, S_IFDIR | 01777);
	EXPECT_EQ(folder.st_uid, 0);
	EXPECT_EQ(folder.st_dev, file.st_dev);
	device = told("/dev/null");
	EXPECT_EQ(device.st_mode, S_IFCHR | 0666);
	EXPECT_EQ(device.st_rdev, makedev(1, 3));
	unlink(F);
}

TEST(what_is_told_of_pipes_and_the_console)
{
	struct stat status;
	int ends[2];

	REQUIRE(pipe(ends) == 0);
	EXPECT_EQ(write(ends[1], "abc", 3), 3);
	EXPECT_EQ(fstat(ends[0], &status), 0);
	EXPECT(S_ISFIFO(status.st_mode));
	EXPECT_EQ(status.st_uid, getuid());
	EXPECT_EQ(status.st_size, 3);
	EXPECT_EQ(fstat(1, &status), 0);
	EXPECT(S_ISCHR(status.st_mode));
	EXPECT_FAILS(fchmod(ends[0], 0777), EINVAL);
	EXPECT_FAILS(ftruncate(ends[1], 0), EINVAL);
}

TEST(modes_are_the_owners)
{
	int fd;

	REQUIRE(make_text(F, "x", 0600));
	EXPECT_EQ(chmod(F, 04751), 0);
	EXPECT_EQ(told(F).st_mode, S_IFREG | 04751);
	fd = open(F, O_RDONLY);
	EXPECT_EQ(fchmod(fd, 0444), 0);
	EXPECT_EQ(told(F).st_mode, S_IFREG | 0444);
	EXPECT_FAILS(chmod("/etc/passwd", 0666), EPERM);
	EXPECT_FAILS(chmod("/tmp/nothing", 0666), ENOENT);
	EXPECT_FAILS(open(F, O_WRONLY), EACCES);
	EXPECT_EQ(chmod(F, 0200), 0);
	EXPECT_FAILS(open(F, O_RDONLY), EACCES);
	EXPECT_FAILS(open(F, O_RDWR), EACCES);
	EXPECT_FAILS(access(F, R_OK), EACCES);
	EXPECT_EQ(access(F, W_OK), 0);
	EXPECT_EQ(access(F, F_OK), 0);
	EXPECT_FAILS(access(F, X_OK), EACCES);
	EXPECT_FAILS(access(F, 8), EINVAL);
	unlink(F);
}

TEST(a_mask_takes_bits_from_new_files)
{
	umask(0);
	EXPECT_EQ(umask(07077), 0);
	EXPECT_EQ(umask(022), 077);
	EXPECT_EQ(mkdir(D, 0777), 0);
	EXPECT_EQ(told(D).st_mode, S_IFDIR | 0755);
	EXPECT_EQ(rmdir(D), 0);
}

TEST(a_childs_mask_is_its_own)
{
	pid_t pid;

	umask(027);
	pid = fork();
	if (pid == 0)
		_exit((int)umask(0));
	EXPECT_EQ(status_of(pid), W_EXITCODE(027, 0));
	EXPECT_EQ(umask(0), 027);
}

TEST(folders_say_who_may_pass)
{
	REQUIRE(mkdir(D, 0700) == 0 && make_text(D "/f", "x", 0600));
	EXPECT_EQ(chmod(D, 0600), 0);
	EXPECT_FAILS(open(D "/f", O_RDONLY), EACCES);
	EXPECT_FAILS(chdir(D), EACCES);
	EXPECT_FAILS(unlink(D "/f"), EACCES);
	EXPECT(open(D, O_RDONLY) >= 0);
	EXPECT_EQ(chmod(D, 0500), 0);
	EXPECT_FAILS(open(D "/g", O_RDWR | O_CREAT, 0600), EACCES);
	EXPECT_FAILS(mkdir(D "/g", 0700), EACCES);
	EXPECT_FAILS(unlink(D "/f"), EACCES);
	EXPECT_FAILS(rename(D "/f", F), EACCES);
	EXPECT_FAILS(link(F, D "/g"), ENOENT);
	EXPECT(open(D "/f", O_RDWR) >= 0);
	EXPECT_EQ(chmod(D, 0300), 0);
	EXPECT_FAILS(open(D, O_RDONLY), EACCES);
	EXPECT_EQ(unlink(D "/f"), 0);
	EXPECT_EQ(rmdir(D), 0);
}

TEST(times_can_be_set)
{
	const struct timeval times[2] = {{.tv_sec = 1000, .tv_usec = 5}, {.tv_sec = 2000}};
	const struct utimbuf both = {.actime = 3000, .modtime = 4000};
	struct stat status;
	time_t now = time(NULL);

	REQUIRE(make_text(F, "x", 0600));
	EXPECT_EQ(utimes(F, times), 0);
	status = told(F);
	EXPECT(status.st_atime == 1000 && status.st_mtime == 2000 && status.st_ctime >= now);
	EXPECT_EQ(utime(F, &both), 0);
	status = told(F);
	EXPECT(status.st_atime == 3000 && status.st_mtime == 4000);
	EXPECT_EQ(utimes(F, NULL), 0);
	EXPECT(told(F).st_mtime >= now);
	EXPECT_FAILS(utimes("/etc/passwd", times), EPERM);
	EXPECT_FAILS(utimes("/etc/passwd", NULL), EACCES);
	EXPECT_FAILS(utimes("/tmp/nothing", NULL), ENOENT);
	unlink(F);
}

TEST(writing_is_seen_in_the_times)
{
	const struct utimbuf old = {.actime = 1000, .modtime = 1000};
	char byte;
	int fd;

	REQUIRE(make_text(F, "x", 0600));
	EXPECT_EQ(utime(F, &old), 0);
	fd = open(F, O_RDWR);
	EXPECT_EQ(told(F).st_mtime, 1000);
	EXPECT_EQ(read(fd, &byte, 1), 1);
	EXPECT_EQ(told(F).st_mtime, 1000);
	EXPECT(told(F).st_atime > 1000);
	EXPECT_EQ(write(fd, "y", 1), 1);
	EXPECT(told(F).st_mtime > 1000);
	unlink(F);
}

TEST(owners_cannot_give_files_away)
{
	REQUIRE(make_text(F, "x", 06755));
	EXPECT_FAILS(chown(F, 0, (gid_t)-1), EPERM);
	EXPECT_FAILS(chown(F, (uid_t)-1, 0), EPERM);
	EXPECT_FAILS(chown("/etc/passwd", getuid(), (gid_t)-1), EPERM);
	EXPECT_EQ(chown(F, getuid(), (gid_t)-1), 0);
	EXPECT_EQ(told(F).st_mode & (S_ISUID | S_ISGID), 0);
	unlink(F);
}
