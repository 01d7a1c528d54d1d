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
/* Call after load. 0 or -errno. If there is nothing to attach, *@link is unchanged; otherwise the caller owns it. */
int capture_offcpu_attach(struct prof *skel, struct bpf_link **link);
/* Call while recording is off: writes the unfinished intervals. @link may be NULL. */
void capture_offcpu_end(const struct bpf_link *link);

#endif
