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

	CHECK_EQ(stat(path, &status), 0);
	return status;
}

TRY(what_is_told_of_files)
{
	struct stat file, same, folder, device;
	int fd;

	NEED(make_text(F, "0123456789", 0640));
	file = told(F);
	CHECK_EQ(file.st_mode, S_IFREG | 0640);
	CHECK_EQ(file.st_nlink, 1);
	CHECK_EQ(file.st_size, 10);
	CHECK_EQ(file.st_blocks, 8);
	CHECK_EQ(file.st_uid, getuid());
	CHECK(file.st_blksize >= 1024 && file.st_ino > 0);
	CHECK(time(NULL) - file.st_mtime < 100 && time(NULL) >= file.st_mtime);
	fd = open(F, O_RDONLY);
	CHECK_EQ(fstat(fd, &same), 0);
	CHECK(memcmp(&same, &file, sizeof same) == 0);
	folder = told("/tmp");
	CHECK_EQ(folder.st_mode, S_IFDIR | 01777);
	CHECK_EQ(folder.st_uid, 0);
	CHECK_EQ(folder.st_dev, file.st_dev);
	device = told("/dev/null");
	CHECK_EQ(device.st_mode, S_IFCHR | 0666);
	CHECK_EQ(device.st_rdev, makedev(1, 3));
	unlink(F);
}

TRY(what_is_told_of_pipes_and_the_console)
{
	struct stat status;
	int ends[2];

	NEED(pipe(ends) == 0);
	CHECK_EQ(write(ends[1], "abc", 3), 3);
	CHECK_EQ(fstat(ends[0], &status), 0);
	CHECK(S_ISFIFO(status.st_mode));
	CHECK_EQ(status.st_uid, getuid());
	CHECK_EQ(status.st_size, 3);
	CHECK_EQ(fstat(1, &status), 0);
	CHECK(S_ISCHR(status.st_mode));
	CHECK_FAILS(fchmod(ends[0], 0777), EINVAL);
	CHECK_FAILS(ftruncate(ends[1], 0), EINVAL);
}

TRY(modes_are_the_owners)
{
	int fd;

	NEED(make_text(F, "x", 0600));
	CHECK_EQ(chmod(F, 04751), 0);
	CHECK_EQ(told(F).st_mode, S_IFREG | 04751);
	fd = open(F, O_RDONLY);
	CHECK_EQ(fchmod(fd, 0444), 0);
	CHECK_EQ(told(F).st_mode, S_IFREG | 0444);
	CHECK_FAILS(chmod("/etc/passwd", 0666), EPERM);
	CHECK_FAILS(chmod("/tmp/nothing", 0666), ENOENT);
	CHECK_FAILS(open(F, O_WRONLY), EACCES);
	CHECK_EQ(chmod(F, 0200), 0);
	CHECK_FAILS(open(F, O_RDONLY), EACCES);
	CHECK_FAILS(open(F, O_RDWR), EACCES);
	CHECK_FAILS(access(F, R_OK), EACCES);
	CHECK_EQ(access(F, W_OK), 0);
	CHECK_EQ(access(F, F_OK), 0);
	CHECK_FAILS(access(F, X_OK), EACCES);
	CHECK_FAILS(access(F, 8), EINVAL);
	unlink(F);
}

TRY(a_mask_takes_bits_from_new_files)
{
	umask(0);
	CHECK_EQ(umask(07077), 0);
	CHECK_EQ(umask(022), 077);
	CHECK_EQ(mkdir(D, 0777), 0);
	CHECK_EQ(told(D).st_mode, S_IFDIR | 0755);
	CHECK_EQ(rmdir(D), 0);
}

TRY(a_childs_mask_is_its_own)
{
	pid_t pid;

	umask(027);
	pid = fork();
	if (pid == 0)
		_exit((int)umask(0));
	CHECK_EQ(status_of(pid), W_EXITCODE(027, 0));
	CHECK_EQ(umask(0), 027);
}

TRY(folders_say_who_may_pass)
{
	NEED(mkdir(D, 0700) == 0 && make_text(D "/f", "x", 0600));
	CHECK_EQ(chmod(D, 0600), 0);
	CHECK_FAILS(open(D "/f", O_RDONLY), EACCES);
	CHECK_FAILS(chdir(D), EACCES);
	CHECK_FAILS(unlink(D "/f"), EACCES);
	CHECK(open(D, O_RDONLY) >= 0);
	CHECK_EQ(chmod(D, 0500), 0);
	CHECK_FAILS(open(D "/g", O_RDWR | O_CREAT, 0600), EACCES);
	CHECK_FAILS(mkdir(D "/g", 0700), EACCES);
	CHECK_FAILS(unlink(D "/f"), EACCES);
	CHECK_FAILS(rename(D "/f", F), EACCES);
	CHECK_FAILS(link(F, D "/g"), ENOENT);
	CHECK(open(D "/f", O_RDWR) >= 0);
	CHECK_EQ(chmod(D, 0300), 0);
	CHECK_FAILS(open(D, O_RDONLY), EACCES);
	CHECK_EQ(unlink(D "/f"), 0);
	CHECK_EQ(rmdir(D), 0);
}

TRY(times_can_be_set)
{
	const struct timeval times[2] = {{.tv_sec = 1000, .tv_usec = 5}, {.tv_sec = 2000}};
	const struct utimbuf both = {.actime = 3000, .modtime = 4000};
	struct stat status;
	time_t now = time(NULL);

	NEED(make_text(F, "x", 0600));
	CHECK_EQ(utimes(F, times), 0);
	status = told(F);
	CHECK(status.st_atime == 1000 && status.st_mtime == 2000 && status.st_ctime >= now);
	CHECK_EQ(utime(F, &both), 0);
	status = told(F);
	CHECK(status.st_atime == 3000 && status.st_mtime == 4000);
	CHECK_EQ(utimes(F, NULL), 0);
	CHECK(told(F).st_mtime >= now);
	CHECK_FAILS(utimes("/etc/passwd", times), EPERM);
	CHECK_FAILS(utimes("/etc/passwd", NULL), EACCES);
	CHECK_FAILS(utimes("/tmp/nothing", NULL), ENOENT);
	unlink(F);
}

TRY(writing_is_seen_in_the_times)
{
	const struct utimbuf old = {.actime = 1000, .modtime = 1000};
	char byte;
	int fd;

	NEED(make_text(F, "x", 0600));
	CHECK_EQ(utime(F, &old), 0);
	fd = open(F, O_RDWR);
	CHECK_EQ(told(F).st_mtime, 1000);
	CHECK_EQ(read(fd, &byte, 1), 1);
	CHECK_EQ(told(F).st_mtime, 1000);
	CHECK(told(F).st_atime > 1000);
	CHECK_EQ(write(fd, "y", 1), 1);
	CHECK(told(F).st_mtime > 1000);
	unlink(F);
}

TRY(owners_cannot_give_files_away)
{
	NEED(make_text(F, "x", 06755));
	CHECK_FAILS(chown(F, 0, (gid_t)-1), EPERM);
	CHECK_FAILS(chown(F, (uid_t)-1, 0), EPERM);
	CHECK_FAILS(chown("/etc/passwd", getuid(), (gid_t)-1), EPERM);
	CHECK_EQ(chown(F, getuid(), (gid_t)-1), 0);
	CHECK_EQ(told(F).st_mode & (S_ISUID | S_ISGID), 0);
	unlink(F);
}
