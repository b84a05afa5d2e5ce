/* SPDX-License-Identifier: MIT */
/*
 * Each event: a process makes every call that is audited, and the trail has exactly those, in their
 * order, with paths, arguments and results.
 *
 * guest: user=root limit=60
 */
#include <grp.h>
#include <mach.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ktrace.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <sys/time.h>
#include <sys/ux.h>
#include <unistd.h>

#include <bsm/audit.h>
#include <bsm/audit_kevents.h>
#include <bsm/audit_record.h>

#include "help.h"

#define TRAIL   "/tmp/events.trail"
#define FILE_   "/tmp/events.file"
#define OTHER   "/tmp/events.other"
#define FOLDER  "/tmp/events.d"
#define STUDENT 100
#define CLASS   0x10000000u
#define ROOM    (256 * 1024)
#define LINES   128
#define LINE    200

/* What is to be in the trail, and what is: the event, its tokens, `= error value`. */
static char wanted[LINES][LINE];
static unsigned n_wanted;

static __attribute__((format(printf, 1, 2))) void want(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(wanted[n_wanted++], LINE, format, values);
	va_end(values);
}

/* ---------------- The trail ---------------- */

static const uint8_t *at;

static uint32_t take(unsigned bytes)
{
	uint32_t value = 0;

	while (bytes-- > 0)
		value = value << 8 | *at++;
	return value;
}

static const char *take_text(void)
{
	unsigned length = take(2);
	const char *text = (const char *)at;

	at += length;
	return text;
}

static int put_argument(char *line, size_t room, unsigned bytes)
{
	unsigned number = take(1);
	uint64_t value = bytes == 8 ? (uint64_t)take(4) << 32 : 0;

	value |= take(4);
	return snprintf(line, room, " %u:%s=%lld", number, take_text(),
			(long long)(bytes == 8 ? (int64_t)value : (int32_t)value));
}

static int put_groups(char *line, size_t room)
{
	unsigned n = take(2);
	int length = snprintf(line, room, " groups");

	while (n-- > 0)
		length += snprintf(line + length, room - (size_t)length, " %lu",
				   (unsigned long)take(4));
	return length;
}

/* The token at hand. */
static int put_token(char *line, size_t room, uint8_t type)
{
	uint32_t error;

	switch (type) {
	case AUT_SUBJECT32:
		at += 4 * 9;
		return 0;
	case AUT_ARG32:
		return put_argument(line, room, 4);
	case AUT_ARG64:
		return put_argument(line, room, 8);
	case AUT_PATH:
		return snprintf(line, room, " path %s", take_text());
	case AUT_TEXT:
		return snprintf(line, room, " text %s", take_text());
	case AUT_NEWGROUPS:
		return put_groups(line, room);
	case AUT_RETURN32:
		error = take(1);
		return snprintf(line, room, " = %lu %ld", (unsigned long)error, (long)take(4));
	default:
		check_fail("a token of type %#x", type);
		return 0;
	}
}

/* A record as a line; the next one is then at hand. */
static void put_record(char *line)
{
	const uint8_t *record = at, *end;
	size_t length;

	EXPECT_EQ(take(1), AUT_HEADER32);
	end = record + take(4);
	take(1);
	length = (size_t)snprintf(line, LINE, "%lu", (unsigned long)take(2));
	at = record + AUDIT_HEADER_SIZE;
	while (at < end - AUDIT_TRAILER_SIZE) {
		uint8_t type = (uint8_t)take(1);

		length += (size_t)put_token(line + length, LINE - length, type);
	}
	at = end;
}

static void compare_trail(void)
{
	uint8_t *trail = malloc(ROOM);
	int file = open(TRAIL, O_RDONLY);
	ssize_t size = read(file, trail, ROOM);
	unsigned n = 0;

	REQUIRE(size > 0);
	for (at = trail; at < trail + size; n++) {
		char line[LINE];

		put_record(line);
		if (n >= n_wanted || strcmp(line, wanted[n]) != 0)
			check_fail("record %u is `%s`, not `%s`", n, line,
				   n < n_wanted ? wanted[n] : "");
	}
	EXPECT_EQ(n, n_wanted);
	close(file);
	free(trail);
}

