/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library that plugins.c opens and closes. Built twice, with PLUGIN a and b, so that
 * the two differ in the name of their function only.
 */
#include "plugin.h"

#define CONCAT(a, b)	  a##b
#define FUNCTION_OF(name) CONCAT(run_in_plugin_, name)
#define FUNCTION	  FUNCTION_OF(PLUGIN)

plugin_fn FUNCTION;

void FUNCTION(plugin_launch_fn *launch, unsigned long nr_launches)
{
	launch(nr_launches);
	__asm__ volatile(""); /* a call, no jump: the function is to be in the stack */
}
