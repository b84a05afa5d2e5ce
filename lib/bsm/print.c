/* SPDX-License-Identifier: MIT */
/* Records as people read them: as lines of fields, or in XML. */
#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <string.h>
#include <time.h>

#include "internal.h"

#define NOBODY_TEXT "-1"
#define FIELD_ROOM  64

/* A record that is being printed. */
struct printing {
	const struct bsm_style *style;
	FILE *out;
	bool is_first; /* No token of the record is there yet. */
};

/* ---------------- Fields ---------------- */

/* What would end a line or leave the terminal's state is shown as \ooo. */
static void print_text(const struct printing *printing, const char *text)
{
	static const char special[] = "<>&\"";
	static const char *const names[] = {"&lt;", "&gt;", "&amp;", "&quot;"};

	for (; *text != '\0'; text++) {
		const char *found = strchr(special, *text);

		if (printing->style->xml && found != NULL)
			fputs(names[found - special], printing->out);
		else if ((unsigned char)*text < ' ' || *text == 0x7f)
			fprintf(printing->out, "\\%03o", (unsigned char)*text);
		else
			putc(*text, printing->out);
	}
}

static const char *describe_user(const struct printing *printing, uint32_t uid,
				 char text[FIELD_ROOM])
{
	const struct bsm_style *style = printing->style;
	const struct passwd *user = style->raw || style->numeric_ids ? NULL : getpwuid((uid_t)uid);

	if (user != NULL)
		return user->pw_name;
	if (uid == AU_DEFAUDITID)
		return NOBODY_TEXT;
	snprintf(text, FIELD_ROOM, "%" PRIu32, uid);
	return text;
}

static const char *describe_group(const struct printing *printing, uint32_t gid,
				  char text[FIELD_ROOM])
{
	const struct bsm_style *style = printing->style;
	const struct group *group = style->raw || style->numeric_ids ? NULL : getgrgid((gid_t)gid);

	if (group != NULL)
		return group->gr_name;
	snprintf(text, FIELD_ROOM, "%" PRIu32, gid);
	return text;
}

static const char *describe_event(const struct printing *printing, uint16_t number,
				  char text[FIELD_ROOM])
{
	const struct bsm_event *event = printing->style->raw ? NULL : bsm_event_by_number(number);

	if (event != NULL)
		return printing->style->short_names ? event->name : event->description;
	snprintf(text, FIELD_ROOM, "%u", number);
	return text;
}

static const char *describe_time(const struct printing *printing, uint32_t seconds,
				 char text[FIELD_ROOM])
{
	time_t when = (time_t)seconds;
	struct tm date;

	if (printing->style->raw || gmtime_r(&when, &date) == NULL)
		snprintf(text, FIELD_ROOM, "%" PRIu32, seconds);
	else
		strftime(text, FIELD_ROOM, "%a %b %e %H:%M:%S %Y", &date);
	return text;
}

static const char *describe_milliseconds(const struct printing *printing, uint32_t milliseconds,
					 char text[FIELD_ROOM])
{
	snprintf(text, FIELD_ROOM, printing->style->raw ? "%" PRIu32 : " + %" PRIu32 " msec",
		 milliseconds);
	return text;
}

static const char *describe_error(const struct printing *printing, uint8_t error,
				  char text[FIELD_ROOM])
{
	if (printing->style->raw)
		snprintf(text, FIELD_ROOM, "%u", error);
	else if (error == 0)
		snprintf(text, FIELD_ROOM, "success");
	else
		snprintf(text, FIELD_ROOM, printing->style->xml ? "failure: %s" : "failure : %s",
			 strerror(error));
	return text;
}

static const char *describe_number(const char *format, uint64_t number, char text[FIELD_ROOM])
{
	snprintf(text, FIELD_ROOM, format, number);
	return text;
}

/* ---------------- Tokens ---------------- */

