/*
 * description.h - what the scanner knows after reading the description.
 *
 * parse.c fills it, resolve.c checks it and works out the C side, and the emitters (facts.c,
 * header.c, tables.c) only read it.  Everything lives until the program ends.
 */
#ifndef TOOLS_SCANNER_DESCRIPTION_H
#define TOOLS_SCANNER_DESCRIPTION_H

#include <stdio.h>

#include "codec/describe.h"

enum { ALL_PROFILES = 15 };

struct place {
    const char *file;
    int line;
};

/* Prints file:line: message and ends the program: a description is right or it is nothing. */
_Noreturn void fail(struct place where, const char *format, ...) ACP_PRINTF(2, 3);

/* A type expression such as ToolCallContent[]? ~error ~items @1. */
struct spec {
    const char *name;         /* built-in or defined */
    const char *bounds;       /* "(1..)" as written, or "" */
    const char *default_text; /* after the equals sign, or NULL */
    unsigned least;           /* items */
    uint8_t profiles;
    enum acp_shape shape;
    bool nullable;
    bool forgive_error;
    bool forgive_items;
    bool forgive_null;
    /* worked out by resolve.c: */
    enum acp_kind kind;
    struct def *def; /* for ENUM and TYPE */
    int bounds_number;
};

struct field {
    struct place where;
    const char *name;
    const char *doc;
    bool required;
    struct spec spec;
    char *member; /* the C name */
};

enum variant_form { TAGGED, UNTAGGED, FALLBACK };

struct variant {
    struct place where;
    const char *label; /* the tag on the wire, or what it is called; "*" for the fallback */
    const char *doc;
    enum variant_form form;
    bool has_spec;
    struct spec spec;
    struct def *own; /* the fields indented below it, or NULL */
    char *member;
    int id;
};

struct value {
    const char *text;
    uint8_t profiles;
    long number; /* on the wire for codes; in C for an enum */
};

enum def_form { DEF_ALIAS, DEF_ENUM, DEF_CODES, DEF_TYPE, DEF_UNION, DEF_CHOICE };

struct def {
    struct place where;
    enum def_form form;
    const char *name;
    const char *doc;
    uint8_t profiles;
    uint8_t meta; /* the profiles in which it has _meta */
    uint8_t open; /* an enum: the profiles in which it is open */
    const char *tag;
    bool tag_optional;
    struct def *parent; /* of a variant's own fields */
    struct spec target; /* of an alias, of codes */
    struct field *fields;
    size_t field_count;
    struct variant *variants;
    size_t variant_count;
    struct value *values;
    size_t value_count;
    char *cname;  /* without acp_ */
    char *CNAME;  /* the same in capitals */
    int number;   /* its acp_type_id, or 0 */
    bool in_list; /* some field is a list of it */
    bool in_map;
    bool emitting; /* its parts are being written */
    bool emitted;
};

struct typed { /* a params or result line */
    const char *name;
    uint8_t profiles;
};

struct method {
    struct place where;
    const char *name;
    const char *doc;
    bool request;
    enum acp_side from;
    enum acp_side to;
    uint8_t profiles;
    struct typed params[2];
    struct typed result[2];
    struct typed gate[2];
    size_t params_count;
    size_t result_count;
    size_t gate_count;
    int id;
};

/* One entry of a list of numbers. */
struct number {
    struct place where;
    const char *name;
    int number;
    bool retired; /* what had it is gone; the number stays taken */
    bool used;    /* something defined has it */
};

/* The numbers of all types, of all methods, or of what is in one enum, union or choice. */
struct number_list {
    struct place where;
    const char *name; /* "type", "method", or the definition's */
    struct number *items;
    size_t count;
    bool printed; /* its heading was, for a missing number */
};

struct model {
    struct def **defs;
    size_t def_count;
    struct method *methods;
    size_t method_count;
    struct number_list **number_lists;
    size_t number_list_count;
    bool print_missing; /* print the numbers that are missing instead of failing */
};

void *checked_alloc(size_t size);
/* Room for one more in an array of count elements; doubles at powers of two. */
void *grown(void *array, size_t count, size_t size);
char *copy_text(const char *text, size_t len);
char *format_text(const char *format, ...) ACP_PRINTF(1, 2);

void parse_file(struct model *model, const char *path);
void resolve(struct model *model);
/* The definition of that name which covers these profiles, or NULL. */
struct def *find_def(const struct model *model, const char *name, uint8_t profiles);
/* toolCallId, tool-call and ToolCallId all give tool_call_id. */
char *snake_case(const char *name);
char *upper_case(const char *name);

/* The C type of a value, and of the member that keeps a field or a variant's payload. */
char *value_type(const struct spec *spec);
char *storage(const struct spec *spec, bool required);
bool by_pointer(const struct spec *spec, bool required);
bool optional_number(const struct spec *spec, bool required);
/* Whether a member of that name has come before at[index]: rows for other versions share it. */
bool field_repeats(const struct def *def, size_t index);
bool variant_repeats(const struct def *def, size_t index);
bool is_composite(const struct def *def);
bool has_fallback(const struct def *def);

/* Lists of numbers, as parse.c finds them; number_all() then gives each definition its own. */
struct number_list *add_number_list(struct model *model, struct place where, const char *name);
void add_number(struct number_list *list, struct place where, long number, const char *name);
void number_all(struct model *model);

void emit_bounds(FILE *out);

void emit_facts(const struct model *model, uint8_t profile, FILE *out);
void emit_header(const struct model *model, FILE *out);
void emit_tables(const struct model *model, FILE *out);

#endif
