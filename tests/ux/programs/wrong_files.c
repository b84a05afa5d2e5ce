/* SPDX-License-Identifier: MIT */
/*
 * What the Unix server answers to each call on files whose arguments are wrong: to each path that
 * leads nowhere, to each descriptor that nobody has or that is of another kind, to numbers that
 * there are not, and to who has no right.
 *
 * guest: user=root limit=30
 */
#include <signal.h>

#include "wrong.h"

#define D       "/tmp/wrong"
#define F       D "/file"
#define FIFO    D "/fifo"
#define LINK    D "/link" /* To the file. */
#define NOWHERE D "/nowhere"
#define LOOP    D "/loop"
#define FAR     D "/far"    /* A link with a text that nothing has room behind. */
#define CLOSED  D "/closed" /* A directory of root's, in it another. */
#define FULL    D "/full"   /* A directory with something in it. */
#define STICKY  D "/sticky"
#define SHUT    D "/shut" /* A script that all may read, but not execute. */
#define RUNS    "/tmp/wrong_files"

/* "D/" and so many letters. */
static const char *long_name(size_t letters)
{
	static char path[PATH_MAX];

	strcpy(path, D "/");
	memset(path + strlen(path), 'a', letters);
	path[strlen(D "/") + letters] = '\0';
	return path;
}

/* That leads to a directory, by so many bytes. */
static const char *long_path(size_t length)
{
	static char path[PATH_MAX];

	memset(path, '/', length);
	memcpy(path, D, strlen(D));
	path[length] = '\0';
	return path;
}

static bool make_all(void)
{
	return mkdir(D, 0755) == 0 && make_text(F, "text", 0600) && mkfifo(FIFO, 0600) == 0 &&
	       symlink(F, LINK) == 0 && symlink(D "/none", NOWHERE) == 0 &&
	       symlink(LOOP, LOOP) == 0 && symlink(long_path(PATH_MAX - 1), FAR) == 0 &&
	       mkdir(CLOSED, 0700) == 0 && mkdir(CLOSED "/in", 0777) == 0 &&
	       mkdir(FULL, 0755) == 0 && make_text(FULL "/file", "text", 0644) &&
	       mkdir(STICKY, 0777) == 0 && chmod(STICKY, 01777) == 0 &&
	       make_text(STICKY "/file", "text", 0644) && make_text(SHUT, "#!/bin/sh\n", 0644);
}

/* All tests have the same files, of which none is changed: the first that comes makes them. */
static bool has_files(void)
{
	return size_of(SHUT) > 0 || make_all();
}

/* ---------------- Paths ---------------- */

static kern_return_t call_open(const char *path)
{
	int fd;

	return bsd_open(UX, path, O_RDONLY, 0, &fd);
}

static kern_return_t call_open_new(const char *path)
{
	int fd;

	return bsd_open(UX, path, O_WRONLY | O_CREAT | O_EXCL, 0600, &fd);
}

static kern_return_t call_stat(const char *path)
{
	struct stat result;

	return bsd_stat(UX, path, 1, &result);
}

static kern_return_t call_lstat(const char *path)
{
	struct stat result;

	return bsd_stat(UX, path, 0, &result);
}

static kern_return_t call_access(const char *path)
{
	return bsd_access(UX, path, R_OK);
}

static kern_return_t call_chdir(const char *path)
{
	return bsd_chdir(UX, path);
}

static kern_return_t call_readlink(const char *path)
{
	static char text[UX_INLINE_MAX];
	mach_msg_type_number_t length = sizeof text;

	return bsd_readlink(UX, path, text, &length);
}

static kern_return_t call_execve(const char *path)
{
	char strings[] = "one";

	return bsd_execve(UX, path, 1, strings, sizeof strings);
}

static kern_return_t call_mkdir(const char *path)
{
	return bsd_mkdir(UX, path, 0700);
}

static kern_return_t call_mkfifo(const char *path)
{
	return bsd_mkfifo(UX, path, 0600);
}

static kern_return_t call_symlink(const char *path)
{
	return bsd_symlink(UX, "text", path);
}

static kern_return_t call_link_from(const char *path)
{
	return bsd_link(UX, path, D "/new");
}

static kern_return_t call_link_to(const char *path)
{
	return bsd_link(UX, F, path);
}

static kern_return_t call_rename_from(const char *path)
{
	return bsd_rename(UX, path, D "/new");
}

