/* SPDX-License-Identifier: MIT */
/*
 * The file format of speedscope, which draws flame graphs in a browser.  Each flavor is a profile
 * of its own; its name says how many samples were lost.
 */
#include <inttypes.h>

#include "view.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

static void speedscope_put_frames(const struct view *view, FILE *out)
{
	fputs("\"shared\":{\"frames\":[", out);
	for (uint32_t i = 0; i < view->n_functions; i++) {
		const char *object = view_object(view, i);

		fputs(i > 0 ? ",\n{\"name\":" : "\n{\"name\":", out);
		view_quote(out, view_name(view, i));
		if (object[0] != '\0') {
			fputs(",\"file\":", out);
			view_quote(out, object);
		}
		putc('}', out);
	}
	fputs("]}", out);
}

static void speedscope_put_stacks(const struct view *view, size_t flavor, FILE *out)
{
	const char *comma = "";

	for (size_t i = 0; i < view->n_stacks; i++) {
		const struct view_stack *stack = &view->stacks[i];

		if (stack->flavor != flavor)
			continue;
		fprintf(out, "%s\n[", comma);
		for (uint32_t depth = stack->depth; depth-- > 0;)
			fprintf(out, "%" PRIu32 "%s", view->frames[stack->frames + depth].function,
				depth > 0 ? "," : "");
		putc(']', out);
		comma = ",";
	}
}

static void speedscope_put_weights(const struct view *view, size_t flavor, FILE *out)
{
	const char *comma = "";

	for (size_t i = 0; i < view->n_stacks; i++) {
		if (view->stacks[i].flavor != flavor)
			continue;
		fprintf(out, "%s%" PRIu64, comma, view->stacks[i].count);
		comma = ",";
	}
}

static void speedscope_put_profile(const struct view *view, size_t flavor, FILE *out)
{
	uint64_t lost = view_lost(view->profile);
	char name[PROFILE_NAME + 64];

	snprintf(name, sizeof name, "%s%s", view->profile->flavors[flavor].name,
		 view->is_guessed ? ", callers guessed" : "");
	if (lost > 0)
		snprintf(name, sizeof name, "%s%s, %" PRIu64 " samples lost",
			 view->profile->flavors[flavor].name,
			 view->is_guessed ? ", callers guessed" : "", lost);
	fputs("\n{\"type\":\"sampled\",\"name\":", out);
	view_quote(out, name);
	fprintf(out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\"samples\":[",
		view->profile->flavors[flavor].is_length ? "nanoseconds" : "none",
		view_total(view, flavor));
	speedscope_put_stacks(view, flavor, out);
	fputs("],\n\"weights\":[", out);
	speedscope_put_weights(view, flavor, out);
	fputs("]}", out);
}

void view_write_speedscope(const struct view *view, FILE *out)
{
	fputs("{\"$schema\":\"" SCHEMA "\",\"exporter\":\"Assay gprof\",", out);
	speedscope_put_frames(view, out);
	fprintf(out, ",\"activeProfileIndex\":%zu,\"profiles\":[", view_main_flavor(view));
	for (size_t i = 0; i < view->profile->n_flavors; i++) {
		if (i > 0)
			putc(',', out);
		speedscope_put_profile(view, i, out);
	}
	fputs("]}\n", out);
}
