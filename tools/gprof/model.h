/* SPDX-License-Identifier: MIT */
/*
 * A profile, whatever file it came from: what was sampled, where and how often, who called whom.
 *
 * Readers (gmon_read.c, perf_read.c, ...) add to it; several files may be added to one profile.
 * profile_finish() then sorts and sums, and all that prints reads it only afterwards.
 *
 * A *flavor* is one reason to take samples: the clock, or a kind of page fault.  For each flavor
 * there are counts by address, apart for samples of user mode and of kernel mode; the address of
 * the latter is where the program had called or trapped from.  Files with exact counts give those;
 * plain gmon.out files give *bins*, each of which counts several addresses.  A file that has single
 * samples (perf.data) gives `samples` alone, and profile_finish() makes the counts from them.
 */
#ifndef GPROF_MODEL_H
#define GPROF_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elfsym/elfsym.h"
#include "map.h"

enum profile_mode {
	PROFILE_USER,
	PROFILE_KERNEL,
	PROFILE_MODES,
};

/* So many samples at one address. */
struct profile_count {
	uint64_t pc;
	uint64_t count;
};

/* Sorted by pc, each pc once, after profile_finish(). */
struct profile_counts {
	struct profile_count *items;
	size_t n;
	size_t room;
	uint64_t total;
};

/*
 * A histogram: bin i counts samples from low + i * (high - low) / n on, up to where the next
 * begins.  Counts have 64 bits; the upper halves are there only when one of them is not 0.
 */
struct profile_bins {
	uint64_t low;
	uint64_t high;
	uint32_t n;
	uint32_t *counts;
	uint32_t *upper; /* NULL: all 0. */
};

#define PROFILE_FLAVORS 16u
#define PROFILE_RANGES  256u
#define PROFILE_IMAGES  4096u /* Of a task. */
#define PROFILE_NAME    16u

struct profile_flavor {
	char name[PROFILE_NAME]; /* "periodic", "zfill", "reactivation", "pagein", "cow",
				    "faults-any", or */
	unsigned bit;            /* SAMPLED_PC_*; 0: some other gprof's file did not say. */
	bool is_event;           /* A sample is an event and no time. */
	bool is_length;          /* A sample is a time of its own length: the rate is 1e9. */
	double rate;             /* Samples a second; 0: the file does not say. */
	struct profile_counts counts[PROFILE_MODES];
	struct profile_bins *bins; /* User mode only; ranges that do not overlap. */
	size_t n_bins;
};

struct profile_arc {
	uint64_t from; /* Behind the call instruction, or the calling function; */
	uint64_t self; /* somewhere in the called one. */
	uint64_t count;
};

/* One sample with all that is known of it. */
struct profile_sample {
	uint64_t time;      /* Nanoseconds. */
	uint64_t weight;    /* 1; of a flavor of lengths its own, in nanoseconds. */
	uint64_t pc;        /* Of user mode, */
	uint64_t kernel_pc; /* of kernel mode; 0: it was in user mode. */
	uint32_t thread;
	uint32_t task;
	uint32_t label;         /* The task on whose behalf: profile_task(); 0: the system's. */
	uint32_t frames;        /* Index of the first frame in the profile's. */
	uint16_t kernel_frames; /* Return addresses, innermost first, pc itself not among them, */
	uint16_t user_frames;   /* these behind those. */
	uint32_t images;        /* So many images were known when it was read. */
	uint8_t flavor;         /* Index. */
	uint8_t cpu;
	bool is_kernel;
	bool is_cut;           /* The stack goes on. */
	bool is_strange;       /* Another program's: profile_finish() says so. */
	const char *waits_for; /* Of a wait in time as it passed, its flavor's name; else NULL. */
};

/* A task of samples, or a label. */
struct profile_task {
	uint32_t id;
	int32_t pid;      /* Unix's; -1: not known. */
	const char *name; /* The profile's own copy. */
};

/* What a recording says of a process. */
struct profile_kin {
	int32_t pid;
	int32_t parent; /* Who forked it; -1: nobody says. */
	int32_t user;   /* -1 too. */
};

struct profile_user {
	int32_t uid;
	char name[PROFILE_NAME];
};

/* Samples of the kernel on behalf of a task, in files that have their sums only. */
struct profile_label {
	uint32_t task;
	uint64_t samples;
};

#define PROFILE_NO_TIME UINT64_MAX

