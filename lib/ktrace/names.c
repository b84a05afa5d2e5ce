/* SPDX-License-Identifier: MIT */
/* Names of numbers.  See names.h. */
#include "names.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ktrace.h>

/* The host has headers of these names for its own numbers. */
#include "../../include/sys/errno.h"
#include "../../include/sys/fcntl.h"

#define NAME(name)     [name] = #name
#define COUNT(names)   (sizeof(names) / sizeof((names)[0]))
#define INDEXED(names) .by_number = names, .n = COUNT(names)
#define FLAGS(flags)   .by_flag = flags, .n = COUNT(flags)
#define REAL_TIME      32 /* The first real-time signal, */
#define SIGNAL_LAST    64 /* and the last of all. */

static const char *const errnos[] = {
	NAME(EPERM),
	NAME(ENOENT),
	NAME(ESRCH),
	NAME(EINTR),
	NAME(EIO),
	NAME(ENXIO),
	NAME(E2BIG),
	NAME(ENOEXEC),
	NAME(EBADF),
	NAME(ECHILD),
	NAME(EAGAIN),
	NAME(ENOMEM),
	NAME(EACCES),
	NAME(EFAULT),
	NAME(ENOTBLK),
	NAME(EBUSY),
	NAME(EEXIST),
	NAME(EXDEV),
	NAME(ENODEV),
	NAME(ENOTDIR),
	NAME(EISDIR),
	NAME(EINVAL),
	NAME(ENFILE),
	NAME(EMFILE),
	NAME(ENOTTY),
	NAME(ETXTBSY),
	NAME(EFBIG),
	NAME(ENOSPC),
	NAME(ESPIPE),
	NAME(EROFS),
	NAME(EMLINK),
	NAME(EPIPE),
	NAME(EDOM),
	NAME(ERANGE),
	NAME(EDEADLK),
	NAME(ENAMETOOLONG),
	NAME(ENOLCK),
	NAME(ENOSYS),
	NAME(ENOTEMPTY),
	NAME(ELOOP),
	NAME(ENOMSG),
	NAME(EIDRM),
	NAME(ECHRNG),
	NAME(EL2NSYNC),
	NAME(EL3HLT),
	NAME(EL3RST),
	NAME(ELNRNG),
	NAME(EUNATCH),
	NAME(ENOCSI),
	NAME(EL2HLT),
	NAME(EBADE),
	NAME(EBADR),
	NAME(EXFULL),
	NAME(ENOANO),
	NAME(EBADRQC),
	NAME(EBADSLT),
	NAME(EBFONT),
	NAME(ENOSTR),
	NAME(ENODATA),
	NAME(ETIME),
	NAME(ENOSR),
	NAME(ENONET),
	NAME(ENOPKG),
	NAME(EREMOTE),
	NAME(ENOLINK),
	NAME(EADV),
	NAME(ESRMNT),
	NAME(ECOMM),
	NAME(EPROTO),
	NAME(EMULTIHOP),
	NAME(EDOTDOT),
	NAME(EBADMSG),
	NAME(EOVERFLOW),
	NAME(ENOTUNIQ),
	NAME(EBADFD),
	NAME(EREMCHG),
	NAME(ELIBACC),
	NAME(ELIBBAD),
	NAME(ELIBSCN),
	NAME(ELIBMAX),
	NAME(ELIBEXEC),
	NAME(EILSEQ),
	NAME(ERESTART),
	NAME(ESTRPIPE),
	NAME(EUSERS),
	NAME(ENOTSOCK),
	NAME(EDESTADDRREQ),
	NAME(EMSGSIZE),
	NAME(EPROTOTYPE),
	NAME(ENOPROTOOPT),
	NAME(EPROTONOSUPPORT),
	NAME(ESOCKTNOSUPPORT),
	NAME(EOPNOTSUPP),
	NAME(EPFNOSUPPORT),
	NAME(EAFNOSUPPORT),
	NAME(EADDRINUSE),
	NAME(EADDRNOTAVAIL),
	NAME(ENETDOWN),
	NAME(ENETUNREACH),
	NAME(ENETRESET),
	NAME(ECONNABORTED),
	NAME(ECONNRESET),
	NAME(ENOBUFS),
	NAME(EISCONN),
	NAME(ENOTCONN),
	NAME(ESHUTDOWN),
	NAME(ETOOMANYREFS),
	NAME(ETIMEDOUT),
	NAME(ECONNREFUSED),
	NAME(EHOSTDOWN),
	NAME(EHOSTUNREACH),
	NAME(EALREADY),
	NAME(EINPROGRESS),
	NAME(ESTALE),
	NAME(EUCLEAN),
	NAME(ENOTNAM),
	NAME(ENAVAIL),
	NAME(EISNAM),
	NAME(EREMOTEIO),
	NAME(EDQUOT),
	NAME(ENOMEDIUM),
	NAME(EMEDIUMTYPE),
	NAME(ECANCELED),
	NAME(ENOKEY),
	NAME(EKEYEXPIRED),
	NAME(EKEYREVOKED),
	NAME(EKEYREJECTED),
	NAME(EOWNERDEAD),
	NAME(ENOTRECOVERABLE),
	NAME(ERFKILL),
	NAME(EHWPOISON),
};

