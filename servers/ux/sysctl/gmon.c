/* SPDX-License-Identifier: MIT */
/* The state of the kernel's own profile, and its tables as 4.4BSD has them: see gmon.h. */
#include "sysctl/gmon.h"

struct gmonparam _gmonparam = {.state = GMON_PROF_OFF, .hashfraction = HASHFRACTION};

/* ---------------- The tables ---------------- */

static uint32_t gmon_limit(uint32_t textsize)
{
	uint32_t limit = textsize * ARCDENSITY / 100;

	if (limit < MINARCS)
		return MINARCS;
	return limit < MAXARCS ? limit : MAXARCS;
}

static void gmon_measure(struct gmonparam *p, uint32_t first, uint32_t end)
{
	const uint32_t piece = HISTFRACTION * sizeof *p->kcount;

	p->lowpc = first / piece * piece;
	p->highpc = (end + piece - 1) / piece * piece;
	p->textsize = p->highpc - p->lowpc;
	p->kcountsize = p->textsize / HISTFRACTION;
	p->fromssize = p->textsize / HASHFRACTION;
	p->tolimit = (int32_t)gmon_limit(p->textsize);
	p->tossize = (uint32_t)p->tolimit * sizeof *p->tos;
}

int kmstartup(void)
{
	struct gmonparam *p = &_gmonparam;
	unsigned first = 0, end = 0, idle = 0;
	char *tables;

	if (p->kcount != NULL)
		return 0;
	if (host_kernel_text(ux_boot.host_control, &first, &end, &idle) != KERN_SUCCESS)
		return ENOENT;
	gmon_measure(p, first, end);
	tables = ux_allocate_pages(p->kcountsize + p->fromssize + p->tossize);
	if (tables == NULL)
		return ENOMEM;
	p->kcount = (uint16_t *)tables;
	p->froms = (uint16_t *)(tables + p->kcountsize);
	p->tos = (struct tostruct *)(tables + p->kcountsize + p->fromssize);
	gmon_ticks_prepare(idle);
	ux_log("Profiling kernel, textsize=%u [%x..%x]", p->textsize, p->lowpc, p->highpc);
	return 0;
}

/* ---------------- The state ---------------- */

/* Whoever comes while it is begun or ended waits for that. */
static void gmon_await(void)
{
	while (_gmonparam.state == GMON_PROF_BUSY)
		ux_sleep(&_gmonparam, NULL);
}

static void gmon_become(int32_t state)
{
	_gmonparam.state = state;
	ux_wakeup(&_gmonparam);
}

static int gmon_begin(void)
{
	int error;

	gmon_await();
	if (_gmonparam.state == GMON_PROF_ON)
		return 0;
	gmon_become(GMON_PROF_BUSY);
	error = gmon_calls_begin();
	if (error == 0) {
		error = gmon_ticks_begin();
		if (error != 0)
			gmon_calls_end();
	}
	gmon_become(error == 0 ? GMON_PROF_ON : GMON_PROF_OFF);
	return error;
}

/* Calls may be counted for somebody else, who was killed: that ends too. */
static int gmon_end(void)
{
	gmon_await();
	if (_gmonparam.state == GMON_PROF_OFF) {
		gmon_calls_end();
		return 0;
	}
	gmon_become(GMON_PROF_BUSY);
	gmon_ticks_end();
	gmon_calls_end();
	gmon_become(GMON_PROF_OFF);
	return 0;
}

/* What ends it already has the state OFF follow: what was lost is counted all the same. */
void gmon_fail(void)
{
	if (_gmonparam.state != GMON_PROF_ON)
		return;
	gmon_ticks_stop();
	gmon_calls_end();
	gmon_become(GMON_PROF_ERROR);
}

bool gmon_start(void)
{
	int error = kmstartup();

	if (error == 0)
		error = gmon_begin();
	if (error != 0)
		ux_log("the kernel is not profiled (error %d); try later: kgmon -b", error);
	return error == 0;
}

/* ---------------- sysctl() ---------------- */

static int gmon_set_state(const char *data)
{
	switch (*(const int *)(const void *)data) {
	case GMON_PROF_ON:
		return gmon_begin();
	case GMON_PROF_OFF:
		return gmon_end();
	default:
		return EINVAL;
	}
}

static bool gmon_is_zero(const char *data, size_t size)
{
	while (size > 0 && data[size - 1] == 0)
		size--;
	return size == 0;
}

/* As many zeros as the table has bytes forget what it counts. */
static int gmon_set_table(uintptr_t what, const char *data, size_t size)
{
	const uint32_t sizes[] = {
		[GPROF_COUNT] = _gmonparam.kcountsize,
		[GPROF_FROMS] = _gmonparam.fromssize,
		[GPROF_TOS] = _gmonparam.tossize,
	};

	if (size != sizes[what] || !gmon_is_zero(data, size))
		return EINVAL;
	gmon_await();
	gmon_ticks_bring();
	gmon_ticks_reset();
	gmon_calls_reset();
	return 0;
}

int gmon_set(uintptr_t what, const char *data, size_t size)
{
	int error = kmstartup();

	if (error != 0)
		return error;
	return what == GPROF_STATE ? gmon_set_state(data) : gmon_set_table(what, data, size);
}

static int gmon_bring(uintptr_t what)
{
	if (what == GPROF_COUNT || what == GPROF_TICKS)
		gmon_ticks_bring();
	if (what == GPROF_FROMS || what == GPROF_TOS)
		return gmon_calls_bring();
	return 0;
}

int gmon_get(uintptr_t what, struct sysctl_value *value)
{
	const struct gmonparam *p = &_gmonparam;
	int error = kmstartup();

	if (error == 0)
		error = gmon_bring(what);
	if (error != 0)
		return error;
	switch (what) {
	case GPROF_STATE:
		*value = (struct sysctl_value){&p->state, sizeof p->state};
		break;
	case GPROF_COUNT:
		*value = (struct sysctl_value){p->kcount, p->kcountsize};
		break;
	case GPROF_FROMS:
		*value = (struct sysctl_value){p->froms, p->fromssize};
		break;
	case GPROF_TOS:
		*value = (struct sysctl_value){p->tos, p->tossize};
		break;
	case GPROF_GMONPARAM:
		*value = (struct sysctl_value){p, sizeof *p};
		break;
	case GPROF_ACCOUNT:
		*value = (struct sysctl_value){&gmon_account, sizeof gmon_account};
		break;
	default:
		gmon_ticks_give(value);
		break;
	}
	return 0;
}
