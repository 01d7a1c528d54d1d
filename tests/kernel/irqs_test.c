// SPDX-License-Identifier: BSD-2-Clause
/* Names of interrupt lines from a directory like sysfs's. */
#include "kernel/irqs.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/d9-irqs-XXXXXX";

static void add(const char *irq, const char *actions)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, irq);
	cr_assert_eq(mkdir(path, 0700), 0);
	if (!actions)
		return;
	snprintf(path, sizeof(path), "%s/%s/actions", dir, irq);
	f = fopen(path, "w");
	cr_assert(f);
	fputs(actions, f);
	fclose(f);
}

static void drop(const char *irq)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s/actions", dir, irq);
	unlink(path);
	snprintf(path, sizeof(path), "%s/%s", dir, irq);
	rmdir(path);
}

static int on_irq(void *ctx, uint32_t irq, const char *name)
{
	int *seen = ctx;

	if (irq == 24)
		cr_expect_str_eq(name, "virtio0-config");
	else if (irq == 9)
		cr_expect_str_eq(name, "acpi,other one");
	else
		cr_expect_fail("%u: %s", irq, name);
	seen[irq]++;
	return 0;
}

static int stop(void *ctx, uint32_t irq, const char *name)
{
	(void)irq;
	(void)name;
	++*(int *)ctx;
	return -7;
}

Test(irqs, interrupts_with_handlers_have_names)
{
	static const char *const all[] = { "24", "9", "10", "11", "kobject" };
	int seen[32] = { 0 }, stops = 0;

	cr_assert(mkdtemp(dir));
	add("24", "virtio0-config\n");
	add("9", "acpi,other one\n");
	add("10", "\n");
	add("11", NULL);
	add("kobject", "not a line\n");
	cr_expect_eq(irqs_each(dir, on_irq, seen), 0);
	cr_expect_eq(seen[24], 1);
	cr_expect_eq(seen[9], 1);
	cr_expect_eq(irqs_each(dir, stop, &stops), -7);
	cr_expect_eq(stops, 1);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		drop(all[i]);
	rmdir(dir);
	cr_expect_eq(irqs_each(dir, on_irq, seen), 0, "no such directory");
}