/* ---------------- What is done ---------------- */

static int first; /* The lowest descriptor that is free. */

static void open_in_each_way(void)
{
	static const int accesses[] = {O_RDONLY, O_WRONLY, O_RDWR};

	for (unsigned way = 0; way < 12; way++) {
		int access = accesses[way % 3];
		bool truncates = way / 3 % 2 != 0, creates = way / 6 != 0;
		int flags = access | (truncates ? O_TRUNC : 0) | (creates ? O_CREAT : 0);

		EXPECT_EQ(open(FILE_, flags, 0640), first);
		want("%d path " FILE_ " 2:flags=%d 3:mode=%d = 0 %d",
		     AUE_OPEN(access, truncates, creates), flags, creates ? 0640 : 0, first);
		EXPECT_EQ(close(first), 0);
		want("%d 1:fd=%d = 0 0", AUE_CLOSE, first);
	}
	EXPECT_FAILS(open("/nothing", O_RDWR), ENOENT);
	want("%d path /nothing 2:flags=%d 3:mode=0 = %d 0", AUE_OPEN_RW, O_RDWR, ENOENT);
}

static void use_descriptors(void)
{
	int ends[2];

	EXPECT_EQ(open(FILE_, O_RDWR), first);
	want("%d path " FILE_ " 2:flags=%d 3:mode=0 = 0 %d", AUE_OPEN_RW, O_RDWR, first);
	EXPECT_EQ(dup2(first, first + 5), first + 5);
	want("%d 1:fd=%d 2:copy=%d = 0 0", AUE_DUP2, first, first + 5);
	EXPECT_EQ(fcntl(first, F_SETFD, FD_CLOEXEC), 0);
	want("%d 1:fd=%d 2:command=%d 3:argument=%d = 0 0", AUE_FCNTL, first, F_SETFD, FD_CLOEXEC);
	EXPECT_EQ(fchmod(first, 0604), 0);
	want("%d 1:fd=%d 2:mode=%d = 0 0", AUE_FCHMOD, first, 0604);
	EXPECT_EQ(ftruncate(first, 9), 0);
	want("%d 1:fd=%d 2:size=9 = 0 0", AUE_FTRUNCATE, first);
	EXPECT_EQ(pipe(ends), 0);
	want("%d 1:flags=0 = 0 %d", AUE_PIPE, ends[0]);
	EXPECT_FAILS(close(99), EBADF);
	want("%d 1:fd=99 = %d 0", AUE_CLOSE, EBADF);
}

