// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api_name.h"
#include "graph.h"
#include "jit.h"
#include "launch_log.h"
#include "marker.h"
#include "no_cancel.h"

/*
 * newest_correlation is written at every step of this size only, so that
 * launching threads don't fight for its cache line.
 */
#define CORRELATION_STEP (1u << 20)

static const struct config *config;
static const struct cupti_table *cupti;
static CUpti_SubscriberHandle subscriber;

/* Who the launches belong to; a forked child gets a log of its own. */
struct owner {
	struct log *log;
	struct launch_log *launches; /* NULL until there is one */
	atomic_bool has_api[2][API_MAX_CBIDS]; /* its name is in the log; by domain */
	atomic_uint_fast64_t nr_launches;
};

static struct owner self, child;
/* Whose process `child` is: its pid, or -pid while its log is being opened. */
static atomic_int child_pid;

static atomic_uint_fast64_t newest_correlation;
static atomic_uint_fast64_t first_correlation = UINT64_MAX;

/* What is switched on: enum api_kind, by domain */
static uint8_t api_kinds[2][API_MAX_CBIDS];

uint64_t launch__widen(uint32_t correlation_id)
{
	return gpu_log_widen(correlation_id, atomic_load_explicit(&newest_correlation,
								  memory_order_relaxed));
}

static void note_first(uint64_t correlation_id)
{
	uint64_t first = atomic_load(&first_correlation);

	while (correlation_id < first &&
	       !atomic_compare_exchange_weak(&first_correlation, &first, correlation_id))
		;
}

uint64_t launch__note_correlation(uint32_t correlation_id)
{
	uint64_t newest = atomic_load_explicit(&newest_correlation, memory_order_relaxed);
	uint64_t wide = gpu_log_widen(correlation_id, newest);

	/* Of two threads at once either may win: both are near enough. */
	if (!newest || wide > newest + CORRELATION_STEP)
		atomic_store_explicit(&newest_correlation, wide, memory_order_relaxed);
	/* Threads note theirs a little out of order. */
	if (wide < atomic_load_explicit(&first_correlation, memory_order_relaxed))
		note_first(wide);
	return wide;
}

uint64_t launch__first(void)
{
	return atomic_load_explicit(&first_correlation, memory_order_relaxed);
}

/* Do an owner's launches go there? Else to the marker. */
static bool has_launch_log(const struct owner *owner)
{
	return config->has_launch_log && owner->launches;
}

/* Where an owner's launches go. 0 or -errno, of which the log tells. */
static int open_launches(struct owner *owner)
{
	int err;

	if (!config->has_launch_log)
		return 0;
	if (owner->launches)
		err = launch_log__reopen(owner->launches, config->spool, config->session);
	else
		err = launch_log__open(config->spool, config->session, owner->log,
				       &owner->launches);
	if (err)
		log__message(owner->log, GPU_LOG_ERROR,
			     "can't make a file for launches: %s", strerror(-err));
	return err;
}

static void open_child(void)
{
	int cancel_state = no_cancel__begin();
	int err;

	child.log = NULL;
	child.launches = NULL;
	memset(child.has_api, 0, sizeof(child.has_api));
	atomic_store(&child.nr_launches, 0);
	err = log__open(config->spool, config->session, true, &child.log);
	if (err)
		marker__tell_no_log(config->session, err);
	else if (open_launches(&child))
		child.log = NULL;
	no_cancel__end(cancel_state);
}

/* The log of a forked child, opened at its first launch; NULL if that fails. */
static struct owner *forked_owner(void)
{
	int pid = (int)getpid();
	int seen = atomic_load(&child_pid);

	if (seen == pid)
		return child.log ? &child : NULL;
	/*
	 * Another thread of this child is opening it: its first launch will be
	 * counted, this one goes without, rather than wait in a fork's unsure
	 * state. A -pid inherited from the parent is another's, and is taken over.
	 */
	if (seen == -pid || !atomic_compare_exchange_strong(&child_pid, &seen, -pid))
		return NULL;
	open_child();
	atomic_store(&child_pid, pid);
	return child.log ? &child : NULL;
}

