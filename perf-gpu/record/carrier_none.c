// SPDX-License-Identifier: GPL-2.0-or-later
/* Launches are somebody else's to record: there is nothing to carry. */
#include <errno.h>
#include <stdlib.h>

#include "record/carrier.h"

static int none__open(const struct carrier_config *config, struct carrier **ret,
		      struct failure *failure)
{
	struct carrier *carrier = calloc(1, sizeof(*carrier));

	(void)config;
	if (!carrier)
		return failure__set(failure, -ENOMEM, NULL, "no memory to record");
	carrier->ops = &carrier_none;
	*ret = carrier;
	return 0;
}

static void none__configure(const struct carrier *carrier,
			    struct injection_config *config)
{
	(void)carrier;
	config->is_api_probed = true;
}

static int none__attach(struct carrier *carrier, pid_t pid, struct output *output,
			struct failure *failure)
{
	(void)carrier;
	(void)pid;
	(void)output;
	(void)failure;
	return 0;
}

static unsigned int none__rights(const struct carrier *carrier)
{
	(void)carrier;
	return 0;
}

static void none__turn(struct carrier *carrier, bool on)
{
	(void)carrier;
	(void)on;
}

static int none__fd(const struct carrier *carrier)
{
	(void)carrier;
	return -1;
}

static int none__drain(struct carrier *carrier)
{
	(void)carrier;
	return 0;
}

static void none__detach(struct carrier *carrier)
{
	(void)carrier;
}

static int none__finish(struct carrier *carrier, const struct spool *spool)
{
	(void)carrier;
	(void)spool;
	return 0;
}

static struct carrier_losses none__losses(const struct carrier *carrier)
{
	(void)carrier;
	return (struct carrier_losses){0};
}

static void none__close(struct carrier *carrier)
{
	free(carrier);
}

const struct carrier_ops carrier_none = {
	.missing = "they are another recorder's",
	.open = none__open,
	.configure = none__configure,
	.attach = none__attach,
	.rights = none__rights,
	.turn = none__turn,
	.fd = none__fd,
	.drain = none__drain,
	.detach = none__detach,
	.finish = none__finish,
	.losses = none__losses,
	.close = none__close,
};
