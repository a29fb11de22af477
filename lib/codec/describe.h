/*
 * describe.h - the form of the tables that tools/scanner writes and that the codec walks.
 *
 * Tables refer to each other and to their texts by number, not by pointer: so they need no
 * relocation, are shared between processes, and are small.
 */
#ifndef LIB_CODEC_DESCRIBE_H
#define LIB_CODEC_DESCRIBE_H

#include "acp/codec.h"

/* What one value is. */
enum acp_kind {
    ACP_KIND_NONE, /* a variant without payload */
    ACP_KIND_STR,
    ACP_KIND_BOOL,
    ACP_KIND_I64,
    ACP_KIND_U64,
    ACP_KIND_F64,
    ACP_KIND_NULL,
    ACP_KIND_ANY,    /* raw JSON */
    ACP_KIND_OBJECT, /* raw JSON that is an object */
    ACP_KIND_ENUM,
    ACP_KIND_TYPE, /* a struct, union or choice of ours */
};

enum acp_shape { ACP_SHAPE_ONE, ACP_SHAPE_LIST, ACP_SHAPE_MAP };

enum acp_field_flags {
    ACP_FIELD_REQUIRED = 1,
    ACP_FIELD_NULLABLE = 2,
    ACP_FIELD_FORGIVE_ERROR = 4,
    ACP_FIELD_FORGIVE_ITEMS = 8,
    ACP_FIELD_FORGIVE_NULL = 16,
    /* How it is kept in the struct when its shape is ONE: */
    ACP_FIELD_BY_POINTER = 32, /* a type: pointer, NULL when absent; otherwise by value */
    ACP_FIELD_OPTIONAL = 64,   /* a number or boolean: struct acp_opt_*; otherwise plain */
    ACP_FIELD_UNTAGGED = 128,  /* a variant: no tag on the wire */
    ACP_FIELD_FALLBACK = 256,  /* a variant: stands for every other tag */
    ACP_FIELD_POINTER = 512,   /* what is kept begins with a pointer, NULL when absent */
};

/* The profiles are the four schemas; a mask says in which of them a row applies. */
enum acp_profile_bit {
    ACP_PROFILE_V1 = 1,
    ACP_PROFILE_V1_UNSTABLE = 2,
    ACP_PROFILE_V2 = 4,
    ACP_PROFILE_V2_UNSTABLE = 8,
};

struct acp_field {
    uint16_t name; /* number of the text */
    uint16_t flags;
    uint16_t type;   /* for ENUM and TYPE */
    uint16_t offset; /* in the struct */
    uint8_t kind;
    uint8_t shape;
    uint8_t profiles;
    uint8_t bounds; /* number of the bounds of a value, 0 for none */
    uint8_t least;  /* items of a list, at least */
};

struct acp_variant {
    struct acp_field value; /* name is the tag on the wire, or the label of a choice */
    int16_t id;             /* what the struct's `is` says */
};

/* A value of an enum. */
struct acp_enumerator {
    uint16_t name;
    int16_t id;
    uint8_t profiles;
};

struct acp_bounds {
    bool has_low;
    bool has_high;
    double low; /* exact: no bound needs more than 53 bits */
    double high;
};

enum acp_form { ACP_FORM_STRUCT, ACP_FORM_UNION, ACP_FORM_CHOICE, ACP_FORM_ENUM };

struct acp_type {
    uint16_t name;
    uint16_t key; /* a union: the text of the key that holds its tag */
    uint16_t first_field;
    uint16_t first_variant; /* of an enum: its first enumerator */
    uint16_t size;
    uint16_t unknown; /* offset of the list of unknown keys, or ACP_NO_OFFSET */
    uint16_t tag;     /* a union: offset of the tag's text, or ACP_NO_OFFSET */
    uint16_t raw;     /* a union: offset of the raw value, or ACP_NO_OFFSET */
    uint8_t field_count;
    uint8_t variant_count;
    uint8_t form;
    uint8_t profiles;
    uint8_t open;      /* an enum: the profiles in which other values are allowed */
    bool tag_optional; /* absent, null and malformed tags read as none */
};

enum { ACP_NO_OFFSET = UINT16_MAX };

/* `is` is the first member of every enum, union and choice. */
enum { ACP_IS_ABSENT = 0, ACP_IS_NULL = -1, ACP_IS_UNLISTED = -2 };

struct acp_method_row {
    uint16_t name;
    uint16_t gate; /* number of a text; 0 is the empty one */
    int16_t id;
    int16_t params;
    int16_t result;
    uint8_t from;
    uint8_t to;
    uint8_t profiles;
    bool request;
};

/* A text as it stands in a message: ,"name":  with the name itself from the third byte on. */
struct acp_text {
    uint16_t offset; /* in acp_text_bytes */
    uint8_t len;     /* of the name */
};

/*
 * This number of bytes may be read from the start of any text, so that short ones are copied
 * blindly.
 */
enum { ACP_TEXT_READABLE = 32 };

/* Hidden, so that shared code reaches them without a detour. */
#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif
extern const char acp_text_bytes[];
extern const struct acp_text acp_texts[];
extern const struct acp_type acp_types[]; /* by number, which may leave gaps */
extern const int acp_type_count;          /* the highest number and one */
extern const struct acp_field acp_fields[];
extern const struct acp_variant acp_variants[];
extern const struct acp_enumerator acp_enumerators[];
extern const struct acp_bounds acp_bounds_table[];
extern const struct acp_method_row acp_methods[]; /* sorted by name */
extern const int acp_method_count;
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

static inline struct acp_str acp_text_at(unsigned number)
{
    return acp_str_n(acp_text_bytes + acp_texts[number].offset + 2, acp_texts[number].len);
}

/* Numbers that no type has, such as 0 and retired ones, are rows without a profile. */
static inline bool acp_type_exists(acp_type_id type)
{
    return type > 0 && type < acp_type_count && acp_types[type].profiles;
}

/* The mask bit for a mode, or 0 for a mode that names no version. */
static inline uint8_t acp_profile_of(unsigned mode)
{
    unsigned version = mode & (ACP_V1 | ACP_V2);
    if (version != ACP_V1 && version != ACP_V2)
        return 0;
    unsigned bit = version == ACP_V1 ? ACP_PROFILE_V1 : ACP_PROFILE_V2;
    return (uint8_t) (mode & ACP_UNSTABLE ? bit << 1 : bit);
}

#endif
