/* SPDX-License-Identifier: MIT */
/*
 * Shared memory and semaphores: what one process writes another reads, whoever may; how long they
 * live; what is charged and to whom; and what is not allowed.
 *
 * guest: user=root limit=60
 * guest: user=root cpus=2 seed=1 limit=60
 */
#include <mach.h>
#include <mach/host_info.h>
#include <mach/owner.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ux.h>

#include "help.h"

#define SELF_PATH "/tmp/shared"
#define M         "/memory"
#define S         "/semaphore"
#define STUDENT   100
#define PAGES     8
#define SIZE      (PAGES * PAGE)
#define MANY      300

static const mode_t secret = 0600, shown = 0644, open_to_all = 0666;

/* Executed by a test: whether the descriptor that it had is still open. */
__attribute__((constructor)) static void play_role(void)
{
	if (getenv(ROLE) == NULL)
		return;
	_exit(fcntl(atoi(getenv(ROLE)), F_GETFD) >= 0);
}

static void become_student(void)
{
	EXPECT_EQ(setgroups(0, NULL), 0);
	EXPECT_EQ(setgid(STUDENT), 0);
	EXPECT_EQ(setuid(STUDENT), 0);
}

static int make_memory(const char *name, mode_t mode, off_t size)
{
	int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, mode);

	EXPECT(fd >= 0);
	EXPECT_EQ(ftruncate(fd, size), 0);
	return fd;
}

static volatile char *map_shared(int fd, size_t size, int rights)
{
	void *address = mmap(NULL, size, rights, MAP_SHARED, fd, 0);

	EXPECT(address != MAP_FAILED);
	return address;
}

static void expect_no_map(size_t size, int rights, int flags, int fd, off_t offset, int error)
{
	if (mmap(NULL, size, rights, flags, fd, offset) != MAP_FAILED || errno != error)
		check_fail("errno is %d, not %d", errno, error);
}

static bool dies_of(int signal, void (*run)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		run();
		_exit(0);
	}
	return status_of(pid) == signal;
}

/* ---------------- Memory ---------------- */

static void write_by_name(void)
{
	int fd = shm_open(M, O_RDWR, 0);
	volatile char *memory = map_shared(fd, SIZE, PROT_READ | PROT_WRITE);

	EXPECT_EQ(memory[0], 1);
	EXPECT_EQ(memory[PAGE], 0);
	memory[PAGE] = 2;
}

TEST(who_opens_the_same_name_sees_the_same)
{
	int fd = make_memory(M, secret, SIZE);
	volatile char *memory = map_shared(fd, SIZE, PROT_READ | PROT_WRITE);

	memory[0] = 1;
	EXPECT(all_is_well_in_a_child(write_by_name));
	EXPECT_EQ(memory[PAGE], 2);
	EXPECT_EQ(munmap((void *)memory, SIZE), 0);
	EXPECT_EQ(shm_unlink(M), 0);
	close(fd);
}

static volatile char *inherited, *anonymous, *own;

static void write_inherited(void)
{
	inherited[0] = 3;
	anonymous[0] = 4;
	own[0] = 5;
}

TEST(maps_are_inherited_by_fork)
{
	int fd = make_memory(M, secret, SIZE);

	inherited = map_shared(fd, SIZE, PROT_READ | PROT_WRITE);
	anonymous = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	own = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	EXPECT_EQ(shm_unlink(M), 0);
	EXPECT(all_is_well_in_a_child(write_inherited));
	EXPECT_EQ(inherited[0], 3);
	EXPECT_EQ(anonymous[0], 4);
	EXPECT_EQ(own[0], 0); /* As it was when it was mapped. */
	own[0] = 6;
	EXPECT_EQ(inherited[0], 3);
	munmap((void *)inherited, SIZE);
	munmap((void *)anonymous, PAGE);
	munmap((void *)own, PAGE);
}

