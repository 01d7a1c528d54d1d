/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_SYMBOLIZE_SYMBOLIZE_PATHS_H
#define D9_REWRITE_SYMBOLIZE_SYMBOLIZE_PATHS_H

/* Whether it is a directory: 0, -ENOTDIR, or -errno if it is not accessible. */
int symbolize_paths_dir(const char *path);
/* Whether it is a kernel's ELF file: 0, -EISDIR, -ENOEXEC for another file, or -errno if it is not readable. */
int symbolize_paths_vmlinux(const char *path);

#endif /* D9_REWRITE_SYMBOLIZE_SYMBOLIZE_PATHS_H */
