// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The argument of script's -F, by the rules of perf's (builtin-script.c:
 * parse_output_fields): a list of fields, or changes to the default, not both. A field
 * without a sign behind +field is added, too, which perf refuses.
 * perf's words for what GPU samples don't have are errors here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sink/sink.h"
#include "util/log.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof(*(array)))

static const struct {
	const char *name;
	enum script_field field;
} fields_by_name[] = {
	{"comm", SCRIPT_COMM},	   {"pid", SCRIPT_PID},	      {"tid", SCRIPT_TID},
	{"cpu", SCRIPT_CPU},	   {"time", SCRIPT_TIME},     {"period", SCRIPT_PERIOD},
	{"event", SCRIPT_EVENT},   {"ip", SCRIPT_IP},	      {"sym", SCRIPT_SYM},
	{"symoff", SCRIPT_SYMOFF}, {"dso", SCRIPT_DSO},	      {"srcline", SCRIPT_SRCLINE},
	{"device", SCRIPT_DEVICE}, {"stream", SCRIPT_STREAM}, {"context", SCRIPT_CONTEXT},
	{"graph", SCRIPT_GRAPH},   {"nvtx", SCRIPT_NVTX},     {"rank", SCRIPT_RANK},
	{"bytes", SCRIPT_BYTES},
};

static int find_field(const char *name, unsigned int *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields_by_name); i++) {
		if (strcmp(name, fields_by_name[i].name) == 0) {
			*ret = fields_by_name[i].field;
			return 0;
		}
	}
	pr_err("-F: unknown field \"%s\": there are comm, pid, tid, cpu, time, period, "
	       "event, ip, sym, symoff, dso, srcline, device, stream, context, graph, "
	       "nvtx, rank and bytes",
	       name);
	return -EINVAL;
}

/* Lists that would print less than they say. */
static int check_fields(unsigned int fields)
{
	if (fields & SCRIPT_SYMOFF && !(fields & SCRIPT_SYM)) {
		pr_err("-F: symoff is printed behind sym: add sym");
		return -EINVAL;
	}
	if (fields & (SCRIPT_SYM | SCRIPT_DSO | SCRIPT_SRCLINE) &&
	    !(fields & SCRIPT_IP)) {
		pr_err("-F: sym, symoff, dso and srcline are printed behind ip: add ip");
		return -EINVAL;
	}
	return 0;
}

int script_field__parse(const char *text, unsigned int *fields)
{
	bool has_set = false, has_change = false;
	char *copy = strdup(text), *cursor = copy, *token;
	unsigned int result = *fields, field;
	char sign = 0; /* of the last change */
	int err = -EINVAL;

	if (!copy) {
		pr_err("no memory for -F %s", text);
		return -ENOMEM;
	}
	while ((token = strsep(&cursor, ","))) {
		bool has_sign = *token == '+' || *token == '-';

		if (!*token)
			continue;
		if (has_sign)
			sign = *token++;
		has_change |= has_sign;
		if (!has_sign && sign != '+') {
			result = has_set ? result : 0;
			has_set = true;
		}
		if (has_set && has_change) {
			pr_err("-F: \"%s\" mixes a list of fields with +field or -field: "
			       "use one or the other",
			       text);
			goto out;
		}
		if (find_field(token, &field))
			goto out;
		result = sign == '-' ? result & ~field : result | field;
	}
	if (!has_set && !has_change) {
		pr_err("-F: no field is named; without -F the usual ones are printed");
		goto out;
	}
	if (has_set && check_fields(result))
		goto out;
	*fields = result;
	err = 0;
out:
	free(copy);
	return err;
}
