/* SPDX-License-Identifier: MIT */
/* Scenarios of shortage: streams of samples, samples that are kept to be fetched, counted calls. */
#include "shortage.h"
#include "check.h"

static mach_port_t self(void)
{
	return mach_task_self_cached();
}

/* What there is no memory to send is sent a little later. */
void shortage_streams(void)
{
	sample_options_t options = {.age_ms = 10, .flags = SAMPLE_STACK};
	vm_address_t address = 0;
	struct message message;
	mach_port_t port;

	TRY(mach_port_allocate(self(), MACH_PORT_RIGHT_RECEIVE, &port));
	TRY(task_sample_start(self(), SAMPLED_PC_PERIODIC | SAMPLED_PC_VM_FAULTS, 1000, options,
			      port));
	TRY(vm_allocate(self(), &address, PAGE_SIZE, TRUE));
	*(volatile uint32_t *)address = 1;
	TRY(message_get(&message, port, LONG_WAIT));
	TRY(task_sample_stop(self(), port));
	TRY(message_get(&message, port, LONG_WAIT));
}

void shortage_kept_samples(void)
{
	static sampled_pc_t samples[MAX_PC_SAMPLES];
	mach_msg_type_number_t n = MAX_PC_SAMPLES;
	unsigned seqno = 0;
	int tick;

	TRY(task_enable_pc_sampling(self(), &tick, SAMPLED_PC_VM_FAULTS_ANY));
	TRY(task_enable_pc_sampling(self(), &tick, SAMPLED_PC_ALL));
	TRY(task_get_sampled_pcs(self(), &seqno, samples, &n));
}

void shortage_forget_kept_samples(void)
{
	int count;

	task_disable_pc_sampling(self(), &count);
}

void shortage_counted_calls(void)
{
	mach_msg_type_number_t n;
	unsigned label, lost, *calls;
	host_call_labels_t labels;
	boolean_t on;

	TRY(host_requests_count(check_number(0)));
	TRY(host_calls_for(check_number(0), mach_task_self_cached(), &label));
	TRY(host_calls_children(check_number(0)));
	TRY(host_calls_count(check_number(0), TRUE));
	TRY(host_calls_labels(check_number(0), &labels));
	TRY(host_calls_get_for(check_number(0), label, &calls, &n));
	TRY(host_calls_get(check_number(0), HOST_CALLS_ALL_CPUS, &on, &calls, &n));
	TRY(host_requests_get(check_number(0), &lost, &calls, &n));
}

void shortage_forget_calls(void)
{
	host_calls_count(check_number(0), FALSE);
	host_calls_reset(check_number(0));
}
