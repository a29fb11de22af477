/*
 * The requests that were received and wait for their response, and what an id may be.  It owns the
 * records until they are detached; receive.c opens them, send.c closes them.
 *
 * Ids are echoed as the bytes they came in, but compared by value: "a" and "\u0061" are one id.
 */
#include "rpc/peer.h"

#include <stdlib.h>

/* An id may be long, but all that are open together may not: the other side chooses them. */
enum { MAX_CALL_BYTES = 16 * 1024 * 1024 };

static bool is_i64(struct acp_raw text)
{
    bool negative = text.len && text.ptr[0] == '-';
    size_t digits = text.len - (negative ? 1 : 0);
    if (digits == 0 || digits > 19)
        return false;
    uint64_t value = 0; /* 19 digits always fit */
    for (const char *p = text.ptr + text.len - digits; p < text.ptr + text.len; p++) {
        if (*p < '0' || *p > '9')
            return false;
        value = value * 10 + (uint64_t) (*p - '0');
    }
    return value <= (uint64_t) INT64_MAX + (negative ? 1 : 0);
}

enum id_kind acp_rpc_id_kind(struct acp_raw id)
{
    if (!id.ptr)
        return ID_ABSENT;
    if (id.ptr[0] == 'n')
        return ID_NULL;
    return id.ptr[0] == '"' || is_i64(id) ? ID_GOOD : ID_BAD;
}

/*
 * The value of a good id as bytes: the digits, or the text behind one quote, which keeps "1" and 1
 * apart.  Points into the id unless that has escapes.
 */
static int key_of(struct acp_peer *peer, struct acp_raw id, struct acp_str *ret)
{
    if (id.ptr[0] != '"') {
        size_t skip = id.len == 2 && memcmp(id.ptr, "-0", 2) == 0 ? 1 : 0;
        *ret = acp_str_n(id.ptr + skip, id.len - skip);
        return 0;
    }
    if (!memchr(id.ptr, '\\', id.len)) {
        *ret = acp_str_n(id.ptr, id.len - 1);
        return 0;
    }
    struct acp_json_reader r;
    struct acp_str text;
    acp_json_reader_init(&r, id, &peer->arena, 0);
    int err = acp_json_read_str(&r, &text);
    if (err)
        return err;
    char *key = acp_arena_alloc(&peer->arena, text.len + 1);
    if (!key)
        return ACP_ERR_NOMEM;
    key[0] = '"';
    if (text.len)
        memcpy(key + 1, text.ptr, text.len);
    *ret = acp_str_n(key, text.len + 1);
    return 0;
}

static struct acp_str key_in(const struct call *call)
{
    return acp_str_n(call->bytes + call->key_at, call->key_len);
}

/* The record, with room for the key only where the id does not hold it. */
static struct call *make(struct acp_raw id, struct acp_str key)
{
    bool inside = key.ptr >= id.ptr && key.ptr < id.ptr + id.len;
    size_t extra = inside ? 0 : key.len;
    struct call *call = malloc(sizeof(*call) + id.len + extra);
    if (!call)
        return NULL;
    *call = (struct call){.id_len = id.len, .key_len = key.len};
    call->key_at = inside ? (size_t) (key.ptr - id.ptr) : id.len;
    memcpy(call->bytes, id.ptr, id.len);
    if (extra)
        memcpy(call->bytes + id.len, key.ptr, extra);
    return call;
}

/* The id null names nothing: any number of calls may have it, and none can be found by it. */
static bool has_key(const struct call *call)
{
    return call->key_len > 0;
}

int acp_rpc_call_open(struct acp_peer *peer, struct acp_raw id, struct call **ret)
{
    struct acp_str key = {id.ptr, 0};
    int err = acp_rpc_id_kind(id) == ID_NULL ? 0 : key_of(peer, id, &key);
    if (err)
        return err;
    if (key.len && acp_map_get(&peer->calls_by_id, key))
        return ACP_ERR_STATE;
    if (peer->calls.count >= peer->options.max_calls || id.len > MAX_CALL_BYTES - peer->call_bytes)
        return ACP_ERR_LIMIT;
    struct call *call = make(id, key);
    if (!call)
        return ACP_ERR_NOMEM;
    call->number = peer->next_call;
    err = acp_numbers_add(&peer->calls, &call->number);
    if (!err && has_key(call)) {
        err = acp_map_set(&peer->calls_by_id, key_in(call), call);
        if (err)
            acp_numbers_remove(&peer->calls, call->number);
    }
    if (err) {
        free(call);
        return err;
    }
    peer->next_call++;
    peer->call_bytes += id.len;
    *ret = call;
    return 0;
}

struct call *acp_rpc_call_find(const struct acp_peer *peer, acp_call number)
{
    return acp_numbers_get(&peer->calls, number);
}

struct call *acp_rpc_call_by_id(struct acp_peer *peer, struct acp_raw id)
{
    struct acp_str key;
    if (acp_rpc_id_kind(id) != ID_GOOD || key_of(peer, id, &key))
        return NULL;
    return acp_map_get(&peer->calls_by_id, key);
}

void acp_rpc_call_detach(struct acp_peer *peer, struct call *call)
{
    acp_numbers_remove(&peer->calls, call->number);
    if (has_key(call))
        (void) acp_map_remove(&peer->calls_by_id, key_in(call));
    peer->call_bytes -= call->id_len;
}

size_t acp_peer_calls(const struct acp_peer *peer)
{
    return peer->calls.count;
}

struct acp_raw acp_peer_call_id(const struct acp_peer *peer, acp_call call)
{
    const struct call *found = acp_rpc_call_find(peer, call);
    return found ? acp_rpc_call_id(found) : acp_raw_n(NULL, 0);
}

void acp_peer_call_set_user(struct acp_peer *peer, acp_call call, void *user)
{
    struct call *found = acp_rpc_call_find(peer, call);
    if (found)
        found->user = user;
}

void *acp_peer_call_user(const struct acp_peer *peer, acp_call call)
{
    const struct call *found = acp_rpc_call_find(peer, call);
    return found ? found->user : NULL;
}
