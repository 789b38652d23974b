// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "activity.h"
#include "api_name.h"
#include "capture_range.h"
#include "cupti_clock.h"
#include "graph.h"
#include "jit.h"
#include "launch_log.h"
#include "marker.h"
#include "no_cancel.h"
#include "rank.h"
#include "stray.h"
#include "tally.h"

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
};

static struct owner self, child;
/* Whose process `child` is: its pid, or -pid while its log is being opened. */
static atomic_int child_pid;

static atomic_uint_fast64_t newest_correlation;

/*
 * Called for the sake of the correlation id that its call has. It is a driver's function
 * that does nothing, and seldom called by others.
 */
#define ID_FUNCTION "cuDriverGetVersion"
static _Thread_local uint64_t asked_id;
/* Of the call of capture_range.h that the thread is in: then nothing has to be called. */
static _Thread_local uint64_t range_id;

static bool records_calls; /* how long they take */
static bool has_marker; /* that can be hit */

/*
 * What is switched on: enum api_kind, by domain. A callback that began before it was
 * switched off may still read it.
 */
static atomic_uchar api_kinds[2][API_MAX_CBIDS];

/* These functions; written and read by who switches */
static struct {
	CUpti_CallbackDomain domain;
	CUpti_CallbackId cbid;
} functions[2 * API_MAX_CBIDS];
static size_t nr_functions; /* 0: not known yet, of this recording */

static atomic_uchar *kind_at(CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	return &api_kinds[domain == CUPTI_CB_DOMAIN_RUNTIME_API][cbid];
}

uint64_t launch__widen(uint32_t correlation_id)
{
	return gpu_log_widen(correlation_id, atomic_load_explicit(&newest_correlation,
								  memory_order_relaxed));
}

uint64_t launch__note_correlation(uint32_t correlation_id)
{
	uint64_t newest = atomic_load_explicit(&newest_correlation, memory_order_relaxed);
	uint64_t wide = gpu_log_widen(correlation_id, newest);

	/* Of two threads at once either may win: both are near enough. */
	if (!newest || wide > newest + CORRELATION_STEP)
		atomic_store_explicit(&newest_correlation, wide, memory_order_relaxed);
	return wide;
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
	err = log__open(config->spool, config->session, true, &child.log);
	if (!err)
		rank__tell(child.log);
	if (err)
		marker__tell_no_log(config->session, err);
	else
		log__events(child.log, config->events, config->kinds);
	if (!err && open_launches(&child)) {
		log__close(child.log);
		child.log = NULL;
	}
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
	if (log__api(owner->log, GPU_LOG_API_ID(domain, cbid), name,
		     api_name__kinds(cupti_name)))
		atomic_store(has_api, false);
}

/*
 * Valgrind translates the code that it finds, and where a probe is that is a breakpoint,
 * which nobody but the process then gets: it would be its end.
 */
static int find_valgrind(struct dl_phdr_info *info, size_t size, void *ret_found)
{
	(void)size;
	*(bool *)ret_found = strstr(info->dlpi_name, "/vgpreload_core") != NULL;
	return *(bool *)ret_found;
}

static bool can_hit_marker(struct log *log)
{
	bool is_translated = false;

	dl_iterate_phdr(find_valgrind, &is_translated);
	if (is_translated && !config->has_launch_log)
		log__message(log, GPU_LOG_WARNING,
			     "valgrind runs this program, and can't run probes: what it "
			     "launches has no stacks; record with --stacks process");
	return !is_translated;
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
	else if (has_marker)
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
	tally__add_launch(log__tally(owner->log));
	carry(owner, call->api, call->correlation_id, is_forked);
}

/* Are the calls of such functions recorded with their stacks? */
static bool has_stack(enum api_kind kind)
{
	return kind == API_LAUNCH || kind == API_STACK;
}

/* What a thread is doing, as far as callbacks tell */
struct thread_state {
	/* The last call that was entered, told from "none yet" by bit 32 */
	uint64_t last_correlation;
	struct api_call call;
	struct graph_copies copies; /* empty outside of the call that makes them */
	/* When the call began, without what was done here; 0: that is not recorded */
	uint64_t start_ns;
	uint32_t tid; /* 0: not asked for yet */
};

static void begin_call(struct thread_state *thread)
{
	if (!thread->tid)
		thread->tid = (uint32_t)gettid();
	thread->start_ns = cupti_clock__now();
}

/* A call has ended that puts work on the GPU. */
static void end_call(struct thread_state *thread)
{
	struct gpu_log_api_call call = {
		.api = thread->call.api,
		.correlation_id = thread->call.correlation_id,
		.start_ns = thread->start_ns,
		.end_ns = cupti_clock__now(),
		.tid = thread->tid,
	};

	thread->start_ns = 0;
	log__api_call(self.log, &call);
}

