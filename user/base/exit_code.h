/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_EXIT_CODE_H
#define D9_BASE_EXIT_CODE_H

/* Exit status of the program */
enum exit_code {
	CMD_OK = 0,
	CMD_USAGE = 1, /* the command line is wrong */
	CMD_START = 2, /* recording cannot start: privileges, kernel, no such process */
	CMD_OUTPUT = 3, /* the output cannot be written */
	CMD_LOSS = 4, /* events were lost, and the options do not allow that */
	CMD_INPUT = 5, /* the input is missing, damaged or not a dial9 trace */
};

#endif /* D9_BASE_EXIT_CODE_H */
