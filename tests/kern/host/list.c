/* SPDX-License-Identifier: MIT */
/* links: */
/* Lists (assay/list.h) alone and against an array. */
#include <assay/list.h>

#include <string.h>

#include "host/kernel.h"

#define ITEMS 12
#define STEPS 20000

struct item {
	int before; /* So that the link is not where the object begins. */
	struct list link;
};

/* The items that should be on the list, in order. */
struct model {
	struct item *items[ITEMS];
	unsigned n;
};

static void model_insert(struct model *model, unsigned place, struct item *item)
{
	memmove(&model->items[place + 1], &model->items[place],
		(model->n - place) * sizeof(model->items[0]));
	model->items[place] = item;
	model->n++;
}

static void model_remove(struct model *model, unsigned place)
{
	model->n--;
	memmove(&model->items[place], &model->items[place + 1],
		(model->n - place) * sizeof(model->items[0]));
}

/* Both directions: each pointer of each link is looked at. */
static bool is_same(struct list *head, const struct model *model)
{
	struct list *link;
	unsigned i = 0;

	list_for_each (link, head) {
		if (i == model->n || link != &model->items[i++]->link)
			return false;
	}
	if (i != model->n)
		return false;
	for (link = head->prev; link != head; link = link->prev) {
		if (link != &model->items[--i]->link)
			return false;
	}
	return i == 0 && list_empty(head) == (model->n == 0);
}

TEST(list_initializer_is_empty)
{
	struct list head = LIST_INITIALIZER(head);

	EXPECT(list_empty(&head));
}

TEST(list_object_from_link)
{
	struct item item;
	struct list head = LIST_INITIALIZER(head);

	list_add_last(&head, &item.link);
	EXPECT(list_object(&item.link, struct item, link) == &item);
	EXPECT(list_first_object(&head, struct item, link) == &item);
}

TEST(list_remove_twice_is_harmless)
{
	struct item items[2];
	struct list head = LIST_INITIALIZER(head);
	struct model model = {.items = {&items[1]}, .n = 1};

	list_add_last(&head, &items[0].link);
	list_add_last(&head, &items[1].link);
	list_remove(&items[0].link);
	EXPECT(list_empty(&items[0].link));
	list_remove(&items[0].link);
	EXPECT(is_same(&head, &model));
}

TEST(list_for_each_may_remove)
{
	struct item items[ITEMS];
	struct list head = LIST_INITIALIZER(head);
	struct list *link, *after;
	struct model model = {.n = 0};

	for (unsigned i = 0; i < ITEMS; i++) {
		list_add_last(&head, &items[i].link);
		if (i % 3 == 0)
			model_insert(&model, model.n, &items[i]);
	}
	list_for_each_removable (link, after, &head) {
		if ((list_object(link, struct item, link) - items) % 3 != 0)
			list_remove(link);
	}
	EXPECT(is_same(&head, &model));
}

/* An item that is on no list goes to one of its ends or behind another item. */
static void add_somewhere(struct list *head, struct model *model, struct item *item, uint32_t *seed)
{
	unsigned place = host_random_below(seed, model->n + 1);

	if (place == model->n)
		list_add_last(head, &item->link);
	else if (place == 0)
		list_add_first(head, &item->link);
	else
		list_insert_after(&model->items[place - 1]->link, &item->link);
	model_insert(model, place, item);
}

static void remove_somewhere(struct list *head, struct model *model, uint32_t *seed)
{
	unsigned place = host_random_below(seed, model->n);

	if (place == 0)
		EXPECT(list_take_first(head) == &model->items[0]->link);
	else
		list_remove(&model->items[place]->link);
	EXPECT(list_empty(&model->items[place]->link));
	model_remove(model, place);
}

TEST(list_random_against_array)
{
	struct item items[ITEMS];
	struct list head = LIST_INITIALIZER(head);
	struct model model = {.n = 0};
	uint32_t seed = 1;

	for (unsigned i = 0; i < ITEMS; i++)
		list_init(&items[i].link);
	for (unsigned step = 0; step < STEPS; step++) {
		struct item *item = &items[host_random_below(&seed, ITEMS)];

		if (list_empty(&item->link))
			add_somewhere(&head, &model, item, &seed);
		else
			remove_somewhere(&head, &model, &seed);
		REQUIRE(is_same(&head, &model));
	}
}