static kern_return_t call_rename_to(const char *path)
{
	return bsd_rename(UX, F, path);
}

static kern_return_t call_unlink(const char *path)
{
	return bsd_unlink(UX, path);
}

static kern_return_t call_rmdir(const char *path)
{
	return bsd_rmdir(UX, path);
}

static kern_return_t call_chmod(const char *path)
{
	return bsd_chmod(UX, path, 0600);
}

static kern_return_t call_chown(const char *path)
{
	return bsd_chown(UX, path, 0, 0);
}

static kern_return_t call_truncate(const char *path)
{
	return bsd_truncate(UX, path, 4);
}

static kern_return_t call_utimes(const char *path)
{
	return bsd_utimes(UX, path, -1, -1);
}

struct path_call {
	const char *name;
	kern_return_t (*make)(const char *path);
	bool makes_it; /* The last part need not be there, and if it is, that is the error. */
};

#define PATH_CALL(name)                   \
	{                                 \
#name, call_##name, false \
	}
#define PATH_CALL_MAKE(name)             \
	{                                \
#name, call_##name, true \
	}

static const struct path_call path_calls[] = {
	PATH_CALL(open),          PATH_CALL(stat),         PATH_CALL(lstat),
	PATH_CALL(access),        PATH_CALL(chdir),        PATH_CALL(readlink),
	PATH_CALL(execve),        PATH_CALL(link_from),    PATH_CALL(rename_from),
	PATH_CALL(unlink),        PATH_CALL(rmdir),        PATH_CALL(chmod),
	PATH_CALL(chown),         PATH_CALL(truncate),     PATH_CALL(utimes),
	PATH_CALL_MAKE(open_new), PATH_CALL_MAKE(mkdir),   PATH_CALL_MAKE(mkfifo),
	PATH_CALL_MAKE(symlink),  PATH_CALL_MAKE(link_to),
};

#define PATH_CALLS (sizeof path_calls / sizeof path_calls[0])

static void check_path(const struct path_call *call, const char *path, int error)
{
	kern_return_t result = call->make(path);

	if (result != error)
		check_fail("%s of \"%.40s\" gives %d, not %d", call->name, path, result, error);
}

static void check_paths(const char *path, int error)
{
	for (size_t n = 0; n < PATH_CALLS; n++)
		check_path(&path_calls[n], path, error);
	check_path(&(struct path_call)PATH_CALL(rename_to), path, error);
}

TEST(paths_that_lead_nowhere)
{
	REQUIRE(has_files());
	check_paths("", ENOENT);
	check_paths(D "/none/x", ENOENT);
	check_paths(NOWHERE "/x", ENOENT);
	check_paths(F "/x", ENOTDIR);
	check_paths(LINK "/x", ENOTDIR);
	check_paths(LOOP "/x", ELOOP);
	check_paths(long_name(NAME_MAX + 1), ENAMETOOLONG);
	check_paths(FAR "/x", ENAMETOOLONG);
}

TEST(last_parts_that_are_not_there_or_are)
{
	REQUIRE(has_files());
	for (size_t n = 0; n < PATH_CALLS; n++) {
		const struct path_call *call = &path_calls[n];

		check_path(call, call->makes_it ? F : D "/none", call->makes_it ? EEXIST : ENOENT);
		if (call->makes_it)
			check_path(call, NOWHERE, EEXIST);
		if (call->makes_it && call->make != call_open_new)
			check_path(call, "/", EEXIST);
	}
}

static void closed_to_student(void)
{
	become_student();
	check_paths(CLOSED "/x", EACCES);
	check_paths(CLOSED "/in/x", EACCES);
	for (size_t n = 0; n < PATH_CALLS; n++)
		if (path_calls[n].makes_it && path_calls[n].make != call_link_to)
			check_path(&path_calls[n], D "/new", EACCES);
}

TEST(directories_that_are_closed)
{
	REQUIRE(has_files());
	EXPECT(all_is_well_in_a_child(closed_to_student));
}

/* ---------------- Opening ---------------- */

