// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tonbandgerät: binary traces of FreeRTOS and bare-metal firmware. Its row in the table of formats.
 *
 * Owns detection. The format has neither magic nor version, so the only way
 * to know it is to read it: frames must decode to known events, of exactly their length. The first
 * frame may be what is left of one, and the last one may be cut.
 */
#include "formats/tonbandgeraet/tonband.h"

#include "formats/tonbandgeraet/frames.h"

#define DETECT_FRAMES 4096
#define SURE 95
#define MAY_BE_MIN 50 /* percent of frames that must decode */

static int tonband_detect(const void *head, size_t sz, bool whole)
{
	struct foreign_mem mem;
	struct foreign_input in;
	struct tonband_frames *scan;
	struct tonband_item item;
	unsigned int good = 0, bad = 0;
	bool sure;

	foreign_mem_input(&mem, head, sz, &in);
	tonband_frames_new(&in, NULL, &scan);
	while (good + bad < DETECT_FRAMES && tonband_frames_next(scan, &item) == 1) {
		if (!item.why)
			good++;
		else if (item.ended)
			bad += item.offset != 0;
	}
	sure = tonband_frames_is_sure(scan);
	tonband_frames_free(scan);
	if (sure && good)
		return SURE;
	if (!good || good * 100 < (good + bad) * MAY_BE_MIN)
		return 0;
	return (int)(good * (SURE - 10) / (good + bad));
}

const struct foreign_format tonband_format = {
	.name = "tonbandgeraet",
	.title = "Tonbandgerät trace",
	.detect = tonband_detect,
	.import = tonband_import,
	.export = tonband_export,
	.dump = tonband_dump,
	.info = tonband_info,
};