/* The beginning of a token, with its name; in raw output that is its number. */
static void begin_token(struct printing *printing, uint8_t type, const char *name)
{
	const struct bsm_style *style = printing->style;

	if (style->xml)
		fprintf(printing->out, "<%s", name);
	else if (!printing->is_first && style->one_line)
		fputs(style->delimiter, printing->out);
	if (!style->xml && style->raw)
		fprintf(printing->out, "%u", type);
	else if (!style->xml)
		fputs(name, printing->out);
	printing->is_first = false;
}

/* A field; in XML it has a name. */
static void put_field(const struct printing *printing, const char *name, const char *value)
{
	if (printing->style->xml)
		fprintf(printing->out, " %s=\"", name);
	else
		fputs(printing->style->delimiter, printing->out);
	print_text(printing, value);
	if (printing->style->xml)
		putc('"', printing->out);
}

static void end_token(const struct printing *printing)
{
	if (printing->style->xml)
		fputs("/>\n", printing->out);
	else if (!printing->style->one_line)
		putc('\n', printing->out);
}

/* The same for what has any number of fields; in XML they are elements. */
static void begin_list(struct printing *printing, uint8_t type, const char *name)
{
	begin_token(printing, type, name);
	if (printing->style->xml)
		putc('>', printing->out);
}

static void put_item(const struct printing *printing, const char *name, const char *value)
{
	if (!printing->style->xml) {
		put_field(printing, name, value);
		return;
	}
	fprintf(printing->out, "<%s>", name);
	print_text(printing, value);
	fprintf(printing->out, "</%s>", name);
}

static void end_list(const struct printing *printing, const char *name)
{
	if (printing->style->xml)
		fprintf(printing->out, "</%s>\n", name);
	else
		end_token(printing);
}

static void print_header(struct printing *printing, const struct bsm_token *token)
{
	char text[FIELD_ROOM];

	if (printing->style->xml) {
		fputs("<record", printing->out);
		printing->is_first = false;
	} else {
		begin_token(printing, token->type, "header");
		put_field(printing, "size", describe_number("%" PRIu64, token->header.size, text));
	}
	put_field(printing, "version", describe_number("%" PRIu64, token->header.version, text));
	put_field(printing, "event", describe_event(printing, token->header.event, text));
	put_field(printing, "modifier", describe_number("%" PRIu64, token->header.modifier, text));
	put_field(printing, "time", describe_time(printing, token->header.seconds, text));
	put_field(printing, "msec",
		  describe_milliseconds(printing, token->header.milliseconds, text));
	if (printing->style->xml)
		fputs(">\n", printing->out);
	else
		end_token(printing);
}

static void print_trailer(struct printing *printing, const struct bsm_token *token)
{
	char text[FIELD_ROOM];

	if (printing->style->xml) {
		fputs("</record>\n", printing->out);
		return;
	}
	begin_token(printing, token->type, "trailer");
	put_field(printing, "size", describe_number("%" PRIu64, token->number, text));
	end_token(printing);
}

static void print_file(struct printing *printing, const struct bsm_token *token)
{
	char text[FIELD_ROOM];

	begin_token(printing, token->type, "file");
	put_field(printing, "time", describe_time(printing, token->file.seconds, text));
	put_field(printing, "msec",
		  describe_milliseconds(printing, token->file.milliseconds, text));
	put_field(printing, "name", token->file.name);
	end_token(printing);
}

static void print_process(struct printing *printing, const struct bsm_token *token)
{
	const struct bsm_process *process = &token->process;
	char text[FIELD_ROOM];

	begin_token(printing, token->type, token->type == AUT_SUBJECT32 ? "subject" : "process");
	put_field(printing, "audit-uid", describe_user(printing, process->auid, text));
	put_field(printing, "uid", describe_user(printing, process->euid, text));
	put_field(printing, "gid", describe_group(printing, process->egid, text));
	put_field(printing, "ruid", describe_user(printing, process->ruid, text));
	put_field(printing, "rgid", describe_group(printing, process->rgid, text));
	put_field(printing, "pid", describe_number("%" PRIu64, process->pid, text));
	put_field(printing, "sid", describe_number("%" PRIu64, process->session, text));
	snprintf(text, sizeof text, "%" PRIu32 " %u.%u.%u.%u", process->port,
		 process->address >> 24, process->address >> 16 & 0xff,
		 process->address >> 8 & 0xff, process->address & 0xff);
	put_field(printing, "tid", text);
	end_token(printing);
}

