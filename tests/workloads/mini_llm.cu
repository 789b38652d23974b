// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The demo: inference with a small language model, one token after the other,
 * in the shapes of Qwen3-0.6B and with random weights. It says nothing sensible,
 * but spends its GPU time where the real model does.
 *
 *   generate -> forward -> transformer_layer -> attention    -> matmul
 *                                            -> feed_forward -> matmul
 *
 * Weights are a hash of their index (fill_random), so check_mini_llm.py can make
 * the same ones and compare the tokens with PyTorch's. The launches of each kernel
 * are counted and printed, for tests to compare with what a profiler has seen.
 *
 * On the stand-in for CUDA kernels don't run: what comes back from the "GPU" must
 * not decide how often anything is launched.
 */
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LAYERS	       28
#define HIDDEN	       1024
#define HEADS	       16
#define KV_HEADS       8
#define HEAD_SIZE      128
#define FFN	       3072
#define VOCABULARY     151936
#define ROPE_BASE      1000000.0f
#define NORM_EPSILON   1e-6f
#define FIRST_TOKEN    9707
#define MAX_TOKENS     4096
#define WARP	       32
#define BLOCK	       256
#define ROWS_PER_BLOCK 8 /* of a matmul: one warp each */

/* Each of these is to be seen in a stack, whatever the optimizer thinks. */
#define NOINLINE __attribute__((noinline, noclone))

#define CHECK(call)                                                  \
	do {                                                         \
		cudaError_t error_ = (call);                         \
		if (error_ != cudaSuccess) {                         \
			fprintf(stderr, "mini_llm: %s: %s\n", #call, \
				cudaGetErrorString(error_));         \
			exit(1);                                     \
		}                                                    \
	} while (0)

#define LAUNCH(kernel, grid, block, ...)              \
	do {                                          \
		kernel<<<grid, block>>>(__VA_ARGS__); \
		CHECK(cudaGetLastError());            \
		count_launch(#kernel);                \
	} while (0)

typedef __nv_bfloat16 bf16;

struct matrix {
	bf16 *weights; /* row by row */
	int rows, columns;
};

struct layer {
	bf16 *attention_norm, *query_norm, *key_norm, *feed_forward_norm;
	struct matrix query, key, value, output;
	struct matrix gate, up, down;
	float *keys, *values; /* the cache: [position][KV head][HEAD_SIZE] */
};

struct model {
	struct matrix embedding; /* also gives the logits: Qwen3-0.6B ties them */
	struct layer layers[LAYERS];
	bf16 *final_norm;
	float *x; /* the residual stream */
	float *normed, *query, *mixed, *projected, *gate, *up, *logits;
	int *token; /* of argmax */
};

static struct {
	const char *kernel;
	unsigned long nr_launches;
} launched[16];

static void count_launch(const char *kernel)
{
	for (auto &l : launched) {
		if (!l.kernel)
			l.kernel = kernel;
		if (!strcmp(l.kernel, kernel)) {
			l.nr_launches++;
			return;
		}
	}
}

/* ---- kernels ---- */

__device__ static float warp_sum(float value)
{
	for (int lanes = WARP / 2; lanes; lanes /= 2)
		value += __shfl_xor_sync(~0u, value, lanes);
	return value;
}

/* The sum over a block of whole warps, in every thread. */
__device__ static float block_sum(float value)
{
	__shared__ float sums[WARP];

	__syncthreads(); /* sums[] may still be read from the last time */
	value = warp_sum(value);
	if (threadIdx.x % WARP == 0)
		sums[threadIdx.x / WARP] = value;
	__syncthreads();
	value = threadIdx.x % WARP < blockDim.x / WARP ? sums[threadIdx.x % WARP] : 0;
	return warp_sum(value);
}

__global__ void fill_random(bf16 *out, size_t n, unsigned seed, float center, float scale)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	unsigned h = (unsigned)i + seed * 0x9e3779b9u;

	if (i >= n)
		return;
	h = (h ^ h >> 16) * 0x85ebca6bu;
	h = (h ^ h >> 13) * 0xc2b2ae35u;
	h ^= h >> 16;
	out[i] = __float2bfloat16(center + scale * ((h >> 8) * 0x1p-23f - 1));
}

