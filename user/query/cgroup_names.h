/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_CGROUP_NAMES_H
#define D9_QUERY_CGROUP_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define CGROUP_NAMES_CONTAINER 64

/*
 * The id of the container in the path of a control group, as Docker, containerd, CRI-O and Podman name it: the last 64
 * hexadecimal digits. Borrowed, CGROUP_NAMES_CONTAINER bytes long; NULL: none.
 */
const char *cgroup_names_container(const char *path, size_t len);
/* Appends the UID of the Kubernetes pod in the path, with hyphens; false: there is none. */
bool cgroup_names_pod(struct buf *out, const char *path, size_t len);

#endif /* D9_QUERY_CGROUP_NAMES_H */
