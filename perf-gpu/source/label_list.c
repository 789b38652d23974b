// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/label_list.h"

#include <errno.h>
#include <string.h>

#include "util/log.h"

static const char *const names[NR_LABELS] = {
	[LABEL_DEVICE] = "device", [LABEL_STREAM] = "stream", [LABEL_CONTEXT] = "context",
	[LABEL_GRAPH] = "graph",   [LABEL_NVTX] = "nvtx",     [LABEL_RANK] = "rank",
};

/* NR_LABELS if it is none */
static enum label find_label(const char *name, size_t length)
{
	enum label label = 0;

	while (label < NR_LABELS &&
	       (strlen(names[label]) != length || strncmp(names[label], name, length)))
		label++;
	return label;
}

int label_list__parse(const char *text, struct label_list *ret)
{
	struct label_list list = {.is_at_root = ret->is_at_root};

	for (;;) {
		size_t length = strcspn(text, ",");
		enum label label = find_label(text, length);

		if (label == NR_LABELS) {
			pr_err("--label: \"%.*s\" is no label: there are device, stream, "
			       "context, graph, nvtx and rank",
			       (int)length, text);
			return -EINVAL;
		}
		if (label_list__has(&list, label)) {
			pr_err("--label: %s is there twice", names[label]);
			return -EINVAL;
		}
		list.items[list.nr++] = label;
		if (!text[length])
			break;
		text += length + 1;
	}
	*ret = list;
	return 0;
}

bool label_list__has(const struct label_list *list, enum label label)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->items[i] == label)
			return true;
	return false;
}
