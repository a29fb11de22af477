/*
 * Fuzzes the endpoint of the older HTTP transport of MCP: the input is a base URL, a line end, and
 * a reference.  Whatever it resolves to is at the same server.
 */
#include <stdlib.h>

#include "mcp/http_transport.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acp_str input = acp_str_n((const char *) data, size);
    const char *line = size ? memchr(input.ptr, '\n', size) : NULL;
    struct acp_buf url;
    if (!line)
        return 0;
    struct acp_str base = acp_str_n(input.ptr, (size_t) (line - input.ptr));
    struct acp_str reference = acp_str_n(line + 1, size - base.len - 1);
    acp_buf_init(&url, 2 * size + 2);
    if (http_stays(base, base) && http_resolve(base, reference, &url) == 0 &&
        !http_stays(base, acp_buf_view(&url)))
        abort();
    acp_buf_finish(&url);
    return 0;
}