static void tell_api(struct owner *owner, CUpti_CallbackDomain domain,
		     CUpti_CallbackId cbid, const char *cupti_name)
{
	atomic_bool *has_api =
		&owner->has_api[domain == CUPTI_CB_DOMAIN_RUNTIME_API][cbid];
	char name[128];

	if (atomic_load_explicit(has_api, memory_order_relaxed) ||
	    atomic_exchange(has_api, true))
		return;
	api_name__public(cupti_name, name, sizeof(name));
	log__api(owner->log, GPU_LOG_API_ID(domain, cbid), name);
}

static void hit_marker(const struct owner *owner, uint64_t key,
		       const struct launch_stack *stack, bool is_forked)
{
	if (is_forked || !config->has_quick_nop5)
		perf_gpu_launch_forked(config->session, log__id(owner->log), key,
				       stack->api, stack->frames, stack->nr_frames);
	else
		perf_gpu_launch(config->session, log__id(owner->log), key, stack->api,
				stack->frames, stack->nr_frames);
}

/* Walk the stack, and tell the recorder of it. */
static void carry(const struct owner *owner, uint32_t api, uint64_t key, bool is_forked)
{
	struct launch_stack stack; /* not cleared: it is a kilobyte */

	stack.api = api;
	stack.nr_frames = 0;
	/* Locks of libunwind's may be held in a forked child, by nobody who is there. */
	if (config->unwind && !is_forked)
		stack.nr_frames = (uint32_t)stack__walk(stack.frames);
	if (has_launch_log(owner))
		launch_log__launch(owner->launches, key, &stack);
	else
		hit_marker(owner, key, &stack, is_forked);
}

void launch__emit(uint32_t api, uint64_t key)
{
	bool is_forked = fork_page__is_forked();
	struct owner *owner = is_forked ? forked_owner() : &self;

	if (owner)
		carry(owner, api, key, is_forked);
}

static void on_launch(const struct api_call *call, CUpti_CallbackDomain domain,
		      CUpti_CallbackId cbid, const char *name)
{
	bool is_forked = fork_page__is_forked();
	struct owner *owner = is_forked ? forked_owner() : &self;

	if (!owner)
		return;
	tell_api(owner, domain, cbid, name);
	atomic_fetch_add_explicit(&owner->nr_launches, 1, memory_order_relaxed);
	carry(owner, call->api, call->correlation_id, is_forked);
}

/* What a thread is doing, as far as callbacks tell */
struct thread_state {
	/* The last call that was entered, told from "none yet" by bit 32 */
	uint64_t last_correlation;
	struct api_call call;
	struct graph_copies copies; /* empty outside of the call that makes them */
};

static void on_leave(struct thread_state *thread)
{
	if (thread->call.kind == API_GRAPH_INSTANTIATE && thread->copies.nr)
		graph__end_instantiation(&thread->copies);
	thread->call.api = 0;
}

static void on_enter(struct thread_state *thread, CUpti_CallbackDomain domain,
		     CUpti_CallbackId cbid, const CUpti_CallbackData *data)
{
	uint64_t correlation = data->correlationId | 1ull << 32;

	if (thread->last_correlation == correlation)
		return;
	thread->last_correlation = correlation;
	thread->copies.nr = 0; /* of a call whose end wasn't told */
	thread->call = (struct api_call){
		.api = GPU_LOG_API_ID(domain, cbid),
		.kind = api_kinds[domain == CUPTI_CB_DOMAIN_RUNTIME_API][cbid],
		.correlation_id = launch__note_correlation(data->correlationId),
	};
	if (thread->call.kind == API_LAUNCH)
		on_launch(&thread->call, domain, cbid, data->functionName);
	else if (!fork_page__is_forked())
		tell_api(&self, domain, cbid, data->functionName);
}

