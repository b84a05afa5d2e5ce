/* SPDX-License-Identifier: MIT */
/* Makes a trace, and reads traces.  See made.h. */
#define _GNU_SOURCE
#include "made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ktrace/print.h"
#include "view.h"

#define BEGIN 1000000000

/* ---------------- Making ---------------- */

static FILE *made_file;
static uint32_t made_sequence;

static void made_put(int type, const void *body, size_t size)
{
	struct ktr_header header = {
		.ktr_len = (int32_t)size,
		.ktr_type = (int16_t)type,
		.ktr_thread = 1,
		.ktr_pid = 12,
		.ktr_comm = "cat",
		.ktr_time = {BEGIN, (int32_t)(1000 * made_sequence)},
		.ktr_sequence = made_sequence + 1,
	};

	made_sequence++;
	fwrite(&header, sizeof header, 1, made_file);
	fwrite(body, size, 1, made_file);
}

static void made_put_call(int16_t code, const uint64_t *arguments, int16_t n)
{
	unsigned char body[sizeof(struct ktr_syscall) + 6 * sizeof(uint64_t)];
	const struct ktr_syscall call = {.ktr_code = code, .ktr_narg = n};

	memcpy(body, &call, sizeof call);
	memcpy(body + sizeof call, arguments, (size_t)n * sizeof *arguments);
	made_put(KTR_SYSCALL, body, sizeof call + (size_t)n * sizeof *arguments);
}

static void made_put_result(int16_t code, int32_t error, int32_t value)
{
	const struct ktr_sysret body = {.ktr_code = code, .ktr_error = error, .ktr_retval = value};

	made_put(KTR_SYSRET, &body, sizeof body);
}

static void made_put_wait(int32_t out, uint32_t reason, uint32_t length)
{
	const struct ktr_csw body = {.out = out, .reason = reason, .length = length};

	made_put(KTR_CSW, &body, sizeof body);
}

static void made_put_data(const char *text)
{
	const struct ktr_genio head = {.ktr_fd = 1, .ktr_rw = KTR_WRITE};
	char body[100];

	memcpy(body, &head, sizeof head);
	strcpy(body + sizeof head, text);
	made_put(KTR_GENIO, body, sizeof head + strlen(text));
}

static void made_put_signal(void)
{
	const struct ktr_psig body = {.signo = 14, .action = 0x8049000, .code = 128, .mask = 2};

	made_put(KTR_PSIG, &body, sizeof body);
}

unsigned char *made_trace(size_t *size)
{
	char *bytes;

	made_file = open_memstream(&bytes, size);
	made_sequence = 0;
	made_put_call(42, (const uint64_t[]){4, 6}, 2); /* rename */
	made_put(KTR_NAMEI, "/old", 4);
	made_put(KTR_NAMEI, "/newer", 6);
	made_put_result(42, 0, 0);
	made_put_call(34, (const uint64_t[]){1, 11}, 2); /* write */
	made_put_wait(1, KTR_WAIT_PORT, 0);
	made_put_wait(0, KTR_WAIT_PORT, 900);
	made_put_data("hello\n\001you\n");
	made_put_result(34, 4, 0);
	made_put_signal();
	made_put(KTR_USER, "half way", 8);
	made_put_call(2, (const uint64_t[]){0}, 1); /* exit */
	fclose(made_file);
	return (unsigned char *)bytes;
}

/* ---------------- Reading ---------------- */

/* What is printed is nobody's to see, but how many lines there are beside those of data. */
struct made_reading {
	struct ktrace_file file;
	struct ktrace_print print;
	char *text;
	size_t length;
};

static void made_open(struct made_reading *reading, const unsigned char *bytes, size_t size)
{
	int descriptor = memfd_create("trace", 0);

	*reading = (struct made_reading){.file = {.program = "kdump", .name = "trace"}};
	if (descriptor < 0 || write(descriptor, bytes, size) != (ssize_t)size ||
	    lseek(descriptor, 0, SEEK_SET) != 0 || !ktrace_attach(&reading->file, descriptor))
		abort();
	ktrace_print_start(&reading->print, &reading->file,
			   open_memstream(&reading->text, &reading->length));
}

static unsigned made_close(struct made_reading *reading)
{
	unsigned n = 0;

	fclose(reading->print.out);
	for (const char *line = reading->text; *line != '\0'; line += strcspn(line, "\n") + 1)
		n += line[0] != '\t' && strncmp(line, "       \"", 8) != 0;
	free(reading->text);
	ktrace_close(&reading->file);
	return n;
}

static void made_read_view(const unsigned char *bytes, size_t size, const char *name)
{
	const struct timeline_choice choice = {.name = name};
	struct made_reading reading;

	made_open(&reading, bytes, size);
	timeline_write(&choice, &reading.print);
	made_close(&reading);
}

/* With options that are other ones each time; while it grows. */
static void made_read_otherwise(const unsigned char *bytes, size_t size)
{
	struct made_reading reading;

	made_open(&reading, bytes, size);
	reading.print.has_threads = true;
	reading.print.has_numbers = size % 2 != 0;
	reading.print.is_decimal = size % 3 != 0;
	reading.print.hides_data = size % 5 == 0;
	reading.print.time = (enum ktrace_time)(size % (KTRACE_ABSOLUTE + 1));
	reading.print.data_most = 4;
	ktrace_parse_facilities(size % 7 == 0 ? "+w" : "cnisuw", &reading.print.facilities);
	reading.file.is_growing = true;
	ktrace_print_all(&reading.print);
	ktrace_print_all(&reading.print);
	ktrace_stop_growing(&reading.file);
	ktrace_print_all(&reading.print);
	made_close(&reading);
}

unsigned made_read(const unsigned char *bytes, size_t size, int *is_damaged)
{
	struct made_reading reading;

	made_read_view(bytes, size, "chrome");
	made_read_view(bytes, size, "perf");
	made_read_view(bytes, size, "speedscope");
	made_read_otherwise(bytes, size);
	made_open(&reading, bytes, size);
	ktrace_print_all(&reading.print);
	*is_damaged = reading.file.is_damaged;
	return made_close(&reading);
}
