/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_RECORD_CHECK_FEATURES_H
#define D9_CMD_RECORD_CHECK_FEATURES_H

struct check;

/* Loads the BPF programs of a recording with each option that has its own, and adds a row for each. */
void check_features(struct check *c, const char *btf);

#endif /* D9_CMD_RECORD_CHECK_FEATURES_H */