TEST(a_name_lives_until_it_is_removed)
{
	int fd = make_memory(M, secret, SIZE), again;
	volatile char *memory = map_shared(fd, SIZE, PROT_READ | PROT_WRITE);
	struct stat status;

	memory[0] = 7;
	munmap((void *)memory, SIZE);
	close(fd);
	fd = shm_open(M, O_RDWR, 0); /* Nobody had it. */
	memory = map_shared(fd, SIZE, PROT_READ | PROT_WRITE);
	EXPECT_EQ(memory[0], 7);
	EXPECT_EQ(fstat(fd, &status), 0);
	EXPECT_EQ(status.st_size, SIZE);
	EXPECT_EQ(status.st_nlink, 1);
	EXPECT_EQ(shm_unlink(M), 0);
	EXPECT_FAILS(shm_open(M, O_RDWR, 0), ENOENT);
	EXPECT_FAILS(shm_unlink(M), ENOENT);
	again = make_memory(M, secret, PAGE); /* Another one. */
	EXPECT_EQ(memory[0], 7);
	EXPECT_EQ(map_shared(again, PAGE, PROT_READ)[0], 0);
	EXPECT_EQ(fstat(fd, &status), 0);
	EXPECT_EQ(status.st_nlink, 0);
	close(fd);
	EXPECT_EQ(memory[0], 7); /* As long as it is mapped. */
	munmap((void *)memory, SIZE);
	EXPECT_EQ(shm_unlink(M), 0);
	close(again);
}

TEST(exec_closes_them)
{
	int fd = make_memory(M, secret, SIZE);
	char number[8];

	snprintf(number, sizeof number, "%d", fd);
	EXPECT_EQ(status_of_role(SELF_PATH, number), 0);
	EXPECT_EQ(fcntl(fd, F_SETFD, 0), 0);
	EXPECT_EQ(WEXITSTATUS(status_of_role(SELF_PATH, number)), 1);
	EXPECT_EQ(shm_unlink(M), 0);
	close(fd);
}

/* ---------------- Who may ---------------- */

static volatile char *shown_memory;

static void write_shown(void)
{
	shown_memory[0] = 1;
}

static void try_shown(void)
{
	int fd = shm_open(M, O_RDONLY, 0);

	EXPECT_FAILS(shm_open(M, O_RDWR, 0), EACCES);
	EXPECT_FAILS(shm_open("/secret", O_RDONLY, 0), EACCES);
	EXPECT_FAILS(shm_open("/secret", O_RDWR | O_CREAT, 0666), EACCES);
	EXPECT_FAILS(shm_unlink(M), EACCES);
	EXPECT_FAILS(ftruncate(fd, SIZE), EINVAL);
	expect_no_map(SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0, EACCES);
	shown_memory = map_shared(fd, SIZE, PROT_READ);
	EXPECT_EQ(shown_memory[0], 9);
	EXPECT_FAILS(mprotect((void *)shown_memory, SIZE, PROT_READ | PROT_WRITE), EACCES);
	EXPECT(dies_of(SIGSEGV, write_shown) || dies_of(SIGBUS, write_shown));
	EXPECT(sem_open("/secret", 0) == SEM_FAILED && errno == EACCES);
	EXPECT_FAILS(sem_unlink("/secret"), EACCES);
}

static void try_as_student(void)
{
	become_student();
	try_shown();
}

TEST(modes_say_who_may_what)
{
	int fd = make_memory(M, shown, SIZE), other = make_memory("/secret", secret, SIZE);
	sem_t *semaphore = sem_open("/secret", O_CREAT | O_EXCL, shown, 1);

	map_shared(fd, SIZE, PROT_READ | PROT_WRITE)[0] = 9;
	EXPECT(semaphore != SEM_FAILED);
	EXPECT(all_is_well_in_a_child(try_as_student));
	EXPECT_EQ(sem_unlink("/secret"), 0);
	EXPECT_EQ(sem_close(semaphore), 0);
	EXPECT_EQ(shm_unlink("/secret"), 0);
	EXPECT_EQ(shm_unlink(M), 0);
	close(fd);
	close(other);
}

/* ---------------- Limits and charges ---------------- */

static uint32_t memory_of_machine(void)
{
	struct host_basic_info info;
	mach_msg_type_number_t count = HOST_BASIC_INFO_COUNT;

	host_info(mach_host_self(), HOST_BASIC_INFO, (host_info_t)&info, &count);
	return info.memory_size;
}