static void use_paths(void)
{
	struct timeval times[2] = {{.tv_sec = 7}, {.tv_sec = 8}};
	struct stat status;
	char text[20];

	EXPECT_EQ(stat(FILE_, &status), 0);
	want("%d path " FILE_ " = 0 0", AUE_STAT);
	EXPECT_EQ(access(FILE_, R_OK), 0);
	want("%d path " FILE_ " 2:mode=%d = 0 0", AUE_ACCESS, R_OK);
	EXPECT_EQ(chmod(FILE_, 0600), 0);
	want("%d path " FILE_ " 2:mode=%d = 0 0", AUE_CHMOD, 0600);
	EXPECT_EQ(chown(FILE_, STUDENT, 5), 0);
	want("%d path " FILE_ " 2:uid=%d 3:gid=5 = 0 0", AUE_CHOWN, STUDENT);
	EXPECT_EQ(truncate(FILE_, 5000), 0);
	want("%d path " FILE_ " 2:size=5000 = 0 0", AUE_TRUNCATE);
	EXPECT_EQ(utimes(FILE_, times), 0);
	want("%d path " FILE_ " 2:accessed=7 3:modified=8 = 0 0", AUE_UTIMES);
	EXPECT_EQ(link(FILE_, OTHER), 0);
	want("%d path " FILE_ " path " OTHER " = 0 0", AUE_LINK);
	EXPECT_EQ(unlink(OTHER), 0);
	want("%d path " OTHER " = 0 0", AUE_UNLINK);
	EXPECT_EQ(symlink("where", OTHER), 0);
	want("%d text where path " OTHER " = 0 0", AUE_SYMLINK);
	EXPECT_EQ(readlink(OTHER, text, sizeof text), 5);
	want("%d path " OTHER " = 0 0", AUE_READLINK);
	EXPECT_EQ(rename(FILE_, OTHER), 0);
	want("%d path " FILE_ " path " OTHER " = 0 0", AUE_RENAME);
	EXPECT_EQ(mkfifo(FILE_, 0600), 0);
	want("%d path " FILE_ " 2:mode=%d = 0 0", AUE_MKFIFO, 0600);
	EXPECT_EQ(mkdir(FOLDER, 0700), 0);
	want("%d path " FOLDER " 2:mode=%d = 0 0", AUE_MKDIR, 0700);
	EXPECT_EQ(chdir(FOLDER), 0);
	want("%d path " FOLDER " = 0 0", AUE_CHDIR);
	EXPECT_FAILS(rmdir("nothing"), ENOENT);
	want("%d path " FOLDER "/nothing = %d 0", AUE_RMDIR, ENOENT);
}

static void be_somebody(void)
{
	static const gid_t groups[] = {7, 9};
	static const int type[] = {CTL_KERN, KERN_OSTYPE};
	char text[20];
	size_t size = sizeof text;
	const struct rlimit limit = {20, 30};
	struct rlimit now;
	auditinfo_t info;

	EXPECT_EQ(umask(027), 022);
	want("%d 1:mask=%d = 0 %d", AUE_UMASK, 027, 022);
	EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	want("%d 1:which=%d 2:limit=20 3:most=30 = 0 0", AUE_SETRLIMIT, RLIMIT_NOFILE);
	EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &now), 0);
	EXPECT_EQ(getaudit(&info), 0);
	want("%d = 0 0", AUE_GETAUDIT);
	EXPECT_EQ(kill(getpid(), 0), 0);
	want("%d 1:process=%d 2:signal=0 = 0 0", AUE_KILL, (int)getpid());
	EXPECT_EQ(setpgid(0, 0), 0);
	want("%d 1:process=0 2:group=0 = 0 0", AUE_SETPGRP);
	EXPECT_EQ(ktrace(NULL, KTROP_CLEAR, KTRFAC_USER, getpid()), 0);
	want("%d path  2:operation=%d 3:facilities=%d 4:process=%d = 0 0", AUE_KTRACE, KTROP_CLEAR,
	     KTRFAC_USER, (int)getpid());
	EXPECT_EQ(sysctl(type, 2, text, &size, NULL, 0), 0);
	want("%d = 0 %d", AUE_SYSCTL, (int)strlen(text) + 1);
	EXPECT_EQ(setgroups(2, groups), 0);
	want("%d groups 7 9 = 0 0", AUE_SETGROUPS);
	EXPECT_EQ(setegid(5), 0);
	want("%d 1:gid=5 = 0 0", AUE_SETEGID);
	EXPECT_EQ(setgid(STUDENT), 0);
	want("%d 1:gid=%d = 0 0", AUE_SETGID, STUDENT);
	EXPECT_EQ(seteuid(STUDENT), 0);
	want("%d 1:uid=%d = 0 0", AUE_SETEUID, STUDENT);
	EXPECT_EQ(seteuid(0), 0);
	want("%d 1:uid=0 = 0 0", AUE_SETEUID);
	EXPECT_EQ(setuid(STUDENT), 0);
	want("%d 1:uid=%d = 0 0", AUE_SETUID, STUDENT);
}

