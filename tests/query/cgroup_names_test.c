// SPDX-License-Identifier: BSD-2-Clause
#include "query/cgroup_names.h"

#include <criterion/criterion.h>
#include <string.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "01234567-89ab-cdef-0123-456789abcdef"
#define UID_SYSTEMD "01234567_89ab_cdef_0123_456789abcdef"

static void expect(const char *path, bool container, bool pod)
{
	const char *id = cgroup_names_container(path, strlen(path));
	struct buf out = { 0 };

	cr_expect_eq(id != NULL, container, "%s", path);
	cr_expect(!id || !memcmp(id, ID, 64), "%s", path);
	cr_expect_eq(cgroup_names_pod(&out, path, strlen(path)), pod, "%s", path);
	cr_expect_str_eq(buf_cstr(&out), pod ? UID : "", "%s", path);
	buf_free(&out);
}

Test(cgroup_names, paths_of_common_runtimes)
{
	expect("/docker/" ID, true, false);
	expect("/system.slice/docker-" ID ".scope", true, false);
	expect("/machine.slice/libpod-" ID ".scope", true, false);
	expect("/kubepods/burstable/pod" UID "/" ID, true, true);
	expect("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_SYSTEMD
	       ".slice/cri-containerd-" ID ".scope",
	       true, true);
	expect("/kubepods.slice/kubepods-pod" UID_SYSTEMD ".slice", false, true);
}

Test(cgroup_names, other_paths_have_neither)
{
	expect("", false, false);
	expect("/", false, false);
	expect("/user.slice/user-1000.slice/session-1.scope", false, false);
	/* a digit too many, a digit too few, capitals */
	expect("/docker/" ID "0", false, false);
	expect("/docker/0123456789abcdef", false, false);
	expect("/docker/0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF", false,
	       false);
	expect("/pod01234567-89ab-cdef-0123-456789abcde", false, false);
	expect("/pod"
	       "01234567+89ab-cdef-0123-456789abcdef",
	       false, false);
}

Test(cgroup_names, of_nested_containers_the_inner_one_counts)
{
	const char *path =
		"/docker/ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff/docker/" ID;

	expect(path, true, false);
}