static void CUPTIAPI on_callback(void *userdata, CUpti_CallbackDomain domain,
				 CUpti_CallbackId cbid, const void *data)
{
	/* Not in the static TLS block: where that is full, we would not be loaded. */
	static _Thread_local struct thread_state thread_state;
	struct thread_state *thread = &thread_state;
	const CUpti_CallbackData *call = data;
	int saved_errno = errno;

	(void)userdata;
	if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
		graph__on_resource(cbid, data, &thread->call, &thread->copies);
	} else if ((domain == CUPTI_CB_DOMAIN_RUNTIME_API ||
		    domain == CUPTI_CB_DOMAIN_DRIVER_API) &&
		   cbid < API_MAX_CBIDS) {
		if (call->callbackSite == CUPTI_API_ENTER)
			on_enter(thread, domain, cbid, call);
		else if (thread->call.api == GPU_LOG_API_ID(domain, cbid))
			on_leave(thread);
	}
	errno = saved_errno;
}

int launch__prepare(const struct config *with_config, struct log *log)
{
	config = with_config;
	self.log = log;
	memset(self.has_api, 0, sizeof(self.has_api));
	atomic_store(&self.nr_launches, 0);
	atomic_store(&newest_correlation, 0);
	atomic_store(&first_correlation, UINT64_MAX);
	return open_launches(&self);
}

CUptiResult launch__subscribe(const struct cupti_table *table, char ret_holder[128])
{
	char holder[128] = "";
	CUpti_SubscriberParams params = {
		.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
		.subscriberName = "perf-gpu",
		.oldSubscriberName = holder,
		.oldSubscriberSize = sizeof(holder),
	};
	CUptiResult result;

	cupti = table;
	if (cupti->cuptiSubscribe_v2)
		result =
			cupti->cuptiSubscribe_v2(&subscriber, on_callback, NULL, &params);
	else
		result = cupti->cuptiSubscribe(&subscriber, on_callback, NULL);
	memcpy(ret_holder, holder, sizeof(holder));
	return result;
}

void launch__unsubscribe(void)
{
	cupti->cuptiUnsubscribe(subscriber);
}

unsigned int launch__enable(bool on)
{
	static const CUpti_CallbackDomain domains[] = {CUPTI_CB_DOMAIN_RUNTIME_API,
						       CUPTI_CB_DOMAIN_DRIVER_API};
	unsigned int nr_enabled = 0;

	for (size_t i = 0; i < sizeof(domains) / sizeof(*domains); i++) {
		/* Not up to the first that has no name: ids have gaps. */
		for (uint32_t cbid = 1; cbid < API_MAX_CBIDS; cbid++) {
			const char *name = NULL;
			enum api_kind kind;

			if (cupti->cuptiGetCallbackName(domains[i], cbid, &name) || !name)
				continue;
			kind = api_name__is_launch(name) ? API_LAUNCH
							 : graph__kind_of(name);
			if (kind == API_OTHER)
				continue;
			api_kinds[domains[i] == CUPTI_CB_DOMAIN_RUNTIME_API][cbid] = kind;
			if (!cupti->cuptiEnableCallback(on, subscriber, domains[i], cbid))
				nr_enabled += kind == API_LAUNCH;
		}
	}
	graph__enable(cupti, subscriber, self.log, on);
	return nr_enabled;
}

uint64_t launch__count(void)
{
	return atomic_load(&self.nr_launches);
}

void launch__end(void)
{
	struct owner *owner = &self;

	if (fork_page__is_forked()) {
		if (atomic_load(&child_pid) != (int)getpid())
			return;
		owner = &child;
	}
	if (has_launch_log(owner))
		launch_log__end(owner->launches, atomic_load(&owner->nr_launches));
	if (owner->log) {
		jit__end(owner->log, owner == &child);
		log__end(owner->log, atomic_load(&owner->nr_launches));
	}
}

void launch__flush(void)
{
	if (has_launch_log(&self))
		launch_log__flush(self.launches);
}

void launch__close(void)
{
	if (has_launch_log(&self))
		launch_log__close(self.launches);
	log__close(self.log);
}
