// SPDX-License-Identifier: BSD-2-Clause
/* name_drain.c - waits for the last symbols: large programs take a while */
#include "record/name_drain.h"

#include <stddef.h>

#include "base/clock.h"
#include "record/control/notify.h"
#include "record/symbols/frames.h"
#include "symbol/broker/sym_client.h"

#define MS_NS 1000000ULL

enum { STEP_MS = 50, SILENT_MS = 1000, TELL_MS = 300, TAKE_MAX = 4096 };

static long wait_for_names(const struct name_drain_cfg *cfg)
{
	uint64_t start = clock_mono_ns(), now = start, last_answer_ns = start;
	uint64_t answered = sym_client_answered(cfg->broker);
	bool reported = !cfg->waiting;
	long n = 0;

	while (n >= 0 && !sym_client_idle(cfg->broker) && now - start < cfg->wait_ns &&
	       now - last_answer_ns < SILENT_MS * MS_NS && *cfg->stop < 2) {
		if (!reported && now - start > TELL_MS * MS_NS) {
			cfg->waiting(cfg->ctx);
			reported = true;
		}
		sym_client_wait(cfg->broker, now + STEP_MS * MS_NS);
		n = frames_receive_names(cfg->frames, TAKE_MAX);
		now = clock_mono_ns();
		notify_step(cfg->notify, now, NULL);
		if (answered != sym_client_answered(cfg->broker))
			last_answer_ns = now;
		answered = sym_client_answered(cfg->broker);
	}
	return n;
}

int name_drain(const struct name_drain_cfg *cfg, bool *cut)
{
	long n;

	frames_ask_again(cfg->frames);
	n = wait_for_names(cfg);
	*cut = !sym_client_idle(cfg->broker);
	sym_client_close_questions(cfg->broker);
	/* only answers that have arrived: outstanding build-ids are no longer needed */
	while (n >= 0 && (n = frames_receive_names(cfg->frames, TAKE_MAX)) > 0)
		;
	frames_report_unnamed(cfg->frames);
	return n < 0 ? n : frames_label_unnamed(cfg->frames);
}
