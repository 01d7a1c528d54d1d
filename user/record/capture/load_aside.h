/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_LOAD_ASIDE_H
#define D9_RECORD_CAPTURE_LOAD_ASIDE_H

struct prof;

/*
 * Loads the programs of switches and of samples in threads while libbpf loads the other programs. Call begin() before
 * prof__open(), and end() after prof__load(), also if it failed.
 */
void load_aside_begin(void);
/* Call once programs are chosen, before each prof__load() in this process. 0 or -errno. */
int load_aside_find_targets(struct prof *skel);
/*
 * Waits for the threads. 0: the programs have their descriptors. -errno: a load failed; libbpf can load the program
 * again and gets the log.
 */
int load_aside_end(struct prof *skel);

#endif
