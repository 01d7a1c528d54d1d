/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_CMD_H
#define D9_CMD_COMMON_CMD_H

#include "base/exit_code.h"

#define CMD_DEFAULT_FILE "dial9.bin"

/*
 * One subcommand each: argv[0] is its word. Prints what is to be printed and returns an exit code.
 */
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_offcpu(int argc, char **argv);
int cmd_sched(int argc, char **argv);
int cmd_wakeup(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_polls(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_cut(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_view(int argc, char **argv);
int cmd_symbolize(int argc, char **argv);

#endif /* D9_CMD_COMMON_CMD_H */
