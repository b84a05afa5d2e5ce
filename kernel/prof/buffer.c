/* SPDX-License-Identifier: MIT */
/* Buffers of samples: see buffer.h.  Guarded by the kernel lock. */
#include "prof/buffer.h"

#include "base/lock.h"
#include "base/string.h"
#include "vm/map/copy.h"

_Static_assert(BUFFER_PAGES <= COPY_PAGES_MAX, "the receiver finds them mapped");

void buffer_init(struct buffer *buffer)
{
	list_init(&buffer->link);
	buffer->n_pages = 0;
	buffer->words = 0;
	buffer->samples = 0;
	buffer->waited = 0;
}

bool buffer_fill_up(struct buffer *buffer)
{
	while (buffer->n_pages < BUFFER_PAGES) {
		struct page *page = page_alloc(PAGE_USER);

		if (page == NULL)
			return false;
		buffer->pages[buffer->n_pages++] = page;
	}
	return true;
}

void buffer_destroy(struct buffer *buffer)
{
	while (buffer->n_pages > 0)
		page_free(buffer->pages[--buffer->n_pages]);
	list_remove(&buffer->link);
	buffer_init(buffer);
}

void buffer_append(struct buffer *buffer, const void *record, uint32_t n)
{
	const uint32_t *words = record;

	assert(buffer_has_room(buffer, n));
	while (n > 0) {
		uint32_t *page = page_data(buffer->pages[buffer->words / PAGE_WORDS]);
		uint32_t at = buffer->words % PAGE_WORDS;
		uint32_t part = PAGE_WORDS - at < n ? PAGE_WORDS - at : n;

		memcpy(page + at, words, part * sizeof *words);
		words += part;
		buffer->words += part;
		n -= part;
	}
}

void buffer_move_to(struct buffer *buffer, struct copy *copy)
{
	uint32_t used = (buffer->words + PAGE_WORDS - 1) / PAGE_WORDS;

	assert(kernel_locked());
	assert(used > 0 && copy->size == buffer->words * sizeof(uint32_t));
	copy_clear_around(copy, (used - 1) * PAGE_SIZE, buffer->pages[used - 1]);
	for (uint32_t n = 0; n < used; n++)
		copy_add_page(copy, buffer->pages[n]);
	for (uint32_t n = used; n < buffer->n_pages; n++)
		buffer->pages[n - used] = buffer->pages[n];
	buffer->n_pages -= used;
	buffer->words = 0;
	buffer->samples = 0;
	buffer->waited = 0;
}
