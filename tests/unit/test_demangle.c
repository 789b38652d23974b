// SPDX-License-Identifier: GPL-2.0-or-later
/* Demangling and shortening, of names as they come, and of hostile ones. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbol/demangle.h"
#include "unit.h"

static void check(const char *name, enum demangle_style style, const char *expected)
{
	char *demangled = demangle(name, style);

	CHECK_STR(demangled, expected);
	free(demangled);
}

/* "<before><piece><piece>...<after>", for free() */
static char *repeat(const char *before, const char *piece, size_t nr, const char *after)
{
	char *text = malloc(strlen(before) + nr * strlen(piece) + strlen(after) + 1);
	char *cursor;

	if (!text)
		abort();
	cursor = stpcpy(text, before);
	for (size_t i = 0; i < nr; i++)
		cursor = stpcpy(cursor, piece);
	strcpy(cursor, after);
	return text;
}

TEST(style_none_changes_nothing)
{
	check("_Z3fooi", DEMANGLE_NONE, "_Z3fooi");
	check("void f<int>(int)", DEMANGLE_NONE, "void f<int>(int)");
}

TEST(full_has_parameters)
{
	check("_Z6vecAddPKfS0_Pfi", DEMANGLE_FULL,
	      "vecAdd(float const*, float const*, float*, int)");
	check("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIf"
	      "EESt5arrayIPcLm3EEEEviT0_T1_",
	      DEMANGLE_FULL,
	      "void at::native::vectorized_elementwise_kernel<4, "
	      "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, "
	      "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)");
}

TEST(perf_has_no_parameters)
{
	check("_Z6vecAddPKfS0_Pfi", DEMANGLE_PERF, "vecAdd");
	check("_ZN12_GLOBAL__N_16anon_kIfEEvT_i", DEMANGLE_PERF,
	      "(anonymous namespace)::anon_k<float>");
	check("_ZZ4mainENKUlT_E_clIiEEDaS_", DEMANGLE_PERF,
	      "main::{lambda(auto:1)#1}::operator()<int>");
	check("_Z3foov.cold", DEMANGLE_PERF, "foo");
}

TEST(rust_has_no_hash)
{
	check("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", DEMANGLE_PERF,
	      "core::fmt::Formatter::pad");
	check("_RNvCs1234_7mycrate3foo", DEMANGLE_PERF, "mycrate::foo");
	check("_RNvCs1234_7mycrate3foo", DEMANGLE_SHORT, "mycrate::foo");
}

TEST(what_is_not_mangled_stays)
{
	static const char *const names[] = {
		"",
		"_",
		"_Z",
		"main",
		"triton_poi_fused_add_0",
		"triton_per_fused__softmax_1",
		"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_"
		"warpgroupsize1x1"
		"x1_execute_segment_k_off_kernel__5x_cublas",
		"ampere_sgemm_128x64_tn",
		"cudnn_infer_volta_scudnn_128x64_relu_interior_nn_v1",
		"loop_add_fusion.3",
		"_ZN_not_really",
		"py::forward:/srv/model.py",
		"[CUDA memcpy HtoD]",
		"_start",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		check(names[i], DEMANGLE_FULL, names[i]);
		check(names[i], DEMANGLE_PERF, names[i]);
		check(names[i], DEMANGLE_SHORT, names[i]);
	}
}

TEST(short_of_mangled)
{
	check("_Z6vecAddPKfS0_Pfi", DEMANGLE_SHORT, "vecAdd");
	check("_ZN12_GLOBAL__N_16anon_kIfEEvT_i", DEMANGLE_SHORT,
	      "(anonymous namespace)::anon_k");
	check("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIf"
	      "EESt5arrayIPcLm3EEEEviT0_T1_",
	      DEMANGLE_SHORT, "at::native::vectorized_elementwise_kernel");
	check("_ZNK12_GLOBAL__N_11SltIiEEbT_", DEMANGLE_SHORT,
	      "(anonymous namespace)::S::operator<");
	check("_ZNK12_GLOBAL__N_11SclEi", DEMANGLE_SHORT,
	      "(anonymous namespace)::S::operator()");
	check("_ZNK12_GLOBAL__N_11ScvbEv", DEMANGLE_SHORT,
	      "(anonymous namespace)::S::operator bool");
	check("_ZZZ4mainENKUlT_E_clIiEEDaS_ENKUliE_clEi", DEMANGLE_SHORT,
	      "main::{lambda(auto:1)#1}::operator()::{lambda(int)#1}::operator()");
	check("_ZN1a3fptIiEEPFvfET_", DEMANGLE_SHORT, "a::fpt");
	check("_Zli3_kmy", DEMANGLE_SHORT, "operator\"\" _km");
	check("_ZnwmPv", DEMANGLE_SHORT, "operator new");
}

