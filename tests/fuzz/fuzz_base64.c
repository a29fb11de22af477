/*
 * Fuzzes base64: what is encoded decodes to itself, and a text that decodes is the one text that
 * encoding its bytes gives.
 */
#include "acp/base.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acp_str input = acp_str_n((const char *) data, size);
    struct acp_buf text;
    struct acp_buf bytes;
    struct acp_failure failure;
    acp_buf_init(&text, SIZE_MAX / 2);
    acp_buf_init(&bytes, SIZE_MAX / 2);

    CHECK(acp_base64_encode(&text, data, size) == 0);
    CHECK(text.len == (size + 2) / 3 * 4);
    CHECK(acp_base64_decoded_size(acp_buf_view(&text)) == size);
    CHECK(acp_base64_decode(&bytes, acp_buf_view(&text), NULL) == 0);
    CHECK(acp_str_eq(acp_buf_view(&bytes), input));

    acp_buf_clear(&text);
    acp_buf_clear(&bytes);
    if (acp_base64_decode(&bytes, input, &failure) == 0) {
        CHECK(bytes.len == acp_base64_decoded_size(input));
        CHECK(acp_base64_encode(&text, acp_buf_view(&bytes).ptr, bytes.len) == 0);
        CHECK(acp_str_eq(acp_buf_view(&text), input));
    } else {
        CHECK(failure.err == ACP_ERR_RANGE && failure.offset <= size && failure.message[0]);
        CHECK(bytes.len == 0);
    }
    acp_buf_finish(&text);
    acp_buf_finish(&bytes);
    return 0;
}
