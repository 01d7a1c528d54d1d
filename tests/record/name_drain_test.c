// SPDX-License-Identifier: BSD-2-Clause
/* LINK: -Wl,--wrap=sym_client_idle,--wrap=sym_client_wait,--wrap=sym_client_answered */
/* LINK: -Wl,--wrap=sym_client_close_questions,--wrap=frames_ask_again */
/* LINK: -Wl,--wrap=frames_receive_names,--wrap=frames_report_unnamed,--wrap=frames_label_unnamed */
/* The end of symbol lookup, with a broker that only has a state: its functions are wrapped. */
#include "record/name_drain.h"

#include <criterion/criterion.h>

#include "record/symbols/frames.h"
#include "symbol/broker/sym_client.h"

static struct {
	long waiting; /* answers that have arrived */
	bool closed, labelled;
} broker;

bool __wrap_sym_client_idle(const struct sym_client *b);
void __wrap_sym_client_wait(struct sym_client *b, uint64_t deadline_ns);
uint64_t __wrap_sym_client_answered(const struct sym_client *b);
void __wrap_sym_client_close_questions(struct sym_client *b);
void __wrap_frames_ask_again(struct frames *f);
long __wrap_frames_receive_names(struct frames *f, size_t max);
void __wrap_frames_report_unnamed(struct frames *f);
int __wrap_frames_label_unnamed(struct frames *f);

/* A request that is never answered. */
bool __wrap_sym_client_idle(const struct sym_client *b)
{
	return false;
}

void __wrap_sym_client_wait(struct sym_client *b, uint64_t deadline_ns)
{
}

uint64_t __wrap_sym_client_answered(const struct sym_client *b)
{
	return 0;
}

void __wrap_sym_client_close_questions(struct sym_client *b)
{
	broker.closed = true;
}

void __wrap_frames_ask_again(struct frames *f)
{
}

long __wrap_frames_receive_names(struct frames *f, size_t max)
{
	return broker.waiting ? broker.waiting-- : 0;
}

void __wrap_frames_report_unnamed(struct frames *f)
{
}

int __wrap_frames_label_unnamed(struct frames *f)
{
	broker.labelled = true;
	return 0;
}

Test(name_drain, unanswered_requests_do_not_delay_the_end, .timeout = 20)
{
	const volatile sig_atomic_t stop = 2;
	const struct name_drain_cfg cfg = { .stop = &stop };
	bool cut = false;

	broker.waiting = 3;
	cr_assert_eq(name_drain(&cfg, &cut), 0);
	cr_expect(cut && broker.closed && broker.labelled);
	cr_expect_eq(broker.waiting, 0, "what has come is written");
}
