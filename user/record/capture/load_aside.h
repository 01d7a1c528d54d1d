/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_LOAD_ASIDE_H
#define D9_RECORD_CAPTURE_LOAD_ASIDE_H

struct prof;

/*
 * Loads the sampling program in a thread while libbpf loads the other programs. Call begin() before prof__open(), and
 * end() after prof__load(), also if it failed.
 */
void load_aside_begin(void);
/*
 * Waits for the thread. 0: the program has its descriptor. -errno: its load failed; libbpf can load it again and gets
 * the log.
 */
int load_aside_end(struct prof *skel);

#endif
