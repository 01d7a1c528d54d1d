// SPDX-License-Identifier: BSD-2-Clause
/* The part of a verifier's log that is shown. The logs are of kernels 6.1 and 6.18. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "record/capture/capture_load.h"

static void expect(const char *log, const char *want)
{
	char got[CAPTURE_LOAD_TEXT];

	capture_load_reason(log, got);
	cr_expect_str_eq(got, want);
}

Test(capture_load, reason_is_the_last_line_that_is_no_instruction_state_or_statistic)
{
	expect("reg type unsupported for arg#0 function prof_tracepoint#27\n"
	       "0: R1=ctx(off=0,imm=0) R10=fp0\n"
	       "; int prof_tracepoint(void *ctx)\n"
	       "0: (bf) r8 = r1                       ; R1=ctx(off=0,imm=0) R8_w=ctx(off=0,imm=0)\n"
	       "from 301 to 303: R0=scalar() R10=fp0\n"
	       "303: (85) call bpf_ringbuf_output#130\n"
	       " R0=scalar()\n"
	       "R3 unbounded memory access, use 'var &= const' or 'if (var < const)'\n"
	       "processed 812 insns (limit 1000000) max_states_per_insn 2 total_states 58\n",
	       "R3 unbounded memory access, use 'var &= const' or 'if (var < const)'");
	expect("57: (71) r1 = *(u8 *)(r0 +0)\n"
	       "invalid access to map value, value_size=2040 off=131190 size=2\n"
	       "R1 max value is outside of the allowed memory range\n"
	       "verification time 812 usec\n"
	       "stack depth 8+0+16\n"
	       "processed 58 insns (limit 1000000)\n",
	       "R1 max value is outside of the allowed memory range");
}

Test(capture_load, success_messages_are_no_reason)
{
	static const char praise[] =
		"Validating unwind_fill() func#8...\n"
		"0: R1=ctx() R10=fp0\n"
		"Func#8 ('unwind_fill') is safe for any args that match its prototype\n"
		"Func#9 ('unwind_find') is global and assumed valid.\n"
		"processed 812 insns (limit 1000000)\n";
	char log[sizeof(praise) + 32] = "R3 invalid mem access 'scalar'\n";

	expect(praise, "");
	strcat(log, praise);
	expect(log, "R3 invalid mem access 'scalar'");
	expect("Func#8 ('f') returns what it may not\n", "Func#8 ('f') returns what it may not");
}

Test(capture_load, lack_of_descriptors_is_not_attributed_to_the_verifier)
{
	struct capture_refusal why = { .err = -EMFILE, .program = "p", .reason = "r" };

	cr_expect_not(capture_refusal_is_verifiers(&why));
	why.err = -ENFILE;
	cr_expect_not(capture_refusal_is_verifiers(&why));
	why.err = -EACCES;
	cr_expect(capture_refusal_is_verifiers(&why));
}

Test(capture_load, log_without_a_reason_has_none)
{
	expect("", "");
	expect("0: (bf) r8 = r1\n; int f()\n1: (85) call f#1\nprocessed 58 insns\n", "");
	expect("BPF program is too large. Processed 1000001 insn\n",
	       "BPF program is too large. Processed 1000001 insn");
	expect("no end of line", "no end of line");
}

Test(capture_load, too_long_reason_is_cut)
{
	char log[2 * CAPTURE_LOAD_TEXT], got[CAPTURE_LOAD_TEXT];

	memset(log, 'x', sizeof(log));
	log[sizeof(log) - 1] = '\0';
	capture_load_reason(log, got);
	cr_expect_eq(strlen(got), CAPTURE_LOAD_TEXT - 1);
}
