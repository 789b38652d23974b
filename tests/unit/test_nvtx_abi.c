// SPDX-License-Identifier: GPL-2.0-or-later
/* nvtx_abi.h has the numbers and layouts of NVIDIA's header. */
#include "unit.h"

#include "nvtx_abi.h"

#if __has_include(<nvtx3/nvToolsExt.h>)

#include <nvtx3/nvToolsExt.h>

#define SAME(ours, theirs) CHECK_EQ((int)(ours), (int)(theirs))
#define SAME_MEMBER(ours, theirs)                                          \
	do {                                                               \
		CHECK_EQ(offsetof(struct nvtx_attributes, ours),           \
			 offsetof(nvtxEventAttributes_t, theirs));         \
		CHECK_EQ(sizeof(((struct nvtx_attributes *)NULL)->ours),   \
			 sizeof(((nvtxEventAttributes_t *)NULL)->theirs)); \
	} while (0)

TEST(layouts)
{
	CHECK_EQ(sizeof(struct nvtx_attributes), sizeof(nvtxEventAttributes_t));
	SAME_MEMBER(size, size);
	SAME_MEMBER(message_type, messageType);
	SAME_MEMBER(message, message);
	CHECK_EQ(sizeof(struct nvtx_callbacks), sizeof(NvtxExportTableCallbacks));
	CHECK_EQ(offsetof(struct nvtx_callbacks, get_table),
		 offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable));
	CHECK_EQ(sizeof(nvtxRangeId_t), sizeof(uint64_t));
	SAME(NVTX_ABI_MESSAGE_ASCII, NVTX_MESSAGE_TYPE_ASCII);
	SAME(NVTX_ABI_MESSAGE_WIDE, NVTX_MESSAGE_TYPE_UNICODE);
	SAME(NVTX_ABI_MESSAGE_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
	SAME(NVTX_ABI_NO_PUSH_POP, NVTX_NO_PUSH_POP_TRACKING);
}

TEST(places)
{
	SAME(NVTX_ABI_TABLE_CALLBACKS, NVTX_ETID_CALLBACKS);
	SAME(NVTX_ABI_MODULE_CORE, NVTX_CB_MODULE_CORE);
	SAME(NVTX_ABI_MODULE_CORE2, NVTX_CB_MODULE_CORE2);
	SAME(NVTX_ABI_MARK_EX, NVTX_CBID_CORE_MarkEx);
	SAME(NVTX_ABI_MARK_A, NVTX_CBID_CORE_MarkA);
	SAME(NVTX_ABI_MARK_W, NVTX_CBID_CORE_MarkW);
	SAME(NVTX_ABI_RANGE_START_EX, NVTX_CBID_CORE_RangeStartEx);
	SAME(NVTX_ABI_RANGE_START_A, NVTX_CBID_CORE_RangeStartA);
	SAME(NVTX_ABI_RANGE_START_W, NVTX_CBID_CORE_RangeStartW);
	SAME(NVTX_ABI_RANGE_END, NVTX_CBID_CORE_RangeEnd);
	SAME(NVTX_ABI_RANGE_PUSH_EX, NVTX_CBID_CORE_RangePushEx);
	SAME(NVTX_ABI_RANGE_PUSH_A, NVTX_CBID_CORE_RangePushA);
	SAME(NVTX_ABI_RANGE_PUSH_W, NVTX_CBID_CORE_RangePushW);
	SAME(NVTX_ABI_RANGE_POP, NVTX_CBID_CORE_RangePop);
	SAME(NVTX_ABI_DOMAIN_MARK_EX, NVTX_CBID_CORE2_DomainMarkEx);
	SAME(NVTX_ABI_DOMAIN_RANGE_START_EX, NVTX_CBID_CORE2_DomainRangeStartEx);
	SAME(NVTX_ABI_DOMAIN_RANGE_END, NVTX_CBID_CORE2_DomainRangeEnd);
	SAME(NVTX_ABI_DOMAIN_RANGE_PUSH_EX, NVTX_CBID_CORE2_DomainRangePushEx);
	SAME(NVTX_ABI_DOMAIN_RANGE_POP, NVTX_CBID_CORE2_DomainRangePop);
	SAME(NVTX_ABI_DOMAIN_REGISTER_STRING_A, NVTX_CBID_CORE2_DomainRegisterStringA);
	SAME(NVTX_ABI_DOMAIN_REGISTER_STRING_W, NVTX_CBID_CORE2_DomainRegisterStringW);
	SAME(NVTX_ABI_DOMAIN_CREATE_A, NVTX_CBID_CORE2_DomainCreateA);
	SAME(NVTX_ABI_DOMAIN_CREATE_W, NVTX_CBID_CORE2_DomainCreateW);
}

#else

TEST(layouts_and_places)
{
	SKIP("the toolkit's nvtx3/nvToolsExt.h isn't there");
}

#endif
