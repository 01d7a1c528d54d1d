/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_OFFCPU_H
#define D9_RECORD_CAPTURE_CAPTURE_OFFCPU_H

struct bpf_link;
struct capture_off_cpu;
struct eventset;
struct prof;

/* Before load: the programs of --min-block and --max-block, if the eventset has their event. 0 or -errno. */
int capture_offcpu_configure(struct prof *skel, const struct eventset *set,
			     const struct capture_off_cpu *which);
/* After load, likewise. *@link is left alone where there is nothing to attach; else it is the caller's. */
int capture_offcpu_attach(struct prof *skel, struct bpf_link **link);
/* Recording is off: writes the stays that have not ended. @link may be NULL. */
void capture_offcpu_end(const struct bpf_link *link);

#endif
