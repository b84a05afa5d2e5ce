/* SPDX-License-Identifier: MIT */
/* A buddy allocator of numbers: see buddy.h. */
#include "vm/page/buddy.h"

#include "base/assert.h"
#include "base/string.h"

/* The order of the smallest power of two that is not less than `count`. */
static uint32_t buddy_order_of(uint32_t count)
{
	return count <= 1 ? 0 : 32 - (uint32_t)__builtin_clz(count - 1);
}

/* How a node of this order is marked when all of it is free. */
static uint8_t buddy_mark_of(uint32_t order)
{
	return (uint8_t)(order + 1);
}

void buddy_init(struct buddy *buddy, uint8_t *tree, uint32_t units)
{
	uint32_t top = buddy_order_of(units);

	assert(units > 0 && units == 1u << top);
	*buddy = (struct buddy){.units = units, .free = tree};
	tree[0] = 0;
	for (uint32_t level = 0; level <= top; level++)
		memset(&tree[1u << level], buddy_mark_of(top - level), 1u << level);
}

/* A node is a free piece of its own order only if both halves are; else it has what one has. */
static void buddy_update_above(struct buddy *buddy, uint32_t node, uint32_t order)
{
	uint8_t *free = buddy->free;

	while (node > 1) {
		uint8_t left, right;

		node /= 2;
		left = free[2 * node];
		right = free[2 * node + 1];
		if (left == buddy_mark_of(order) && right == buddy_mark_of(order))
			free[node] = buddy_mark_of(order + 1);
		else
			free[node] = left > right ? left : right;
		order++;
	}
}

uint32_t buddy_alloc(struct buddy *buddy, uint32_t count)
{
	uint32_t order = buddy_order_of(count);
	uint32_t at = buddy_order_of(buddy->units);
	uint32_t node = 1;

	assert(count > 0);
	if (count > buddy->units || buddy->free[node] < buddy_mark_of(order))
		return BUDDY_NONE;
	for (; at > order; at--) {
		node *= 2;
		if (buddy->free[node] < buddy_mark_of(order))
			node++;
	}
	assert(buddy->free[node] == buddy_mark_of(order));
	buddy->free[node] = 0;
	buddy_update_above(buddy, node, order);
	buddy->in_use += 1u << order;
	return (node << order) - buddy->units;
}

void buddy_free(struct buddy *buddy, uint32_t first, uint32_t count)
{
	uint32_t order = buddy_order_of(count);
	uint32_t node = (buddy->units + first) >> order;

	assert(count > 0 && first < buddy->units);
	assert(first % (1u << order) == 0 && 1u << order <= buddy->units);
	assert(buddy->free[node] == 0);
	assert(buddy->in_use >= 1u << order);
	buddy->free[node] = buddy_mark_of(order);
	buddy_update_above(buddy, node, order);
	buddy->in_use -= 1u << order;
}
