/* SPDX-License-Identifier: MIT */
/* Functions: their table and how they are called. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sh.h"
#include "variables.h"

struct function {
	struct function *next;
	struct node *definition; /* Its region is kept as long as this is here. */
};

/* A function that is being executed. */
struct call {
	struct call *below;
	struct region *region;
	struct parameters parameters;
	unsigned loops;
};

static struct function *functions;
static struct call *calls;

static struct function **slot_of(const char *name)
{
	struct function **slot = &functions;

	while (*slot != NULL && strcmp((*slot)->definition->name, name) != 0)
		slot = &(*slot)->next;
	return slot;
}

struct node *function_find(const char *name)
{
	struct function *function = *slot_of(name);

	return function != NULL ? function->definition : NULL;
}

void function_define(struct node *definition)
{
	struct function *function;

	region_keep(definition->region);
	function_remove(definition->name);
	function = heap_allocate(sizeof(*function));
	function->definition = definition;
	function->next = functions;
	functions = function;
}

bool function_remove(const char *name)
{
	struct function **slot = slot_of(name);
	struct function *function = *slot;

	if (function == NULL)
		return false;
	*slot = function->next;
	region_drop(function->definition->region);
	free(function);
	return true;
}

/* Enters a function; the caller's parameters and the function's tree are kept here. */
static void call_enter(struct node *definition, char **arguments)
{
	struct call *call = heap_allocate(sizeof(*call));

	if (++shell.calls > CALLS_MAX) {
		free(call);
		fail(STATUS_SYNTAX, "%s: too many calls in each other", arguments[0]);
	}
	/* It may remove or replace itself while it runs. */
	region_keep(definition->region);
	*call = (struct call){calls, definition->region, parameters_replace(arguments + 1),
			      shell.loops};
	calls = call;
	shell.loops = 0;
	shell.returnable++;
}

static void call_leave(void)
{
	struct call *call = calls;

	assert(call != NULL);
	shell.returnable--;
	shell.calls--;
	shell.loops = call->loops;
	parameters_restore(call->parameters);
	region_drop(call->region);
	calls = call->below;
	free(call);
}

void calls_leave_all(void)
{
	while (calls != NULL)
		call_leave();
}

int function_call(struct node *definition, char **arguments)
{
	call_enter(definition, arguments);
	frame_enter();
	execute(definition->body, false);
	frame_leave();
	call_leave();
	if (shell.skip == SKIP_RETURN)
		shell.skip = SKIP_NOTHING;
	return shell.status;
}
