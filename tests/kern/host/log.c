/* SPDX-License-Identifier: MIT */
/* links: base/log.c base/format.c base/arguments.c base/string.c */
/* The kernel's log and the programs' console (base/log.h), on consoles that remember. */
#include "base/log.h"

#include <string.h>

#include "base/arguments.h"
#include "base/cpu.h"
#include "base/machine.h"
#include "host/kernel.h"

static char printed[MACHINE_CONSOLES][512];
static size_t lengths[MACHINE_CONSOLES];

static uint32_t cpu;

/* Called once when the next character is printed: as an NMI in the midst of a line would be. */
static void (*interrupt)(void);

uint32_t cpu_number(void)
{
	return cpu;
}

void machine_console_put(enum machine_console console, char c)
{
	void (*handler)(void) = interrupt;

	interrupt = NULL;
	if (handler != NULL)
		handler();
	if (lengths[console] < sizeof(printed[console]) - 1)
		printed[console][lengths[console]++] = c;
}

static void begin(const char *command_line)
{
	memset(printed, 0, sizeof(printed));
	memset(lengths, 0, sizeof(lengths));
	arguments_init(command_line);
	log_configure();
}

static void program_prints(const char *text)
{
	console_write(text, strlen(text));
}

#define COM0 printed[MACHINE_CONSOLE_COM0]
#define COM1 printed[MACHINE_CONSOLE_COM1]
#define VGA  printed[MACHINE_CONSOLE_VGA]

/* The choice stays from test to test, as nothing takes it back: this is the first. */
TEST(log_goes_to_both_defaults)
{
	klog("early %d\n", 1);
	EXPECT_STREQ(COM0, "early 1\r\n");
	EXPECT_STREQ(VGA, "early 1\n");
	EXPECT_STREQ(COM1, "");
	begin("");
	klog("number %d\n", 2);
	program_prints("hello\n");
	EXPECT_STREQ(COM0, "number 2\r\nhello\r\n");
	EXPECT_STREQ(VGA, "number 2\nhello\n");
	EXPECT_STREQ(COM1, "");
}

TEST(log_of_its_own)
{
	begin("console=vga log=com1");
	program_prints("hel");
	klog("kernel\n");
	program_prints("lo\n");
	EXPECT_STREQ(VGA, "hello\n");
	EXPECT_STREQ(COM1, "kernel\r\n");
	EXPECT_STREQ(COM0, "");
}

TEST(log_unknown_console)
{
	begin("console=com0");
	begin("console=com7");
	EXPECT_STREQ(COM0, "log: there is no console \"com7\"\r\n");
}

TEST(log_has_its_own_lines)
{
	begin("console=com0");
	program_prints("half");
	klog("kernel\n");
	program_prints(" line\n");
	klog("no end");
	klog("\n");
	EXPECT_STREQ(COM0, "half\r\nkernel\r\n line\r\nno end\r\n\r\n");
}

TEST(log_raw_has_no_carriage_returns)
{
	begin("console=com0 log=com1 raw");
	program_prints("a\nb\n");
	klog("c\n");
	EXPECT_STREQ(COM0, "a\nb\n");
	EXPECT_STREQ(COM1, "c\n");
}

static void with_prefix(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	klog_va("panic: ", format, args);
	va_end(args);
}

TEST(log_with_a_prefix)
{
	begin("console=com0 raw");
	program_prints("half");
	with_prefix("%d", 5);
	EXPECT_STREQ(COM0, "half\npanic: 5\n");
}

/* Byte for byte: zeros too. */
TEST(log_console_write_any_bytes)
{
	begin("console=com0");
	console_write("a\0\xff", 3);
	EXPECT_EQ(lengths[MACHINE_CONSOLE_COM0], 3);
	EXPECT(memcmp(COM0, "a\0\xff", 3) == 0);
	console_write("", 0);
	EXPECT_EQ(lengths[MACHINE_CONSOLE_COM0], 3);
	program_prints("\n");
}

static void die(void)
{
	cpu = 3;
	log_seize();
	klog("dying\n");
	log_seize();
}

/* Last, as the log stays seized: another CPU takes it while this one prints. */
TEST(log_seized_in_the_midst_of_a_line)
{
	begin("console=com0 raw");
	program_prints("one ");
	interrupt = die;
	program_prints("two");
	EXPECT_STREQ(COM0, "one \ndying\ntwo");
	klog("more\n");
	EXPECT_STREQ(COM0, "one \ndying\ntwo\nmore\n");
}