static void take_all(void)
{
	off_t part = memory_of_machine() / 8 / PAGE * PAGE;
	int fd, second;

	become_student();
	fd = shm_open(M, O_RDWR | O_CREAT, secret);
	EXPECT_FAILS(ftruncate(fd, part + PAGE), ENOMEM);
	EXPECT_FAILS(ftruncate(fd, INT64_MAX), ENOMEM);
	EXPECT_EQ(ftruncate(fd, part), 0);
	second = shm_open("/second", O_RDWR | O_CREAT, secret);
	EXPECT_FAILS(ftruncate(second, PAGE), ENOMEM);
	EXPECT_EQ(shm_unlink(M), 0);
	EXPECT_FAILS(ftruncate(second, PAGE), ENOMEM); /* It is still open. */
	close(fd);
	EXPECT_EQ(ftruncate(second, PAGE), 0);
	EXPECT_EQ(shm_unlink("/second"), 0);
}

TEST(one_user_has_a_part_of_memory)
{
	EXPECT(all_is_well_in_a_child(take_all));
}

static void take_all_names(void)
{
	char name[16];
	int n = 0;

	become_student();
	for (; n < MANY; n++) {
		int fd;

		snprintf(name, sizeof name, "/%d", n);
		fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, secret);
		if (fd < 0)
			break;
		close(fd);
	}
	EXPECT_EQ(errno, ENOSPC);
	EXPECT_EQ(n, 64);
	EXPECT(sem_open(S, O_CREAT, secret, 1) == SEM_FAILED && errno == ENOSPC);
	while (n-- > 0) {
		snprintf(name, sizeof name, "/%d", n);
		EXPECT_EQ(shm_unlink(name), 0);
	}
}

static void take_one(void)
{
	EXPECT_EQ(shm_unlink(M), 0);
}

TEST(one_user_has_so_many_names)
{
	close(make_memory(M, secret, PAGE));
	EXPECT(all_is_well_in_a_child(take_all_names));
	EXPECT(all_is_well_in_a_child(take_one));
}

static uint32_t pages_of_student(void)
{
	owner_uses_t uses;
	unsigned found = STUDENT;

	if (host_owner(mach_host_self(), &found, &uses) != KERN_SUCCESS || found != STUDENT)
		return 0;
	return uses.uses[OWNER_PAGES].used;
}

static void leave_memory(void)
{
	int fd;

	become_student();
	fd = make_memory(M, open_to_all, SIZE);
	map_shared(fd, SIZE, PROT_WRITE)[0] = 1;
}

/* Who made it pays, also for what others touch, and when all programs of his have ended. */
TEST(pages_are_charged_to_who_made_them)
{
	volatile char *memory;
	int fd;

	EXPECT(all_is_well_in_a_child(leave_memory));
	fd = shm_open(M, O_RDWR, 0);
	memory = map_shared(fd, SIZE, PROT_READ | PROT_WRITE);
	EXPECT_EQ(pages_of_student(), 1);
	for (unsigned n = 0; n < PAGES; n++)
		memory[n * PAGE]++;
	EXPECT_EQ(memory[0], 2);
	EXPECT_EQ(pages_of_student(), PAGES);
	munmap((void *)memory, SIZE);
	close(fd);
	EXPECT_EQ(pages_of_student(), PAGES);
	EXPECT_EQ(shm_unlink(M), 0);
	EXPECT_EQ(pages_of_student(), 0);
}

/* ---------------- Semaphores ---------------- */

static sem_t *semaphore;

static int value_of(sem_t *which)
{
	int value = -1;

	EXPECT_EQ(sem_getvalue(which, &value), 0);
	return value;
}

TEST(a_semaphore_counts)
{
	semaphore = sem_open(S, O_CREAT | O_EXCL, secret, 2);
	EXPECT(semaphore != SEM_FAILED);
	EXPECT(sem_open(S, O_CREAT, secret, 5) == semaphore); /* The same, by its address. */
	EXPECT(sem_open(S, O_CREAT | O_EXCL, secret, 5) == SEM_FAILED && errno == EEXIST);
	EXPECT_EQ(sem_wait(semaphore), 0);
	EXPECT_EQ(sem_trywait(semaphore), 0);
	EXPECT_FAILS(sem_trywait(semaphore), EAGAIN);
	EXPECT_EQ(value_of(semaphore), 0);
	EXPECT_EQ(sem_post(semaphore), 0);
	EXPECT_EQ(value_of(semaphore), 1);
	EXPECT_EQ(sem_close(semaphore), 0);
	EXPECT_EQ(value_of(semaphore), 1);
	EXPECT_EQ(sem_unlink(S), 0);
	EXPECT_EQ(value_of(semaphore), 1);
	EXPECT_EQ(sem_close(semaphore), 0);
	EXPECT_FAILS(sem_unlink(S), ENOENT);
}

