/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_GIVEN_BTF_H
#define D9_RECORD_CAPTURE_GIVEN_BTF_H

/*
 * Runs @fn in a thread that sees @path, BTF or an ELF file with a .BTF section, as /sys/kernel/btf/vmlinux. Returns
 * the result of @fn, or -errno after one line about the file, which names @command.
 */
int given_btf_run(const char *command, const char *path, int (*fn)(void *ctx), void *ctx);

#endif