static void print_argument(struct printing *printing, const struct bsm_token *token)
{
	char text[FIELD_ROOM];

	begin_token(printing, token->type, "argument");
	put_field(printing, "arg-num", describe_number("%" PRIu64, token->argument.number, text));
	put_field(printing, "value", describe_number("0x%" PRIx64, token->argument.value, text));
	put_field(printing, "desc", token->argument.name);
	end_token(printing);
}

static void print_return(struct printing *printing, const struct bsm_token *token)
{
	char text[FIELD_ROOM];

	begin_token(printing, token->type, "return");
	put_field(printing, "errval", describe_error(printing, token->result.error, text));
	put_field(printing, "retval", describe_number("%" PRIu64, token->result.value, text));
	end_token(printing);
}

static void print_exit(struct printing *printing, const struct bsm_token *token)
{
	char text[FIELD_ROOM];

	begin_token(printing, token->type, "exit");
	put_field(printing, "errval", describe_number("%" PRIu64, token->exit.status, text));
	put_field(printing, "retval", describe_number("%" PRIu64, token->exit.value, text));
	end_token(printing);
}

static void print_attribute(struct printing *printing, const struct bsm_token *token)
{
	char text[FIELD_ROOM];

	begin_token(printing, token->type, "attribute");
	put_field(printing, "mode", describe_number("%" PRIo64, token->attribute.mode, text));
	put_field(printing, "uid", describe_user(printing, token->attribute.uid, text));
	put_field(printing, "gid", describe_group(printing, token->attribute.gid, text));
	put_field(printing, "fsid",
		  describe_number("%" PRIu64, token->attribute.file_system, text));
	put_field(printing, "nodeid", describe_number("%" PRIu64, token->attribute.inode, text));
	put_field(printing, "device", describe_number("%" PRIu64, token->attribute.device, text));
	end_token(printing);
}

static void print_strings(struct printing *printing, const struct bsm_token *token)
{
	const char *text = token->list.texts;

	begin_list(printing, token->type, "exec_args");
	for (uint32_t n = 0; n < token->list.count; n++) {
		put_item(printing, "arg", text);
		text += strlen(text) + 1;
	}
	end_list(printing, "exec_args");
}

static void print_groups(struct printing *printing, const struct bsm_token *token)
{
	const uint8_t *at = token->list.numbers;
	char text[FIELD_ROOM];

	begin_list(printing, token->type, "group");
	for (uint32_t n = 0; n < token->list.count; n++, at += 4) {
		uint32_t gid = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
			       (uint32_t)at[2] << 8 | at[3];

		put_item(printing, "gid", describe_group(printing, gid, text));
	}
	end_list(printing, "group");
}

static void print_opaque(struct printing *printing, const struct bsm_token *token)
{
	char text[3];

	begin_list(printing, token->type, "opaque");
	for (uint32_t n = 0; n < token->opaque.size; n++) {
		snprintf(text, sizeof text, "%02x", token->opaque.bytes[n]);
		put_item(printing, "byte", text);
	}
	end_list(printing, "opaque");
}

static uint64_t data_unit(const struct bsm_token *token, uint32_t n)
{
	const uint8_t *at = token->data.units + (size_t)n * token->data.size;
	uint64_t unit = 0;

	for (unsigned i = 0; i < token->data.size; i++)
		unit = unit << 8 | at[i];
	return unit;
}

/* A string is one item, whatever its units; what is no character of a text is left out. */
static void print_data_string(struct printing *printing, const struct bsm_token *token)
{
	char text[UINT8_MAX + 1];
	size_t length = 0;

	for (uint32_t n = 0; n < token->data.count; n++) {
		uint64_t unit = data_unit(token, n);

		if (unit >= ' ' && unit < 0x7f)
			text[length++] = (char)unit;
	}
	text[length] = '\0';
	put_item(printing, "value", text);
}