TEST(a_semaphore_can_be_full)
{
	semaphore = sem_open(S, O_CREAT, secret, SEM_VALUE_MAX);
	EXPECT_FAILS(sem_post(semaphore), EOVERFLOW);
	EXPECT_EQ(value_of(semaphore), (int)SEM_VALUE_MAX);
	EXPECT_EQ(sem_close(semaphore), 0);
	EXPECT_EQ(sem_unlink(S), 0);
	EXPECT(sem_open(S, O_CREAT, secret, SEM_VALUE_MAX + 1) == SEM_FAILED && errno == EINVAL);
}

static volatile unsigned *counter;

/* Without the semaphore additions are lost: the read and the write are far apart. */
static void add_under_semaphore(void)
{
	for (unsigned n = 0; n < MANY; n++) {
		unsigned seen;

		EXPECT_EQ(sem_wait(semaphore), 0);
		seen = *counter;
		getpid();
		*counter = seen + 1;
		EXPECT_EQ(sem_post(semaphore), 0);
	}
}

TEST(one_at_a_time)
{
	int fd = make_memory(M, secret, PAGE);
	pid_t pid;

	semaphore = sem_open(S, O_CREAT, secret, 1);
	counter = (volatile unsigned *)map_shared(fd, PAGE, PROT_READ | PROT_WRITE);
	pid = fork();
	if (pid == 0) {
		add_under_semaphore();
		_exit(check_failures != 0);
	}
	add_under_semaphore();
	EXPECT_EQ(status_of(pid), 0);
	EXPECT_EQ(*counter, 2 * MANY);
	EXPECT_EQ(value_of(semaphore), 1);
	EXPECT_EQ(sem_close(semaphore), 0);
	EXPECT_EQ(sem_unlink(S), 0);
	EXPECT_EQ(shm_unlink(M), 0);
	munmap((void *)counter, PAGE);
	close(fd);
}

/* Each waits until the other has come. */
TEST(one_wakes_the_other)
{
	sem_t *other = sem_open("/other", O_CREAT, secret, 0);
	pid_t pid;

	semaphore = sem_open(S, O_CREAT, secret, 0);
	pid = fork();
	for (unsigned n = 0; n < MANY; n++) {
		EXPECT_EQ(sem_post(pid == 0 ? other : semaphore), 0);
		EXPECT_EQ(sem_wait(pid == 0 ? semaphore : other), 0);
	}
	if (pid == 0)
		_exit(check_failures != 0);
	EXPECT_EQ(status_of(pid), 0);
	EXPECT_EQ(sem_close(semaphore), 0);
	EXPECT_EQ(sem_close(other), 0);
	EXPECT_EQ(sem_unlink(S), 0);
	EXPECT_EQ(sem_unlink("/other"), 0);
}

static void do_nothing(int signal)
{
	(void)signal;
}

static void wait_for_alarm(void)
{
	const struct sigaction action = {.sa_handler = do_nothing};

	sigaction(SIGALRM, &action, NULL);
	alarm(1);
	EXPECT_FAILS(sem_wait(semaphore), EINTR);
}

static void wait_for_ever(void)
{
	sem_wait(semaphore);
}

TEST(waits_end_by_signals_and_death)
{
	pid_t pid;

	semaphore = sem_open(S, O_CREAT, secret, 0);
	EXPECT(all_is_well_in_a_child(wait_for_alarm));
	pid = fork();
	if (pid == 0) {
		wait_for_ever();
		_exit(0);
	}
	EXPECT_EQ(kill(pid, SIGKILL), 0);
	EXPECT_EQ(status_of(pid), SIGKILL);
	EXPECT_EQ(sem_post(semaphore), 0); /* Nobody takes that any more. */
	EXPECT_EQ(value_of(semaphore), 1);
	EXPECT_EQ(sem_close(semaphore), 0);
	EXPECT_EQ(sem_unlink(S), 0);
}

/* ---------------- What there is ---------------- */

/* Whether the command prints that line, or with NULL more than its head. */
static bool prints(const char *command, const char *wanted)
{
	char line[200];
	bool found = false;
	FILE *out = popen(command, "r");

	EXPECT(out != NULL);
	EXPECT(fgets(line, sizeof line, out) != NULL); /* The head. */
	while (fgets(line, sizeof line, out) != NULL)
		found |= wanted == NULL || strcmp(line, wanted) == 0;
	EXPECT_EQ(pclose(out), 0);
	return found;
}

