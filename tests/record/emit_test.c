// SPDX-License-Identifier: BSD-2-Clause
/* The recorder's own events, as a reader of the bytes sees them. */
#include "record/emit.h"

#include <criterion/criterion.h>

#include "support.h"

TestSuite(emit, .timeout = 60);

Test(emit, a_module_status_has_its_word_and_a_text_for_people)
{
	struct rig rig;

	rig_init(&rig);
	cr_expect_eq(emit_module_status(rig.emit, 5, 7, PROF_STATUS_GAVE_UP, "2 s of CPU time"), 0);
	cr_expect_eq(emit_module_status(rig.emit, 6, 7, PROF_STATUS_NAMED, NULL), 0);
	cr_expect_str_eq(rig_text(&rig, ""),
			 "5 ModuleStatus module_id=7 status=\"gave_up\" "
			 "detail=\"2 s of CPU time\"\n"
			 "6 ModuleStatus module_id=7 status=\"named\" detail=\"\"\n");
	rig_fini(&rig);
}
