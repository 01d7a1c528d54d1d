/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_RECORDER_SETUP_H
#define D9_RECORD_RECORDER_SETUP_H

#include <stdint.h>

struct recorder;

/* Opens the output, finds the targets, attaches the programs. 0, or -errno after one line. */
int recorder_prepare(struct recorder *r);
/* Reads the targets' processes, starts the command and the trace, drops privileges. Likewise. */
int recorder_start(struct recorder *r);
/* Limits the helper processes for --max-overhead, from one second after the start on. Call it often. */
void recorder_limit_helpers(struct recorder *r, uint64_t now_ns);
/* Frees all parts but the segments. */
void recorder_cleanup(struct recorder *r);

#endif
