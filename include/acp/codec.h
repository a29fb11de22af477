/*
 * codec.h - messages between their C structs and their JSON text.
 *
 * The structs are in acp/types.h, generated from the description in protocol/.  One codec serves
 * them all by walking tables; the typed inline functions in types.h call the functions here.
 *
 * Reading is tolerant exactly as far as the protocol says (its lenience marks); writing is strict:
 * what acp_encode() writes is valid in the schema of the version asked for.
 *
 * For bindings to other languages, which do not see the structs: a message is checked, and brought
 * into the form that this library writes, by its type's name alone.
 *
 *     acp_type_id type = acp_type_find(acp_str_from("PromptRequest"), ACP_V1);
 *     void *value = acp_arena_alloc(&arena, acp_type_size(type));
 *     err = acp_decode(type, ACP_V1, json, &arena, value, &failure);
 *     err = acp_encode_text(type, ACP_V1, value, &out, &failure);
 *
 * acp_method_find() gives the types of a method's params and result.  Functions whose options are
 * sized have an exported form that ends in _sized; the plain ones are inline and not exported.
 */
#ifndef ACP_CODEC_H
#define ACP_CODEC_H

#include "acp/base.h"
#include "acp/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A mode is one version, with flags added:  ACP_V2 | ACP_UNSTABLE.
 */
enum acp_protocol_flags {
    ACP_V1 = 1,
    ACP_V2 = 2,
    ACP_UNSTABLE = 4,      /* the unstable schema of that version */
    ACP_STRICT = 8,        /* decode: forgive nothing */
    ACP_KEEP_UNKNOWN = 16, /* encode: also write the unknown keys that were read (for proxies) */
};

/* A key that the description does not know, as it came; a linked list in order of appearance. */
struct acp_unknown {
    const struct acp_unknown *next;
    struct acp_str key;
    struct acp_raw value;
};

/* A type of the protocol: one of the ACP_TYPE_ numbers in types.h, which never change. */
typedef int acp_type_id;

enum {
    ACP_TYPE_NONE = 0, /* the number of no type */
    ACP_TYPE_ANY = -2, /* any JSON value; there is no struct for it */
};

/*
 * Decodes a JSON value into the struct of that type, which is overwritten.  Texts point into json
 * or into the arena, so both must outlive the struct.  Errors: what the reader finds, ACP_ERR_TYPE,
 * _RANGE, _MISSING, _VARIANT, _NOMEM, _ARGUMENT (the type is not part of this version).
 */
ACP_API int acp_decode(acp_type_id type, unsigned mode, struct acp_raw json,
                       struct acp_arena *arena, void *ret, struct acp_failure *failure);

/*
 * Writes the value.  Fields that the version does not have are left out; a field that it requires
 * and that is absent is ACP_ERR_MISSING, one out of its range ACP_ERR_RANGE.  On failure the
 * writer's error is latched, so that the message is not sent.
 */
ACP_API int acp_encode(acp_type_id type, unsigned mode, const void *value,
                       struct acp_json_writer *w, struct acp_failure *failure);

/* The same, appended to a buffer; on failure nothing is. */
ACP_API int acp_encode_text(acp_type_id type, unsigned mode, const void *value, struct acp_buf *out,
                            struct acp_failure *failure);

/* Appends the value for people: one field a line, indented, without the noise of JSON. */
ACP_API int acp_print(acp_type_id type, unsigned mode, const void *value, struct acp_buf *out);

/* ---- The description at run time ------------------------------------------------------------ */

/* The type's name in the protocol, and the size of its struct. */
ACP_API struct acp_str acp_type_name(acp_type_id type);
ACP_API size_t acp_type_size(acp_type_id type);
/* The type of that name in that version, or ACP_TYPE_NONE. */
ACP_API acp_type_id acp_type_find(struct acp_str name, unsigned mode);

enum acp_side { ACP_SIDE_ANY, ACP_SIDE_CLIENT, ACP_SIDE_AGENT, ACP_SIDE_PROXY };

struct acp_method {
    struct acp_str name;
    int id;       /* enum acp_method_id in types.h; 0 when the protocol has no such method */
    bool request; /* has a response */
    enum acp_side from;
    enum acp_side to;
    acp_type_id params;
    acp_type_id result;  /* ACP_TYPE_NONE for a notification */
    struct acp_str gate; /* the capability that allows it; absent when it is baseline */
    void *reserved[2];
};

/*
 * The method of that name which the side `from` may send in that version; false when there is none.
 */
ACP_API bool acp_method_find(struct acp_str name, enum acp_side from, unsigned mode,
                             struct acp_method *ret);
/* All methods of a version: index from 0; false at the end. */
ACP_API bool acp_method_at(size_t index, unsigned mode, struct acp_method *ret);

#ifdef __cplusplus
}
#endif

#endif
