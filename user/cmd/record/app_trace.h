/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_RECORD_APP_TRACE_H
#define D9_CMD_RECORD_APP_TRACE_H

#include <stdbool.h>

/*
 * Merges an application's traces, written to a directory during the recording, into the recording after its end. A
 * separate process, started before the recording, keeps the rights to open such files and to replace the recording.
 * Only a process without rights reads their bytes.
 */
struct app_trace;

/*
 * Before the recording to the file @output begins, and before there are threads. 0, or -errno after one line. Ends
 * by app_trace_finish() or app_trace_abandon().
 */
int app_trace_begin(const char *dir, const char *output, struct app_trace **out);
/*
 * Call it when the file is complete: merges the traces in the directory that overlap the recording in time. An exit
 * code; if it is not CMD_OK, the recording is unchanged and a line was printed. @quiet: no other messages.
 */
int app_trace_finish(struct app_trace *a, bool quiet);
/* Without merging. NULL is fine. */
void app_trace_abandon(struct app_trace *a);

#endif /* D9_CMD_RECORD_APP_TRACE_H */
