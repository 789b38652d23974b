// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A GPU has a row in TARGET_INFO_GPU, by the number that is its alone in the recording, and
 * one in TARGET_INFO_CUDA_DEVICE for each process that used it, by that one's number. Time 0
 * is that of CLOCK_MONOTONIC; TARGET_INFO_SESSION_START_TIME tells when that was.
 */
#include "sink/nsys_machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "sink/utf8_text.h"
#include "util/log.h"

static int no_memory(void)
{
	pr_err("no memory to write the database; fewer events (-e) need less");
	return -ENOMEM;
}

int64_t nsys_machine__device(const struct devices *devices, uint32_t log, uint32_t device)
{
	ssize_t gpu = devices__find(devices, log, device);

	return gpu < 0 ? -1 : (int64_t)devices__shown_number(devices, (size_t)gpu);
}

/* "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", as NVIDIA's tools have it */
#define UUID_TEXT_BYTES 41

static void write_uuid(const uint8_t uuid[16], char *text)
{
	int used = snprintf(text, UUID_TEXT_BYTES, "GPU");

	for (int i = 0; i < 16; i++)
		used += snprintf(text + used, (size_t)(UUID_TEXT_BYTES - used), "%s%02x",
				 !i || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
				 uuid[i]);
}

static int add_gpu(const struct nsys_machine_input *input, size_t gpu)
{
	const struct sidecar_device *device = devices__description(input->devices, gpu);
	char uuid[64], *name;
	int err;

	if (!device)
		return 0;
	write_uuid(device->uuid, uuid);
	name = utf8_text__copy(device->name);
	if (!name)
		return no_memory();
	err = nsys_database__add(
		input->database, NSYS_GPU,
		(const struct nsys_value[]){
			NSYS_NUMBER(0),
			NSYS_NUMBER(devices__shown_number(input->devices, gpu)),
			NSYS_TEXT(name),
			NSYS_NUMBER(device->memory_bytes),
			NSYS_NUMBER(device->nr_multiprocessors),
			NSYS_TEXT(uuid),
			NSYS_NUMBER(devices__number(input->devices, gpu)),
			NSYS_NUMBER(device->compute_major),
			NSYS_NUMBER(device->compute_minor),
		});
	free(name);
	return err;
}

static int add_cuda_device(const struct nsys_machine_input *input,
			   const struct sidecar_device *device)
{
	char uuid[64];

	write_uuid(device->uuid, uuid);
	return nsys_database__add(
		input->database, NSYS_CUDA_DEVICE,
		(const struct nsys_value[]){
			NSYS_NUMBER(nsys_machine__device(input->devices, device->log,
							 device->device)),
			NSYS_NUMBER(device->device),
			NSYS_NUMBER(input->pids[device->log]),
			NSYS_TEXT(uuid),
			NSYS_NUMBER(device->nr_multiprocessors),
		});
}

static int add_process(const struct nsys_machine_input *input, size_t log)
{
	uint32_t pid = input->pids[log];
	const char *comm = machine__comm(input->machine, pid, pid);
	char *name = utf8_text__copy(*comm ? comm : input->sidecar->logs[log].comm);
	int err;

	if (!name)
		return no_memory();
	err = nsys_database__add(input->database, NSYS_PROCESSES,
				 (const struct nsys_value[]){
					 NSYS_NUMBER(nsys__global_id(pid, 0)),
					 NSYS_NUMBER(pid),
					 NSYS_TEXT(name),
				 });
	free(name);
	return err;
}

/* Recordings of older versions don't tell the time of the calendar. */
static int add_clocks(const struct nsys_machine_input *input)
{
	const struct sidecar_recorder *recorder = &input->sidecar->recorder;
	int err = 0;

	if (recorder->is_there && recorder->realtime_ns)
		err = nsys_database__add(input->database, NSYS_START_TIME,
					 (const struct nsys_value[]){
						 NSYS_NUMBER(recorder->realtime_ns -
							     recorder->monotonic_ns),
					 });
	if (err || input->last_ns < input->first_ns)
		return err;
	return nsys_database__add(input->database, NSYS_DETAILS,
				  (const struct nsys_value[]){
					  NSYS_NUMBER(0),
					  NSYS_NUMBER(input->last_ns - input->first_ns),
					  NSYS_NUMBER(input->first_ns),
					  NSYS_NUMBER(input->last_ns),
				  });
}

int nsys_machine__add(const struct nsys_machine_input *input)
{
	int err = add_clocks(input);

	for (size_t i = 0; i < devices__nr(input->devices) && !err; i++)
		err = add_gpu(input, i);
	for (size_t i = 0; i < input->sidecar->nr_devices && !err; i++)
		err = add_cuda_device(input, &input->sidecar->devices[i]);
	for (size_t i = 0; i < input->sidecar->nr_logs && !err; i++)
		err = add_process(input, i);
	return err;
}