TEST(files_that_cannot_be_opened_so)
{
	int fd;

	REQUIRE(has_files());
	WRONG(bsd_open(UX, F, O_ACCMODE, 0, &fd), EINVAL);
	WRONG(bsd_open(UX, F, O_RDONLY | O_DIRECTORY, 0, &fd), ENOTDIR);
	WRONG(bsd_open(UX, F "/", O_RDONLY, 0, &fd), ENOTDIR);
	WRONG(bsd_open(UX, D "/new/", O_WRONLY | O_CREAT, 0600, &fd), EISDIR);
	WRONG(bsd_open(UX, D, O_WRONLY, 0, &fd), EISDIR);
	WRONG(bsd_open(UX, D, O_RDWR, 0, &fd), EISDIR);
	WRONG(bsd_open(UX, D, O_RDONLY | O_CREAT, 0, &fd), EISDIR);
	WRONG(bsd_open(UX, D, O_RDONLY | O_TRUNC, 0, &fd), EISDIR);
	WRONG(bsd_open(UX, LINK, O_RDONLY | O_NOFOLLOW, 0, &fd), ELOOP);
	WRONG(bsd_open(UX, FIFO, O_WRONLY | O_NONBLOCK, 0, &fd), ENXIO);
	WRONG(bsd_open(UX, RUNS, O_WRONLY, 0, &fd), ETXTBSY);
	WRONG(bsd_open(UX, RUNS, O_RDONLY | O_TRUNC, 0, &fd), ETXTBSY);
}

static void open_as_student(void)
{
	int fd;

	become_student();
	WRONG(bsd_open(UX, F, O_RDONLY, 0, &fd), EACCES);
	WRONG(bsd_open(UX, SHUT, O_WRONLY, 0, &fd), EACCES);
	WRONG(bsd_open(UX, SHUT, O_RDWR, 0, &fd), EACCES);
	WRONG(bsd_open(UX, SHUT, O_RDONLY | O_TRUNC, 0, &fd), EACCES);
	WRONG(bsd_open(UX, CLOSED, O_RDONLY, 0, &fd), EACCES);
	WRONG(bsd_access(UX, SHUT, W_OK), EACCES);
	WRONG(bsd_access(UX, SHUT, X_OK), EACCES);
	WRONG(bsd_chdir(UX, CLOSED), EACCES);
}

/* Nobody types there. */
TEST(a_console_that_has_no_line_yet)
{
	char byte;
	int fd = open("/dev/console", O_RDONLY | O_NONBLOCK);

	EXPECT(fd >= 0);
	EXPECT_FAILS(read(fd, &byte, 1), EAGAIN);
	close(fd);
}

TEST(files_that_student_cannot_open)
{
	REQUIRE(has_files());
	EXPECT(all_is_well_in_a_child(open_as_student));
}

/* ---------------- Descriptors ---------------- */

static char bytes[UX_INLINE_MAX];
static mach_msg_type_number_t count;

static kern_return_t call_read(int fd)
{
	count = sizeof bytes;
	return bsd_read(UX, fd, 1, bytes, &count);
}

static kern_return_t call_read_long(int fd)
{
	char *data = NULL;

	return bsd_read_long(UX, fd, UX_INLINE_MAX + 1, &data, &count);
}

static kern_return_t call_write(int fd)
{
	unsigned written;

	return bsd_write(UX, fd, bytes, 1, &written);
}

static kern_return_t call_write_long(int fd)
{
	unsigned written;

	return bsd_write_long(UX, fd, bytes, sizeof bytes, &written);
}

static kern_return_t call_readdir(int fd)
{
	count = sizeof bytes;
	return bsd_readdir(UX, fd, bytes, &count);
}

static kern_return_t call_object(int fd)
{
	mach_port_t object;
	int64_t size;

	return bsd_file_object(UX, fd, &object, &size);
}

TEST(descriptors_that_nobody_has)
{
	struct stat status;
	int64_t position;
	int result;

	WITH_NO_FD(bsd_close(UX, fd));
	WITH_NO_FD(call_read(fd));
	WITH_NO_FD(call_read_long(fd));
	WITH_NO_FD(call_write(fd));
	WITH_NO_FD(call_write_long(fd));
	WITH_NO_FD(call_readdir(fd));
	WITH_NO_FD(call_object(fd));
	WITH_NO_FD(bsd_lseek(UX, fd, 0, SEEK_SET, &position));
	WITH_NO_FD(bsd_fstat(UX, fd, &status));
	WITH_NO_FD(bsd_dup(UX, fd, 0, 0, &result));
	WITH_NO_FD(bsd_dup2(UX, fd, 1, 0));
	WITH_NO_FD(bsd_fcntl(UX, fd, F_GETFD, 0, &result));
	WITH_NO_FD(bsd_fsync(UX, fd));
	WITH_NO_FD(bsd_fchmod(UX, fd, 0600));
	WITH_NO_FD(bsd_ftruncate(UX, fd, 0));
	/* Where a copy is to go that has no place there. */
	WRONG(bsd_dup2(UX, 1, -1, 0), EBADF);
	WRONG(bsd_dup2(UX, 1, UX_OPEN_MAX, 0), EBADF);
	WRONG(bsd_dup(UX, 1, -1, 0, &result), EINVAL);
	WRONG(bsd_dup(UX, 1, UX_OPEN_MAX, 0, &result), EINVAL);
}