__global__ void embed(float *out, const bf16 *table, int token)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = __bfloat162float(table[(size_t)token * HIDDEN + i]);
}

/* One block a row of n values. */
__global__ void rmsnorm(float *out, const float *x, const bf16 *weight, int n)
{
	float squares = 0;

	x += (size_t)blockIdx.x * n;
	out += (size_t)blockIdx.x * n;
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		squares += x[i] * x[i];
	float scale = rsqrtf(block_sum(squares) / n + NORM_EPSILON);
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		out[i] = x[i] * scale * __bfloat162float(weight[i]);
}

__global__ void matmul(float *out, const bf16 *weights, const float *x, int rows,
		       int columns)
{
	int row = blockIdx.x * ROWS_PER_BLOCK + threadIdx.x / WARP;
	const __nv_bfloat162 *w =
		(const __nv_bfloat162 *)(weights + (size_t)row * columns);
	float sum = 0;

	if (row >= rows)
		return;
	for (int i = threadIdx.x % WARP; i < columns / 2; i += WARP) {
		float2 pair = __bfloat1622float2(w[i]);

		sum += pair.x * x[2 * i] + pair.y * x[2 * i + 1];
	}
	sum = warp_sum(sum);
	if (threadIdx.x % WARP == 0)
		out[row] = sum;
}

/* Rotates the pairs (i, i + HEAD_SIZE / 2); one block a head. */
__global__ void rope(float *x, int position)
{
	int i = threadIdx.x;
	float angle = position * powf(ROPE_BASE, -2.0f * i / HEAD_SIZE);
	float *head = x + blockIdx.x * HEAD_SIZE;
	float a = head[i], b = head[i + HEAD_SIZE / 2];

	head[i] = a * cosf(angle) - b * sinf(angle);
	head[i + HEAD_SIZE / 2] = b * cosf(angle) + a * sinf(angle);
}

/* One block of HEAD_SIZE threads a query head; two of them share a KV head. */
__global__ void multi_head_attention(float *out, const float *query, const float *keys,
				     const float *values, int nr_positions)
{
	__shared__ float scores[MAX_TOKENS];
	size_t kv_head = blockIdx.x / (HEADS / KV_HEADS) * HEAD_SIZE;
	int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
	float largest = -INFINITY, sum = 0, mixed = 0;

	query += blockIdx.x * HEAD_SIZE;
	for (int p = warp; p < nr_positions; p += HEAD_SIZE / WARP) {
		const float *key = keys + (size_t)p * KV_HEADS * HEAD_SIZE + kv_head;
		float dot = 0;

		for (int i = lane; i < HEAD_SIZE; i += WARP)
			dot += query[i] * key[i];
		dot = warp_sum(dot);
		if (lane == 0)
			scores[p] = dot * rsqrtf(HEAD_SIZE);
	}
	__syncthreads();
	for (int p = 0; p < nr_positions; p++)
		largest = fmaxf(largest, scores[p]);
	for (int p = 0; p < nr_positions; p++) {
		float weight = expf(scores[p] - largest);

		sum += weight;
		mixed += weight *
			 values[(size_t)p * KV_HEADS * HEAD_SIZE + kv_head + threadIdx.x];
	}
	out[blockIdx.x * HEAD_SIZE + threadIdx.x] = mixed / sum;
}

__global__ void swiglu(float *gate, const float *up)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	gate[i] = gate[i] / (1 + expf(-gate[i])) * up[i];
}

__global__ void add(float *x, const float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	x[i] += y[i];
}

