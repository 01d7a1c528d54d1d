// SPDX-License-Identifier: BSD-2-Clause
/* --sched-sample and --max-overhead: texts become numbers. */
#include "cmd/record/load_shedding_opts.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "record/control/load_shedding.h"

enum { SAMPLE_MAX = 1000 };

/* 2, 0.5, 2.5%: 0.01 to 100. */
static int read_overhead(const char *text, uint32_t *ppm)
{
	char *end = NULL;
	double v = strtod(text, &end);

	if (*end == '%')
		end++;
	if (!isdigit((unsigned char)*text) || *end || !(v >= 0.01 && v <= 100)) {
		log_error(
			"record: bad value '%s' for --max-overhead: expected 0.01 to 100 percent, such as 2",
			text);
		return -EINVAL;
	}
	*ppm = (uint32_t)(v * 10000 + 0.5);
	return 0;
}

/* 1/N or N. */
static int read_sample(const char *text, uint32_t *one_in)
{
	const char *n_text = strncmp(text, "1/", 2) ? text : text + 2;
	uint64_t n;

	if (str_parse_u64(n_text, SAMPLE_MAX, &n) || !n) {
		log_error("record: bad value '%s' for --sched-sample: expected 1/N, N up to %d",
			  text, SAMPLE_MAX);
		return -EINVAL;
	}
	*one_in = (uint32_t)n;
	return 0;
}

int load_shedding_opts_read(const struct load_shedding_opts *o, struct load_shedding_cfg *out)
{
	int err = 0;

	out->one_in = 1;
	out->max_ppm = 0;
	if (o->max_overhead)
		err = read_overhead(o->max_overhead, &out->max_ppm);
	if (!err && o->sample)
		err = read_sample(o->sample, &out->one_in);
	return err;
}