/* Descriptors for reading and for writing, of a file, of a directory and of a pipe. */
struct fds {
	int file_r, file_w, directory, pipe_r, pipe_w;
};

static bool open_fds(struct fds *fds)
{
	return bsd_open(UX, F, O_RDONLY, 0, &fds->file_r) == 0 &&
	       bsd_open(UX, F, O_WRONLY, 0, &fds->file_w) == 0 &&
	       bsd_open(UX, D, O_RDONLY, 0, &fds->directory) == 0 &&
	       bsd_pipe(UX, O_NONBLOCK, &fds->pipe_r, &fds->pipe_w) == 0;
}

TEST(descriptors_of_the_wrong_kind)
{
	struct fds fds;

	REQUIRE(has_files() && open_fds(&fds));
	WRONG(call_read(fds.file_w), EBADF);
	WRONG(call_read_long(fds.file_w), EBADF);
	WRONG(call_read(fds.pipe_w), EBADF);
	WRONG(call_read(fds.directory), EISDIR);
	WRONG(call_read_long(fds.directory), EISDIR);
	WRONG(call_write(fds.file_r), EBADF);
	WRONG(call_write_long(fds.file_r), EBADF);
	WRONG(call_write(fds.pipe_r), EBADF);
	WRONG(call_write(fds.directory), EBADF);
	WRONG(call_readdir(fds.file_r), ENOTDIR);
	WRONG(call_readdir(fds.file_w), EBADF);
	WRONG(call_readdir(fds.pipe_r), ENOTDIR);
	WRONG(call_object(fds.file_w), EBADF);
	WRONG(call_object(fds.directory), ENODEV);
	WRONG(call_object(fds.pipe_r), ENODEV);
	WRONG(bsd_fsync(UX, fds.pipe_r), EINVAL);
	WRONG(bsd_fchmod(UX, fds.pipe_r, 0600), EINVAL);
	WRONG(bsd_ftruncate(UX, fds.file_r, 0), EINVAL);
	WRONG(bsd_ftruncate(UX, fds.directory, 0), EINVAL);
	WRONG(bsd_ftruncate(UX, fds.pipe_w, 0), EINVAL);
}

static kern_return_t fill(int fd)
{
	kern_return_t result = 0;

	for (unsigned n = 0; n < 100 && result == 0; n++)
		result = call_write_long(fd);
	return result;
}

TEST(transfers_that_cannot_be)
{
	const vm_size_t size = UX_TRANSFER_MAX + PAGE;
	vm_address_t memory = 0;
	struct fds fds;
	unsigned written;
	int full;

	REQUIRE(has_files() && open_fds(&fds));
	REQUIRE(bsd_open(UX, "/dev/full", O_RDWR, 0, &full) == 0);
	REQUIRE(vm_allocate(mach_task_self(), &memory, size, TRUE) == KERN_SUCCESS);
	WRONG(call_read(fds.pipe_r), EAGAIN);
	WRONG(call_read_long(fds.pipe_r), EAGAIN);
	WRONG(fill(fds.pipe_w), EAGAIN);
	WRONG(call_write(full), ENOSPC);
	WRONG(bsd_write_long(UX, fds.file_w, (char *)memory, size, &written), E2BIG);
	WRONG(bsd_write_long(UX, fds.file_w, (char *)8, PAGE, &written), MACH_SEND_INVALID_MEMORY);
	signal(SIGPIPE, SIG_IGN);
	bsd_close(UX, fds.pipe_r);
	WRONG(call_write(fds.pipe_w), EPIPE);
	EXPECT_EQ(size_of(F), 4);
}

