/*
 * Fuzzes the filter for terminals.  The first byte chooses the mode, the second where the text is
 * cut; whatever it holds, the output is harmless, the same however it was cut, and final.
 */
#include "fuzz.h"
#include "sanitize_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 4096)
        return 0;
    struct acp_str text = acp_str_n((const char *) data + 2, size - 2);
    CHECK(!find_broken((enum sanitize_mode)(data[0] % 4), text, data[1] % (text.len + 1)));
    return 0;
}
