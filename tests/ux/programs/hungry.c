/* SPDX-License-Identifier: MIT */
/*
 * When memory is out, and swap too if there is any, the user who has most of it pays with a
 * program.  Root's and another user's go on meanwhile and are right, and everything is back
 * afterwards.  `limits=` lets users have more pages than there are.
 *
 * guest: user=root append="pool=24 limits=400 ramdisk=1" limit=120 when=nightly
 * guest: user=root append="pool=24 limits=400 ramdisk=1" limit=120 cpus=4 seed=1
 * guest: user=root append="pool=24 limits=400 ramdisk=8" limit=120
 * guest: user=root append="pool=24 limits=400 ramdisk=8" limit=120 cpus=4 seed=1 when=nightly
 */
#include <assay.h>
#include <mach.h>
#include <mach/owner.h>
#include <signal.h>
#include <sys/ux.h>

#include "help.h"

enum {
	STUDENT = 100,
	TA = 101,
	PIECE = 1 << 20,
	KEPT = 2 << 20, /* What root's program has all the time, */
	USED = 1 << 20, /* and others for a while. */
	TURNS = 3,
	ROUNDS = 2,
	PATIENCE = 1000,
};

#define F "/tmp/hungry.f"

/* ---------------- What is used ---------------- */

static uint32_t pages_of(unsigned owner)
{
	unsigned found = owner;
	owner_uses_t uses;

	if (host_owner(mach_host_self(), &found, &uses) != KERN_SUCCESS || found != owner)
		return 0;
	return uses.uses[OWNER_PAGES].used;
}

static bool has_nothing(unsigned owner)
{
	for (int patience = PATIENCE; patience > 0 && pages_of(owner) > 0; patience--)
		swtch();
	return pages_of(owner) == 0;
}

/* ---------------- Patterns ---------------- */

static char *new_memory(size_t size)
{
	vm_address_t address = 0;

	EXPECT_EQ(vm_allocate(mach_task_self(), &address, size, TRUE), KERN_SUCCESS);
	return (char *)address;
}

static unsigned word_of(unsigned at, unsigned who)
{
	return at * 2654435761u + who;
}

static void fill(char *memory, size_t size, unsigned who)
{
	for (size_t at = 0; at < size; at += sizeof(unsigned))
		*(unsigned *)(memory + at) = word_of(at, who);
}

static unsigned count_wrong(const char *memory, size_t size, unsigned who)
{
	unsigned wrong = 0;

	for (size_t at = 0; at < size; at += sizeof(unsigned))
		wrong += *(const unsigned *)(memory + at) != word_of(at, who);
	return wrong;
}

/* ---------------- Who takes part ---------------- */

/* Takes all that there is, and does not stop. */
static pid_t fork_hungry(unsigned user)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (setuid(user) != 0)
			_exit(1);
		for (;;)
			memset(new_memory(PIECE), 1, PIECE);
	}
	return pid;
}

static void write_and_read(unsigned who)
{
	char *memory = new_memory(USED), *again = new_memory(USED);
	char name[] = F "0";
	int fd;

	name[sizeof name - 2] += (char)(who % 10);
	fill(memory, USED, who);
	fd = open(name, O_CREAT | O_TRUNC | O_RDWR, 0600);
	EXPECT_EQ(write(fd, memory, USED), USED);
	EXPECT_EQ(fsync(fd), 0);
	EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
	EXPECT_EQ(read(fd, again, USED), USED);
	EXPECT_EQ(count_wrong(again, USED, who), 0);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(unlink(name), 0);
	EXPECT_EQ(count_wrong(memory, USED, who), 0);
}

static void work_as_root(void)
{
	write_and_read(1);
	EXPECT_EQ(status_of_role("/bin/true", ""), 0);
}

static void work_as_ta(void)
{
	EXPECT_EQ(setuid(TA), 0);
	write_and_read(2);
}

/* ---------------- Tests ---------------- */

/* Root and another user work until the hungry one has ended, and longer. */
static void work_beside(pid_t hungry)
{
	int status = 0;
	pid_t ended = 0;

	for (int rounds = 0; ended == 0 || rounds < ROUNDS; rounds++) {
		EXPECT(all_is_well_in_a_child(work_as_root));
		EXPECT(all_is_well_in_a_child(work_as_ta));
		if (ended == 0)
			ended = waitpid(hungry, &status, WNOHANG);
	}
	EXPECT_EQ(ended, hungry);
	EXPECT_EQ(status, W_EXITCODE(0, SIGKILL));
}

TEST(the_hungry_one_ends)
{
	char *kept = new_memory(KEPT);

	fill(kept, KEPT, 3);
	for (int turn = 0; turn < TURNS; turn++) {
		work_beside(fork_hungry(STUDENT));
		EXPECT(has_nothing(STUDENT));
		EXPECT(has_nothing(TA));
		EXPECT_EQ(count_wrong(kept, KEPT, 3), 0);
	}
	EXPECT_EQ(vm_deallocate(mach_task_self(), (vm_address_t)kept, KEPT), KERN_SUCCESS);
}

/* Of a user's programs the one with most pages, and none of somebody who has few. */
TEST(a_small_program_stays)
{
	pid_t small = fork(), hungry;
	int status = 0;

	if (small == 0) {
		if (setuid(STUDENT) != 0)
			_exit(1);
		memset(new_memory(PIECE), 1, PIECE);
		for (;;)
			pause();
	}
	hungry = fork_hungry(STUDENT);
	EXPECT_EQ(status_of(hungry), SIGKILL);
	EXPECT_EQ(waitpid(small, &status, WNOHANG), 0);
	EXPECT_EQ(kill(small, SIGTERM), 0);
	EXPECT_EQ(status_of(small), SIGTERM);
	EXPECT(has_nothing(STUDENT));
}

/* Two users, and of each two programs. */
TEST(many_that_are_hungry)
{
	pid_t pids[4];

	for (int n = 0; n < 4; n++)
		pids[n] = fork_hungry(n % 2 == 0 ? STUDENT : TA);
	for (int n = 0; n < ROUNDS; n++)
		EXPECT(all_is_well_in_a_child(work_as_root));
	for (int n = 0; n < 4; n++)
		EXPECT_EQ(status_of(pids[n]), SIGKILL);
	EXPECT(has_nothing(STUDENT));
	EXPECT(has_nothing(TA));
}