TEST(positions_that_there_are_not)
{
	struct fds fds;
	int64_t position;

	REQUIRE(has_files() && open_fds(&fds));
	WRONG(bsd_lseek(UX, fds.pipe_r, 0, SEEK_SET, &position), ESPIPE);
	WRONG(bsd_lseek(UX, fds.file_w, 0, -1, &position), EINVAL);
	WRONG(bsd_lseek(UX, fds.file_w, 0, SEEK_END + 1, &position), EINVAL);
	WRONG(bsd_lseek(UX, fds.file_w, -1, SEEK_SET, &position), EINVAL);
	WRONG(bsd_lseek(UX, fds.file_w, -5, SEEK_END, &position), EINVAL);
	WRONG(bsd_lseek(UX, fds.file_w, INT64_MIN, SEEK_END, &position), EINVAL);
	WRONG(bsd_lseek(UX, fds.file_w, INT64_MAX, SEEK_END, &position), EOVERFLOW);
	EXPECT_EQ(bsd_lseek(UX, fds.file_w, INT64_MAX, SEEK_SET, &position), 0);
	WRONG(call_write(fds.file_w), EFBIG);
	EXPECT_EQ(bsd_lseek(UX, fds.file_w, INT64_MAX / 2, SEEK_SET, &position), 0);
	WRONG(call_write(fds.file_w), EFBIG);
	EXPECT_EQ(size_of(F), 4);
}

TEST(orders_for_descriptors_that_there_are_not)
{
	int result, other;

	WRONG(bsd_fcntl(UX, 1, -1, 0, &result), EINVAL);
	WRONG(bsd_fcntl(UX, 1, 99, 0, &result), EINVAL);
	WRONG(bsd_pipe(UX, O_APPEND, &result, &other), EINVAL);
	WRONG(bsd_pipe(UX, -1, &result, &other), EINVAL);
}

/* One is left in the end, which a pipe's two have no room in. */
TEST(more_descriptors_than_there_are)
{
	int last = -1, fd, other;

	REQUIRE(has_files());
	while (bsd_dup(UX, 1, 0, 0, &fd) == 0)
		last = fd;
	EXPECT_EQ(last, UX_OPEN_MAX - 1);
	WRONG(bsd_dup(UX, 1, 0, 0, &fd), EMFILE);
	WRONG(bsd_dup(UX, 1, UX_OPEN_MAX - 1, 0, &fd), EMFILE);
	WRONG(bsd_open(UX, F, O_RDONLY, 0, &fd), EMFILE);
	WRONG(bsd_open(UX, D "/new", O_WRONLY | O_CREAT, 0600, &fd), EMFILE);
	WRONG(call_lstat(D "/new"), ENOENT);
	WRONG(bsd_pipe(UX, 0, &fd, &other), EMFILE);
	EXPECT_EQ(bsd_close(UX, last), 0);
	WRONG(bsd_pipe(UX, 0, &fd, &other), EMFILE);
	EXPECT_EQ(bsd_dup(UX, 1, 0, 0, &fd), 0);
	EXPECT_EQ(fd, last);
}

/* ---------------- Names ---------------- */

TEST(names_that_cannot_go)
{
	REQUIRE(has_files());
	WRONG(bsd_unlink(UX, FULL), EPERM);
	WRONG(bsd_unlink(UX, "/"), EPERM);
	WRONG(bsd_unlink(UX, D "/."), EPERM);
	WRONG(bsd_unlink(UX, F "/"), ENOTDIR);
	WRONG(bsd_rmdir(UX, F), ENOTDIR);
	WRONG(bsd_rmdir(UX, F "/"), ENOTDIR);
	WRONG(bsd_rmdir(UX, LINK), ENOTDIR);
	WRONG(bsd_rmdir(UX, FULL), ENOTEMPTY);
	WRONG(bsd_rmdir(UX, FULL "/."), EINVAL);
	WRONG(bsd_rmdir(UX, FULL "/.."), ENOTEMPTY);
	WRONG(bsd_rmdir(UX, "/"), EBUSY);
}