/* What lay where: for stacks through several programs and the kernel. */
struct profile_image {
	uint64_t low;
	uint64_t high;
	uint64_t offset;              /* In its file, of what is at low. */
	uint64_t time;                /* When it was mapped; PROFILE_NO_TIME. */
	uint32_t sum;                 /* Of its code: <gmon_program.h>; 0: not known. */
	uint32_t task;                /* Whose; */
	bool is_kernel;               /* of all in kernel mode. */
	const char *path;             /* In the guest.  The profile's own copy. */
	const struct elfsym *symbols; /* NULL: not at hand. */
	const char *file;             /* Theirs, on this host; NULL: the program's of the tables. */
	uint32_t before;              /* Index of the task's image before this one; MAP_NONE. */
};

/* The code that ran: so many bytes of the program have that sum (gmon_code_sum()). */
struct profile_code {
	uint64_t start;
	uint32_t bytes; /* Some words of 4. */
	uint32_t sum;
};

/* Values of <gmon.h>, enum gmon_value, by number. */
#define PROFILE_VALUES 32u
#define PROFILE_CPUS   32u

struct profile {
	struct profile_flavor flavors[PROFILE_FLAVORS];
	size_t n_flavors;

	/* After profile_finish() in the order of (from, self), each pair once. */
	struct profile_arc *arcs;
	size_t n_arcs;
	size_t arcs_room;

	/* In the files' order. */
	struct profile_sample *samples;
	size_t n_samples;
	size_t samples_room;
	uint64_t *frames;
	size_t n_frames;
	size_t frames_room;

	struct profile_task *tasks;
	size_t n_tasks;
	size_t tasks_room;
	struct profile_image *images;
	size_t n_images;
	size_t images_room;
	struct map task_places;  /* Indices of tasks by id, */
	struct map image_places; /* and of each task's last image. */
	struct profile_kin *kin;
	size_t n_kin;
	size_t kin_room;
	struct map kin_places; /* By pid. */

	struct profile_user *users; /* Those with a name; of two names the first counts. */
	size_t n_users;
	size_t users_room;

	/* Sums over the files of what counts; of what does not, the last file's. */
	uint64_t values[PROFILE_VALUES];
	uint32_t known;                              /* A bit for each value that a file gave. */
	uint64_t cpus[PROFILE_CPUS][PROFILE_VALUES]; /* Of each of several CPUs; the same sums. */

	struct profile_label *labels;
	size_t n_labels;
	size_t labels_room;
	struct map label_places; /* By task. */

	struct profile_code *codes; /* Of the last file. */
	size_t n_codes;
	size_t codes_room;

	/*
	 * Among the user's frames are those of clients (SAMPLE_CLIENTS), behind the task's own.  In
	 * the upper half of their addresses is the client's task.
	 */
	bool has_clients;

	uint64_t low;  /* The last file's histogram, if it is one of ours; */
	uint64_t high; /* else 0. */

	uint64_t strangers; /* Samples of other programs. */

	/* Of gmon.out files beside recordings, of which only the calls were added (beside.c): */
	bool is_beside;     /* There are some. */
	bool is_of_any_run; /* One did not say of which run it is. */
	uint64_t set_aside; /* Their samples. */

	const struct elfsym *kernel; /* Its symbols; NULL: not at hand. */
};

/* ---------------- Making one ---------------- */

void profile_begin(struct profile *profile);
void profile_end(struct profile *profile);

/*
 * The flavor of that bit, or for bit 0 of that name; made if it is not there.  NULL if there are
 * too many.
 */
struct profile_flavor *profile_flavor(struct profile *profile, unsigned bit, const char *name);

/* The name of a SAMPLED_PC_* bit; NULL if it has none. */
const char *profile_flavor_name(unsigned bit);

void profile_add_count(struct profile_flavor *flavor, enum profile_mode mode, uint64_t pc,
		       uint64_t count);

/*
 * The histogram of that range and so many bins, empty or with what earlier files added.  NULL if it
 * overlaps another one with which it cannot be summed, or there are PROFILE_RANGES others.
 */
struct profile_bins *profile_bins(struct profile_flavor *flavor, uint64_t low, uint64_t high,
				  uint32_t n);
void profile_bins_add(struct profile_bins *bins, uint32_t bin, uint64_t count);

static inline uint64_t profile_bins_get(const struct profile_bins *bins, uint32_t bin)
{
	uint64_t upper = bins->upper == NULL ? 0 : bins->upper[bin];

	return upper << 32 | bins->counts[bin];
}

