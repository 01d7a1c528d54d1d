/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_RECORDER_SETUP_H
#define D9_RECORD_RECORDER_SETUP_H

struct recorder;

/* Opens the output, finds the targets, attaches the programs. 0, or -errno after one line. */
int recorder_prepare(struct recorder *r);
/* Reads the targets' processes, starts the command and the trace, drops privileges. Likewise. */
int recorder_start(struct recorder *r);
/* Frees all parts but the segments. */
void recorder_cleanup(struct recorder *r);

#endif
