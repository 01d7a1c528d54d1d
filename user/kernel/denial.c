// SPDX-License-Identifier: BSD-2-Clause
/*
 * denial.c - why the kernel denied a request
 *
 * EPERM can mean a missing capability, a namespace, lockdown, a seccomp filter or a security
 * module. Each of them has its own remedy.
 */
#include "kernel/denial.h"

#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "kernel/privileges.h"

enum { USER_NS_INO = 0xeffffffd }; /* inode of the initial user namespace */

static void read_line(const char *path, char *line, int sz)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(line, sz, f))
		line[0] = '\0';
	if (f)
		fclose(f);
}

bool denial_is_confidential(const char *text)
{
	return strstr(text, "[confidentiality]") || strstr(text, "lockdown=confidentiality");
}

/* Falls back to /proc/cmdline, because securityfs may not be mounted. */
static bool is_confidential(void)
{
	char line[4096];

	read_line("/sys/kernel/security/lockdown", line, sizeof(line));
	if (!line[0])
		read_line("/proc/cmdline", line, sizeof(line));
	return denial_is_confidential(line);
}

static bool has_filter(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	int mode = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Seccomp: %d", &mode) == 1)
			break;
	if (f)
		fclose(f);
	return mode != 0;
}

void denial_read(struct denial_facts *out)
{
	struct stat st;

	*out = (struct denial_facts){
		.user_namespace = !stat("/proc/self/ns/user", &st) && st.st_ino != USER_NS_INO,
		.confidential = is_confidential(),
		.seccomp = has_filter(),
	};
	privileges_get(&out->caps);
}

enum denial denial_find(const struct denial_facts *f)
{
	if (f->confidential)
		return DENIAL_LOCKDOWN;
	if (!privileges_have(f->caps, CAP_BPF) || !privileges_have(f->caps, CAP_PERFMON))
		return DENIAL_CAPABILITIES;
	if (f->user_namespace)
		return DENIAL_NAMESPACE;
	return f->seccomp ? DENIAL_SECCOMP : DENIAL_NONE;
}

const char *denial_text(const struct denial_facts *f)
{
	static const char *const texts[] = {
		[DENIAL_NONE] =
			"a security module (SELinux, AppArmor) denies it; see the kernel log",
		[DENIAL_LOCKDOWN] = "kernel lockdown (confidentiality) denies it; boot with "
				    "lockdown=integrity",
		[DENIAL_CAPABILITIES] = "run it with sudo, or give the program " PRIVILEGES_TEXT,
		[DENIAL_NAMESPACE] = "capabilities of a user namespace do not allow it; run it as "
				     "root of the host",
		[DENIAL_SECCOMP] =
			"a seccomp filter denies bpf() or perf_event_open(); allow both, "
			"or record outside of the container",
	};

	return texts[denial_find(f)];
}