static const char *const signals[] = {
	NULL,        "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",   "SIGTRAP", "SIGABRT", "SIGBUS",
	"SIGFPE",    "SIGKILL", "SIGUSR1",   "SIGSEGV", "SIGUSR2",  "SIGPIPE", "SIGALRM", "SIGTERM",
	"SIGSTKFLT", "SIGCHLD", "SIGCONT",   "SIGSTOP", "SIGTSTP",  "SIGTTIN", "SIGTTOU", "SIGURG",
	"SIGXCPU",   "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO",   "SIGPWR",  "SIGSYS",
};
static const char *const whences[] = {"SEEK_SET", "SEEK_CUR", "SEEK_END"};
static const char *const fcntls[] = {NAME(F_DUPFD), NAME(F_GETFD), NAME(F_SETFD), NAME(F_GETFL),
				     NAME(F_SETFL)};
static const char *const maskings[] = {"SIG_BLOCK", "SIG_UNBLOCK", "SIG_SETMASK"};
static const char *const timers[] = {"ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF"};
static const char *const usages[] = {"RUSAGE_SELF"};
static const char *const halts[] = {"UX_HALT", "UX_REBOOT"};
static const char *const reasons[] = {
	[KTR_WAIT_CPU] = "CPU",   [KTR_WAIT_PORT] = "port",   [KTR_WAIT_PAGE] = "page",
	[KTR_WAIT_LOCK] = "lock", [KTR_WAIT_TIMER] = "timer", [KTR_WAIT_STOP] = "stopped",
};
static const char *const types[] = {
	[KTR_SYSCALL] = "CALL", [KTR_SYSRET] = "RET ", [KTR_NAMEI] = "NAMI", [KTR_GENIO] = "GIO ",
	[KTR_PSIG] = "PSIG",    [KTR_CSW] = "CSW ",    [KTR_USER] = "USER",
};
static const char *const limits[] = {
	"RLIMIT_CPU",   "RLIMIT_FSIZE",      "RLIMIT_DATA",     "RLIMIT_STACK",   "RLIMIT_CORE",
	"RLIMIT_RSS",   "RLIMIT_NPROC",      "RLIMIT_NOFILE",   "RLIMIT_MEMLOCK", "RLIMIT_AS",
	"RLIMIT_LOCKS", "RLIMIT_SIGPENDING", "RLIMIT_MSGQUEUE", "RLIMIT_NICE",    "RLIMIT_RTPRIO",
};

/* Of flags: what is set of `mask` is `value`. */
struct names_flag {
	uint32_t mask;
	uint32_t value;
	const char *name;
};

#define FLAG(name)                \
	{                         \
		name, name, #name \
	}

static const struct names_flag open_flags[] = {
	{O_ACCMODE, O_RDONLY, "O_RDONLY"},
	{O_ACCMODE, O_WRONLY, "O_WRONLY"},
	{O_ACCMODE, O_RDWR, "O_RDWR"},
	FLAG(O_CREAT),
	FLAG(O_EXCL),
	FLAG(O_NOCTTY),
	FLAG(O_TRUNC),
	FLAG(O_APPEND),
	FLAG(O_NONBLOCK),
	FLAG(O_DIRECTORY),
	FLAG(O_NOFOLLOW),
	FLAG(O_CLOEXEC),
	FLAG(O_SYNC),
};
static const struct names_flag pipe_flags[] = {FLAG(O_NONBLOCK), FLAG(O_CLOEXEC)};
static const struct names_flag semaphore_flags[] = {FLAG(O_CREAT), FLAG(O_EXCL)};
static const struct names_flag access_flags[] = {
	{7, 0, "F_OK"}, {4, 4, "R_OK"}, {2, 2, "W_OK"}, {1, 1, "X_OK"}};
