/*
 * scan.h - the routing scan: validates a whole message in one pass, without allocating, and finds
 * what is needed to route it.  For proxies, which forward messages without decoding them.
 *
 *     #include <acp/scan.h>
 *     #include <stdio.h>
 *
 *     // Appends the message with another id and session id; the values are JSON texts.
 *     static int forward(struct acp_raw message, struct acp_raw id, struct acp_raw session_id,
 *                        struct acp_buf *out)
 *     {
 *         struct acp_scan scan;
 *         int err = acp_scan_message(message, acp_str_from(NULL), &scan, NULL);
 *         if (err)
 *             return err;
 *         if (scan.kind == ACP_SCAN_INVALID)
 *             return ACP_ERR_ENVELOPE;
 *         struct acp_splice splices[] = {{scan.id, id}, {scan.session_id, session_id}};
 *         return acp_scan_splice_all(message, splices, 2, out);
 *     }
 *
 *     int main(void)
 *     {
 *         struct acp_buf out;
 *         acp_buf_init(&out, 1 << 20);
 *         int err = forward(acp_raw_from("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\","
 *                                        "\"params\":{\"sessionId\":\"a\"}}"),
 *                           acp_raw_from("17"), acp_raw_from("\"b\""), &out);
 *         printf("%.*s\n", ACP_ARG(acp_buf_view(&out)));
 *         acp_buf_finish(&out);
 *         return err ? 1 : 0;
 *     }
 *
 * examples/router.c is a complete proxy.  Spans point into the message and are valid as long as it
 * is.  The functions keep nothing and may be called from any thread.
 */
#ifndef ACP_SCAN_H
#define ACP_SCAN_H

#include "acp/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a message is, judged by the keys of its envelope. */
enum acp_scan_kind {
    ACP_SCAN_INVALID = 0,  /* valid JSON, but not a JSON-RPC message */
    ACP_SCAN_REQUEST,      /* method and id */
    ACP_SCAN_NOTIFICATION, /* method, no id */
    ACP_SCAN_RESPONSE,     /* id and exactly one of result and error */
    ACP_SCAN_BAD_RESPONSE, /* no method, but a result or error; must not be answered */
    ACP_SCAN_ARRAY,        /* a batch */
};

/*
 * A message taken apart.  Spans are the bytes of values, strings with their quotes; those that are
 * not in the message have ptr NULL.  Of several equal keys the last one counts.
 *
 * Compare strings with acp_scan_plain(), which is absent for one with escapes: read such a span as
 * JSON first.
 */
struct acp_scan {
    enum acp_scan_kind kind;
    bool version_ok; /* "jsonrpc" is "2.0" */
    struct acp_raw id;
    struct acp_raw method;
    struct acp_raw params;
    struct acp_raw result;
    struct acp_raw error;
    struct acp_raw session_id; /* params.sessionId or result.sessionId */
    struct acp_raw key;        /* the value of the key of params that was asked for */
    struct acp_raw reserved[2];
};

/*
 * Scans one message.  key names one more top-level key of params to find, or is absent.
 *
 * Returns 0 for any valid JSON: check ret->kind for whether it is a message.  Otherwise
 * ACP_ERR_SYNTAX, ACP_ERR_UTF8 or ACP_ERR_DEPTH; ret_offset may be NULL and is then written: the
 * byte at which the error was found.
 */
ACP_API int acp_scan_message(struct acp_raw text, struct acp_str key, struct acp_scan *ret,
                             size_t *ret_offset);

/* The text between the quotes of a span; absent if it is not a string, or has escapes. */
ACP_API struct acp_str acp_scan_plain(struct acp_raw span);

/*
 * Appends the message with one of its spans replaced by other JSON text.  ACP_ERR_ARGUMENT if the
 * span is absent or not part of the message; ACP_ERR_LIMIT, ACP_ERR_NOMEM.
 */
ACP_API int acp_scan_splice(struct acp_raw message, struct acp_raw span, struct acp_raw by,
                            struct acp_buf *out);

/* One replacement of acp_scan_splice_all(). */
struct acp_splice {
    struct acp_raw span;
    struct acp_raw by;
};

/*
 * The same with several spans, in any order; absent ones are skipped.  A span of length 0 inserts
 * where it points, and an empty replacement removes the span.
 *
 * Between two peers that use different ids it is the id of the message and the session id that are
 * replaced.  Ids also occur where the scan does not look: the result of session/list has those of
 * all sessions.  Decode such messages instead (acp/codec.h).
 *
 * ACP_ERR_ARGUMENT if a span is not part of the message or two spans overlap; ACP_ERR_LIMIT,
 * ACP_ERR_NOMEM.  Nothing is appended then.
 */
ACP_API int acp_scan_splice_all(struct acp_raw message, const struct acp_splice *splices,
                                size_t count, struct acp_buf *out);

#ifdef __cplusplus
}
#endif

#endif
