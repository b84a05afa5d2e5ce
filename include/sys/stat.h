/* SPDX-License-Identifier: MIT */
/* What stat() tells of a file, and the bits of its mode: Linux's. */
#ifndef SYS_STAT_H
#define SYS_STAT_H

#include <sys/types.h>

#define S_IFMT   0170000
#define S_IFIFO  0010000
#define S_IFCHR  0020000
#define S_IFDIR  0040000
#define S_IFBLK  0060000
#define S_IFREG  0100000
#define S_IFLNK  0120000
#define S_IFSOCK 0140000

#define S_ISUID 0004000
#define S_ISGID 0002000
#define S_ISVTX 0001000
#define S_IRWXU 0000700
#define S_IRUSR 0000400
#define S_IWUSR 0000200
#define S_IXUSR 0000100
#define S_IRWXG 0000070
#define S_IRGRP 0000040
#define S_IWGRP 0000020
#define S_IXGRP 0000010
#define S_IRWXO 0000007
#define S_IROTH 0000004
#define S_IWOTH 0000002
#define S_IXOTH 0000001

#define S_ISFIFO(mode) (((mode)&S_IFMT) == S_IFIFO)
#define S_ISCHR(mode)  (((mode)&S_IFMT) == S_IFCHR)
#define S_ISDIR(mode)  (((mode)&S_IFMT) == S_IFDIR)
#define S_ISBLK(mode)  (((mode)&S_IFMT) == S_IFBLK)
#define S_ISREG(mode)  (((mode)&S_IFMT) == S_IFREG)
#define S_ISLNK(mode)  (((mode)&S_IFMT) == S_IFLNK)
#define S_ISSOCK(mode) (((mode)&S_IFMT) == S_IFSOCK)

/*
 * Linux's stat64, whose layout has grown: the number of the file is at the end, and its lower half
 * once more before it.  Travels in messages as an array of 32-bit words.
 */
struct stat {
	dev_t st_dev;
	uint32_t st_reserved_dev;
	uint32_t st_ino_low;
	mode_t st_mode;
	nlink_t st_nlink;
	uid_t st_uid;
	gid_t st_gid;
	dev_t st_rdev;
	uint32_t st_reserved_rdev;
	off_t st_size;
	blksize_t st_blksize;
	blkcnt_t st_blocks; /* Of 512 bytes. */
	time_t st_atime;
	uint32_t st_atime_nsec;
	time_t st_mtime;
	uint32_t st_mtime_nsec;
	time_t st_ctime;
	uint32_t st_ctime_nsec;
	ino_t st_ino;
};

#ifndef UX_SERVER
int stat(const char *path, struct stat *result);
int lstat(const char *path, struct stat *result);
int fstat(int fd, struct stat *result);
int mkdir(const char *path, mode_t mode);
int mkfifo(const char *path, mode_t mode);
int chmod(const char *path, mode_t mode);
int fchmod(int fd, mode_t mode);
mode_t umask(mode_t mask);
#endif

#endif