/* As a student, who may not. */
static void attack(void)
{
	mach_port_t port = MACH_PORT_NULL;

	EXPECT_FAILS(ux_reboot(UX_HALT, 3), EPERM);
	want("%d 1:how=%d 2:status=3 = %d 0", AUE_REBOOT, UX_HALT, EPERM);
	port = ux_device_port();
	EXPECT_EQ(port, MACH_PORT_NULL);
	want("%d = %d 0", AUE_DEVICE_PORT, EPERM);
	EXPECT_FAILS(chown(OTHER, 0, 0), EPERM);
	want("%d path " OTHER " 2:uid=0 3:gid=0 = %d 0", AUE_CHOWN, EPERM);
}

static void have_a_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(3);
	want("%d = 0 %d", AUE_FORK, (int)pid);
	want("%d 1:status=3 = 0 0", AUE_EXIT);
	EXPECT_EQ(WEXITSTATUS(status_of(pid)), 3);
}

/* What it wants to be there goes to the parent, who reads the trail, by a file. */
static void do_all(void)
{
	auditinfo_t info = {.ai_auid = 4711, .ai_mask = {CLASS, CLASS}, .ai_asid = 12};
	int out = open("/tmp/events.wanted", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	umask(022);
	first = out + 1;
	EXPECT_EQ(setaudit(&info), 0); /* Not in it: it is nobody's until then. */
	open_in_each_way();
	use_descriptors();
	use_paths();
	be_somebody();
	attack();
	have_a_child();
	write(out, wanted, sizeof wanted);
	want("%d 1:status=0 = 0 0", AUE_EXIT);
}

static void take_wanted(void)
{
	int file = open("/tmp/events.wanted", O_RDONLY);

	EXPECT_EQ(read(file, wanted, sizeof wanted), sizeof wanted);
	close(file);
	for (n_wanted = 0; wanted[n_wanted][0] != '\0'; n_wanted++)
		continue;
	want("%d 1:status=0 = 0 0", AUE_EXIT);
}

TEST(each_call_is_what_it_was)
{
	static const uint16_t events[] = {
		AUE_EXIT,      AUE_FORK,     AUE_LINK,        AUE_UNLINK,    AUE_CHDIR,
		AUE_CHMOD,     AUE_CHOWN,    AUE_ACCESS,      AUE_KILL,      AUE_STAT,
		AUE_REBOOT,    AUE_SYMLINK,  AUE_READLINK,    AUE_SETGROUPS, AUE_SETPGRP,
		AUE_FCNTL,     AUE_FCHMOD,   AUE_RENAME,      AUE_TRUNCATE,  AUE_FTRUNCATE,
		AUE_MKDIR,     AUE_RMDIR,    AUE_UTIMES,      AUE_SETRLIMIT, AUE_OPEN_R,
		AUE_OPEN_RC,   AUE_OPEN_RT,  AUE_OPEN_RTC,    AUE_OPEN_W,    AUE_OPEN_WC,
		AUE_OPEN_WT,   AUE_OPEN_WTC, AUE_OPEN_RW,     AUE_OPEN_RWC,  AUE_OPEN_RWT,
		AUE_OPEN_RWTC, AUE_CLOSE,    AUE_GETAUDIT,    AUE_PIPE,      AUE_SETUID,
		AUE_SETGID,    AUE_DUP2,     AUE_SETEGID,     AUE_SETEUID,   AUE_UMASK,
		AUE_MKFIFO,    AUE_KTRACE,   AUE_DEVICE_PORT, AUE_SYSCTL,
	};

	for (size_t n = 0; n < sizeof events / sizeof events[0]; n++) {
		au_evclass_map_t map = {events[n], CLASS};

		EXPECT_EQ(auditon(A_SETCLASS, &map, sizeof map), 0);
	}
	close(open(FILE_, O_WRONLY | O_CREAT, 0600));
	close(open(TRAIL, O_WRONLY | O_CREAT | O_TRUNC, 0600));
	EXPECT_EQ(auditctl(TRAIL), 0);
	EXPECT(all_is_well_in_a_child(do_all));
	EXPECT_EQ(auditctl(""), 0);
	take_wanted();
	compare_trail();
}
