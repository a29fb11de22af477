/*
 * codec.h - converts messages between C structs and JSON.
 *
 * The structs are in acp/types.h, which is generated from the description of the protocol.  For
 * each type T it also has T_decode(), T_encode() and T_init(), which are typed and inline; most
 * programs use those, and the roles (acp/agent.h, acp/client.h) make even them unnecessary.  The
 * functions here take the type as a number.  So a binding to another language, which does not see
 * the structs, can validate and normalise a message knowing only the name of its type:
 *
 *     #include <acp/codec.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         struct acp_arena arena;
 *         struct acp_buf out;
 *         struct acp_failure failure = {.message = "out of memory"};
 *         acp_arena_init(&arena, 0);
 *         acp_buf_init(&out, 1 << 20);
 *         struct acp_raw json = acp_raw_from(
 *             "{\"sessionId\": \"s1\", \"prompt\": [{\"type\": \"text\", \"text\": \"Hi\"}]}");
 *         acp_type_id type = acp_type_find(acp_str_from("PromptRequest"), ACP_V1);
 *         void *value = acp_arena_alloc(&arena, acp_type_size(type));
 *         int err = ACP_ERR_NOMEM;
 *         if (value)
 *             err = acp_decode(type, ACP_V1, json, &arena, value, &failure);
 *         if (!err)
 *             err = acp_encode_text(type, ACP_V1, value, &out, &failure);
 *         if (err)
 *             printf("%s: %s\n", failure.path, failure.message);
 *         else
 *             printf("%.*s\n", ACP_ARG(acp_buf_view(&out)));
 *         acp_buf_finish(&out);
 *         acp_arena_finish(&arena);
 *         return err ? 1 : 0;
 *     }
 *
 * Decoding is as tolerant as the protocol says, and no more; encoding is strict: what acp_encode()
 * writes is valid in the schema of that version.  The functions keep nothing and may be called from
 * any thread.
 */
#ifndef ACP_CODEC_H
#define ACP_CODEC_H

#include "acp/base.h"
#include "acp/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Decoding and encoding ------------------------------------------------------------------ */

/* A mode is one version with any of the flags: ACP_V2 | ACP_UNSTABLE. */
enum acp_protocol_flags {
    ACP_V1 = 1,
    ACP_V2 = 2,
    ACP_UNSTABLE = 4,      /* the unstable schema of that version */
    ACP_STRICT = 8,        /* decoding: tolerate nothing */
    ACP_KEEP_UNKNOWN = 16, /* encoding: also write unknown keys that were read; for proxies */
};

/* A key that the description does not have, as it was received; a list in order of appearance. */
struct acp_unknown {
    const struct acp_unknown *next;
    struct acp_str key;
    struct acp_raw value;
};

/* A type of the protocol: one of the ACP_TYPE_... numbers of acp/types.h, which never change. */
typedef int acp_type_id;

enum {
    ACP_TYPE_NONE = 0, /* not a type */
    ACP_TYPE_ANY = -2, /* any JSON value, as a struct acp_raw; for the roles, not for the codec */
};

/*
 * Decodes a JSON value into the struct of that type, of acp_type_size() bytes.  It points into json
 * and into the arena, so both must outlive it.
 *
 * Errors: those of the text (acp/json.h); ACP_ERR_TYPE, ACP_ERR_RANGE, ACP_ERR_MISSING and
 * ACP_ERR_VARIANT for a field; ACP_ERR_NOMEM if the arena is exhausted; ACP_ERR_ARGUMENT if the
 * version does not have the type, or json is absent.  failure has the path and the offset.  The
 * struct is overwritten in any case; after an error its content is undefined.
 */
ACP_API int acp_decode(acp_type_id type, unsigned mode, struct acp_raw json,
                       struct acp_arena *arena, void *ret, struct acp_failure *failure);

/*
 * Writes the struct as the next value of a writer.  Fields that the version does not have are left
 * out.
 *
 * Errors: ACP_ERR_MISSING for an absent field that the version requires; ACP_ERR_RANGE,
 * ACP_ERR_TYPE and ACP_ERR_VARIANT for a value that it does not allow; ACP_ERR_ARGUMENT if it does
 * not have the type; ACP_ERR_LIMIT, ACP_ERR_NOMEM; or the earlier error of the writer.  The error
 * is latched in the writer, so that the message is not sent.
 */
ACP_API int acp_encode(acp_type_id type, unsigned mode, const void *value,
                       struct acp_json_writer *w, struct acp_failure *failure);

/* The same, appended to a buffer; nothing is appended on failure. */
ACP_API int acp_encode_text(acp_type_id type, unsigned mode, const void *value, struct acp_buf *out,
                            struct acp_failure *failure);

/*
 * Appends the struct for people: one field a line, indented.  Safe for terminals: control
 * characters are replaced.  ACP_ERR_ARGUMENT if the version does not have the type; ACP_ERR_LIMIT,
 * ACP_ERR_NOMEM, and the buffer may then hold a part of it.
 */
ACP_API int acp_print(acp_type_id type, unsigned mode, const void *value, struct acp_buf *out);

/* ---- The protocol at run time --------------------------------------------------------------- */

/* The name of a type in the protocol ("PromptRequest"); absent for an unknown number. */
ACP_API struct acp_str acp_type_name(acp_type_id type);
/* The size of its struct; 0 for an unknown number. */
ACP_API size_t acp_type_size(acp_type_id type);
/* The type of that name in that version; ACP_TYPE_NONE if there is none. */
ACP_API acp_type_id acp_type_find(struct acp_str name, unsigned mode);

enum acp_side { ACP_SIDE_ANY, ACP_SIDE_CLIENT, ACP_SIDE_AGENT, ACP_SIDE_PROXY };

/* A method of the protocol.  Its texts are static. */
struct acp_method {
    struct acp_str name; /* "session/prompt" */
    int id;              /* enum acp_method_id of acp/types.h; 0: not a method of the protocol */
    bool request;        /* false: a notification */
    enum acp_side from;  /* who sends it */
    enum acp_side to;
    acp_type_id params;
    acp_type_id result;  /* ACP_TYPE_NONE for a notification */
    struct acp_str gate; /* the capability that permits it; absent if it is always permitted */
    void *reserved[2];
};

/*
 * Finds the method of that name that the side `from` may send in that version; ACP_SIDE_ANY finds
 * one of either side.  Returns whether there is one.
 */
ACP_API bool acp_method_find(struct acp_str name, enum acp_side from, unsigned mode,
                             struct acp_method *ret);
/* The method at that index, from 0, among those of a version; false after the last. */
ACP_API bool acp_method_at(size_t index, unsigned mode, struct acp_method *ret);

#ifdef __cplusplus
}
#endif

#endif
