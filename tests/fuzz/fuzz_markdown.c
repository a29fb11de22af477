/*
 * Fuzzes the Markdown renderer.  The first byte chooses the width and what the terminal can, the
 * second the size of the pieces; whatever the text is, the output does not depend on how it was
 * cut, links are addresses, and there is not much more of it than of the text.
 */
#include <stdlib.h>

#include "markdown_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 64 * 1024)
        return 0;
    static const size_t widths[] = {0, 1, 12, 40, 80, 200};
    struct markdown_options options = {
        .width = widths[data[0] % 6],
        .ascii = data[0] & 0x40,
        .hyperlinks = data[0] & 0x80,
    };
    struct acp_str text = acp_str_n((const char *) data + 2, size - 2);
    struct shown whole;
    struct shown pieces;
    CHECK(show_markdown(options, text, text.len + 1, &whole) == 0);
    CHECK(show_markdown(options, text, data[1] ? data[1] : 1, &pieces) == 0);
    CHECK(!whole.wrong && !pieces.wrong);
    CHECK(whole.out.len <= 1000 * text.len + 4096);
    CHECK(acp_str_eq(acp_buf_view(&whole.out), acp_buf_view(&pieces.out)));
    acp_buf_finish(&whole.out);
    acp_buf_finish(&pieces.out);
    return 0;
}