/* A single block of 1024 threads; of equal values the first one wins. */
__global__ void argmax(int *out, const float *x, int n)
{
	__shared__ int best[1024];
	int t = threadIdx.x;

	best[t] = t;
	for (int i = t; i < n; i += blockDim.x)
		if (x[i] > x[best[t]])
			best[t] = i;
	for (int half = blockDim.x / 2; half; half /= 2) {
		__syncthreads();
		if (t >= half)
			continue;
		int a = best[t], b = best[t + half];

		if (x[b] > x[a] || (x[b] == x[a] && b < a))
			best[t] = b;
	}
	if (t == 0)
		*out = best[0];
}

/* ---- the model ---- */

static float *new_floats(size_t n)
{
	float *floats;

	CHECK(cudaMalloc(&floats, n * sizeof(*floats)));
	return floats;
}

static bf16 *new_weights(size_t n, float center, float scale)
{
	static unsigned seed;
	bf16 *weights;

	CHECK(cudaMalloc(&weights, n * sizeof(*weights)));
	LAUNCH(fill_random, (n + BLOCK - 1) / BLOCK, BLOCK, weights, n, seed, center,
	       scale);
	seed++;
	return weights;
}

static bf16 *new_norm(int n)
{
	return new_weights(n, 1, 0.1f);
}

/* Uniform random weights that leave the length of a vector as it is. */
static struct matrix new_matrix(int rows, int columns)
{
	bf16 *weights = new_weights((size_t)rows * columns, 0, sqrtf(3.0f / columns));

	return {weights, rows, columns};
}

NOINLINE static void load_model(struct model *m, int max_tokens)
{
	size_t cached = (size_t)max_tokens * KV_HEADS * HEAD_SIZE;

	/* Small, or the model would only repeat its last token. */
	m->embedding = {new_weights((size_t)VOCABULARY * HIDDEN, 0, 0.2f), VOCABULARY,
			HIDDEN};
	for (auto &l : m->layers) {
		l.attention_norm = new_norm(HIDDEN);
		l.query = new_matrix(HEADS * HEAD_SIZE, HIDDEN);
		l.key = new_matrix(KV_HEADS * HEAD_SIZE, HIDDEN);
		l.value = new_matrix(KV_HEADS * HEAD_SIZE, HIDDEN);
		/* Large: a head looks at few positions, as in a trained model. */
		l.query_norm = new_weights(HEAD_SIZE, 6, 1);
		l.key_norm = new_norm(HEAD_SIZE);
		l.output = new_matrix(HIDDEN, HEADS * HEAD_SIZE);
		l.feed_forward_norm = new_norm(HIDDEN);
		l.gate = new_matrix(FFN, HIDDEN);
		l.up = new_matrix(FFN, HIDDEN);
		l.down = new_matrix(HIDDEN, FFN);
		l.keys = new_floats(cached);
		l.values = new_floats(cached);
	}
	m->final_norm = new_norm(HIDDEN);
	m->x = new_floats(HIDDEN);
	m->normed = new_floats(HIDDEN);
	m->query = new_floats(HEADS * HEAD_SIZE);
	m->mixed = new_floats(HEADS * HEAD_SIZE);
	m->projected = new_floats(HIDDEN);
	m->gate = new_floats(FFN);
	m->up = new_floats(FFN);
	m->logits = new_floats(VOCABULARY);
	CHECK(cudaMalloc(&m->token, sizeof(*m->token)));
	CHECK(cudaDeviceSynchronize());
}

