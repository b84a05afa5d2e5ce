/* SPDX-License-Identifier: MIT */
/* Records as lines.  See print.h. */
#include "print.h"

#include <inttypes.h>
#include <string.h>

#include "names.h"

#define MICROSECONDS 1000000
#define ALL          ((1u << (KTR_USER + 1)) - 2) /* All types of records that there are. */
#define LINE_COLUMNS 79
#define TAB_COLUMNS  8

bool ktrace_parse_facilities(const char *letters, unsigned *facilities)
{
	static const char known[] = "cnisuw+";
	static const unsigned meant[] = {KTRFAC_SYSCALL | KTRFAC_SYSRET,
					 KTRFAC_NAMEI,
					 KTRFAC_GENIO,
					 KTRFAC_PSIG,
					 KTRFAC_USER,
					 KTRFAC_CSW,
					 KTRACE_DEFAULT};

	*facilities = 0;
	for (const char *letter = letters; *letter != '\0'; letter++) {
		const char *found = strchr(known, *letter);

		if (found == NULL)
			return false;
		*facilities |= meant[found - known];
	}
	return *facilities != 0;
}

void ktrace_print_start(struct ktrace_print *print, struct ktrace_file *file, FILE *out)
{
	*print = (struct ktrace_print){
		.out = out, .file = file, .facilities = ALL, .data_most = UINT64_MAX};
}

/* ---------------- Bodies ---------------- */

/* Records lie anywhere in the window; that these are long enough has been seen to. */
#define LOADER(type)                                                                   \
	static struct ktr_##type print_load_##type(const struct ktrace_record *record) \
	{                                                                              \
		struct ktr_##type body;                                                \
                                                                                       \
		memcpy(&body, record->body, sizeof body);                              \
		return body;                                                           \
	}

LOADER(genio)
LOADER(psig)
LOADER(csw)

/* ---------------- The beginning of a line ---------------- */

static void print_time(FILE *out, int64_t time)
{
	const char *sign = time < 0 ? "-" : "";
	uint64_t length = (uint64_t)(time < 0 ? -time : time);

	fprintf(out, "%s%" PRIu64 ".%06" PRIu64 " ", sign, length / MICROSECONDS,
		length % MICROSECONDS);
}

static void print_head(struct ktrace_print *print, const struct ktrace_record *record)
{
	const char *type = ktrace_name(KTRACE_TYPE, record->type);

	fprintf(print->out, "%6" PRId32 " ", record->pid);
	if (print->has_threads)
		fprintf(print->out, "%6u ", record->thread);
	fprintf(print->out, "%-8s ", record->command);
	switch (print->time) {
	case KTRACE_ELAPSED:
		print_time(print->out, record->time - print->begin);
		break;
	case KTRACE_RELATIVE:
		print_time(print->out, record->time - print->last);
		break;
	case KTRACE_ABSOLUTE:
		print_time(print->out, record->time);
		break;
	case KTRACE_NO_TIME:
		break;
	}
	print->last = record->time;
	if (type != NULL)
		fprintf(print->out, "%s  ", type);
	else
		fprintf(print->out, "%-4u  ", record->type);
}

/* ---------------- Bytes ---------------- */

/* Lines of the bytes stay lines; one that is too long goes on behind a backslash. */
static void print_data(struct ktrace_print *print, const unsigned char *bytes, size_t length)
{
	size_t column = TAB_COLUMNS;
	char text[KTRACE_BYTE_ROOM];

	if (length > print->data_most)
		length = (size_t)print->data_most;
	fputs("       \"", print->out);
	for (size_t i = 0; i < length; i++) {
		ktrace_print_byte(bytes[i], text);
		if (column + strlen(text) >= LINE_COLUMNS) {
			fputs("\\\n\t", print->out);
			column = TAB_COLUMNS;
		}
		fputs(text, print->out);
		column += strlen(text);
		if (bytes[i] == '\n' && i + 1 < length) {
			fputs("\n\t", print->out);
			column = TAB_COLUMNS;
		}
	}
	fputs("\"\n", print->out);
}

/* ---------------- Records by their types ---------------- */

static void print_syscall(struct ktrace_print *print, const struct ktrace_record *record)
{
	ktrace_print_call(print, record);
	putc('\n', print->out);
}

static void print_sysret(struct ktrace_print *print, const struct ktrace_record *record)
{
	ktrace_print_name(print->out, ktrace_print_code(record));
	putc(' ', print->out);
	ktrace_print_result(print, record);
	putc('\n', print->out);
}

static void print_namei(struct ktrace_print *print, const struct ktrace_record *record)
{
	putc('"', print->out);
	ktrace_print_text(print->out, record->body, record->length);
	fputs("\"\n", print->out);
}

