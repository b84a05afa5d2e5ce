/* SPDX-License-Identifier: MIT */
/*
 * The cache of blocks (cache.h): a table to find them by, a list in the order of their last use,
 * and the transport of blocks to and from the device.
 *
 * All of it is under the server's lock, which is given up while the device works.  Then a buffer
 * that is read into is BUFFER_READING.  One that is written may be changed meanwhile: the request
 * has a copy of it.  There is one request to write at a time, since the device promises no order.
 */
#include "fs/cache.h"

#define BUFFERS_MIN 32u /* Enough for the few that are kept, and those of one request. */
#define TRIES       4u  /* To write the same contents of a block on which others depend. */

/* ---------------- Opening ---------------- */

static uint32_t cache_power_of_two_from(uint32_t number)
{
	uint32_t power = 1;

	while (power < number)
		power <<= 1;
	return power;
}

static bool cache_allocate(struct cache *cache)
{
	cache->buffers = ux_allocate_pages(cache->n_buffers * sizeof *cache->buffers);
	cache->pages = ux_allocate_pages((size_t)cache->n_buffers * cache->block_size);
	cache->table = ux_allocate_pages(cache->n_chains * sizeof *cache->table);
	cache->run_copy = ux_allocate_pages(CACHE_RUN_BYTES);
	return cache->buffers != NULL && cache->pages != NULL && cache->table != NULL &&
	       cache->run_copy != NULL;
}

int cache_open(struct cache *cache, struct block_device *device, size_t bytes)
{
	uint32_t n_buffers = (uint32_t)(bytes / device->block_size);

	assert(ux_lock_held());
	*cache = (struct cache){.device = device, .block_size = device->block_size};
	cache->n_buffers = n_buffers > BUFFERS_MIN ? n_buffers : BUFFERS_MIN;
	cache->n_chains = cache_power_of_two_from(cache->n_buffers);
	cache->run = CACHE_RUN_BYTES / cache->block_size;
	list_init(&cache->order);
	if (!cache_allocate(cache)) {
		cache_close(cache);
		return ENOMEM;
	}
	for (uint32_t i = 0; i < cache->n_chains; i++)
		list_init(&cache->table[i]);
	for (uint32_t i = 0; i < cache->n_buffers; i++) {
		struct buffer *buffer = &cache->buffers[i];

		list_init(&buffer->chain);
		list_add_last(&cache->order, &buffer->order);
		buffer->data = (char *)cache->pages + (size_t)i * cache->block_size;
	}
	return 0;
}

static void cache_free_pages(void *memory, size_t size)
{
	if (memory != NULL)
		ux_free_pages(memory, size);
}

void cache_close(struct cache *cache)
{
	assert(!cache->is_writing);
	cache_free_pages(cache->buffers, cache->n_buffers * sizeof *cache->buffers);
	cache_free_pages(cache->pages, (size_t)cache->n_buffers * cache->block_size);
	cache_free_pages(cache->table, cache->n_chains * sizeof *cache->table);
	cache_free_pages(cache->run_copy, CACHE_RUN_BYTES);
	*cache = (struct cache){0};
}

/* ---------------- Which buffer ---------------- */

/* Adjacent blocks lie in adjacent chains. */
static struct list *cache_chain_of(const struct cache *cache, uint32_t block)
{
	return &cache->table[block & (cache->n_chains - 1)];
}

static struct buffer *cache_find(const struct cache *cache, uint32_t block)
{
	struct list *chain = cache_chain_of(cache, block);
	struct list *link;

	list_for_each (link, chain) {
		struct buffer *buffer = list_object(link, struct buffer, chain);

		if (buffer->block == block)
			return buffer;
	}
	return NULL;
}

bool cache_has(const struct cache *cache, uint32_t block)
{
	const struct buffer *buffer = cache_find(cache, block);

	return buffer != NULL && buffer->state == BUFFER_VALID;
}

static void cache_note_use(struct cache *cache, struct buffer *buffer)
{
	list_remove(&buffer->order);
	list_add_last(&cache->order, &buffer->order);
}

/* Whether the buffer may be given to another block, as soon as its contents are on the device. */
static bool cache_is_idle(const struct cache *cache, const struct buffer *buffer)
{
	bool has_order = buffer->is_changed && buffer->rank != CACHE_LOOSE;
	bool is_lost = buffer->is_lost && cache_lost(cache, CACHE_LOOSE) <= cache->n_buffers / 4;

	return buffer->state != BUFFER_READING && !buffer->is_writing && !buffer->is_kept &&
	       !has_order && !is_lost;
}

