/* SPDX-License-Identifier: MIT */
/*
 * The Basic Security Module's library: what /etc/security says, records for the trail, and reading
 * them back.  Link with -lbsm.
 *
 * Files that are read may say anything: what makes no sense is an error with a message in
 * `bsm_error`, never more.
 */
#ifndef BSM_H
#define BSM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <bsm/audit.h>
#include <bsm/audit_kevents.h>
#include <bsm/audit_record.h>

#define AUDIT_FOLDER "/etc/security/"
#define AUDIT_TRAILS "/var/audit" /* If audit_control does not say otherwise. */

/* What was wrong with the last thing that failed: one line, without its end. */
extern char bsm_error[256];

/* ---------------- Lines of configuration (lines.c) ---------------- */

/*
 * Calls `take` with the words of each line, which colons separate, without comments and empty
 * lines.  False if the file cannot be read, or if `take` has said why a line is wrong.
 */
#define BSM_WORDS 5
bool bsm_read_lines(const char *path, bool (*take)(char *words[BSM_WORDS], int n, void *context),
		    void *context);

/* A failure, which is false: says it in bsm_error. */
bool bsm_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---------------- Classes and events (classes.c, events.c) ---------------- */

struct bsm_event {
	uint32_t number;
	char *name;        /* AUE_OPEN_R */
	char *description; /* open(2) - read */
	au_class_t classes;
};

/* Reads audit_class and audit_event for those who ask for events; once. */
bool bsm_load(void);

const struct bsm_event *bsm_event_by_number(uint32_t number); /* Null: it has no name. */
const struct bsm_event *bsm_event_by_name(const char *name);
const struct bsm_event *bsm_events(size_t *count);

/* Classes by names such as `lo,+fr,-fw,^-fc,all`: what they add to a mask, or take away. */
bool bsm_flags(const char *flags, au_mask_t *mask);

/* ---------------- audit_control and audit_user (control.c) ---------------- */

struct bsm_control {
	char folder[256];
	int minimum_free;     /* Percent. */
	uint64_t file_size;   /* 0: trails may have any size. */
	uint64_t expire_size; /* The oldest trails go when all are larger than that, */
	uint32_t expire_age;  /* or older than so many seconds; 0: never. */
	uint32_t queue;       /* Records; 0: as it is. */
	int policy;
	char flags[128];   /* Of users, */
	char naflags[128]; /* and of what is nobody's. */
};

bool bsm_read_control(struct bsm_control *control);

/* What is audited of a user: by audit_control, and what audit_user adds and takes away. */
bool bsm_user_mask(const char *user, au_mask_t *mask);

/* The process is this user's from now on, with his mask, in a session of its own: at a login. */
bool bsm_log_in(const char *user, uid_t uid);

/* ---------------- Making records (write.c) ---------------- */

typedef struct au_token token_t;

/* A record that is being made, by number; -1 without memory. */
int au_open(void);

/* Adds a token, which is freed: 0, or -1. */
int au_write(int record, token_t *token);

/* Sends it to the trail, if it is to be kept: 0, or -1 with errno. */
int au_close(int record, int keep, int event);

token_t *au_to_me(void); /* The calling process as the one that acts. */
token_t *au_to_text(const char *text);
token_t *au_to_path(const char *path);
token_t *au_to_arg32(int argument, const char *name, uint32_t value);
token_t *au_to_return32(int error, uint32_t value);

/* ---------------- Reading records (read.c) ---------------- */

struct bsm_process {
	uint32_t auid, euid, egid, ruid, rgid, pid, session, port, address;
};

/* A token; strings are in the record, and end there. */
struct bsm_token {
	uint8_t type;
	union {
		struct {
			uint32_t size, seconds, milliseconds;
			uint16_t event, modifier;
			uint8_t version;
		} header;
		struct {
			uint32_t seconds, milliseconds;
			const char *name;
		} file;
		struct bsm_process process;
		struct {
			uint64_t value;
			uint8_t number;
			const char *name;
		} argument;
		struct {
			uint32_t value;
			uint8_t error;
		} result;
		struct {
			uint32_t count;
			const char *texts;      /* One behind another, each with its zero; */
			const uint8_t *numbers; /* or numbers, big-endian. */
		} list;
		struct {
			uint8_t how;  /* AUP_*: how it is to be printed, */
			uint8_t size; /* bytes of a unit, which is big-endian, */
			uint8_t count;
			const uint8_t *units;
		} data;
		struct {
			uint32_t status, value;
		} exit;
		struct {
			uint32_t mode, uid, gid, file_system, device;
			uint64_t inode;
		} attribute;
		struct {
			const uint8_t *bytes;
			uint32_t size;
		} opaque;
		const char *text; /* Of texts and paths. */
		uint32_t number;  /* Of a sequence, or the trailer: bytes of the record. */
	};
};

/* Places in bytes; a token is read from `at` on, and no further than to `end`. */
struct bsm_cursor {
	const uint8_t *at, *end;
};

/* False at the end, and if what is there is no whole token, which bsm_error says. */
bool bsm_next_token(struct bsm_cursor *cursor, struct bsm_token *token);

/*
 * The next record of a file, or a file token that stands between records.  1; 0 at the end; -1 if
 * the rest is none, which bsm_error says.  Its bytes are good until the next is read.
 */
struct bsm_record {
	struct bsm_cursor tokens; /* From the header on; with the trailer. */
	uint64_t offset;          /* In the file. */
	uint8_t *bytes;
	size_t room;
};
int bsm_next_record(FILE *file, struct bsm_record *record);

/* ---------------- Choosing them (choose.c) ---------------- */

#define BSM_EVENTS_CHOSEN 16

/* What is asked of a record; what nobody has asked for is not looked at. */
struct bsm_choice {
	bool is_inverted;
	bool has_after, has_before, has_flags, has_euid, has_egid, has_rgid, has_pid, has_ruid,
		has_auid;
	time_t after, before; /* From the one on, and before the other. */
	au_mask_t flags;
	uint32_t euid, egid, rgid, pid, ruid, auid;
	uint16_t events[BSM_EVENTS_CHOSEN]; /* Any of these. */
	unsigned n_events;
	const char *path; /* This file, or one below it. */
};

bool bsm_is_chosen(const struct bsm_choice *choice, const struct bsm_record *record);

/* ---------------- Printing them (print.c) ---------------- */

struct bsm_style {
	const char *delimiter; /* Between fields. */
	bool one_line;         /* A record is a line, and not a token. */
	bool raw;              /* Numbers as they are, */
	bool short_names;      /* events by their short names, */
	bool numeric_ids;      /* and users by their numbers. */
	bool xml;
};

void bsm_print_begin(const struct bsm_style *style, FILE *out);
void bsm_print_record(const struct bsm_style *style, const struct bsm_record *record, FILE *out);
void bsm_print_end(const struct bsm_style *style, FILE *out);

#endif