TEST(short_of_demangled)
{
	static const struct {
		const char *name, *expected;
	} cases[] = {
		{"void at::native::vectorized_elementwise_kernel<4, "
		 "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, "
		 "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
		 "at::native::vectorized_elementwise_kernel"},
		{"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, "
		 "unsigned "
		 "int, 2, 128, 1>(float*, at::native::(anonymous namespace)::Meta<2>, "
		 "int)",
		 "at::native::(anonymous namespace)::CatArrayBatchedCopy"},
		{"void at::native::<unnamed>::softmax_warp_forward<float, (int)4>(T1 *, "
		 "int)",
		 "at::native::<unnamed>::softmax_warp_forward"},
		{"<unnamed>::kernel(int)", "<unnamed>::kernel"},
		{"void "
		 "cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4>"
		 "(cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4::Params)",
		 "cutlass::Kernel2"},
		{"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<"
		 "cute::tuple<int, int>, (cutlass::Op)1, ((4)>(2)), (1 << 3)> >("
		 "cutlass::gemm::kernel::GemmUniversal<int>::Params)",
		 "cutlass::device_kernel"},
		{"std::enable_if<!(false), void>::type "
		 "internal::gemvx::kernel<int, int, __half, float, float, false, true>("
		 "cublasGemvParamsEx<int, cublasGemvTensor<__half const> >)",
		 "internal::gemvx::kernel"},
		{"decltype ({parm#1}+(1)) a::dt<int>(int)", "a::dt"},
		{"decltype(auto) f<int>(int)", "f"},
		{"void (*a::fpt<int>(int))(float)", "a::fpt"},
		{"unsigned long long const& ns::f<int>(int) const &", "ns::f"},
		{"bool S::operator< <int>(int) const", "S::operator<"},
		{"bool S::operator<< <int>(int) const", "S::operator<<"},
		{"S::operator->*(int)", "S::operator->*"},
		{"S::operator->()", "S::operator->"},
		{"S::operator<=>(S const&) const", "S::operator<=>"},
		{"S::operator()(int) const", "S::operator()"},
		{"auto S::operator()<int>(int) const", "S::operator()"},
		{"S::operator[](unsigned long)", "S::operator[]"},
		{"S::operator unsigned long() const", "S::operator unsigned long"},
		{"S::operator std::vector<int>() const", "S::operator std::vector"},
		{"operator delete[](void*, unsigned long)", "operator delete[]"},
		{"my_operator<int>(int)", "my_operator"},
		{"operators::run<int>(int)", "operators::run"},
		{"f(int)::{lambda(int)#1}::operator()(int) const",
		 "f::{lambda(int)#1}::operator()"},
		{"f() const::{lambda()#2}::operator()() const",
		 "f::{lambda()#2}::operator()"},
		{"void thrust::k<thrust::f<[lambda(int) (instance 1)]> >(int)",
		 "thrust::k"},
		{"std::string f[abi:cxx11](int)", "f[abi:cxx11]"},
		{"foo(int) [clone .isra.0]", "foo"},
		{"foo(int).cold", "foo"},
		{"non-virtual thunk to X::f()", "X::f"},
		{"<alloc::vec::Vec<T> as core::ops::Drop>::drop",
		 "<alloc::vec::Vec<T> as core::ops::Drop>::drop"},
		{"core::iter::map::<u32>::next", "core::iter::map::next"},
		{"void f<&(g<int>(int))>(int)", "f"},
		{"void f<(a->b)>(int)", "f"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check(cases[i].name, DEMANGLE_SHORT, cases[i].expected);
}

TEST(short_copies_what_it_does_not_understand)
{
	static const char *const names[] = {
		"f(",	 "f<",	 "f<int",
		"f(int", "f<(>", ")",
		">",	 "f)(",	 "f<<<",
		"{(",	 "[(",	 "()",
		"(*)()", "(*",	 "(*f",
		"<",	 "(",	 "void (*(*(*(*(*(*f(int))())())())())())()",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		check(names[i], DEMANGLE_SHORT, names[i]);
}

/* Kernels of CUTLASS have names above libiberty's own limit of 1,024 bytes. */
TEST(long_symbols_are_demangled)
{
	char *symbol = repeat("_Z1fI", "N7cutlass4gemm6kernelE", 600, "Evi");
	char *full = demangle(symbol, DEMANGLE_FULL);

	CHECK(strlen(symbol) > 12000);
	CHECK(full && strncmp(full, "void f<cutlass::gemm::kernel, ", 30) == 0);
	CHECK(full && strcmp(full + strlen(full) - 6, ">(int)") == 0);
	check(symbol, DEMANGLE_SHORT, "f");
	free(full);
	free(symbol);
}

TEST(hostile_nesting_ends)
{
	static const struct {
		const char *before, *piece, *after;
	} cases[] = {
		{"_Z1f", "P", "i"},  {"_Z1f", "1aI", ""},   {"_Z1f", "F", "i"},
		{"_Z", "Z", "1fv"},  {"_Z1fI", "J", "E"},   {"_Z1fIX", "ng", "Li1EEEvv"},
		{"_Z1f", "A_", "i"}, {"_Z1fI", "L_Z", "E"}, {"_RNv", "M", "C1a"},
		{"_R", "NvC", "1a"}, {"f", "<", ""},	    {"f", "(", ""},
		{"f", "(*", ""},     {"f", "()", ""},	    {"f", "<>", ""},
		{"f", "{", ""},	     {"", "operator<", ""}, {"", "(* ", ")("},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t nr = 60000 / strlen(cases[i].piece);
		char *name = repeat(cases[i].before, cases[i].piece, nr, cases[i].after);
		static const enum demangle_style styles[] = {DEMANGLE_FULL, DEMANGLE_PERF,
							     DEMANGLE_SHORT};

		for (size_t k = 0; k < 3; k++) {
			char *demangled = demangle(name, styles[k]);

			CHECK(demangled != NULL);
			free(demangled);
		}
		free(name);
	}
}

/* Up to 64 times their size, and 4 KiB: a file can have many. */
TEST(short_symbols_have_no_gigantic_names)
{
	char doubled[] =
		"_Z1f1aIiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_IS5_S5_E"
		"S_IS6_S6_ES_IS7_S7_ES_IS8_S8_ES_IS9_S9_ES_ISA_SA_ES_ISB_SB_ES_ISC_SC_E";
	char *name;

	check(doubled, DEMANGLE_FULL, doubled);
	doubled[strlen("_Z1f1aIiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_E")] = '\0';
	name = demangle(doubled, DEMANGLE_FULL);
	CHECK(name && !strncmp(name, "f(a<int>, a<a<int>, ", 20));
	free(name);
}

/* Each substitution is the one before, twice: 2^30 of the first. */
TEST(hostile_doubling_ends)
{
	static const char symbol[] =
		"_Z1f1aIiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_IS5_S5_E"
		"S_IS6_S6_ES_IS7_S7_ES_IS8_S8_ES_IS9_S9_ES_ISA_SA_ES_ISB_SB_ES_ISC_SC_E"
		"S_ISD_SD_ES_ISE_SE_ES_ISF_SF_ES_ISG_SG_ES_ISH_SH_ES_ISI_SI_ES_ISJ_SJ_E"
		"S_ISK_SK_ES_ISL_SL_ES_ISM_SM_ES_ISN_SN_ES_ISO_SO_ES_ISP_SP_ES_ISQ_SQ_E";
	clock_t start = clock();

	check(symbol, DEMANGLE_FULL, symbol);
	CHECK(clock() - start < 2 * CLOCKS_PER_SEC);
}