/* The idle buffer that was used longest ago; null if there is none. */
static struct buffer *cache_oldest_idle(const struct cache *cache)
{
	struct list *link;

	list_for_each (link, &cache->order) {
		struct buffer *buffer = list_object(link, struct buffer, order);

		if (cache_is_idle(cache, buffer))
			return buffer;
	}
	return NULL;
}

static void cache_set_unchanged(struct cache *cache, struct buffer *buffer)
{
	cache->n_changed[buffer->rank] -= buffer->is_changed;
	buffer->is_changed = false;
}

static void cache_set_lost(struct cache *cache, struct buffer *buffer, bool is_lost)
{
	cache->n_lost[buffer->rank] += is_lost;
	cache->n_lost[buffer->rank] -= buffer->is_lost;
	buffer->is_lost = is_lost;
}

static void cache_set_changed(struct cache *cache, struct buffer *buffer, enum cache_rank rank)
{
	cache_set_unchanged(cache, buffer);
	cache_set_lost(cache, buffer, false);
	cache->n_changed[rank]++;
	buffer->rank = rank;
	buffer->is_changed = true;
}

/* Makes the buffer stand for no block. */
static void cache_empty(struct cache *cache, struct buffer *buffer)
{
	assert(!buffer->is_writing && !buffer->is_kept);
	cache_set_unchanged(cache, buffer);
	cache_set_lost(cache, buffer, false);
	list_remove(&buffer->chain);
	buffer->state = BUFFER_EMPTY;
	list_remove(&buffer->order);
	list_add_first(&cache->order, &buffer->order);
}

/* Makes it stand for another block, whose contents have yet to come. */
static void cache_assign(struct cache *cache, struct buffer *buffer, uint32_t block)
{
	assert(cache_is_idle(cache, buffer) && !buffer->is_changed);
	assert(cache_find(cache, block) == NULL);
	cache->has_forgotten |= buffer->is_lost;
	cache_set_lost(cache, buffer, false);
	list_remove(&buffer->chain);
	buffer->block = block;
	buffer->owner = 0;
	buffer->tries = 0;
	buffer->is_checked = false;
	buffer->state = BUFFER_READING;
	list_add_first(cache_chain_of(cache, block), &buffer->chain);
	cache_note_use(cache, buffer);
}

void cache_change(struct cache *cache, struct buffer *buffer, enum cache_rank rank)
{
	assert(ux_lock_held() && buffer->state == BUFFER_VALID);
	if (!buffer->is_changed)
		buffer->client = served_now();
	else if (buffer->rank < rank || buffer->rank == CACHE_AGAIN)
		rank = buffer->rank;
	buffer->is_checked = false;
	buffer->tries = 0;
	cache_set_changed(cache, buffer, rank);
}

uint32_t cache_lost(const struct cache *cache, enum cache_rank from)
{
	uint32_t n = 0;

	for (enum cache_rank rank = from; rank < CACHE_RANKS; rank++)
		n += cache->n_lost[rank];
	return n;
}

void cache_retry(struct cache *cache, bool (*may)(const void *owner, uint32_t block))
{
	uint32_t left = cache_lost(cache, CACHE_LOOSE);

	for (uint32_t i = 0; i < cache->n_buffers && left > 0; i++) {
		struct buffer *buffer = &cache->buffers[i];

		left -= buffer->is_lost;
		if (buffer->is_lost && buffer->tries < TRIES && may(cache->owner, buffer->block))
			cache_set_changed(cache, buffer, buffer->rank);
	}
}

uint32_t cache_ordered(const struct cache *cache)
{
	uint32_t n = 0;

	for (enum cache_rank rank = CACHE_LOOSE + 1; rank < CACHE_RANKS; rank++)
		n += cache->n_changed[rank];
	return n;
}

void cache_forget(struct cache *cache, uint32_t block)
{
	struct buffer *buffer = cache_find(cache, block);

	if (buffer == NULL || buffer->state != BUFFER_VALID || buffer->is_kept)
		return;
	cache_set_unchanged(cache, buffer);
	cache_set_lost(cache, buffer, false);
	if (!buffer->is_writing)
		cache_empty(cache, buffer);
}

