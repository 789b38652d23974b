// SPDX-License-Identifier: GPL-2.0-or-later
/* An injected library that leaves behind how often it was initialized. */
#include <stdio.h>
#include <stdlib.h>

int InitializeInjection(void);

int InitializeInjection(void)
{
	const char *before = getenv("FAKE_CUDA_TEST_INJECTED");
	char count[16];

	snprintf(count, sizeof(count), "%d", before ? atoi(before) + 1 : 1);
	setenv("FAKE_CUDA_TEST_INJECTED", count, 1);
	return 1;
}