NOINLINE static void matmul(float *out, const struct matrix *a, const float *x)
{
	int grid = (a->rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK;

	LAUNCH(matmul, grid, ROWS_PER_BLOCK * WARP, out, a->weights, x, a->rows,
	       a->columns);
}

NOINLINE static void attention(struct model *m, struct layer *l, int position)
{
	float *key = l->keys + (size_t)position * KV_HEADS * HEAD_SIZE;
	float *value = l->values + (size_t)position * KV_HEADS * HEAD_SIZE;

	LAUNCH(rmsnorm, 1, BLOCK, m->normed, m->x, l->attention_norm, HIDDEN);
	matmul(m->query, &l->query, m->normed);
	matmul(key, &l->key, m->normed);
	matmul(value, &l->value, m->normed);
	LAUNCH(rmsnorm, HEADS, HEAD_SIZE, m->query, m->query, l->query_norm, HEAD_SIZE);
	LAUNCH(rmsnorm, KV_HEADS, HEAD_SIZE, key, key, l->key_norm, HEAD_SIZE);
	LAUNCH(rope, HEADS, HEAD_SIZE / 2, m->query, position);
	LAUNCH(rope, KV_HEADS, HEAD_SIZE / 2, key, position);
	LAUNCH(multi_head_attention, HEADS, HEAD_SIZE, m->mixed, m->query, l->keys,
	       l->values, position + 1);
	matmul(m->projected, &l->output, m->mixed);
	LAUNCH(add, HIDDEN / BLOCK, BLOCK, m->x, m->projected);
}

NOINLINE static void feed_forward(struct model *m, struct layer *l)
{
	LAUNCH(rmsnorm, 1, BLOCK, m->normed, m->x, l->feed_forward_norm, HIDDEN);
	matmul(m->gate, &l->gate, m->normed);
	matmul(m->up, &l->up, m->normed);
	LAUNCH(swiglu, FFN / BLOCK, BLOCK, m->gate, m->up);
	matmul(m->projected, &l->down, m->gate);
	LAUNCH(add, HIDDEN / BLOCK, BLOCK, m->x, m->projected);
}

NOINLINE static void transformer_layer(struct model *m, struct layer *l, int position)
{
	attention(m, l, position);
	feed_forward(m, l);
}

NOINLINE static int forward(struct model *m, int token, int position)
{
	int next;

	LAUNCH(embed, HIDDEN / BLOCK, BLOCK, m->x, m->embedding.weights, token);
	for (auto &l : m->layers)
		transformer_layer(m, &l, position);
	LAUNCH(rmsnorm, 1, BLOCK, m->normed, m->x, m->final_norm, HIDDEN);
	matmul(m->logits, &m->embedding, m->normed);
	LAUNCH(argmax, 1, 1024, m->token, m->logits, VOCABULARY);
	CHECK(cudaMemcpy(&next, m->token, sizeof(next), cudaMemcpyDeviceToHost));
	/* On the stand-in nobody has written a token. */
	return next >= 0 && next < VOCABULARY ? next : 0;
}

NOINLINE static void generate(struct model *m, int *tokens, int nr_tokens)
{
	int token = FIRST_TOKEN;

	for (int i = 0; i < nr_tokens; i++)
		tokens[i] = token = forward(m, token, i);
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	static struct model model;
	static int tokens[MAX_TOKENS];
	int nr_tokens = 64, option;
	double start_s, took_s;

	while ((option = getopt(argc, argv, "n:")) == 'n')
		nr_tokens = atoi(optarg);
	if (option != -1 || optind < argc || nr_tokens < 1 || nr_tokens > MAX_TOKENS) {
		fprintf(stderr, "usage: mini_llm [-n TOKENS (1 to %d)]\n", MAX_TOKENS);
		return 2;
	}
	load_model(&model, nr_tokens);
	start_s = now_s();
	generate(&model, tokens, nr_tokens);
	took_s = now_s() - start_s;
	printf("tokens:");
	for (int i = 0; i < nr_tokens && i < 16; i++)
		printf(" %d", tokens[i]);
	printf("%s\n", nr_tokens > 16 ? " ..." : "");
	for (auto &l : launched)
		if (l.kernel)
			printf("launched\t%lu\t%s\n", l.nr_launches, l.kernel);
	printf("%d tokens in %.3f s, %.1f tokens/s\n", nr_tokens, took_s,
	       nr_tokens / took_s);
	return 0;
}
