/* writer.h - what only the codec asks of the writer. */
#ifndef LIB_JSON_WRITER_H
#define LIB_JSON_WRITER_H

#include "acp/json.h"

/* A key that needs no escapes, given as it stands between members: ,"name":  */
void acp_json_write_ready_key(struct acp_json_writer *w, const char *text, size_t len);

#endif
