/* SPDX-License-Identifier: MIT */
/* monctl: what the command line asks for. */
#include "common/common.h"
#include "monctl.h"

static int act(const struct arguments *arguments)
{
	if (arguments->host != NULL) {
		report("-host %s: there is no network server, so only this machine's programs can "
		       "be asked",
		       arguments->host);
		return EXIT_FAILED;
	}
	if (arguments->command != NULL)
		return run_run(arguments);
	if (arguments->proxy)
		return proxy_run(arguments);
	if (arguments->record != NULL)
		return record_run(arguments);
	if (arguments->live)
		return live_run(arguments);
	return control_run(arguments);
}

int main(int count, char **words)
{
	struct arguments arguments;

	(void)count;
	program_start(words);
	arguments_read(&arguments, words + 1);
	if (arguments.help) {
		arguments_help();
		return program_end(EXIT_DONE);
	}
	return act(&arguments);
}