static const struct names_flag wait_flags[] = {{1, 1, "WNOHANG"}, {2, 2, "WUNTRACED"}};
static const struct names_flag action_flags[] = {
	{0x1, 0x1, "SA_NOCLDSTOP"},
	{0x4, 0x4, "SA_SIGINFO"},
	{0x08000000, 0x08000000, "SA_ONSTACK"},
	{0x10000000, 0x10000000, "SA_RESTART"},
	{0x40000000, 0x40000000, "SA_NODEFER"},
	{0x80000000, 0x80000000, "SA_RESETHAND"},
};
static const struct names_flag operation_flags[] = {
	{KTROP(~0), KTROP_SET, "KTROP_SET"},
	{KTROP(~0), KTROP_CLEAR, "KTROP_CLEAR"},
	{KTROP(~0), KTROP_CLEARFILE, "KTROP_CLEARFILE"},
	FLAG(KTRFLAG_DESCEND),
};
static const struct names_flag facility_flags[] = {
	FLAG(KTRFAC_SYSCALL), FLAG(KTRFAC_SYSRET), FLAG(KTRFAC_NAMEI), FLAG(KTRFAC_GENIO),
	FLAG(KTRFAC_PSIG),    FLAG(KTRFAC_CSW),    FLAG(KTRFAC_USER),  FLAG(KTRFAC_ROOT),
	FLAG(KTRFAC_INHERIT), FLAG(KTRFAC_ACTIVE),
};

/* What begins elsewhere than at 0, or has holes. */
static const char *names_of_sent(int64_t code)
{
	switch (code) {
	case 0:
		return "SI_USER";
	case -1:
		return "SI_QUEUE";
	case -2:
		return "SI_TIMER";
	case -6:
		return "SI_TKILL";
	case 0x80:
		return "SI_KERNEL";
	default:
		return NULL;
	}
}

/* Codes above 0, which say what of that signal's own has happened. */
static const struct names_cause {
	const char *signal;
	int32_t code;
	const char *name;
} causes[] = {
	{"SIGILL", 1, "ILL_ILLOPC"},   {"SIGILL", 5, "ILL_PRVOPC"},  {"SIGTRAP", 1, "TRAP_BRKPT"},
	{"SIGTRAP", 2, "TRAP_TRACE"},  {"SIGBUS", 1, "BUS_ADRALN"},  {"SIGBUS", 2, "BUS_ADRERR"},
	{"SIGBUS", 3, "BUS_OBJERR"},   {"SIGFPE", 1, "FPE_INTDIV"},  {"SIGFPE", 2, "FPE_INTOVF"},
	{"SIGFPE", 7, "FPE_FLTINV"},   {"SIGFPE", 8, "FPE_FLTSUB"},  {"SIGSEGV", 1, "SEGV_MAPERR"},
	{"SIGSEGV", 2, "SEGV_ACCERR"}, {"SIGCHLD", 1, "CLD_EXITED"}, {"SIGCHLD", 2, "CLD_KILLED"},
	{"SIGCHLD", 5, "CLD_STOPPED"},
};

static const char *names_of_late_errno(int64_t number)
{
	return number == ERESTARTSYS ? "ERESTARTSYS" : NULL;
}

static const char *names_of_fcntl(int64_t command)
{
	return command == F_DUPFD_CLOEXEC ? "F_DUPFD_CLOEXEC" : NULL;
}

static const char *names_of_usage(int64_t who)
{
	return who == -1 ? "RUSAGE_CHILDREN" : NULL;
}

static const char *names_of_real_time(int64_t number)
{
	static char name[sizeof "SIGRTMIN+32"];

	if (number < REAL_TIME || number > SIGNAL_LAST)
		return NULL;
	snprintf(name, sizeof name, "SIGRTMIN+%d", (int)number - REAL_TIME);
	return number == REAL_TIME ? "SIGRTMIN" : name;
}

