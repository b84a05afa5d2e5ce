/* SPDX-License-Identifier: MIT */
/*
 * Circular doubly linked lists whose links live inside the objects.
 *
 * A `struct list` is both a head and a link.  A head that points at itself is an empty list; a link
 * that points at itself is on no list.  The caller holds whatever guards the list.
 */
#ifndef ASSAY_LIST_H
#define ASSAY_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct list {
	struct list *next;
	struct list *prev;
};

#define LIST_INITIALIZER(head)   \
	{                        \
		&(head), &(head) \
	}

/* The object of type `type` whose member `member` is the link `link`. */
#define list_object(link, type, member) ((type *)((char *)(link)-offsetof(type, member)))

/* The other way; of a head there is no object, which nobody must touch, but the link there is. */
#define list_link(object, type, member) \
	((struct list *)((uintptr_t)(object) + offsetof(type, member)))

#define list_first_object(head, type, member) list_object((head)->next, type, member)

#define list_for_each(link, head) \
	for ((link) = (head)->next; (link) != (head); (link) = (link)->next)

/* As list_for_each, but the body may remove `link`; `after` holds the place. */
#define list_for_each_removable(link, after, head)                            \
	for ((link) = (head)->next, (after) = (link)->next; (link) != (head); \
	     (link) = (after), (after) = (link)->next)

/*
 * The objects of a list, which hang on it by `member`, each in its turn as `object`, a new
 * variable.  The body may not remove it; list_for_each_object_removable() also keeps the place, as
 * `after`.
 */
#define list_for_each_object(type, object, head, member)             \
	for (type *object = list_object((head)->next, type, member); \
	     list_link(object, type, member) != (head);              \
	     object = list_object(object->member.next, type, member))

#define list_for_each_object_removable(type, object, after, head, member) \
	for (type *object = list_object((head)->next, type, member),      \
		  *after = list_object((head)->next->next, type, member); \
	     list_link(object, type, member) != (head); object = after,   \
		  after = list_object(list_link(object, type, member)->next, type, member))

static inline void list_init(struct list *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool list_empty(const struct list *list)
{
	return list->next == list;
}

static inline void list_insert_after(struct list *place, struct list *link)
{
	link->prev = place;
	link->next = place->next;
	place->next->prev = link;
	place->next = link;
}

static inline void list_add_first(struct list *head, struct list *link)
{
	list_insert_after(head, link);
}

static inline void list_add_last(struct list *head, struct list *link)
{
	list_insert_after(head->prev, link);
}

/* Takes `link` off its list; harmless if it is on none. */
static inline void list_remove(struct list *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	list_init(link);
}

/* Takes the first link off `head`, which must not be empty. */
static inline struct list *list_take_first(struct list *head)
{
	struct list *link = head->next;

	list_remove(link);
	return link;
}

#endif
