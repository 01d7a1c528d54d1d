/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_RECORD_APP_TRACE_H
#define D9_CMD_RECORD_APP_TRACE_H

#include <stdbool.h>

/*
 * What an application writes into a directory while it is recorded, merged into the recording when that has ended. A
 * process of its own does so, which is begun before the recording and keeps the rights to open such files and to
 * replace the recording; none of their bytes is looked at by a process that has any.
 */
struct app_trace;

/*
 * Before the recording to the file @output begins, and before there are threads. 0, or -errno after one line. Ends
 * by app_trace_finish() or app_trace_abandon().
 */
int app_trace_begin(const char *dir, const char *output, struct app_trace **out);
/*
 * After the file is complete: merges those of the traces in the directory that are of the time of the recording into
 * it. An exit code; where it is not CMD_OK the recording is as it was, and a line says so. @quiet: no other words.
 */
int app_trace_finish(struct app_trace *a, bool quiet);
/* Without merging. NULL is fine. */
void app_trace_abandon(struct app_trace *a);

#endif /* D9_CMD_RECORD_APP_TRACE_H */