TEST(names_that_cannot_change)
{
	REQUIRE(has_files());
	WRONG(bsd_rename(UX, F, FULL), EISDIR);
	WRONG(bsd_rename(UX, FULL, F), ENOTDIR);
	WRONG(bsd_rename(UX, CLOSED, FULL), ENOTEMPTY);
	WRONG(bsd_rename(UX, FULL, FULL "/in"), EINVAL);
	WRONG(bsd_rename(UX, D, FULL "/in"), EINVAL);
	WRONG(bsd_rename(UX, D "/.", D "/new"), EINVAL);
	WRONG(bsd_rename(UX, F, FULL "/.."), EINVAL);
	WRONG(bsd_rename(UX, "/", D "/new"), EINVAL);
	WRONG(bsd_rename(UX, F "/", D "/new"), ENOTDIR);
	WRONG(bsd_rename(UX, F, D "/new/"), ENOTDIR);
	WRONG(bsd_link(UX, FULL, D "/new"), EPERM);
	WRONG(bsd_link(UX, F, D "/new/"), ENOENT);
	WRONG(bsd_mkfifo(UX, D "/new/", 0600), ENOENT);
	WRONG(bsd_symlink(UX, "text", D "/new/"), ENOENT);
	WRONG(bsd_symlink(UX, "", D "/new"), ENOENT);
	WRONG(call_lstat(D "/new"), ENOENT);
}

static void change_names_as_student(void)
{
	become_student();
	WRONG(bsd_unlink(UX, FULL "/file"), EACCES);
	WRONG(bsd_unlink(UX, STICKY "/file"), EPERM);
	WRONG(bsd_rmdir(UX, FULL), EACCES);
	WRONG(bsd_rename(UX, FULL "/file", STICKY "/new"), EACCES);
	WRONG(bsd_rename(UX, STICKY "/file", STICKY "/new"), EPERM);
	EXPECT_EQ(make_text(STICKY "/own", "x", 0600), true);
	WRONG(bsd_rename(UX, STICKY "/own", FULL "/new"), EACCES);
	WRONG(bsd_rename(UX, STICKY "/own", FULL "/file"), EACCES);
	WRONG(bsd_rename(UX, STICKY "/own", STICKY "/file"), EPERM);
	WRONG(bsd_link(UX, STICKY "/own", FULL "/new"), EACCES);
	EXPECT_EQ(bsd_unlink(UX, STICKY "/own"), 0);
}

TEST(names_that_student_cannot_change)
{
	REQUIRE(has_files());
	EXPECT(all_is_well_in_a_child(change_names_as_student));
}

/* A directory that has gone while it was somebody's. */
TEST(a_place_that_is_gone)
{
	static char path[PATH_MAX];

	REQUIRE(has_files() && mkdir(D "/gone", 0700) == 0 && chdir(D "/gone") == 0);
	EXPECT_EQ(bsd_rmdir(UX, D "/gone"), 0);
	WRONG(bsd_getcwd(UX, path), ENOENT);
	WRONG(call_open_new("new"), ENOENT);
	WRONG(call_mkdir("new"), ENOENT);
	WRONG(call_link_to("new"), ENOENT);
}

/* ---------------- Attributes ---------------- */

TEST(attributes_that_there_are_not)
{
	struct fds fds;

	REQUIRE(has_files() && open_fds(&fds));
	WRONG(bsd_chdir(UX, F), ENOTDIR);
	WRONG(bsd_access(UX, F, -1), EINVAL);
	WRONG(bsd_access(UX, F, 8), EINVAL);
	WRONG(bsd_access(UX, F, X_OK), EACCES);
	WRONG(call_readlink(F), EINVAL);
	WRONG(call_readlink(D), EINVAL);
	WRONG(bsd_truncate(UX, F, -1), EINVAL);
	WRONG(bsd_truncate(UX, F, INT64_MAX), EFBIG);
	WRONG(bsd_truncate(UX, D, 0), EISDIR);
	WRONG(bsd_truncate(UX, FIFO, 0), EINVAL);
	WRONG(bsd_truncate(UX, "/dev/null", 0), EINVAL);
	WRONG(bsd_truncate(UX, RUNS, 0), ETXTBSY);
	WRONG(bsd_ftruncate(UX, fds.file_w, -1), EINVAL);
	WRONG(bsd_ftruncate(UX, fds.file_w, INT64_MAX), EFBIG);
	EXPECT_EQ(size_of(F), 4);
}

