/* Checking and writing the params and results of a program. */
#include "role/values.h"

#include "acp/codec.h"

int acp_check_raw_params(acp_type_id type, const void *params)
{
    const struct acp_raw *raw = params;
    if (type != ACP_TYPE_ANY)
        return params ? 0 : ACP_ERR_ARGUMENT;
    if (!raw)
        return 0;
    if (!raw->ptr || !raw->len || *raw->ptr != '{')
        return ACP_ERR_ARGUMENT;
    return acp_json_validate(*raw, 0, NULL) ? ACP_ERR_ARGUMENT : 0;
}

/* Type ids are small numbers; one more, so that none is NULL. */
void acp_note_result_type(struct acp_peer *peer, acp_call call, acp_type_id type)
{
    acp_peer_call_set_user(peer, call, (void *) ((uintptr_t) type + 1u));
}

int acp_check_answer(const struct acp_peer *peer, acp_call call, acp_type_id type,
                     const void *value)
{
    uintptr_t noted = (uintptr_t) acp_peer_call_user(peer, call);
    if (!value || (noted && noted != (uintptr_t) type + 1u))
        return ACP_ERR_ARGUMENT;
    if (type != ACP_TYPE_ANY)
        return 0;
    const struct acp_raw *raw = value;
    return raw->ptr && !acp_json_validate(*raw, 0, NULL) ? 0 : ACP_ERR_ARGUMENT;
}

void acp_role_write_value(acp_type_id type, unsigned mode, const void *value,
                          struct acp_json_writer *w)
{
    if (type == ACP_TYPE_ANY)
        acp_json_write_raw(w, value ? *(const struct acp_raw *) value : acp_raw_from("{}"));
    else
        (void) acp_encode(type, mode, value, w, NULL);
}
