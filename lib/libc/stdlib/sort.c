/* SPDX-License-Identifier: MIT */
/*
 * Sorting in place, and search in what is sorted.
 *
 * Quicksort about the median of three, which leaves parts of a few elements to insertion and turns
 * to heapsort when it has divided twice as often as a fair division would need: no order of the
 * elements makes it slow.  The recursion goes into the smaller part, so it is never deep.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FEW 8 /* So many elements are sorted by insertion. */

struct sorting {
	size_t size;
	__compare_with_t compare;
	void *context;
};

static int in_order(const struct sorting *sorting, const char *one, const char *other)
{
	return sorting->compare(one, other, sorting->context) <= 0;
}

static void swap_bytes(char *one, char *other, size_t size)
{
	for (; size > 0; size--, one++, other++) {
		char byte = *one;

		*one = *other;
		*other = byte;
	}
}

/* By words where the elements are made of them; the compiler sees the short memcpy through. */
static void swap(const struct sorting *sorting, char *one, char *other)
{
	size_t size = sorting->size;

	for (; size >= sizeof(uint32_t); size -= sizeof(uint32_t)) {
		uint32_t word;
		uint32_t other_word;

		__builtin_memcpy(&word, one, sizeof(word));
		__builtin_memcpy(&other_word, other, sizeof(word));
		__builtin_memcpy(one, &other_word, sizeof(word));
		__builtin_memcpy(other, &word, sizeof(word));
		one += sizeof(word);
		other += sizeof(word);
	}
	swap_bytes(one, other, size);
}

static void sort_by_insertion(const struct sorting *sorting, char *first, size_t count)
{
	size_t size = sorting->size;
	char *end = first + count * size;

	for (char *next = first + size; next < end; next += size) {
		for (char *here = next; here > first; here -= size) {
			if (in_order(sorting, here - size, here))
				break;
			swap(sorting, here - size, here);
		}
	}
}

/* Lets the element at `root` sink to where none of its children is greater. */
static void heap_sink(const struct sorting *sorting, char *first, size_t root, size_t count)
{
	size_t size = sorting->size;
	size_t child;

	while ((child = 2 * root + 1) < count) {
		char *here = first + root * size;
		char *below = first + child * size;

		if (child + 1 < count && !in_order(sorting, below + size, below)) {
			below += size;
			child++;
		}
		if (in_order(sorting, below, here))
			return;
		swap(sorting, here, below);
		root = child;
	}
}

static void sort_by_heap(const struct sorting *sorting, char *first, size_t count)
{
	for (size_t root = count / 2; root-- > 0;)
		heap_sink(sorting, first, root, count);
	while (--count > 0) {
		swap(sorting, first, first + count * sorting->size);
		heap_sink(sorting, first, 0, count);
	}
}

/* Puts the median of the first, the middle and the last element first. */
static void choose_pivot(const struct sorting *sorting, char *first, size_t count)
{
	char *middle = first + count / 2 * sorting->size;
	char *last = first + (count - 1) * sorting->size;

	if (!in_order(sorting, first, middle))
		swap(sorting, first, middle);
	if (!in_order(sorting, middle, last))
		swap(sorting, middle, last);
	if (in_order(sorting, first, middle))
		swap(sorting, first, middle);
}

/*
 * Divides the elements: what is before the one returned is not greater than it, what is behind it
 * not less.  Equal elements are changed too, which divides many of them in halves.
 */
static char *divide(const struct sorting *sorting, char *first, size_t count)
{
	size_t size = sorting->size;
	char *low = first;
	char *high = first + count * size;

	choose_pivot(sorting, first, count);
	for (;;) {
		do
			low += size;
		while (low < high && !in_order(sorting, first, low));
		do
			high -= size;
		while (!in_order(sorting, high, first));
		if (low >= high)
			break;
		swap(sorting, low, high);
	}
	swap(sorting, first, high);
	return high;
}

static void sort(const struct sorting *sorting, char *first, size_t count, unsigned divisions)
{
	while (count > FEW) {
		char *pivot;
		size_t before;
		size_t behind;

		if (divisions-- == 0) {
			sort_by_heap(sorting, first, count);
			return;
		}
		pivot = divide(sorting, first, count);
		before = (size_t)(pivot - first) / sorting->size;
		behind = count - before - 1;
		if (before < behind) {
			sort(sorting, first, before, divisions);
			first = pivot + sorting->size;
			count = behind;
		} else {
			sort(sorting, pivot + sorting->size, behind, divisions);
			count = before;
		}
	}
	if (count > 1)
		sort_by_insertion(sorting, first, count);
}

void qsort_r(void *array, size_t count, size_t size, __compare_with_t compare, void *context)
{
	const struct sorting sorting = {.size = size, .compare = compare, .context = context};
	unsigned divisions = 0;

	for (size_t rest = count; rest > 1; rest /= 2)
		divisions += 2;
	if (size > 0)
		sort(&sorting, array, count, divisions);
}

struct plain_compare {
	__compare_t compare;
};

static int compare_plainly(const void *one, const void *other, void *context)
{
	return ((const struct plain_compare *)context)->compare(one, other);
}

void qsort(void *array, size_t count, size_t size, __compare_t compare)
{
	struct plain_compare plain = {compare};

	qsort_r(array, count, size, compare_plainly, &plain);
}

void *bsearch(const void *key, const void *array, size_t count, size_t size, __compare_t compare)
{
	const char *first = array;

	while (count > 0) {
		const char *middle = first + count / 2 * size;
		int order = compare(key, middle);

		if (order == 0)
			return (void *)(uintptr_t)middle;
		if (order > 0) {
			first = middle + size;
			count -= count / 2 + 1;
		} else {
			count /= 2;
		}
	}
	return NULL;
}