static void on_leave(struct thread_state *thread)
{
	if (thread->start_ns)
		end_call(thread);
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
	/* Of a call whose end wasn't told */
	thread->copies.nr = 0;
	thread->start_ns = 0;
	thread->call = (struct api_call){
		.api = GPU_LOG_API_ID(domain, cbid),
		.kind = atomic_load_explicit(kind_at(domain, cbid), memory_order_relaxed),
		.correlation_id = launch__note_correlation(data->correlationId),
	};
	if (has_stack(thread->call.kind) && stray__is_off(thread->call.correlation_id))
		return;
	if (has_stack(thread->call.kind))
		on_launch(&thread->call, domain, cbid, data->functionName);
	else if (thread->call.kind == API_ID)
		asked_id = thread->call.correlation_id;
	else if (!fork_page__is_forked())
		tell_api(&self, domain, cbid, data->functionName);
	if (records_calls && thread->call.kind == API_LAUNCH && !fork_page__is_forked())
		begin_call(thread);
}

static void on_range(CUpti_CallbackId cbid, const CUpti_CallbackData *call)
{
	if (fork_page__is_forked())
		return;
	range_id = launch__note_correlation(call->correlationId);
	capture_range__on_call(cbid, call->callbackSite);
	range_id = 0;
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
	if (domain == CUPTI_CB_DOMAIN_RESOURCE &&
	    cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
		/* The driver is initialized by now. */
		if (!fork_page__is_forked())
			activity__enable_early();
	} else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
		graph__on_resource(cbid, data, &thread->call, &thread->copies);
	} else if (capture_range__has(domain, cbid)) {
		on_range(cbid, call);
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
	records_calls = config->kinds & GPU_LOG_KIND_BIT(GPU_LOG_KIND_CALL);
	self.log = log;
	memset(self.has_api, 0, sizeof(self.has_api));
	nr_functions = 0;
	atomic_store(&newest_correlation, 0);
	has_marker = can_hit_marker(log);
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

int launch__enable_range(void)
{
	return capture_range__begin(cupti, subscriber);
}

uint64_t launch__newest_id(void)
{
	CUresult (*get_version)(int *);
	int version;
	void *driver;

	if (range_id)
		return range_id;
	driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (!driver)
		return 0;
	get_version = (CUresult(*)(int *))(uintptr_t)dlsym(driver, ID_FUNCTION);
	asked_id = 0;
	if (get_version)
		get_version(&version);
	dlclose(driver);
	return asked_id;
}

/* What has to be known of a function's calls, for the kinds that are wanted */
static enum api_kind kind_of(const char *name)
{
	const uint32_t kinds = api_name__kinds(name);
	const bool puts_work = kinds & GPU_LOG_KIND_BIT(GPU_LOG_KIND_CALL);

	if (!strcmp(name, ID_FUNCTION))
		return API_ID;
	if (api_name__is_wanted(name, config->events, config->kinds))
		return puts_work ? API_LAUNCH : API_STACK;
	return graph__kind_of(name, config->kinds);
}

/* Once a recording: to ask CUPTI for all its names takes milliseconds. */
static void find_functions(void)
{
	static const CUpti_CallbackDomain domains[] = {CUPTI_CB_DOMAIN_RUNTIME_API,
						       CUPTI_CB_DOMAIN_DRIVER_API};

	for (size_t i = 0; i < sizeof(domains) / sizeof(*domains); i++) {
		/* Not up to the first that has no name: ids have gaps. */
		for (uint32_t cbid = 1; cbid < API_MAX_CBIDS; cbid++) {
			const char *name = NULL;
			enum api_kind kind;

			if (cupti->cuptiGetCallbackName(domains[i], cbid, &name) || !name)
				continue;
			kind = kind_of(name);
			if (kind == API_OTHER)
				continue;
			atomic_store_explicit(kind_at(domains[i], cbid), kind,
					      memory_order_relaxed);
			functions[nr_functions].domain = domains[i];
			functions[nr_functions++].cbid = cbid;
		}
	}
}

unsigned int launch__enable(bool on)
{
	unsigned int nr_enabled = 0;

	if (!nr_functions)
		find_functions();
	for (size_t i = 0; i < nr_functions; i++) {
		const CUpti_CallbackDomain domain = functions[i].domain;
		const CUpti_CallbackId cbid = functions[i].cbid;

		if (!cupti->cuptiEnableCallback(on, subscriber, domain, cbid))
			nr_enabled += has_stack(atomic_load_explicit(
				kind_at(domain, cbid), memory_order_relaxed));
	}
	if (config->kinds & GPU_LOG_KIND_BIT(GPU_LOG_KIND_FAULT))
		cupti->cuptiEnableCallback(on, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
					   CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
	graph__enable(cupti, subscriber, self.log, config->kinds, on);
	return nr_enabled;
}

uint64_t launch__count(void)
{
	return tally__launches(log__tally(self.log));
}

void launch__end(void)
{
	struct owner *owner = &self;
	uint64_t nr_launches;

	if (fork_page__is_forked()) {
		if (atomic_load(&child_pid) != (int)getpid())
			return;
		owner = &child;
	}
	if (!owner->log)
		return;
	nr_launches = tally__launches(log__tally(owner->log));
	if (has_launch_log(owner))
		launch_log__end(owner->launches, nr_launches);
	jit__end(owner->log, owner == &child);
	log__end(owner->log, nr_launches);
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