void profile_bins_free(struct profile_bins *bins);

/* First address of a bin; of bin n the histogram's end. */
uint64_t profile_bins_start(const struct profile_bins *bins, uint32_t bin);

/* The first bin from `from` on that does not end at the address or before it. */
uint32_t profile_bins_before(const struct profile_bins *bins, uint32_t from, uint64_t address);

void profile_add_arc(struct profile *profile, uint64_t from, uint64_t self, uint64_t count);

void profile_add_label(struct profile *profile, uint32_t task, uint64_t samples);
void profile_add_code(struct profile *profile, const struct profile_code *code);

/* The client whose an address is, 0 if it is the sampled task's own; and what it is there. */
static inline uint32_t profile_client(const struct profile *profile, uint64_t address)
{
	return profile->has_clients ? (uint32_t)(address >> 32) : 0;
}

static inline uint64_t profile_own_address(const struct profile *profile, uint64_t address)
{
	return profile->has_clients ? address & UINT32_MAX : address;
}

/* `sample->frames` and `images` are set here; the frames are copied. */
void profile_add_sample(struct profile *profile, struct profile_sample sample,
			const uint64_t *frames);

/* The task of that id, made without a name if it is not there. */
struct profile_task *profile_task(struct profile *profile, uint32_t id);
void profile_name_task(struct profile *profile, uint32_t id, int32_t pid, const char *name);

void profile_name_user(struct profile *profile, int32_t uid, const char *name);

/* Of the process of that number, new if it was not there.  Good until the next call. */
struct profile_kin *profile_kin(struct profile *profile, int32_t pid);

/* False if the task has had so many that they are no programs that it executed. */
bool profile_add_image(struct profile *profile, const struct profile_image *image);

/* Gives the kernel's images symbols; false if there were samples where that kernel has no code. */
bool profile_set_kernel(struct profile *profile, const struct elfsym *kernel);

/* Adds a value GMON_*: sums what counts, replaces what does not. */
void profile_add_value(struct profile *profile, unsigned which, uint64_t value);
bool profile_knows(const struct profile *profile, unsigned which);

/* So many CPUs have counts of their own; 0: there was one, or the files say sums only. */
unsigned profile_cpus(const struct profile *profile);

/*
 * Sorts, sums, and makes counts from samples.  Samples of other programs than the one of that path
 * make no counts, if the profile says which program each is of: a file's name is compared without
 * its folders, and a profile of one program is believed to be of this one.  With `served` not NULL
 * only samples on behalf of somebody stay: of the task with that pid, or that id if no task has
 * such a pid, or of all tasks of that name.  False if there are none.
 */
bool profile_finish(struct profile *profile, const char *program, const char *served);

/* Whether the images are of one program at most; then its name does not matter. */
bool profile_is_of_one(const struct profile *profile);

/*
 * Before that: makes the samples of the flavor, NULL for the first one, on behalf of each task a
 * flavor named after it, and drops all others.
 */
void profile_split(struct profile *profile, const char *flavor);

/* The name of a label for tables: "PID:NAME", or what is known of it. */
void profile_label_name(const struct profile *profile, uint32_t label, char *name, size_t size);

/* ---------------- Reading one ---------------- */

/* All samples of a flavor, of both modes. */
uint64_t profile_total(const struct profile_flavor *flavor);

/*
 * The image that an address of a sample is in; NULL.  Of several the last that was mapped then, for
 * a process may have executed another program since; else the first one after that.
 */
const struct profile_image *profile_image(const struct profile *profile,
					  const struct profile_sample *sample, uint64_t address);

/* The program that the sample's task ran then, wherever it lies; NULL if none is known. */
const struct profile_image *profile_last_image(const struct profile *profile,
					       const struct profile_sample *sample);

const struct profile_image *profile_kernel_image(const struct profile *profile, uint64_t address);

/* ---------------- Files ---------------- */

/*
 * Each adds a file's content, of which nothing is believed.  Returns NULL, or what is wrong in a
 * few words; the profile is then good for profile_end() only.
 */
const char *gmon_read(struct profile *profile, const unsigned char *bytes, size_t size,
		      unsigned address_bytes);
const char *gmon_read_bsd(struct profile *profile, const unsigned char *bytes, size_t size,
			  unsigned address_bytes);
const char *perf_read(struct profile *profile, const unsigned char *bytes, size_t size);

#endif
