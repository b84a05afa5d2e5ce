/* SPDX-License-Identifier: MIT */
/* What the tables' columns mean, for who reads one for the first time (-b leaves this out). */
#include <stdio.h>

#include "print.h"

static const char flat_blurb[] =
	"Functions by what was sampled in themselves, callees not included.\n"
	"\n"
	" %           share of all samples.\n"
	" cumulative  this function's and those above it.\n"
	" self        this function's own.  A function with few samples is known roughly only:\n"
	"             with n of them, expect an error of the square root of n.\n"
	" calls       by other functions; empty if they were not counted.\n"
	" self/call   own time of a call, in the mean over all callers.\n"
	" total/call  the same with all that was called in turn.  Without call stacks that is an\n"
	"             estimate, if what was called has other callers, too: a line above says so.\n"
	"\n"
	" <kernel>    samples in the kernel while it worked for the program.\n"
	" <outside>   samples at addresses that belong to no function.\n"
	" <profiler>  samples of the thread that collects them.\n"
	"\n";

static const char graph_blurb[] =
	"Functions with callers and callees, by what they and their callees took.  Each entry has\n"
	"a line that begins with its number; above it are its callers, below it its callees.\n"
	"\n"
	"The entry's own line:\n"
	" %time        share of all samples that this function and its callees have.\n"
	" self         its own.\n"
	" descendents  what came up from its callees.\n"
	" called+self  calls by others, and by itself; the latter pass nothing on.\n"
	"A caller's line:\n"
	" self         so much of the entry's self is this caller's part.\n"
	" descendents  the same for what came from the entry's callees.\n"
	"              With call stacks both are measured.  Without, they are estimates wherever\n"
	"              `called' is not `total': divided by calls, as if each cost the same.\n"
	" called/total calls by this caller, of all calls by others.\n"
	"A callee's line has in the same way what this entry gets of its callee's time.\n"
	"\n"
	"Functions that call each other in a circle are a cycle, which has an entry of its own,\n"
	"with its members below.  Calls inside of a cycle pass nothing on.  <spontaneous> are\n"
	"callers that are not known.\n"
	"\n";

void print_flat_blurb(void)
{
	fputs(flat_blurb, stdout);
}

void print_graph_blurb(void)
{
	fputs(graph_blurb, stdout);
}
