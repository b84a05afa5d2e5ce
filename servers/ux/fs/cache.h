/* SPDX-License-Identifier: MIT */
/*
 * The cache of a device's blocks: the one place where files' data, and all that a file system notes
 * about them, are in memory.
 *
 * A block is in the cache at most once, so whoever reads sees what was written last.  A buffer that
 * a function of this file has found is the caller's to look at and to change as long as the caller
 * keeps the server's lock; nothing else protects it, nor needs to.  Every call that may wait may
 * also take buffers for other blocks: what was found before is then to be found again.
 *
 * A block is written for whom the thread works that writes it.  One that works for nobody does it
 * for whom the block was changed first: it is by him that it has to be written at all, and whoever
 * changed it after him made no more work.
 */
#ifndef UX_FS_CACHE_H
#define UX_FS_CACHE_H

#include <assay/list.h>
#include "fs/block_device.h"

#define CACHE_RUN_BYTES 65536u /* The most that one request to the device moves. */
#define CACHE_RUN_MAX   (CACHE_RUN_BYTES / 1024)

/*
 * When a changed block may be written.  What is loose may be on the device at any time; the others
 * are written by cache_write() alone, so that whoever calls that says in which order.
 */
enum cache_rank {
	CACHE_LOOSE,    /* Data, what is in use, and new blocks of directories. */
	CACHE_LEVEL_1,  /* Indirect blocks to which nothing there leads yet: of data, */
	CACHE_LEVEL_2,  /* of those of level 1, */
	CACHE_LEVEL_3,  /* and of those of level 2. */
	CACHE_POINTERS, /* Inodes and indirect blocks: they lead to loose blocks. */
	CACHE_NAMES,    /* Entries of directories: they lead to inodes. */
	CACHE_AGAIN,    /* What was written as another copy (`mask`), and is to be as it is. */
	CACHE_RANKS
};

enum buffer_state {
	BUFFER_EMPTY,   /* Stands for no block, and is in no chain. */
	BUFFER_READING, /* The device writes into it; nobody may look. */
	BUFFER_VALID
};

struct buffer {
	struct list chain; /* Of those whose blocks fall into the same place of the table. */
	struct list order; /* By when it was last used. */
	uint32_t block;
	uint32_t
		owner; /* The file's number, if the block is one file's and no directory's; or 0. */
	enum buffer_state state;
	bool is_changed;      /* The device has older contents, */
	uint32_t client;      /* and for whom it was changed first since: served_now(). */
	enum cache_rank rank; /* If it is changed. */
	bool is_writing;      /* A copy of it is on its way there. */
	bool is_kept;         /* Stays until the cache is closed. */
	bool is_checked;      /* By its user, since it was read or changed last. */
	bool is_lost;         /* Not changed, yet the device has older contents: a write failed, */
	unsigned tries;       /* or so many have, since it was changed last. */
	void *data;
};

struct cache {
	struct block_device *device;
	uint32_t block_size;
	uint32_t n_buffers;
	uint32_t n_changed[CACHE_RANKS];
	uint32_t n_lost[CACHE_RANKS];
	bool has_forgotten; /* A block that was lost is no longer in memory either. */
	uint32_t run;       /* The most blocks of one request. */
	struct buffer *buffers;
	void *pages;        /* Their data. */
	struct list *table; /* Chains, by block; as many as a power of two. */
	uint32_t n_chains;
	struct list order; /* All buffers, the one that was used longest ago first. */
	void *run_copy;    /* What is being written, */
	bool is_writing;   /* if something is: one request at a time. */
	int error;         /* Of a write, until cache_take_error(). */

	/* Null, or what is told of each block that was written, or could not be and is given up. */
	void (*written)(void *owner, const struct buffer *buffer, int error);

	/*
	 * Null, or what is asked about each copy of inodes and indirect blocks that goes to the
	 * device: true if it has made something else of the copy, so that the block remains
	 * changed, as CACHE_AGAIN.
	 */
	bool (*mask)(void *owner, uint32_t block, void *copy);
	void *owner; /* The argument of both. */
};

/* A cache of about so many bytes; ENOMEM. */
int cache_open(struct cache *cache, struct block_device *device, size_t bytes);
void cache_close(struct cache *cache); /* Without writing anything. */

/*
 * The buffer of a block, with its contents.  If it must be read, blocks after it, `run` together,
 * come by the same request as far as that costs nothing; 1 asks for none.  Unlocks.
 */
int cache_read(struct cache *cache, uint32_t block, uint32_t run, struct buffer **found);

/* The buffer of a block whose old contents nobody wants: zeros, and changed.  Unlocks. */
struct buffer *cache_clear(struct cache *cache, uint32_t block, enum cache_rank rank);

/* Whether the block's contents are here. */
bool cache_has(const struct cache *cache, uint32_t block);

/*
 * The buffer has been changed, or is to be in this moment.  One that has a lower rank since it
 * was cleared keeps that until it is written.
 */
void cache_change(struct cache *cache, struct buffer *buffer, enum cache_rank rank);

/* The block is nobody's any more: what it holds need not be written. */
void cache_forget(struct cache *cache, uint32_t block);

/*
 * Blocks that could not be written: not those of files' data, which are given up.  They stay in
 * memory, unless they are a quarter of it.  How many there are, from a rank on.
 */
uint32_t cache_lost(const struct cache *cache, enum cache_rank from);

/* Those of which `may` is true are changed again, unless that has been tried often enough. */
void cache_retry(struct cache *cache, bool (*may)(const void *owner, uint32_t block));

/* How many blocks are changed that only cache_write() writes: they take buffers from others. */
uint32_t cache_ordered(const struct cache *cache);

/* Writes all of a rank that was changed before the call.  Errors are kept.  Unlocks. */
void cache_write(struct cache *cache, enum cache_rank rank);

/* The error of writes since the last call. */
int cache_take_error(struct cache *cache);

#endif