/* ---------------- Writing ---------------- */

static struct buffer *cache_find_to_write(const struct cache *cache, uint32_t block,
					  enum cache_rank rank)
{
	struct buffer *buffer = cache_find(cache, block);

	return buffer != NULL && buffer->is_changed && buffer->rank == rank ? buffer : NULL;
}

/* Whether both were changed for the same client: those who are gone are all nobody. */
static bool cache_is_for_same(struct buffer *one, struct buffer *other)
{
	if (one->client == other->client)
		return true;
	one->client = served_living(one->client);
	other->client = served_living(other->client);
	return one->client == other->client;
}

/* The buffer of a block that may be written together with another one, or null. */
static struct buffer *cache_find_like(const struct cache *cache, uint32_t block,
				      struct buffer *other, bool for_client)
{
	struct buffer *buffer = cache_find_to_write(cache, block, other->rank);

	return buffer == NULL || !for_client || cache_is_for_same(buffer, other) ? buffer : NULL;
}

/*
 * Gathers blocks of its rank around a changed one, in the order of the device, those for its client
 * alone or all; how many.
 */
static uint32_t cache_gather(const struct cache *cache, struct buffer *middle, bool for_client,
			     struct buffer *run[CACHE_RUN_MAX])
{
	uint32_t first = middle->block;
	uint32_t count = 0;
	struct buffer *next = middle;

	while (first > 0 && middle->block - first + 1 < cache->run &&
	       cache_find_like(cache, first - 1, middle, for_client) != NULL)
		first--;
	for (next = cache_find(cache, first); next != NULL && count < cache->run;
	     next = cache_find_like(cache, first + count, middle, for_client))
		run[count++] = next;
	return count;
}

static void cache_begin_writing(struct cache *cache, struct buffer *const run[], uint32_t count)
{
	cache->is_writing = true;
	for (uint32_t i = 0; i < count; i++) {
		void *copy = (char *)cache->run_copy + (size_t)i * cache->block_size;

		memcpy(copy, run[i]->data, cache->block_size);
		run[i]->is_writing = true;
		if (cache->mask != NULL && run[i]->rank != CACHE_LOOSE &&
		    run[i]->rank != CACHE_NAMES && cache->mask(cache->owner, run[i]->block, copy))
			cache_set_changed(cache, run[i], CACHE_AGAIN);
		else
			cache_set_unchanged(cache, run[i]);
	}
}

/* Unless it has been changed meanwhile, and is written once more anyway. */
static void cache_note_failure(struct cache *cache, struct buffer *buffer, int error)
{
	bool is_data = buffer->rank == CACHE_LOOSE && buffer->owner != 0;

	cache->error = error;
	buffer->tries++;
	cache_set_lost(cache, buffer, !buffer->is_changed && !is_data);
}

/* Data that could not be written are given up: nobody could do more about them later. */
static void cache_end_writing(struct cache *cache, struct buffer *const run[], uint32_t count,
			      const int *errors)
{
	for (uint32_t i = 0; i < count; i++) {
		run[i]->is_writing = false;
		if (errors[i] != 0)
			cache_note_failure(cache, run[i], errors[i]);
		if (cache->written != NULL)
			cache->written(cache->owner, run[i], errors[i]);
	}
	cache->is_writing = false;
	ux_wakeup(cache);
}

/* Without the lock.  If the device cannot write all, each block is tried alone. */
static void cache_write_copy(const struct cache *cache, uint32_t first, uint32_t count, int *errors)
{
	const char *copy = cache->run_copy;
	int error = block_device_write(cache->device, first, count, copy);

	for (uint32_t i = 0; i < count; i++) {
		errors[i] = error;
		if (error != 0 && count > 1)
			errors[i] = block_device_write(cache->device, first + i, 1,
						       copy + (size_t)i * cache->block_size);
	}
}

/* Writes a changed block, and changed ones beside it. */
static void cache_write_around(struct cache *cache, struct buffer *buffer, bool for_client)
{
	struct buffer *run[CACHE_RUN_MAX];
	uint32_t count = cache_gather(cache, buffer, for_client, run);
	int errors[CACHE_RUN_MAX];

	cache_begin_writing(cache, run, count);
	ux_unlock();
	cache_write_copy(cache, run[0]->block, count, errors);
	ux_lock();
	cache_end_writing(cache, run, count, errors);
}

