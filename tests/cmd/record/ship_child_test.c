// SPDX-License-Identifier: BSD-2-Clause
/* The process that ships next to a recording: this program, which it starts as `ship`. */
#include "cmd/record/ship_child.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/common/cmd.h"
#include "ship/ship.h"
#include "tests/support/temp_dir.h"

/* The command line without the descriptor, to a file in its directory. */
static void keep_words(int argc, char **argv)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/words", argv[2]);
	f = fopen(path, "w");
	for (int i = 3; f && i < argc; i++)
		if (strcmp(argv[i - 1], "--end-fd") != 0)
			fprintf(f, "%s ", argv[i]);
	_exit(f && !fclose(f) ? CMD_OK : CMD_USAGE);
}

/* In place of main(), if it was started as `ship DIR --to URL`. */
__attribute__((constructor)) static void be_ship(int argc, char **argv)
{
	if (argc < 5 || strcmp(argv[1], "ship") != 0)
		return;
	if (strstr(argv[4], "words"))
		keep_words(argc, argv);
	raise(strstr(argv[4], "stopped") ? SIGSTOP : SIGKILL);
	_exit(CMD_OK);
}

static volatile sig_atomic_t stops;

static void on_signal(int sig)
{
	stops++;
}

static struct ship_child *start(char *dir, size_t sz, const char *url)
{
	const struct ship_child_opts o = { .to = url };
	struct output_opts output = { 0 };
	struct ship_child *child;
	char path[96];

	temp_dir_make(dir, sz);
	snprintf(path, sizeof(path), "%s/t.bin", dir);
	output.path = path;
	cr_assert_eq(ship_child_start(&o, &output, true, &child), 0);
	return child;
}

Test(ship_child, a_signal_that_ends_it_is_a_failure_of_the_output)
{
	char dir[64];
	struct ship_child *child = start(dir, sizeof(dir), "http://localhost/killed");

	cr_expect_eq(ship_child_finish(child, &stops), CMD_OUTPUT);
	temp_dir_remove(dir);
}

static void *interrupt(void *ctx)
{
	const pthread_t *waiting = ctx;

	for (int i = 0; i < 2; i++) {
		poll(NULL, 0, 300);
		pthread_kill(*waiting, SIGINT);
	}
	return NULL;
}

Test(ship_child, the_second_stop_ends_a_child_that_does_nothing, .timeout = 15)
{
	const struct sigaction sa = { .sa_handler = on_signal };
	char dir[64];
	struct ship_child *child = start(dir, sizeof(dir), "http://localhost/stopped");
	pthread_t self = pthread_self(), thread;

	cr_assert_eq(sigaction(SIGINT, &sa, NULL), 0);
	cr_assert_eq(pthread_create(&thread, NULL, interrupt, &self), 0);
	cr_expect_eq(ship_child_finish(child, &stops), CMD_OUTPUT);
	pthread_join(thread, NULL);
	temp_dir_remove(dir);
}

/* Ends at once, with all options. The directory has a file that is not sent. */
static void run_with_options(char *dir, size_t sz)
{
	const char *labels[] = { "rack=b7", "role=it's db" };
	const struct ship_child_opts o = {
		.to = "http://localhost/words",
		.labels = { .v = labels, .cnt = 2 },
		.anonymize = true,
		.key_file = "key",
		.ca_file = "ca.pem",
		.raw_ttl = "7d",
		.rollup_ttl = "90",
	};
	struct output_opts output = { .disk_budget = 400 };
	struct ship_child *child;
	char path[96];
	FILE *f;

	temp_dir_make(dir, sz);
	snprintf(path, sizeof(path), "%s/t.0.bin", dir);
	f = fopen(path, "w");
	cr_assert(f && !fclose(f));
	snprintf(path, sizeof(path), "%s/t.bin", dir);
	output.path = path;
	cr_expect_null(ship_child_check(&o, &output, NULL));
	cr_assert_eq(ship_child_start(&o, &output, true, &child), 0);
	cr_expect_eq(ship_child_finish(child, &stops), CMD_OUTPUT);
}

#define OPTIONS                                                                                    \
	"--anonymize --anonymize-key key --ca-file ca.pem --raw-ttl 7d --rollup-ttl 90 --label rack=b7 --label "

Test(ship_child, options_are_passed_on)
{
	char dir[64], path[96], got[512] = "";
	FILE *f;

	run_with_options(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/words", dir);
	f = fopen(path, "r");
	cr_assert_not_null(f);
	cr_assert_not_null(fgets(got, sizeof(got), f));
	fclose(f);
	cr_expect_str_eq(got, "--to http://localhost/words " OPTIONS
			      "role=it's db --end-fd --disk-max 300 --quiet ");
	temp_dir_remove(dir);
}

/* The child would end at once, and the recording would go on. */
Test(ship_child, options_that_ship_refuses_are_refused_before)
{
	const char *labels[SHIP_LABELS_MAX + 1];
	struct ship_child_opts o = { .to = "http://localhost/x", .labels = { .v = labels } };
	struct output_opts output = { .path = "dir/t.bin" };

	for (size_t i = 0; i <= SHIP_LABELS_MAX; i++)
		labels[i] = "a=b";
	o.labels.cnt = SHIP_LABELS_MAX;
	cr_expect_null(ship_child_check(&o, &output, NULL));
	o.labels.cnt++;
	cr_expect_str_eq(ship_child_check(&o, &output, NULL), SHIP_LABELS_TOO_MANY);
	labels[0] = "a-b=c";
	o.labels.cnt = 1;
	cr_expect_null(ship_child_check(&o, &output, NULL));
	o.to = "pyroscope+http://localhost";
	cr_expect(strstr(ship_child_check(&o, &output, NULL) ?: "", "Pyroscope takes names"));
}

/* A command without --anonymize would send names. */
Test(ship_child, the_command_for_the_rest_has_the_same_options, .init = cr_redirect_stderr)
{
	char dir[64], want[512], got[1024] = "";
	FILE *err;

	run_with_options(dir, sizeof(dir));
	fflush(stderr);
	err = cr_get_redirected_stderr();
	got[fread(got, 1, sizeof(got) - 1, err)] = '\0';
	snprintf(want, sizeof(want),
		 "in %s not shipped; later: dial9-prof ship %s --to http://localhost/words " OPTIONS
		 "'role=it'\\''s db' --once\n",
		 dir, dir);
	cr_expect_not_null(strstr(got, want), "%s", got);
	temp_dir_remove(dir);
}
