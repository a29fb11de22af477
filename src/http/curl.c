/* Loads libcurl and fills the table of its functions. */
#include "http/curl.h"

#include "io/library.h"

struct curl_functions curl;

static const struct library_function functions[] = {
#define CURL_ROW_OF(name) {"curl_" #name, offsetof(struct curl_functions, name)},
    CURL_FUNCTIONS(CURL_ROW_OF)
#undef CURL_ROW_OF
};

#ifdef ACP_LINKED_CURL
static const struct curl_functions linked = {
#define CURL_LINKED(name) .name = curl_##name,
    CURL_FUNCTIONS(CURL_LINKED)
#undef CURL_LINKED
};
#define LINKED &linked
#else
#define LINKED NULL
#endif

static const char *begin(void)
{
    return curl.global_init(CURL_GLOBAL_DEFAULT) ? "the one that is installed does not start"
                                                 : NULL;
}

static struct library it = {
    .need = "language models and web pages need libcurl",
    .install = "install the package libcurl4",
    .table = &curl,
    .functions = functions,
    .count = sizeof(functions) / sizeof(functions[0]),
    .linked = LINKED,
    .table_size = sizeof(curl),
    .begin = begin,
};

int curl_load(const char *library, struct acp_failure *failure)
{
    return library_load(&it, library, failure);
}

bool curl_is_loaded(void)
{
    return it.tried && !it.outcome.err;
}
