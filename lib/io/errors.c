/* The texts of errors, of ours and of the system. */
#include <string.h>

#include "acp/io.h"

const char *acp_io_err_text(int err)
{
    int number = acp_err_errno(err);
    return number ? strerror(number) : acp_err_text(err);
}