static void print_data(struct printing *printing, const struct bsm_token *token)
{
	static const struct {
		const char *name;
		const char *format; /* NULL: characters. */
	} ways[] = {
		[AUP_BINARY] = {"binary", "%02" PRIx64}, [AUP_OCTAL] = {"octal", "%" PRIo64},
		[AUP_DECIMAL] = {"decimal", "%" PRIu64}, [AUP_HEX] = {"hex", "0x%" PRIx64},
		[AUP_STRING] = {"string", NULL},
	};
	static const char *const units[] = {
		[1] = "byte", [2] = "short", [4] = "int32", [8] = "int64"};
	char text[FIELD_ROOM];

	begin_list(printing, token->type, "arbitrary");
	put_item(printing, "print", ways[token->data.how].name);
	put_item(printing, "type", units[token->data.size]);
	put_item(printing, "count", describe_number("%" PRIu64, token->data.count, text));
	if (ways[token->data.how].format == NULL)
		print_data_string(printing, token);
	for (uint32_t n = 0; ways[token->data.how].format != NULL && n < token->data.count; n++)
		put_item(printing, "value",
			 describe_number(ways[token->data.how].format, data_unit(token, n), text));
	end_list(printing, "arbitrary");
}

static void print_only_text(struct printing *printing, const struct bsm_token *token)
{
	begin_token(printing, token->type, token->type == AUT_PATH ? "path" : "text");
	put_field(printing, "value", token->text);
	end_token(printing);
}

static void print_sequence(struct printing *printing, const struct bsm_token *token)
{
	char text[FIELD_ROOM];

	begin_token(printing, token->type, "sequence");
	put_field(printing, "seq-num", describe_number("%" PRIu64, token->number, text));
	end_token(printing);
}

static const struct {
	uint8_t type;
	void (*print)(struct printing *printing, const struct bsm_token *token);
} printers[] = {
	{AUT_HEADER32, print_header},   {AUT_TRAILER, print_trailer},
	{AUT_OTHER_FILE32, print_file}, {AUT_SUBJECT32, print_process},
	{AUT_PROCESS32, print_process}, {AUT_ARG32, print_argument},
	{AUT_ARG64, print_argument},    {AUT_RETURN32, print_return},
	{AUT_TEXT, print_only_text},    {AUT_PATH, print_only_text},
	{AUT_EXEC_ARGS, print_strings}, {AUT_NEWGROUPS, print_groups},
	{AUT_OPAQUE, print_opaque},     {AUT_SEQ, print_sequence},
	{AUT_EXIT, print_exit},         {AUT_ATTR32, print_attribute},
	{AUT_DATA, print_data},
};

/* ---------------- Records ---------------- */

void bsm_print_begin(const struct bsm_style *style, FILE *out)
{
	if (style->xml)
		fputs("<?xml version='1.0' encoding='UTF-8'?>\n<audit>\n", out);
}

void bsm_print_end(const struct bsm_style *style, FILE *out)
{
	if (style->xml)
		fputs("</audit>\n", out);
}

/* A token that cannot be read ends the record: what is behind it has no beginning. */
void bsm_print_record(const struct bsm_style *style, const struct bsm_record *record, FILE *out)
{
	struct printing printing = {.style = style, .out = out, .is_first = true};
	struct bsm_cursor cursor = record->tokens;
	struct bsm_token token;

	while (bsm_next_token(&cursor, &token)) {
		for (size_t n = 0; n < sizeof printers / sizeof printers[0]; n++) {
			if (printers[n].type == token.type)
				printers[n].print(&printing, &token);
		}
	}
	if (style->xml && bsm_error[0] != '\0')
		fputs("</record>\n", out);
	if (!style->xml && style->one_line)
		putc('\n', out);
}
