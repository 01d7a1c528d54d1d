/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_HASH_H
#define D9_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"
#include "base/strtab.h"

/* Good mixing of all bits; not proof against keys chosen to collide. Stable between runs. */
uint64_t hash_u64(uint64_t v);
uint64_t hash_bytes(const void *p, size_t n);

#endif /* D9_BASE_HASH_H */