static void see_own(void)
{
	struct ux_named named = {0};
	int fd;

	become_student();
	EXPECT_FAILS(ux_named_next(0, &named), ENOENT);
	EXPECT(!prints("ipcs", NULL));
	fd = make_memory("/own", shown, PAGE);
	EXPECT_EQ(ux_named_next(0, &named), 0);
	EXPECT(strcmp(named.name, "/own") == 0);
	EXPECT_FAILS(ux_named_next(named.number, &named), ENOENT);
	EXPECT_EQ(shm_unlink("/own"), 0);
	EXPECT(prints("ipcs", "memory    student  student  0644     1       4096 (removed)\n"));
	EXPECT(!prints("ipcs -s", NULL));
	EXPECT(system("ipcrm -M /memory 2>/dev/null") != 0);
	close(fd);
}

/* Root sees all, and takes away what others left; others see their own. */
TEST(what_there_is_can_be_listed)
{
	int fd = make_memory(M, secret, SIZE);

	semaphore = sem_open(S, O_CREAT, open_to_all, 3);
	EXPECT(all_is_well_in_a_child(see_own));
	EXPECT(prints("ipcs", "memory    root     wheel    0600     1      32768 /memory\n"));
	EXPECT(prints("ipcs -s", "semaphore root     wheel    0644     1          3 /semaphore\n"));
	EXPECT(!prints("ipcs -s", "memory    root     wheel    0600     1      32768 /memory\n"));
	EXPECT_EQ(system("ipcrm -M /memory -S /semaphore"), 0);
	EXPECT_FAILS(shm_unlink(M), ENOENT);
	EXPECT_FAILS(sem_unlink(S), ENOENT);
	close(fd);
	EXPECT_EQ(sem_close(semaphore), 0);
	EXPECT(!prints("ipcs -m", NULL));
}

/* ---------------- Waits with a time ---------------- */

#define NANOS_PER_SECOND 1000000000
#define SHORT            20000000 /* Nanoseconds. */

static struct timespec time_from_now(long nanoseconds)
{
	struct timespec when;

	clock_gettime(CLOCK_REALTIME, &when);
	when.tv_nsec += nanoseconds;
	when.tv_sec += when.tv_nsec / NANOS_PER_SECOND;
	when.tv_nsec %= NANOS_PER_SECOND;
	return when;
}

static bool has_come(const struct timespec *when)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec > when->tv_sec ||
	       (now.tv_sec == when->tv_sec && now.tv_nsec >= when->tv_nsec);
}

/* Not before its time; and who need not wait does not, however late it is. */
TEST(a_wait_ends_with_its_time)
{
	const struct timespec long_ago = {.tv_sec = -1};
	struct timespec when = time_from_now(SHORT);

	semaphore = sem_open(S, O_CREAT, secret, 1);
	EXPECT_EQ(sem_timedwait(semaphore, &long_ago), 0);
	EXPECT_FAILS(sem_timedwait(semaphore, &long_ago), ETIMEDOUT);
	EXPECT_FAILS(sem_timedwait(semaphore, &when), ETIMEDOUT);
	EXPECT(has_come(&when));
	EXPECT_EQ(value_of(semaphore), 0);
	EXPECT_EQ(sem_post(semaphore), 0); /* Nobody waits any more who would take that. */
	EXPECT_EQ(value_of(semaphore), 1);
	EXPECT_EQ(sem_close(semaphore), 0);
	EXPECT_EQ(sem_unlink(S), 0);
}

static void time_out_at_alarm(void)
{
	const struct sigaction action = {.sa_handler = do_nothing};
	struct timespec late = time_from_now(0);

	late.tv_sec += 1000;
	sigaction(SIGALRM, &action, NULL);
	alarm(1);
	EXPECT_FAILS(sem_timedwait(semaphore, &late), EINTR);
}