/* When nobody else writes, who may have done it meanwhile. */
static void cache_write_run(struct cache *cache, struct buffer *buffer)
{
	uint32_t block = buffer->block;
	enum cache_rank rank = buffer->rank;
	bool for_client = served_nobody();

	while (cache->is_writing)
		ux_sleep(cache, NULL);
	buffer = cache_find_to_write(cache, block, rank);
	if (buffer == NULL)
		return;
	if (for_client)
		served_begin(buffer->client);
	cache_write_around(cache, buffer, for_client);
	if (for_client)
		served_end();
}

void cache_write(struct cache *cache, enum cache_rank rank)
{
	assert(ux_lock_held());
	for (uint32_t i = 0; i < cache->n_buffers && cache->n_changed[rank] > 0; i++) {
		struct buffer *buffer = &cache->buffers[i];

		while (buffer->is_writing)
			ux_sleep(cache, NULL);
		if (buffer->is_changed && buffer->rank == rank)
			cache_write_run(cache, buffer);
	}
	while (cache->is_writing)
		ux_sleep(cache, NULL);
}

int cache_take_error(struct cache *cache)
{
	int error = cache->error;

	cache->error = 0;
	return error;
}

/* ---------------- Reading ---------------- */

/*
 * The buffer of a block: with its contents, or BUFFER_READING and then the caller's, who is to
 * bring them.  Waits for others who read it, and for a buffer to be free.
 */
static struct buffer *cache_get(struct cache *cache, uint32_t block)
{
	for (;;) {
		struct buffer *buffer = cache_find(cache, block);
		struct buffer *oldest;

		if (buffer != NULL && buffer->state == BUFFER_VALID) {
			cache_note_use(cache, buffer);
			return buffer;
		}
		oldest = buffer == NULL ? cache_oldest_idle(cache) : NULL;
		if (oldest == NULL) {
			ux_sleep(cache, NULL);
		} else if (oldest->is_changed) {
			cache_write_run(cache, oldest);
		} else {
			cache_assign(cache, oldest, block);
			return oldest;
		}
	}
}

/* Adds the blocks that follow, as long as they are not here and a buffer is to be had at once. */
static uint32_t cache_extend(struct cache *cache, struct buffer *run[], uint32_t most)
{
	uint32_t count = 1;

	while (count < most && cache_find(cache, run[0]->block + count) == NULL) {
		struct buffer *oldest = cache_oldest_idle(cache);

		if (oldest == NULL || oldest->is_changed)
			break;
		cache_assign(cache, oldest, run[0]->block + count);
		run[count++] = oldest;
	}
	return count;
}

static int cache_transfer(struct cache *cache, struct buffer *const run[], uint32_t count)
{
	void *places[CACHE_RUN_MAX];
	int error;

	for (uint32_t i = 0; i < count; i++)
		places[i] = run[i]->data;
	ux_unlock();
	error = block_device_read(cache->device, run[0]->block, count, places);
	ux_lock();
	return error;
}

/* Reads into a run of buffers; without those after the first if the device cannot do all. */
static int cache_read_run(struct cache *cache, struct buffer *const run[], uint32_t count)
{
	int error = cache_transfer(cache, run, count);
	bool is_partial = error != 0 && count > 1;

	if (is_partial)
		error = cache_transfer(cache, run, 1);
	for (uint32_t i = 0; i < count; i++) {
		run[i]->state = BUFFER_VALID;
		if (error != 0 || (is_partial && i > 0))
			cache_empty(cache, run[i]);
	}
	ux_wakeup(cache);
	return error;
}

int cache_read(struct cache *cache, uint32_t block, uint32_t run, struct buffer **found)
{
	struct buffer *buffers[CACHE_RUN_MAX];
	uint32_t most = run < cache->run ? run : cache->run;

	assert(ux_lock_held());
	*found = buffers[0] = cache_get(cache, block);
	if (buffers[0]->state == BUFFER_VALID)
		return 0;
	return cache_read_run(cache, buffers, cache_extend(cache, buffers, most));
}

struct buffer *cache_clear(struct cache *cache, uint32_t block, enum cache_rank rank)
{
	struct buffer *buffer;

	assert(ux_lock_held());
	buffer = cache_get(cache, block);
	memset(buffer->data, 0, cache->block_size);
	buffer->state = BUFFER_VALID;
	cache_change(cache, buffer, rank);
	return buffer;
}
