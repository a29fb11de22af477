/* Written by acp-scanner from protocol/; do not edit. */
#include "codec/describe.h"

#include "acp/types.h"

const struct acp_field acp_fields[] = {
    {1, 518, 0, offsetof(struct acp_empty, meta), 8, 0, 15, 0, 0},
    {2, 513, 0, offsetof(struct acp_thing, id), 1, 0, 15, 0, 0},
    {3, 518, 0, offsetof(struct acp_thing, label), 1, 0, 15, 3, 0},
    {4, 1, 9, offsetof(struct acp_thing, colour), 9, 0, 3, 0, 0},
    {4, 3, 9, offsetof(struct acp_thing, colour), 9, 0, 12, 0, 0},
    {5, 70, 0, offsetof(struct acp_thing, size), 3, 0, 3, 0, 0},
    {5, 70, 0, offsetof(struct acp_thing, size_v2), 4, 0, 12, 0, 0},
    {6, 64, 0, offsetof(struct acp_thing, weight), 5, 0, 15, 4, 0},
    {7, 0, 0, offsetof(struct acp_thing, hidden), 2, 0, 15, 0, 0},
    {8, 64, 0, offsetof(struct acp_thing, default_), 2, 0, 12, 0, 0},
    {9, 520, 5, offsetof(struct acp_thing, parts), 10, 1, 15, 0, 0},
    {10, 513, 0, offsetof(struct acp_thing, tags), 1, 1, 15, 0, 1},
    {11, 512, 0, offsetof(struct acp_thing, notes), 1, 2, 15, 0, 0},
    {12, 546, 5, offsetof(struct acp_thing, more), 10, 0, 15, 0, 0},
    {13, 512, 0, offsetof(struct acp_thing, extra), 7, 0, 15, 0, 0},
    {14, 514, 0, offsetof(struct acp_thing, options), 8, 0, 10, 0, 0},
    {1, 518, 0, offsetof(struct acp_thing, meta), 8, 0, 15, 0, 0},
    {15, 1, 0, offsetof(struct acp_event, at), 4, 0, 15, 0, 0},
    {16, 513, 0, offsetof(struct acp_event_lost, reason), 1, 0, 12, 0, 0},
    {17, 1, 0, offsetof(struct acp_event_other, seq), 3, 0, 12, 5, 0},
    {18, 513, 0, offsetof(struct acp_move, from), 1, 0, 15, 0, 0},
    {19, 513, 0, offsetof(struct acp_move, to), 1, 0, 15, 0, 0},
    {1, 518, 0, offsetof(struct acp_move, meta), 8, 0, 12, 0, 0},
    {1, 518, 0, offsetof(struct acp_answer, meta), 8, 0, 15, 0, 0},
    {20, 1, 10, offsetof(struct acp_reply, answer), 10, 0, 3, 0, 0},
    {1, 518, 0, offsetof(struct acp_reply, meta), 8, 0, 3, 0, 0},
    {20, 1, 10, offsetof(struct acp_reply_v2, answer), 10, 0, 12, 0, 0},
    {21, 546, 6, offsetof(struct acp_reply_v2, event), 10, 0, 12, 0, 0},
    {1, 518, 0, offsetof(struct acp_reply_v2, meta), 8, 0, 12, 0, 0},
};

const struct acp_variant acp_variants[] = {
    {{22, 1, 5, offsetof(struct acp_event, made), 10, 0, 15, 0, 0}, 2},
    {{23, 1, 1, offsetof(struct acp_event, moved), 10, 0, 15, 0, 0}, 1},
    {{24, 1, 0, 0, 0, 0, 15, 0, 0}, 3},
    {{25, 1, 7, offsetof(struct acp_event, lost), 10, 0, 12, 0, 0}, 4},
    {{26, 129, 4, offsetof(struct acp_event, plain), 10, 0, 3, 0, 0}, 6},
    {{27, 257, 8, offsetof(struct acp_event, other), 10, 0, 12, 0, 0}, -2},
    {{28, 513, 0, offsetof(struct acp_answer, text), 1, 0, 15, 0, 0}, 1},
    {{29, 1, 0, offsetof(struct acp_answer, number), 3, 0, 15, 0, 0}, 2},
    {{30, 1, 5, offsetof(struct acp_answer, thing), 10, 0, 15, 0, 0}, 3},
    {{31, 513, 0, offsetof(struct acp_answer, list), 1, 1, 15, 0, 0}, 4},
    {{32, 1, 0, 0, 6, 0, 15, 0, 0}, 5},
};

const struct acp_enumerator acp_enumerators[] = {
    {33, 1, 15},
    {34, 2, 15},
    {35, 4, 12},
    {36, 1, 10},
    {37, 2, 10},
};