TEST(a_wait_ends_before_its_time)
{
	struct timespec late = time_from_now(0);
	sem_t *other = sem_open("/other", O_CREAT, secret, 0);
	pid_t pid;

	late.tv_sec += 1000;
	semaphore = sem_open(S, O_CREAT, secret, 0);
	EXPECT(all_is_well_in_a_child(time_out_at_alarm));
	pid = fork();
	for (unsigned n = 0; n < MANY; n++) {
		EXPECT_EQ(sem_post(pid == 0 ? other : semaphore), 0);
		EXPECT_EQ(sem_timedwait(pid == 0 ? semaphore : other, &late), 0);
	}
	if (pid == 0)
		_exit(check_failures != 0);
	EXPECT_EQ(status_of(pid), 0);
	EXPECT_EQ(sem_close(semaphore), 0);
	EXPECT_EQ(sem_close(other), 0);
	EXPECT_EQ(sem_unlink(S), 0);
	EXPECT_EQ(sem_unlink("/other"), 0);
}

TEST(times_that_are_none)
{
	struct timespec when = {.tv_nsec = NANOS_PER_SECOND};

	semaphore = sem_open(S, O_CREAT, secret, 1);
	EXPECT_FAILS(sem_timedwait(semaphore, &when), EINVAL);
	when.tv_nsec = -1;
	EXPECT_FAILS(sem_timedwait(semaphore, &when), EINVAL);
	EXPECT_FAILS(sem_timedwait(semaphore, NULL), EFAULT);
	EXPECT_FAILS(sem_timedwait(NULL, &when), EINVAL);
	EXPECT_EQ(value_of(semaphore), 1);
	EXPECT_EQ(sem_close(semaphore), 0);
	EXPECT_EQ(sem_unlink(S), 0);
}

/* ---------------- What is wrong ---------------- */

TEST(names_and_flags_that_cannot_be)
{
	static char long_name[300];

	memset(long_name, 'x', sizeof long_name - 1);
	long_name[0] = '/';
	EXPECT_FAILS(shm_open(long_name, O_RDWR | O_CREAT, secret), ENAMETOOLONG);
	EXPECT_FAILS(shm_open("name", O_RDWR | O_CREAT, secret), EINVAL);
	EXPECT_FAILS(shm_open("/", O_RDWR | O_CREAT, secret), EINVAL);
	EXPECT_FAILS(shm_open("/a/b", O_RDWR | O_CREAT, secret), EINVAL);
	EXPECT_FAILS(shm_open(M, O_WRONLY | O_CREAT, secret), EINVAL);
	EXPECT_FAILS(shm_open(M, O_RDWR | O_CREAT | O_TRUNC, secret), EINVAL);
	EXPECT_FAILS(shm_open(NULL, O_RDWR, 0), EFAULT);
	EXPECT_FAILS(sem_unlink("name"), EINVAL);
	EXPECT_FAILS(sem_post(NULL), EINVAL);
}

TEST(maps_that_cannot_be)
{
	const int rw = PROT_READ | PROT_WRITE;
	int fd = shm_open(M, O_RDWR | O_CREAT, secret), file = open("/etc/passwd", O_RDONLY);

	expect_no_map(PAGE, rw, MAP_SHARED, fd, 0, ENXIO); /* It has no size yet. */
	EXPECT_FAILS(ftruncate(fd, 0), EINVAL);
	EXPECT_FAILS(ftruncate(fd, -1), EINVAL);
	EXPECT_EQ(ftruncate(fd, PAGE + 1), 0);
	EXPECT_EQ(ftruncate(fd, PAGE + 1), 0);
	EXPECT_FAILS(ftruncate(fd, PAGE), EINVAL);
	expect_no_map(3 * PAGE, rw, MAP_SHARED, fd, 0, ENXIO);
	expect_no_map(PAGE, rw, MAP_SHARED, fd, 1, EINVAL);
	expect_no_map(0, rw, MAP_SHARED, fd, 0, EINVAL);
	expect_no_map(PAGE, rw, MAP_SHARED | MAP_PRIVATE, fd, 0, EINVAL);
	expect_no_map(PAGE, rw, MAP_SHARED, 40, 0, EBADF);
	expect_no_map(PAGE, rw, MAP_SHARED, file, 0, EACCES); /* No file is written by memory. */
	EXPECT_FAILS(read(fd, (char[1]){0}, 1), EINVAL);
	EXPECT_FAILS(lseek(fd, 0, SEEK_SET), ESPIPE);
	EXPECT_FAILS(munmap((void *)1, PAGE), EINVAL);
	EXPECT_EQ(shm_unlink(M), 0);
	close(fd);
	close(file);
}