static const struct names_table {
	const char *const *by_number;
	const struct names_flag *by_flag;
	size_t n;
	const char *(*others)(int64_t number);
} tables[KTRACE_NAMES] = {
	[KTRACE_ERRNO] = {INDEXED(errnos), .others = names_of_late_errno},
	[KTRACE_SIGNAL] = {INDEXED(signals), .others = names_of_real_time},
	[KTRACE_OPEN] = {FLAGS(open_flags)},
	[KTRACE_PIPE] = {FLAGS(pipe_flags)},
	[KTRACE_SEMAPHORE] = {FLAGS(semaphore_flags)},
	[KTRACE_ACCESS] = {FLAGS(access_flags)},
	[KTRACE_WHENCE] = {INDEXED(whences)},
	[KTRACE_FCNTL] = {INDEXED(fcntls), .others = names_of_fcntl},
	[KTRACE_WAIT] = {FLAGS(wait_flags)},
	[KTRACE_MASKING] = {INDEXED(maskings)},
	[KTRACE_ACTION] = {FLAGS(action_flags)},
	[KTRACE_TIMER] = {INDEXED(timers)},
	[KTRACE_USAGE] = {INDEXED(usages), .others = names_of_usage},
	[KTRACE_LIMIT] = {INDEXED(limits)},
	[KTRACE_HALT] = {INDEXED(halts)},
	[KTRACE_OPERATION] = {FLAGS(operation_flags)},
	[KTRACE_FACILITY] = {FLAGS(facility_flags)},
	[KTRACE_SENT] = {.others = names_of_sent},
	[KTRACE_REASON] = {INDEXED(reasons)},
	[KTRACE_TYPE] = {INDEXED(types)},
};

const char *ktrace_name(enum ktrace_names which, int64_t number)
{
	const struct names_table *table = &tables[which];
	const char *name = NULL;

	if (table->by_number != NULL && number >= 0 && (uint64_t)number < table->n)
		name = table->by_number[number];
	if (name == NULL && table->others != NULL)
		name = table->others(number);
	return name;
}

/* What no flag is the name of stands behind the others, or alone. */
static void names_put_flags(FILE *out, const struct names_table *table, uint64_t flags)
{
	uint64_t left = flags;
	const char *between = "";

	for (size_t i = 0; i < table->n; i++) {
		const struct names_flag *flag = &table->by_flag[i];

		if ((flags & flag->mask) != flag->value)
			continue;
		fprintf(out, "%s%s", between, flag->name);
		left &= ~(uint64_t)flag->mask;
		between = "|";
	}
	if (left != 0 || *between == '\0')
		fprintf(out, "%s%#" PRIx64, between, left);
}

void ktrace_put_name(FILE *out, enum ktrace_names which, uint64_t number)
{
	const char *name = ktrace_name(which, (int32_t)number);

	if (tables[which].by_flag != NULL)
		names_put_flags(out, &tables[which], (uint32_t)number);
	else if (name != NULL)
		fputs(name, out);
	else
		fprintf(out, "%" PRId32, (int32_t)number);
}

void ktrace_put_sent(FILE *out, int32_t signal, int32_t code)
{
	const char *name = ktrace_name(KTRACE_SIGNAL, signal);

	for (size_t i = 0; name != NULL && i < COUNT(causes); i++) {
		if (causes[i].code == code && strcmp(causes[i].signal, name) == 0) {
			fputs(causes[i].name, out);
			return;
		}
	}
	ktrace_put_name(out, KTRACE_SENT, (uint32_t)code);
}

/* Of a mask with most of them: `~{SIGKILL}` names those that are not in it. */
void ktrace_put_signals(FILE *out, uint64_t mask)
{
	bool has_most = __builtin_popcountll(mask) > SIGNAL_LAST / 2;
	uint64_t named = has_most ? ~mask : mask;
	const char *between = "";

	fputs(has_most ? "~{" : "{", out);
	for (int signal = 1; signal <= SIGNAL_LAST; signal++) {
		if ((named >> (signal - 1) & 1) == 0)
			continue;
		fprintf(out, "%s%s", between, ktrace_name(KTRACE_SIGNAL, signal));
		between = ",";
	}
	putc('}', out);
}
