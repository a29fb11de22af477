/* Look-ups in the tables by name: types and methods. */
#include "codec/describe.h"

struct acp_str acp_type_name(acp_type_id type)
{
    return acp_type_exists(type) ? acp_text_at(acp_types[type].name) : acp_str_n(NULL, 0);
}

size_t acp_type_size(acp_type_id type)
{
    return acp_type_exists(type) ? acp_types[type].size : 0;
}

acp_type_id acp_type_find(struct acp_str name, unsigned mode)
{
    for (int i = 0; i < acp_type_count; i++)
        if ((acp_types[i].profiles & acp_profile_of(mode)) &&
            acp_str_eq(acp_text_at(acp_types[i].name), name))
            return i;
    return ACP_TYPE_NONE;
}

static struct acp_method method_from(const struct acp_method_row *row)
{
    return (struct acp_method){
        .name = acp_text_at(row->name),
        .id = row->id,
        .request = row->request,
        .from = (enum acp_side) row->from,
        .to = (enum acp_side) row->to,
        .params = row->params,
        .result = row->result,
        .gate = row->gate ? acp_text_at(row->gate) : acp_str_n(NULL, 0),
    };
}

/* Order of names as strcmp sees it, which is how the scanner sorted the rows. */
static int compare(struct acp_str a, struct acp_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.ptr, b.ptr, n) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

bool acp_method_find(struct acp_str name, enum acp_side from, unsigned mode, struct acp_method *ret)
{
    uint8_t profile = acp_profile_of(mode);
    int low = 0;
    int high = acp_method_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (compare(acp_text_at(acp_methods[middle].name), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < acp_method_count; low++) {
        const struct acp_method_row *row = &acp_methods[low];
        if (!acp_str_eq(acp_text_at(row->name), name))
            break;
        if ((row->profiles & profile) &&
            (row->from == from || row->from == ACP_SIDE_ANY || from == ACP_SIDE_ANY)) {
            *ret = method_from(row);
            return true;
        }
    }
    return false;
}

bool acp_method_at(size_t index, unsigned mode, struct acp_method *ret)
{
    uint8_t profile = acp_profile_of(mode);
    for (int i = 0; i < acp_method_count; i++) {
        if (!(acp_methods[i].profiles & profile))
            continue;
        if (index-- == 0) {
            *ret = method_from(&acp_methods[i]);
            return true;
        }
    }
    return false;
}
