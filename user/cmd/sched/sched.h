/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_SCHED_SCHED_H
#define D9_CMD_SCHED_SCHED_H

/* The words of `dial9-prof sched`: argv[0] is the word. Each returns an exit code of cmd.h. */
int sched_latency(int argc, char **argv);
int sched_timehist(int argc, char **argv);
int sched_map(int argc, char **argv);
int sched_summary(int argc, char **argv);

#endif /* D9_CMD_SCHED_SCHED_H */
