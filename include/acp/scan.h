/*
 * scan.h - the routing scan: one pass over a message, without allocating, that validates all of it
 * and finds what is needed to route it.  For proxies, which forward messages without decoding them:
 *
 *     struct acp_scan scan;
 *     if (acp_scan_message(line, acp_str_from(NULL), &scan,
 *           NULL) < 0 || scan.kind == ACP_SCAN_INVALID)
 *         return drop(line);
 *     struct acp_splice splices[] = {{scan.id, new_id}, {scan.session_id, new_session_id}};
 *     err = acp_scan_splice_all(line, splices, 2, &out);
 *
 * examples/router.c is a whole one.  Spans point into the message and are valid as long as it is;
 * the functions keep nothing and may be called from any thread.
 */
#ifndef ACP_SCAN_H
#define ACP_SCAN_H

#include "acp/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum acp_scan_kind {
    ACP_SCAN_INVALID = 0,  /* valid JSON, but no JSON-RPC message */
    ACP_SCAN_REQUEST,      /* method and id */
    ACP_SCAN_NOTIFICATION, /* method, no id */
    ACP_SCAN_RESPONSE,     /* id and exactly one of result and error */
    ACP_SCAN_BAD_RESPONSE, /* no method, but result or error: never to be answered */
    ACP_SCAN_ARRAY,        /* a batch */
};

/*
 * All spans are the values as their bytes, texts with their quotes; absent ones have ptr NULL.  A
 * key that occurs twice counts where it stands last.  session_id, method and key are plain only
 * when their text holds no escape; a span with escapes is compared after reading it as JSON.
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
    struct acp_raw key;        /* the value of the params key that was asked for */
    struct acp_raw reserved[2];
};

/*
 * Scans one message.  key names a top-level key of params to find as well, or is absent.
 * Returns 0, or ACP_ERR_SYNTAX, ACP_ERR_UTF8, ACP_ERR_DEPTH with the offset where it was seen.
 */
ACP_API int acp_scan_message(struct acp_raw text, struct acp_str key, struct acp_scan *ret,
                             size_t *ret_offset);

/* The text between the quotes of a string span; absent when it has escapes or is no string. */
ACP_API struct acp_str acp_scan_plain(struct acp_raw span);

/*
 * Appends the message with one of its spans replaced by other JSON text.  The span must lie in the
 * message.
 */
ACP_API int acp_scan_splice(struct acp_raw message, struct acp_raw span, struct acp_raw by,
                            struct acp_buf *out);

/* One replacement of acp_scan_splice_all(). */
struct acp_splice {
    struct acp_raw span;
    struct acp_raw by;
};

/*
 * The same with several spans at once, in any order; absent ones are passed over.  A span of
 * length 0 inserts where it points, and an empty replacement removes.  Between two agents whose
 * session ids differ that is the id of the message and params.sessionId.  Note that ids also stand
 * elsewhere: the results of session/list hold those of all sessions, which the scan does not look
 * into; decode such a message instead.
 *
 * ACP_ERR_ARGUMENT, with nothing appended, when a span lies outside of the message or two overlap;
 * ACP_ERR_LIMIT, ACP_ERR_NOMEM.
 */
ACP_API int acp_scan_splice_all(struct acp_raw message, const struct acp_splice *splices,
                                size_t count, struct acp_buf *out);

#ifdef __cplusplus
}
#endif

#endif
