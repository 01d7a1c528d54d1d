// SPDX-License-Identifier: BSD-2-Clause
/* --min-block and --max-block: texts become times. Who else uses bcc's tools types microseconds without a unit. */
#include "cmd/record/block_opts.h"

#include <errno.h>
#include <stdint.h>

#include "base/log.h"
#include "base/str.h"
#include "record/capture/capture.h"

static int parse(const char *option, const char *s, uint64_t *ns)
{
	uint64_t us;

	if (!str_parse_u64(s, UINT64_MAX / 1000, &us)) {
		*ns = us * 1000;
		return 0;
	}
	if (!str_parse_unit_duration(s, ns))
		return 0;
	log_error(
		"record: bad value '%s' for %s: expected a time such as 10ms, 1s or 100 (microseconds)",
		s, option);
	return -EINVAL;
}

bool block_opts_are_used(const struct block_opts *o)
{
	return o->min || o->max;
}

int block_opts_read(const struct block_opts *o, struct capture_off_cpu *out)
{
	if ((o->min && parse("--min-block", o->min, &out->min_ns)) ||
	    (o->max && parse("--max-block", o->max, &out->max_ns)))
		return -EINVAL;
	if (!o->max || (out->max_ns && out->max_ns >= out->min_ns))
		return 0;
	log_error("record: bad value '%s' for --max-block: %s", o->max,
		  out->max_ns ? "less than --min-block" : "expected more than 0");
	return -EINVAL;
}