static void change_attributes_as_student(void)
{
	int fd = open(SHUT, O_RDONLY);

	become_student();
	WRONG(bsd_chmod(UX, SHUT, 0755), EPERM);
	WRONG(bsd_fchmod(UX, fd, 0755), EPERM);
	WRONG(bsd_chown(UX, SHUT, STUDENT, STUDENT), EPERM);
	WRONG(bsd_chown(UX, SHUT, UINT_MAX, UINT_MAX), EPERM);
	WRONG(bsd_truncate(UX, SHUT, 0), EACCES);
	WRONG(bsd_utimes(UX, SHUT, -1, -1), EACCES);
	WRONG(bsd_utimes(UX, SHUT, 1, 1), EPERM);
	WRONG(bsd_utimes(UX, SHUT, -1, 1), EPERM);
	EXPECT(make_text(STICKY "/own", "x", 0600));
	WRONG(bsd_chown(UX, STICKY "/own", 0, STUDENT), EPERM);
	WRONG(bsd_chown(UX, STICKY "/own", STUDENT, 0), EPERM);
	WRONG(bsd_utimes(UX, STICKY "/file", 1, 1), EPERM);
	EXPECT_EQ(bsd_unlink(UX, STICKY "/own"), 0);
}

TEST(attributes_that_student_cannot_change)
{
	REQUIRE(has_files());
	EXPECT(all_is_well_in_a_child(change_attributes_as_student));
}

/* ---------------- Shared memory and semaphores ---------------- */

TEST(shared_memory_that_cannot_be)
{
	const int makes = O_RDWR | O_CREAT | O_EXCL;
	mach_port_t object = MACH_PORT_NULL;
	int64_t size;
	int fd, other;

	WRONG(bsd_shm_open(UX, "", makes, 0600, &fd), EINVAL);
	WRONG(bsd_shm_open(UX, "/", makes, 0600, &fd), EINVAL);
	WRONG(bsd_shm_open(UX, "/a/b", makes, 0600, &fd), EINVAL);
	WRONG(bsd_shm_open(UX, "/none", O_RDWR, 0600, &fd), ENOENT);
	WRONG(bsd_shm_open(UX, "/none", O_WRONLY, 0600, &fd), EINVAL);
	WRONG(bsd_shm_open(UX, "/none", -1, 0600, &fd), EINVAL);
	WRONG(bsd_shm_unlink(UX, "none"), EINVAL);
	WRONG(bsd_shm_unlink(UX, "/none"), ENOENT);
	REQUIRE(bsd_shm_open(UX, "/wrong", makes, 0600, &fd) == 0);
	WRONG(bsd_shm_open(UX, "/wrong", makes, 0600, &other), EEXIST);
	WRONG(bsd_file_object(UX, fd, &object, &size), ENXIO);
	WRONG(bsd_ftruncate(UX, fd, INT64_MIN), EINVAL);
	WRONG(bsd_ftruncate(UX, fd, INT64_MAX), ENOMEM);
	WRONG(bsd_sem_wait(UX, fd, 0), EINVAL);
	WRONG(bsd_shm_unlink(UX, "/wrong"), 0);
	WRONG(bsd_close(UX, fd), 0);
}

TEST(semaphores_that_cannot_be)
{
	unsigned number, value;
	named_t named;
	int fd;

	WRONG(bsd_sem_open(UX, "", O_CREAT, 0600, 1, &fd, &number), EINVAL);
	WRONG(bsd_sem_open(UX, "/none", 0, 0600, 1, &fd, &number), ENOENT);
	WRONG(bsd_sem_open(UX, "/none", -1, 0600, 1, &fd, &number), EINVAL);
	WRONG(bsd_sem_open(UX, "/none", O_CREAT, 0600, UINT_MAX, &fd, &number), EINVAL);
	WRONG(bsd_named_next(UX, UINT_MAX, &named), ENOENT);
	WRONG(bsd_sem_unlink(UX, "none"), EINVAL);
	WRONG(bsd_sem_unlink(UX, "/none"), ENOENT);
	WITH_NO_FD(bsd_sem_wait(UX, fd, 0));
	WITH_NO_FD(bsd_sem_timedwait(UX, fd, UINT64_MAX));
	WITH_NO_FD(bsd_sem_post(UX, fd));
	WITH_NO_FD(bsd_sem_getvalue(UX, fd, &value));
	fd = open("/etc/passwd", O_RDONLY);
	WRONG(bsd_sem_wait(UX, fd, 1), EINVAL);
	WRONG(bsd_sem_timedwait(UX, fd, UINT64_MAX), EINVAL);
	WRONG(bsd_sem_post(UX, fd), EINVAL);
	WRONG(bsd_sem_getvalue(UX, fd, &value), EINVAL);
	close(fd);
}
