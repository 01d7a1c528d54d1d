// SPDX-License-Identifier: BSD-2-Clause
/* Times at which a recording is to start: the clock on the wall, and how long from now. Knows no recorder. */
#include "cmd/record/start_at.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/str.h"

#define SECOND_NS 1000000000ULL
#define MS_NS 1000000ULL

enum { ZONE_LEN = 6, HOUR_S = 3600, ZONE_HOURS_MAX = 14 };

/* "Z", "+01:30" or nothing, which is local time: *utc is whether *offset_s counts. */
static int parse_zone(const char *s, bool *utc, long *offset_s)
{
	long hours, minutes;
	char *end;

	*utc = *s != '\0';
	*offset_s = 0;
	if (!*s || !strcmp(s, "Z"))
		return 0;
	if ((*s != '+' && *s != '-') || strlen(s) != ZONE_LEN || s[3] != ':')
		return -EINVAL;
	if (strspn(s + 1, "0123456789") != 2 || strspn(s + 4, "0123456789") != 2)
		return -EINVAL;
	hours = strtol(s + 1, &end, 10);
	minutes = strtol(s + 4, &end, 10);
	if (hours > ZONE_HOURS_MAX || minutes > 59)
		return -EINVAL;
	*offset_s = (hours * HOUR_S + minutes * 60) * (*s == '-' ? -1 : 1);
	return 0;
}

static int parse_day(const char *text, uint64_t now_ns, uint64_t *at_ns)
{
	static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
					     "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M" };
	const char *rest = NULL;
	struct tm tm;
	long offset;
	time_t at;
	bool utc;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]) && !rest; i++) {
		tm = (struct tm){ .tm_isdst = -1 };
		rest = strptime(text, forms[i], &tm);
	}
	if (!rest || parse_zone(rest, &utc, &offset))
		return -EINVAL;
	at = utc ? timegm(&tm) - offset : mktime(&tm);
	if (at < 0 || (uint64_t)at <= now_ns / SECOND_NS)
		return -ERANGE;
	if ((uint64_t)at > UINT64_MAX / SECOND_NS)
		return -EINVAL;
	*at_ns = (uint64_t)at * SECOND_NS;
	return 0;
}

static int parse_hours(const char *text, uint64_t now_ns, uint64_t *at_ns)
{
	const time_t now = (time_t)(now_ns / SECOND_NS);
	struct tm asked = { 0 }, tm;
	const char *rest = strptime(text, "%H:%M:%S", &asked);
	time_t at = -1;

	if (!rest)
		rest = strptime(text, "%H:%M", &asked);
	if (!rest || *rest || !localtime_r(&now, &tm))
		return -EINVAL;
	tm.tm_hour = asked.tm_hour;
	tm.tm_min = asked.tm_min;
	tm.tm_sec = asked.tm_sec;
	for (int day = 0; day < 2 && at <= now; day++) {
		struct tm other = tm;

		other.tm_mday += day;
		other.tm_isdst = -1;
		at = mktime(&other);
	}
	if (at <= now)
		return -EINVAL;
	*at_ns = (uint64_t)at * SECOND_NS;
	return 0;
}

int start_at_parse(const char *text, uint64_t now_ns, uint64_t *at_ns, uint64_t *period_ns)
{
	uint64_t period;

	if (*text != '/')
		return strchr(text, '-') ? parse_day(text, now_ns, at_ns) :
					   parse_hours(text, now_ns, at_ns);
	if (str_parse_duration(text + 1, &period) || !period || period > UINT64_MAX / 4)
		return -EINVAL;
	*period_ns = period;
	return 0;
}

int start_at_delay(const char *text, uint64_t *delay_ns, bool *hold)
{
	uint64_t ms;

	if (!strcmp(text, "-1")) {
		*hold = true;
		return 0;
	}
	if (!str_parse_u64(text, UINT64_MAX / MS_NS / 2, &ms)) {
		*delay_ns = ms * MS_NS;
		return 0;
	}
	return str_parse_unit_duration(text, delay_ns);
}