static void print_genio(struct ktrace_print *print, const struct ktrace_record *record)
{
	const struct ktr_genio body = print_load_genio(record);
	size_t length = record->length - sizeof body;

	fprintf(print->out, "fd %" PRId32 " %s %zu byte%s\n", body.ktr_fd,
		body.ktr_rw == KTR_READ ? "read" : "wrote", length, length == 1 ? "" : "s");
	if (!print->hides_data && print->data_most > 0)
		print_data(print, record->body + sizeof body, length);
}

static void print_psig(struct ktrace_print *print, const struct ktrace_record *record)
{
	const struct ktr_psig body = print_load_psig(record);
	FILE *out = print->out;

	if (print->has_numbers)
		fprintf(out, "%" PRId32, body.signo);
	else
		ktrace_put_name(out, KTRACE_SIGNAL, (uint32_t)body.signo);
	if (body.action > 1)
		fprintf(out, " caught handler=%#" PRIx32, body.action);
	else
		fputs(body.action == 0 ? " SIG_DFL" : " SIG_IGN", out);
	fputs(" mask=", out);
	if (print->has_numbers)
		fprintf(out, "%#" PRIx64, body.mask);
	else
		ktrace_put_signals(out, body.mask);
	fputs(" code=", out);
	if (print->has_numbers)
		fprintf(out, "%" PRId32, body.code);
	else
		ktrace_put_sent(out, body.signo, body.code);
	putc('\n', out);
}

static void print_csw(struct ktrace_print *print, const struct ktrace_record *record)
{
	const struct ktr_csw body = print_load_csw(record);
	FILE *out = print->out;

	fprintf(out, "%s %s \"", body.out == 1 ? "stop" : "resume",
		body.user != 0 ? "user" : "kernel");
	if (print->has_numbers)
		fprintf(out, "%" PRIu32, body.reason);
	else
		ktrace_put_name(out, KTRACE_REASON, body.reason);
	putc('"', out);
	if (body.out != 1)
		fprintf(out, " after %" PRIu32 " us", body.length);
	putc('\n', out);
}

static void print_user(struct ktrace_print *print, const struct ktrace_record *record)
{
	fprintf(print->out, "%zu byte%s\n", record->length, record->length == 1 ? "" : "s");
	if (record->length > 0 && print->data_most > 0)
		print_data(print, record->body, record->length);
}

static const struct print_type {
	size_t least; /* Bytes of a record that is whole. */
	void (*print)(struct ktrace_print *print, const struct ktrace_record *record);
} types[] = {
	[KTR_SYSCALL] = {sizeof(struct ktr_syscall), print_syscall},
	[KTR_SYSRET] = {sizeof(struct ktr_sysret), print_sysret},
	[KTR_NAMEI] = {0, print_namei},
	[KTR_GENIO] = {sizeof(struct ktr_genio), print_genio},
	[KTR_PSIG] = {sizeof(struct ktr_psig), print_psig},
	[KTR_CSW] = {sizeof(struct ktr_csw), print_csw},
	[KTR_USER] = {0, print_user},
};

static const struct print_type *print_type_of(const struct ktrace_record *record)
{
	if (record->type >= sizeof types / sizeof types[0] || types[record->type].print == NULL)
		return NULL;
	return &types[record->type];
}

bool ktrace_is_sound(struct ktrace_file *file, const struct ktrace_record *record)
{
	const struct print_type *type = print_type_of(record);

	if (type == NULL)
		ktrace_complain(file, "record %" PRIu32 " is of type %u, which is not known here",
				record->sequence, record->type);
	else if (record->length < type->least)
		ktrace_complain(file,
				"record %" PRIu32 " has %zu bytes, but a %.4s has at least %zu",
				record->sequence, record->length,
				ktrace_name(KTRACE_TYPE, record->type), type->least);
	return type != NULL && record->length >= type->least;
}

bool ktrace_is_chosen(const struct ktrace_print *print, const struct ktrace_record *record)
{
	if (print->pid != 0 && record->pid != print->pid)
		return false;
	return print_type_of(record) == NULL || (print->facilities >> record->type & 1) != 0;
}

void ktrace_print_body(struct ktrace_print *print, const struct ktrace_record *record)
{
	print_type_of(record)->print(print, record);
}

void ktrace_print_record(struct ktrace_print *print, const struct ktrace_record *record)
{
	bool is_sound;

	if (!print->has_begun)
		print->begin = print->last = record->time;
	print->has_begun = true;
	if (!ktrace_is_chosen(print, record))
		return;
	is_sound = ktrace_is_sound(print->file, record);
	print_head(print, record);
	if (is_sound)
		ktrace_print_body(print, record);
	else
		fprintf(print->out, "%zu bytes that cannot be told\n", record->length);
}

void ktrace_print_all(struct ktrace_print *print)
{
	struct ktrace_record record;

	while (ktrace_next(print->file, &record)) {
		if (print->file->is_growing && record.sequence != print->held &&
		    ktrace_lacks_paths(print->file, &record)) {
			print->held = record.sequence;
			ktrace_put_back(print->file, &record);
			return;
		}
		ktrace_print_record(print, &record);
	}
}
