/* The error codes: their texts, names and what a JSON-RPC peer is told. */
#include "acp/base.h"

struct entry {
    int err;
    int rpc;
    const char *name;
    const char *text;
};

static const struct entry entries[] = {
#define ENTRY(name, number, rpc, text) {(number), (rpc), #name, (text)},
    ACP_ERR_MAP(ENTRY)
#undef ENTRY
};

static const struct entry *find(int err)
{
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        if (entries[i].err == err)
            return &entries[i];
    return NULL;
}

const char *acp_err_text(int err)
{
    const struct entry *e = find(err);
    return e ? e->text : err >= 0 ? "no error" : "an unknown error";
}

const char *acp_err_name(int err)
{
    const struct entry *e = find(err);
    return e ? e->name : err >= 0 ? "OK" : "UNKNOWN_ERROR";
}

int acp_err_rpc_code(int err)
{
    const struct entry *e = find(err);
    return e ? e->rpc : -32603;
}