const struct acp_type acp_types[] = {
    [9] = {38, 0, 0, 0, sizeof(struct acp_colour), ACP_NO_OFFSET, ACP_NO_OFFSET, ACP_NO_OFFSET, 0, 3, 3, 15, 12, 0},
    [2] = {39, 0, 0, 3, sizeof(struct acp_mood), ACP_NO_OFFSET, ACP_NO_OFFSET, ACP_NO_OFFSET, 0, 2, 3, 10, 10, 0},
    [3] = {40, 0, 0, 0, sizeof(struct acp_empty), offsetof(struct acp_empty, unknown), ACP_NO_OFFSET, ACP_NO_OFFSET, 1, 0, 0, 15, 0, 0},
    [4] = {41, 0, 1, 0, sizeof(struct acp_bare), offsetof(struct acp_bare, unknown), ACP_NO_OFFSET, ACP_NO_OFFSET, 0, 0, 0, 15, 0, 0},
    [5] = {30, 0, 1, 0, sizeof(struct acp_thing), offsetof(struct acp_thing, unknown), ACP_NO_OFFSET, ACP_NO_OFFSET, 16, 0, 0, 15, 0, 0},
    [6] = {43, 42, 17, 0, sizeof(struct acp_event), offsetof(struct acp_event, unknown), offsetof(struct acp_event, tag), offsetof(struct acp_event, raw), 1, 6, 1, 15, 0, 0},
    [7] = {44, 0, 18, 6, sizeof(struct acp_event_lost), offsetof(struct acp_event_lost, unknown), ACP_NO_OFFSET, ACP_NO_OFFSET, 1, 0, 0, 12, 0, 0},
    [8] = {45, 0, 19, 6, sizeof(struct acp_event_other), offsetof(struct acp_event_other, unknown), ACP_NO_OFFSET, ACP_NO_OFFSET, 1, 0, 0, 12, 0, 0},
    [1] = {46, 0, 20, 6, sizeof(struct acp_move), offsetof(struct acp_move, unknown), ACP_NO_OFFSET, ACP_NO_OFFSET, 3, 0, 0, 15, 0, 0},
    [10] = {47, 0, 23, 6, sizeof(struct acp_answer), ACP_NO_OFFSET, ACP_NO_OFFSET, ACP_NO_OFFSET, 1, 5, 2, 15, 0, 0},
    [12] = {48, 0, 24, 11, sizeof(struct acp_reply), offsetof(struct acp_reply, unknown), ACP_NO_OFFSET, ACP_NO_OFFSET, 2, 0, 0, 3, 0, 0},
    [15] = {48, 0, 26, 11, sizeof(struct acp_reply_v2), offsetof(struct acp_reply_v2, unknown), ACP_NO_OFFSET, ACP_NO_OFFSET, 3, 0, 0, 12, 0, 0},
};
const int acp_type_count = 16;

const struct acp_method_row acp_methods[] = {
    {49, 0, 1, 6, 0, 0, 0, 2, 0},
    {49, 0, 1, 6, 0, 0, 0, 8, 0},
    {51, 50, 2, 5, 12, 1, 2, 3, 1},
    {51, 52, 2, 5, 15, 1, 2, 12, 1},
    {53, 0, 4, 3, 0, 2, 1, 3, 0},
};
const int acp_method_count = 5;

const struct acp_bounds acp_bounds_table[] = {
    {0},
    {1, 1, 0, 65535},
    {1, 1, -2147483648, 2147483647},
    {1, 0, 1, 0},
    {1, 1, 0, 1},
    {1, 1, 0, 4294967295},
};

const char acp_text_bytes[] =
    ",\"\":"
    ",\"_meta\":"
    ",\"id\":"
    ",\"label\":"
    ",\"colour\":"
    ",\"size\":"
    ",\"weight\":"
    ",\"hidden\":"
    ",\"default\":"
    ",\"parts\":"
    ",\"tags\":"
    ",\"notes\":"
    ",\"more\":"
    ",\"extra\":"
    ",\"options\":"
    ",\"at\":"
    ",\"reason\":"
    ",\"seq\":"
    ",\"from\":"
    ",\"to\":"
    ",\"answer\":"
    ",\"event\":"
    ",\"made\":"
    ",\"moved\":"
    ",\"gone\":"
    ",\"lost\":"
    ",\"plain\":"
    ",\"*\":"
    ",\"Text\":"
    ",\"Number\":"
    ",\"Thing\":"
    ",\"List\":"
    ",\"None\":"
    ",\"red\":"
    ",\"green\":"
    ",\"blue\":"
    ",\"happy\":"
    ",\"not-so-happy\":"
    ",\"Colour\":"
    ",\"Mood\":"
    ",\"Empty\":"
    ",\"Bare\":"
    ",\"kind\":"
    ",\"Event\":"
    ",\"Event/lost\":"
    ",\"Event/*\":"
    ",\"Move\":"
    ",\"Answer\":"
    ",\"Reply\":"
    ",\"$/event\":"
    ",\"agent.things\":"
    ",\"thing/get\":"
    ",\"a promise\":"
    ",\"thing/old\":"
    "                                ";

const struct acp_text acp_texts[] = {
    {0, 0},
    {4, 5},
    {13, 2},
    {19, 5},
    {28, 6},
    {38, 4},
    {46, 6},
    {56, 6},
    {66, 7},
    {77, 5},
    {86, 4},
    {94, 5},
    {103, 4},
    {111, 5},
    {120, 7},
    {131, 2},
    {137, 6},
    {147, 3},
    {154, 4},
    {162, 2},
    {168, 6},
    {178, 5},
    {187, 4},
    {195, 5},
    {204, 4},
    {212, 4},
    {220, 5},
    {229, 1},
    {234, 4},
    {242, 6},
    {252, 5},
    {261, 4},
    {269, 4},
    {277, 3},
    {284, 5},
    {293, 4},
    {301, 5},
    {310, 12},
    {326, 6},
    {336, 4},
    {344, 5},
    {353, 4},
    {361, 4},
    {369, 5},
    {378, 10},
    {392, 7},
    {403, 4},
    {411, 6},
    {421, 5},
    {430, 7},
    {441, 12},
    {457, 9},
    {470, 9},
    {483, 9},
};

