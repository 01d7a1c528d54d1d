/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_PERFDATA_FILE_H
#define D9_FORMATS_PERFDATA_FILE_H

#include "formats/perfdata/header.h"
#include "formats/perfdata/stream.h"

#define PERFDATA_MAGIC "PERFILE2"
#define PERFDATA_MAGIC_SWAPPED "2ELIFREP"
#define PERFDATA_MAGIC_SZ 8

/* A file of either format: what describes the recording, and its other records. */
struct perfdata_file;

/*
 * Opens in[0], which must outlive it, and reads what describes the recording; only as the records come if it cannot be
 * read twice. The other inputs are the files data.N of a directory, whose records belong to it too; @cnt of both.
 * 0; -EBADMSG after one log_error() line, -EINVAL if the inputs do not belong together; or an error of read().
 */
int perfdata_file_open(const struct foreign_input *in, size_t cnt, struct foreign_notes *notes,
		       struct perfdata_file **out);
void perfdata_file_free(struct perfdata_file *f);

const struct perfdata_header *perfdata_file_header(const struct perfdata_file *f);
bool perfdata_file_is_pipe(const struct perfdata_file *f);

/*
 * The next record, of several inputs from the one with the earliest records, that does not describe the recording: 1; 0 at the end, also where no more can be read, which is
 * noted; or an error of read().
 */
int perfdata_file_next(struct perfdata_file *f, struct perfdata_record *out);

#endif /* D9_FORMATS_PERFDATA_FILE_H */
