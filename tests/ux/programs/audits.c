/* SPDX-License-Identifier: MIT */
/*
 * Auditing: who may, what the calls do, and what is in the trail of what was done.  The trail of
 * these tests is a file of theirs; there is no auditd.
 *
 * guest: user=root limit=60
 */
#include <mach.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ktrace.h>
#include <sys/ux.h>
#include <time.h>
#include <unistd.h>

#include <bsm/audit.h>
#include <bsm/audit_kevents.h>
#include <bsm/audit_record.h>

#include "help.h"

#define SHARED  "/audits"
#define TRAIL   "/tmp/audits.trail"
#define SECOND  "/tmp/audits.second"
#define STUDENT 100
#define CLASS   0x10000000u /* Of what is audited here. */
#define ROOM    (1024 * 1024)

static uint8_t *trail; /* What was read of a file last. */
static size_t trail_size;

/* ---------------- Help ---------------- */

static void make_trail(const char *path)
{
	close(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
}

static void set_class(uint32_t event, au_class_t class)
{
	au_evclass_map_t map = {event, class};

	EXPECT_EQ(auditon(A_SETCLASS, &map, sizeof map), 0);
}

static audit_stat_t counts(void)
{
	audit_stat_t now = {0};

	EXPECT_EQ(auditon(A_GETSTAT, &now, sizeof now), 0);
	return now;
}

/* The events of this process and its children are audited, if they end so. */
static void set_own_mask(au_class_t success, au_class_t failure)
{
	auditinfo_t info = {.ai_auid = 4711, .ai_mask = {success, failure}, .ai_asid = 12};

	EXPECT_EQ(setaudit(&info), 0);
}

static void begin(void)
{
	make_trail(TRAIL);
	EXPECT_EQ(auditctl(TRAIL), 0);
}

/* All is on the disk after that. */
static void end(void)
{
	EXPECT_EQ(auditctl(""), 0);
	set_own_mask(0, 0);
}

static void read_trail(const char *path)
{
	int file = open(path, O_RDONLY);
	ssize_t n;

	if (trail == NULL)
		trail = malloc(ROOM);
	trail_size = 0;
	while (file >= 0 && (n = read(file, trail + trail_size, ROOM - trail_size)) > 0)
		trail_size += (size_t)n;
	close(file);
}

static uint32_t word_at(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

/* Where the n-th record of an event is; null: there are not so many. */
static const uint8_t *find_record(uint16_t event, unsigned n)
{
	for (size_t at = 0; at < trail_size; at += word_at(trail + at + 1)) {
		const uint8_t *record = trail + at;

		if (record[6] == event >> 8 && record[7] == (event & 0xff) && n-- == 0)
			return record;
	}
	return NULL;
}

/* Whether bytes are somewhere in a record. */
static bool has_bytes(const uint8_t *record, const void *bytes, size_t size)
{
	for (size_t at = 0; at + size <= word_at(record + 1); at++) {
		if (memcmp(record + at, bytes, size) == 0)
			return true;
	}
	return false;
}

static bool has_text(const uint8_t *record, const char *text)
{
	return has_bytes(record, text, strlen(text) + 1);
}

/* The error of a record, which stands before its trailer. */
static int error_of(const uint8_t *record)
{
	const uint8_t *result = record + word_at(record + 1) - AUDIT_TRAILER_SIZE - 6;

	EXPECT_EQ(result[0], AUT_RETURN32);
	return result[1];
}

static uint32_t subject_word(const uint8_t *record, unsigned n)
{
	EXPECT_EQ(record[AUDIT_HEADER_SIZE], AUT_SUBJECT32);
	return word_at(record + AUDIT_HEADER_SIZE + 1 + 4 * n);
}

static void become_student(void)
{
	EXPECT_EQ(setgid(STUDENT), 0);
	EXPECT_EQ(setuid(STUDENT), 0);
}

/* ---------------- Who may ---------------- */

static void try_as_student(void)
{
	auditinfo_t info = {0};
	int policy = 0;
	au_id_t auid = 0;

	become_student();
	EXPECT(audit("", 1) == -1 && errno == EPERM);
	EXPECT(auditon(A_SETPOLICY, &policy, sizeof policy) == -1 && errno == EPERM);
	EXPECT(auditon(A_GETSTAT, NULL, 0) == -1 && errno == EPERM);
	EXPECT(auditctl("/tmp/nothing") == -1 && errno == EPERM);
	EXPECT(auditctl("") == -1 && errno == EPERM);
	EXPECT(setaudit(&info) == -1 && errno == EPERM);
	EXPECT(getaudit(&info) == -1 && errno == EPERM);
	EXPECT(setauid(&auid) == -1 && errno == EPERM);
}

TEST(only_root_may)
{
	EXPECT(all_is_well_in_a_child(try_as_student));
}

TEST(what_makes_no_sense_is_refused)
{
	au_qctrl_t limits;
	int policy = 0x8000, condition = 17;
	unsigned trigger = 0;

	EXPECT(auditon(9999, &policy, sizeof policy) == -1 && errno == EINVAL);
	EXPECT(auditon(A_SETPOLICY, &policy, sizeof policy) == -1 && errno == EINVAL);
	EXPECT(auditon(A_SETPOLICY, &policy, 0) == -1 && errno == EINVAL);
	EXPECT(auditon(A_SETCOND, &condition, sizeof condition) == -1 && errno == EINVAL);
	EXPECT(auditon(A_SENDTRIGGER, &trigger, sizeof trigger) == -1 && errno == EINVAL);
	EXPECT(auditon(A_GETQCTRL, &limits, 4) == -1 && errno == EINVAL);
	EXPECT_EQ(auditon(A_GETQCTRL, &limits, sizeof limits), 0);
	limits.aq_hiwater = 0;
	EXPECT(auditon(A_SETQCTRL, &limits, sizeof limits) == -1 && errno == EINVAL);
	limits.aq_hiwater = AQ_MAXHIGH + 1;
	EXPECT(auditon(A_SETQCTRL, &limits, sizeof limits) == -1 && errno == EINVAL);
	EXPECT(auditctl("/nothing/there") == -1 && errno == ENOENT);
	EXPECT(auditctl("/tmp") == -1 && errno == EINVAL);
	EXPECT(auditctl("/dev/null") == -1 && errno == EINVAL);
}

TEST(at_first_there_is_nothing)
{
	int condition = 0;
	au_evclass_map_t map = {AUE_OPEN_R, 99};

	EXPECT_EQ(auditon(A_GETCOND, &condition, sizeof condition), 0);
	EXPECT_EQ(condition, AUC_NOAUDIT);
	EXPECT_EQ(auditon(A_GETCLASS, &map, sizeof map), 0);
	EXPECT_EQ(map.ec_class, 0);
	EXPECT_EQ(counts().as_generated, 0);
}

/* ---------------- Records ---------------- */

TEST(a_call_has_a_record_with_its_arguments_and_its_end)
{
	static const uint8_t flags[] = {AUT_ARG32, 2, 0, 0, 0, O_RDONLY, 0, 6, 'f', 'l', 'a', 'g'};
	const uint8_t *record;
	int file;

	set_class(AUE_OPEN_R, CLASS);
	set_own_mask(CLASS, CLASS);
	begin();
	file = open("/etc/passwd", O_RDONLY);
	close(file);
	EXPECT(open("/etc/nothing", O_RDONLY) == -1);
	end();
	read_trail(TRAIL);
	record = find_record(AUE_OPEN_R, 0);
	REQUIRE(record != NULL);
	EXPECT(has_text(record, "/etc/passwd"));
	EXPECT(has_bytes(record, flags, sizeof flags));
	EXPECT_EQ(error_of(record), 0);
	EXPECT_EQ(word_at(record + word_at(record + 1) - AUDIT_TRAILER_SIZE - 4), file);
	EXPECT_EQ(subject_word(record, 0), 4711);
	EXPECT_EQ(subject_word(record, 5), getpid());
	EXPECT_EQ(subject_word(record, 6), 12);
	record = find_record(AUE_OPEN_R, 1);
	REQUIRE(record != NULL);
	EXPECT(has_text(record, "/etc/nothing"));
	EXPECT_EQ(error_of(record), ENOENT);
	EXPECT_EQ(record[8], PAD_FAILURE >> 8);
	EXPECT(find_record(AUE_OPEN_R, 2) == NULL);
}

TEST(only_what_is_asked_for_is_recorded)
{
	set_class(AUE_CHDIR, CLASS);
	set_class(AUE_MKDIR, CLASS * 2);
	set_own_mask(CLASS, 0);
	begin();
	EXPECT_EQ(chdir("/tmp"), 0);
	EXPECT_EQ(chdir("/nothing"), -1);
	EXPECT_EQ(mkdir("/tmp", 0700), -1);
	end();
	read_trail(TRAIL);
	EXPECT(find_record(AUE_CHDIR, 0) != NULL);
	EXPECT(find_record(AUE_CHDIR, 1) == NULL);
	EXPECT(find_record(AUE_MKDIR, 0) == NULL);
}

TEST(paths_are_from_the_root_on)
{
	const uint8_t *record;

	EXPECT_EQ(chdir("/tmp"), 0);
	set_class(AUE_MKDIR, CLASS);
	set_class(AUE_RMDIR, CLASS);
	set_own_mask(CLASS, CLASS);
	begin();
	EXPECT_EQ(mkdir("audits.d", 0700), 0);
	EXPECT_EQ(chdir("/"), 0);
	EXPECT_EQ(rmdir("tmp/audits.d"), 0);
	end();
	read_trail(TRAIL);
	record = find_record(AUE_MKDIR, 0);
	EXPECT(record != NULL && has_text(record, "/tmp/audits.d"));
	record = find_record(AUE_RMDIR, 0);
	EXPECT(record != NULL && has_text(record, "/tmp/audits.d"));
}

static void open_as_student(void)
{
	become_student();
	close(open("/etc/motd", O_RDONLY));
}

/* Whoever a process becomes: who logged in stays. */
TEST(who_it_was_stays)
{
	const uint8_t *record;

	set_class(AUE_OPEN_R, CLASS);
	set_own_mask(CLASS, CLASS);
	begin();
	EXPECT(all_is_well_in_a_child(open_as_student));
	end();
	read_trail(TRAIL);
	record = find_record(AUE_OPEN_R, 0);
	REQUIRE(record != NULL);
	EXPECT_EQ(subject_word(record, 0), 4711);
	EXPECT_EQ(subject_word(record, 1), STUDENT);
	EXPECT_EQ(subject_word(record, 3), STUDENT);
}

static void touch_nothing(void)
{
	signal(SIGSEGV, SIG_DFL);
	*(volatile int *)0x1000 = 1;
}

TEST(an_exception_is_recorded)
{
	const uint8_t *record;
	pid_t pid;

	set_class(AUE_EXCEPTION, CLASS);
	set_own_mask(CLASS, CLASS);
	begin();
	pid = fork();
	if (pid == 0)
		touch_nothing();
	EXPECT(WIFSIGNALED(status_of(pid)));
	end();
	read_trail(TRAIL);
	record = find_record(AUE_EXCEPTION, 0);
	REQUIRE(record != NULL);
	EXPECT_EQ(subject_word(record, 5), pid);
}

TEST(ends_of_processes_and_programs_are_recorded)
{
	const uint8_t *record;
	pid_t pid;

	set_class(AUE_EXECVE, CLASS);
	set_class(AUE_EXIT, CLASS);
	set_own_mask(CLASS, CLASS);
	begin();
	pid = fork();
	if (pid == 0) {
		execl("/bin/false", "false", "word", (char *)NULL);
		_exit(99);
	}
	EXPECT_EQ(WEXITSTATUS(status_of(pid)), 1);
	end();
	read_trail(TRAIL);
	record = find_record(AUE_EXECVE, 0);
	REQUIRE(record != NULL);
	EXPECT(has_text(record, "/bin/false"));
	EXPECT_EQ(error_of(record), 0);
	record = find_record(AUE_EXIT, 0);
	EXPECT(record != NULL && subject_word(record, 5) == (uint32_t)pid);
}

/* ---------------- Records of programs ---------------- */

#define OWN_SIZE (AUDIT_HEADER_SIZE + 6 + AUDIT_TRAILER_SIZE)

static void make_record(uint8_t record[OWN_SIZE])
{
	static const uint8_t bytes[OWN_SIZE] = {AUT_HEADER32,
						0,
						0,
						0,
						OWN_SIZE,
						11,
						0xaf,
						0xc8,
						[AUDIT_HEADER_SIZE] = AUT_RETURN32,
						[AUDIT_HEADER_SIZE + 6] = AUT_TRAILER,
						0xb1,
						0x05,
						0,
						0,
						0,
						OWN_SIZE};

	memcpy(record, bytes, OWN_SIZE);
}

TEST(a_program_s_record_is_a_whole_one_or_none)
{
	uint8_t record[OWN_SIZE];

	make_record(record);
	EXPECT(audit(record, OWN_SIZE) == -1 && errno == ENXIO);
	begin();
	EXPECT_EQ(audit(record, OWN_SIZE), 0);
	EXPECT(audit(record, OWN_SIZE - 1) == -1 && errno == EINVAL);
	EXPECT(audit(record, 3) == -1 && errno == EINVAL);
	for (int n = 0; n < OWN_SIZE; n++) {
		bool is_frame = n < 5 || n >= AUDIT_HEADER_SIZE + 6;

		make_record(record);
		record[n] ^= 0x40;
		if (is_frame)
			EXPECT(audit(record, OWN_SIZE) == -1 && errno == EINVAL);
	}
	end();
	read_trail(TRAIL);
	make_record(record);
	EXPECT_EQ(trail_size, OWN_SIZE);
	EXPECT(memcmp(trail, record, OWN_SIZE) == 0);
}

/* ---------------- The queue ---------------- */

TEST(what_was_made_is_written_or_waits)
{
	audit_stat_t before = counts(), after;
	uint8_t record[OWN_SIZE];

	make_record(record);
	begin();
	for (int n = 0; n < 250; n++)
		EXPECT_EQ(audit(record, OWN_SIZE), 0);
	after = counts();
	EXPECT_EQ(after.as_generated - before.as_generated, 250);
	EXPECT_EQ(after.as_generated, after.as_written + after.as_waiting + after.as_dropped);
	end();
	after = counts();
	EXPECT_EQ(after.as_waiting, 0);
	EXPECT_EQ(after.as_written - before.as_written, 250);
	EXPECT(after.as_groups - before.as_groups < 10);
	read_trail(TRAIL);
	EXPECT_EQ(trail_size, 250 * OWN_SIZE);
}

/* What is in the queue goes into the next file, once. */
TEST(a_trail_goes_on_in_another_file)
{
	uint8_t record[OWN_SIZE];

	make_record(record);
	make_trail(SECOND);
	begin();
	for (int n = 0; n < 30; n++)
		EXPECT_EQ(audit(record, OWN_SIZE), 0);
	EXPECT_EQ(auditctl(SECOND), 0);
	for (int n = 0; n < 30; n++)
		EXPECT_EQ(audit(record, OWN_SIZE), 0);
	end();
	read_trail(TRAIL);
	EXPECT_EQ(trail_size % OWN_SIZE, 0);
	EXPECT(trail_size <= 30 * OWN_SIZE);
	EXPECT_EQ(trail_size, 60 * OWN_SIZE - (read_trail(SECOND), trail_size));
	unlink(SECOND);
	unlink(TRAIL);
}

/* ---------------- Attempts ---------------- */

/* What a student tries against the trail and others, and one thing that he may. */
static void try_all(void)
{
	auditinfo_t info = {0};
	int condition = AUC_NOAUDIT;

	become_student();
	make_trail("/tmp/audits.own");
	close(open("/etc/passwd", O_RDONLY));
	EXPECT(ktrace("/tmp/audits.own", KTROP_SET, KTRFAC_SYSCALL, 1) == -1 && errno == EPERM);
	EXPECT(ktrace(NULL, KTROP_CLEAR, KTRFAC_SYSCALL, 1) == -1 && errno == EPERM);
	EXPECT(auditctl("") == -1 && errno == EPERM);
	EXPECT(auditon(A_SETCOND, &condition, sizeof condition) == -1 && errno == EPERM);
	EXPECT(audit("x", 1) == -1 && errno == EPERM);
	EXPECT(setaudit(&info) == -1 && errno == EPERM);
	EXPECT_EQ(task_by_pid(1), MACH_PORT_NULL);
	EXPECT_EQ(task_by_pid(0), MACH_PORT_NULL);
	EXPECT(open(TRAIL, O_RDONLY) == -1 && errno == EACCES);
	EXPECT(open(TRAIL, O_WRONLY) == -1 && errno == EACCES);
	EXPECT(shm_open(SHARED, O_RDONLY, 0) == -1 && errno == EACCES);
	EXPECT(shm_unlink(SHARED) == -1 && errno == EACCES);
	EXPECT(sem_open(SHARED, 0) == SEM_FAILED && errno == EACCES);
	EXPECT(sem_unlink(SHARED) == -1 && errno == EACCES);
}

/* So many records of an event, each of a student whose audit id is that of who logged in. */
static void expect_attempts(uint16_t event, unsigned count, int error)
{
	const uint8_t *record;
	unsigned n = 0;

	while ((record = find_record(event, n)) != NULL) {
		EXPECT_EQ(error_of(record), error);
		EXPECT_EQ(subject_word(record, 0), 4711);
		EXPECT_EQ(subject_word(record, 1), STUDENT);
		n++;
	}
	if (n != count)
		check_fail("event %u has %u records, not %u", event, n, count);
}

TEST(what_is_refused_is_in_the_trail)
{
	static const uint16_t events[] = {AUE_KTRACE,   AUE_AUDITCTL,   AUE_AUDITON, AUE_AUDIT,
					  AUE_SETAUDIT, AUE_TASKFORPID, AUE_OPEN_R,  AUE_OPEN_W,
					  AUE_SHMOPEN,  AUE_SHMUNLINK,  AUE_SEMOPEN, AUE_SEMUNLINK};

	for (unsigned n = 0; n < sizeof events / sizeof events[0]; n++)
		set_class(events[n], CLASS);
	close(shm_open(SHARED, O_RDWR | O_CREAT, 0600));
	sem_close(sem_open(SHARED, O_CREAT, 0600, 1));
	begin();
	set_own_mask(0, CLASS);
	EXPECT(all_is_well_in_a_child(try_all));
	end();
	for (unsigned n = 0; n < sizeof events / sizeof events[0]; n++)
		set_class(events[n], 0);
	read_trail(TRAIL);
	expect_attempts(AUE_KTRACE, 2, EPERM);
	expect_attempts(AUE_AUDITCTL, 1, EPERM);
	expect_attempts(AUE_AUDITON, 1, EPERM);
	expect_attempts(AUE_AUDIT, 1, EPERM);
	expect_attempts(AUE_SETAUDIT, 1, EPERM);
	expect_attempts(AUE_TASKFORPID, 2, EPERM);
	expect_attempts(AUE_OPEN_R, 1, EACCES);
	expect_attempts(AUE_OPEN_W, 1, EACCES);
	expect_attempts(AUE_SHMOPEN, 1, EACCES);
	expect_attempts(AUE_SHMUNLINK, 1, EACCES);
	expect_attempts(AUE_SEMOPEN, 1, EACCES);
	expect_attempts(AUE_SEMUNLINK, 1, EACCES);
	unlink("/tmp/audits.own");
	EXPECT_EQ(shm_unlink(SHARED), 0);
	EXPECT_EQ(sem_unlink(SHARED), 0);
}

/* ---------------- The port ---------------- */

TEST(the_control_port_is_root_s_to_set)
{
	mach_port_t host = task_by_pid(-1), self = mach_task_self_cached(), port, got;

	REQUIRE(host != MACH_PORT_NULL);
	EXPECT_EQ(mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &port), KERN_SUCCESS);
	EXPECT_EQ(mach_port_insert_right(self, port, port, MACH_MSG_TYPE_MAKE_SEND), KERN_SUCCESS);
	EXPECT_EQ(host_set_audit_control_port(mach_host_self(), port), KERN_INVALID_HOST);
	EXPECT_EQ(host_set_audit_control_port(host, port), KERN_SUCCESS);
	EXPECT_EQ(host_get_audit_control_port(host, &got), KERN_SUCCESS);
	EXPECT_EQ(got, port);
	EXPECT_EQ(mach_port_mod_refs(self, port, MACH_PORT_RIGHT_RECEIVE, -1), KERN_SUCCESS);
	EXPECT_EQ(host_get_audit_control_port(host, &got), KERN_SUCCESS);
	EXPECT_EQ(got, MACH_PORT_NULL);
	EXPECT_EQ(host_set_audit_control_port(host, MACH_PORT_NULL), KERN_SUCCESS);
}
