/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_PARQUET_PARQUET_ORDER_H
#define D9_EXPORT_PARQUET_PARQUET_ORDER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Row numbers sorted by their values as signed numbers; equal ones keep their order. NULL if they are sorted
 * already; otherwise the caller frees the array.
 */
uint32_t *parquet_order(const uint64_t *values, size_t cnt);

#endif /* D9_EXPORT_PARQUET_PARQUET_ORDER_H */
