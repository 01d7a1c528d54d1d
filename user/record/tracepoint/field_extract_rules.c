// SPDX-License-Identifier: BSD-2-Clause
/*
 * field_extract_rules.c - how the kernel fills the fields of its events
 *
 * Only for events whose fields are arguments or are reached through arguments. Of these, only events that happen in
 * interrupts, or that interrupts collide with: other events lose nothing with the generic program. The rules were
 * compared with the kernel's own records. Kernels with other fields or arguments are detected when the rules are
 * compiled.
 */
#include "record/tracepoint/field_extract_rules.h"

#include <stddef.h>
#include <string.h>

#define VECTOR "vector"
#define TASK "comm=p.comm pid=p.pid prio=p.prio"
#define DELAY "comm=tsk.comm pid=tsk.pid delay"
#define WORK "work function=work.func"
#define MANAGED "irq is_managed can_reserve reserve"
#define MOVED "irq vector cpu prev_vector prev_cpu"

static const struct {
	const char *system, *name, *rules;
} events[] = {
	{ "timer", "hrtimer_cancel", "hrtimer" },
	{ "timer", "hrtimer_expire_entry", "hrtimer now=*now function=hrtimer.function" },
	{ "timer", "hrtimer_expire_exit", "hrtimer" },
	{ "timer", "hrtimer_init", "hrtimer clockid mode" },
	{ "timer", "hrtimer_setup", "hrtimer clockid mode" },
	{ "timer", "hrtimer_start",
	  "hrtimer function=hrtimer.function expires=hrtimer.node.expires "
	  "softexpires=hrtimer._softexpires mode was_armed" },
	{ "timer", "itimer_expire", "which pid=pid.numbers.nr now" },
	{ "timer", "itimer_state",
	  "which expires value_sec=value.it_value.tv_sec value_nsec=value.it_value.tv_nsec "
	  "interval_sec=value.it_interval.tv_sec interval_nsec=value.it_interval.tv_nsec" },
	{ "timer", "tick_stop", "success dependency" },
	{ "timer", "timer_base_idle", "is_idle cpu" },
	{ "timer", "timer_cancel", "timer" },
	{ "timer", "timer_expire_entry", "timer now=jiffies function=timer.function baseclk" },
	{ "timer", "timer_expire_exit", "timer" },
	{ "timer", "timer_init", "timer" },
	{ "timer", "timer_start",
	  "timer function=timer.function expires=timer.expires bucket_expiry now=jiffies "
	  "flags=timer.flags" },

	{ "irq", "irq_handler_entry", "irq name=action.name" },
	{ "irq", "irq_handler_exit", "irq ret" },
	{ "irq", "softirq_entry", "vec=vec_nr" },
	{ "irq", "softirq_exit", "vec=vec_nr" },
	{ "irq", "softirq_raise", "vec=vec_nr" },
	{ "irq", "tasklet_entry", "tasklet=t func" },
	{ "irq", "tasklet_exit", "tasklet=t func" },

	{ "irq_vectors", "call_function_entry", VECTOR },
	{ "irq_vectors", "call_function_exit", VECTOR },
	{ "irq_vectors", "call_function_single_entry", VECTOR },
	{ "irq_vectors", "call_function_single_exit", VECTOR },
	{ "irq_vectors", "deferred_error_apic_entry", VECTOR },
	{ "irq_vectors", "deferred_error_apic_exit", VECTOR },
	{ "irq_vectors", "error_apic_entry", VECTOR },
	{ "irq_vectors", "error_apic_exit", VECTOR },
	{ "irq_vectors", "irq_work_entry", VECTOR },
	{ "irq_vectors", "irq_work_exit", VECTOR },
	{ "irq_vectors", "local_timer_entry", VECTOR },
	{ "irq_vectors", "local_timer_exit", VECTOR },
	{ "irq_vectors", "reschedule_entry", VECTOR },
	{ "irq_vectors", "reschedule_exit", VECTOR },
	{ "irq_vectors", "spurious_apic_entry", VECTOR },
	{ "irq_vectors", "spurious_apic_exit", VECTOR },
	{ "irq_vectors", "thermal_apic_entry", VECTOR },
	{ "irq_vectors", "thermal_apic_exit", VECTOR },
	{ "irq_vectors", "threshold_apic_entry", VECTOR },
	{ "irq_vectors", "threshold_apic_exit", VECTOR },
	{ "irq_vectors", "vector_activate", MANAGED },
	{ "irq_vectors", "vector_alloc", "irq vector reserved ret" },
	{ "irq_vectors", "vector_alloc_managed", "irq vector ret" },
	{ "irq_vectors", "vector_clear", MOVED },
	{ "irq_vectors", "vector_config", "irq vector cpu apicdest" },
	{ "irq_vectors", "vector_deactivate", MANAGED },
	{ "irq_vectors", "vector_free_moved", "irq cpu vector is_managed" },
	{ "irq_vectors", "vector_reserve", "irq ret" },
	{ "irq_vectors", "vector_reserve_managed", "irq ret" },
	{ "irq_vectors", "vector_setup", "irq is_legacy ret" },
	{ "irq_vectors", "vector_teardown", "irq is_managed has_reserved" },
	{ "irq_vectors", "vector_update", MOVED },
	{ "irq_vectors", "x86_platform_ipi_entry", VECTOR },
	{ "irq_vectors", "x86_platform_ipi_exit", VECTOR },

	{ "ipi", "ipi_send_cpu", "cpu callsite callback" },

	{ "kmem", "kfree", "call_site ptr" },
	{ "kmem", "kmalloc", "call_site ptr bytes_req bytes_alloc gfp_flags node" },
	{ "kmem", "kmem_cache_free", "call_site ptr name=s.name" },

	{ "power", "cpu_frequency", "state=frequency cpu_id" },
	{ "power", "cpu_idle", "state cpu_id" },
	{ "power", "cpu_idle_miss", "cpu_id state below" },

	{ "sched", "sched_kthread_work_execute_end", "work function" },
	{ "sched", "sched_kthread_work_execute_start", WORK },
	{ "sched", "sched_kthread_work_queue_work", WORK " worker" },
	{ "sched", "sched_stat_blocked", DELAY },
	{ "sched", "sched_stat_iowait", DELAY },
	{ "sched", "sched_stat_runtime", "comm=tsk.comm pid=tsk.pid runtime" },
	{ "sched", "sched_stat_sleep", DELAY },
	{ "sched", "sched_stat_wait", DELAY },
	{ "sched", "sched_wait_task", TASK },
	{ "sched", "sched_wake_idle_without_ipi", "cpu" },
	{ "sched", "sched_wakeup", TASK " target_cpu=p.thread_info.cpu" },

	{ "tlb", "tlb_flush", "reason pages" },

	{ "workqueue", "workqueue_activate_work", WORK },
	{ "workqueue", "workqueue_execute_end", "work function" },
	{ "workqueue", "workqueue_execute_start", WORK },
	{ "workqueue", "workqueue_queue_work",
	  WORK " workqueue=pwq.wq.name req_cpu cpu=pwq.pool.cpu" },
};

const char *field_extract_rules(const char *system, const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (!strcmp(events[i].name, name) && !strcmp(events[i].system, system))
			return events[i].rules;
	return NULL;
}
