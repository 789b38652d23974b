// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libcuda is probed as soon as it is known where it is: in the usual places before the
 * command starts, elsewhere when a process has mapped it. Until one is probed, the
 * side-band is looked into every few milliseconds: between mapping libcuda and the
 * first launch is cuInit(), which takes longer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "perfdata/format.h"
#include "record/api_probe.h"
#include "record/carrier.h"
#include "record/ring.h"
#include "record/sideband.h"
#include "util/log.h"

#define SEARCH_INTERVAL_NS 2000000

struct api_carrier {
	struct carrier carrier;
	struct carrier_config config;
	struct api_probe *probe;
	struct sideband *sideband;
	struct ring *ring;
	struct output *output;
	int epoll_fd; /* of the ring's, and of the timer's */
	int timer_fd; /* -1: libcuda is found, or there is no timer */
};

static struct api_carrier *self_of(const struct carrier *carrier)
{
	return (struct api_carrier *)carrier;
}

static int api_carrier__open(const struct carrier_config *config, struct carrier **ret,
			     struct failure *failure)
{
	const struct api_probe_config probe_config = {.events = config->events,
						      .follows_children = true};
	struct api_carrier *self = calloc(1, sizeof(*self));
	int err;

	if (!self)
		return failure__set(failure, -ENOMEM, NULL, "no memory for a probe");
	self->carrier.ops = &carrier_api;
	self->config = *config;
	self->epoll_fd = self->timer_fd = -1;
	err = api_probe__open(&probe_config, &self->probe, failure);
	if (err) {
		/* Who asked for --share only doesn't know that this is what it takes. */
		failure__within(failure, "--share and --probe api need uprobes");
		free(self);
		return err;
	}
	api_probe__add_known(self->probe);
	*ret = &self->carrier;
	return 0;
}

static void api_carrier__configure(const struct carrier *carrier,
				   struct injection_config *config)
{
	(void)carrier;
	config->is_api_probed = true;
}

static int take_sideband(void *ctx, const struct perf_event_header *event)
{
	const struct perfdata_mmap2 *mmap2 = (const void *)event;
	struct api_carrier *self = ctx;

	if (event->type == PERF_RECORD_MMAP2 && event->size > sizeof(*mmap2) &&
	    mmap2->prot & PROT_EXEC &&
	    memchr(mmap2->path, '\0', event->size - sizeof(*mmap2)) &&
	    api_probe__is_libcuda(mmap2->path))
		api_probe__add_mapping(self->probe, (pid_t)mmap2->pid, mmap2->addr,
				       mmap2->bytes, mmap2->path);
	return output__sideband(self->output, event);
}

/* What wakes the recorder. Without the timer it comes by itself, only not as often. */
static int open_wakeups(struct api_carrier *self, struct failure *failure)
{
	const struct itimerspec interval = {
		.it_interval.tv_nsec = SEARCH_INTERVAL_NS,
		.it_value.tv_nsec = SEARCH_INTERVAL_NS,
	};
	struct epoll_event event = {.events = EPOLLIN};

	self->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (self->epoll_fd < 0 ||
	    epoll_ctl(self->epoll_fd, EPOLL_CTL_ADD, ring__fd(self->ring), &event))
		return failure__set(failure, -errno, NULL, "can't wait for rings: %s",
				    strerror(errno));
	if (api_probe__nr_files(self->probe))
		return 0;
	self->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (self->timer_fd >= 0 && !timerfd_settime(self->timer_fd, 0, &interval, NULL))
		epoll_ctl(self->epoll_fd, EPOLL_CTL_ADD, self->timer_fd, &event);
	return 0;
}

/* The side-band first: the ring takes less where locked memory is scarce. */
static int api_carrier__attach(struct carrier *carrier, pid_t pid, struct output *output,
			       struct failure *failure)
{
	struct api_carrier *self = self_of(carrier);
	int err;

	self->output = output;
	err = sideband__open(pid, output__sideband_attr(output), take_sideband, self,
			     &self->sideband, failure);
	if (!err)
		err = ring__open(api_probe__sample_rings_fd(self->probe),
				 output__hit_attr(output), self->config.nr_pages,
				 output__hit, output, &self->ring, failure);
	return err ? err : open_wakeups(self, failure);
}

/* A process may bring a libcuda of its own at any time. */
static unsigned int api_carrier__rights(const struct carrier *carrier)
{
	const bool is_multi = api_probe__is_uprobe_multi(self_of(carrier)->probe);

	return RIGHTS_BPF | RIGHTS_PROCESSES | (is_multi ? 0 : RIGHTS_ADMIN);
}

/* Not switched: options that would do so are refused. */
static void api_carrier__turn(struct carrier *carrier, bool on)
{
	(void)carrier;
	(void)on;
}

static int api_carrier__fd(const struct carrier *carrier)
{
	return self_of(carrier)->epoll_fd;
}

static void stop_searching(struct api_carrier *self)
{
	if (self->timer_fd >= 0)
		close(self->timer_fd);
	self->timer_fd = -1;
}

static int api_carrier__drain(struct carrier *carrier)
{
	struct api_carrier *self = self_of(carrier);
	uint64_t nr_ticks;
	int err;

	if (self->timer_fd >= 0 &&
	    read(self->timer_fd, &nr_ticks, sizeof(nr_ticks)) < 0 && errno != EAGAIN)
		stop_searching(self);
	err = sideband__drain(self->sideband);
	if (err)
		return err;
	if (api_probe__nr_files(self->probe))
		stop_searching(self);
	return ring__drain(self->ring);
}

static void api_carrier__detach(struct carrier *carrier)
{
	api_probe__detach(self_of(carrier)->probe);
}

static int api_carrier__finish(struct carrier *carrier, const struct spool *spool)
{
	struct api_carrier *self = self_of(carrier);
	uint64_t nr_lost = api_probe__nr_lost_processes(self->probe);

	(void)spool;
	if (nr_lost)
		pr_warning(
			"%llu processes are not recorded: there were too many at a time",
			(unsigned long long)nr_lost);
	return api_carrier__drain(carrier);
}

static struct carrier_losses api_carrier__losses(const struct carrier *carrier)
{
	const struct api_carrier *self = self_of(carrier);

	return (struct carrier_losses){
		.nr_ring = api_probe__nr_lost_ring(self->probe),
		.nr_sideband = sideband__nr_lost(self->sideband),
	};
}

static void api_carrier__close(struct carrier *carrier)
{
	struct api_carrier *self = self_of(carrier);

	stop_searching(self);
	if (self->epoll_fd >= 0)
		close(self->epoll_fd);
	sideband__close(self->sideband);
	ring__close(self->ring);
	api_probe__close(self->probe);
	free(self);
}

const struct carrier_ops carrier_api = {
	.missing = "not seen by the probes",
	.open = api_carrier__open,
	.configure = api_carrier__configure,
	.attach = api_carrier__attach,
	.rights = api_carrier__rights,
	.turn = api_carrier__turn,
	.fd = api_carrier__fd,
	.drain = api_carrier__drain,
	.detach = api_carrier__detach,
	.finish = api_carrier__finish,
	.losses = api_carrier__losses,
	.close = api_carrier__close,
};
