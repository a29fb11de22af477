/* What is sent beside a request: the key, or headers that stand for one; and keeping them quiet. */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/copy.h"
#include "model/service.h"

/* ---- Headers that somebody has set ----------------------------------------------------------- */

static bool is_name(struct acp_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     (c != '\0' && strchr("!#$%&'*+-.^_`|~", c));
        if (!plain)
            return false;
    }
    return name.len;
}

static bool is_value(struct acp_str value)
{
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char) value.ptr[i] < ' ' || value.ptr[i] == 0x7f)
            return false;
    return true;
}

static int refuse(struct acp_failure *failure, const char *sentence)
{
    if (failure) {
        *failure = (struct acp_failure){.err = ACP_ERR_ARGUMENT};
        (void) snprintf(failure->message, sizeof(failure->message), "%s", sentence);
    }
    return ACP_ERR_ARGUMENT;
}

int service_copy_headers(struct model_service *service, struct acp_str_map headers,
                         struct acp_failure *failure)
{
    if (headers.count > MODEL_MAX_HEADERS)
        return refuse(failure, "a model service is sent at most 32 headers");
    for (size_t i = 0; i < headers.count; i++) {
        if (!is_name(headers.items[i].key) || !is_value(headers.items[i].value))
            return refuse(failure, "a header has a name of letters, digits and dashes, and a value "
                                   "of one line");
        struct service_header *own = &service->headers[service->header_count++];
        own->name = acp_str_copy(headers.items[i].key);
        own->value = acp_str_copy(headers.items[i].value);
        if (!own->name || !own->value)
            return ACP_ERR_NOMEM;
    }
    return 0;
}

void service_forget_headers(struct model_service *service)
{
    for (size_t i = 0; i < service->header_count; i++) {
        free(service->headers[i].name);
        free(service->headers[i].value);
    }
    service->header_count = 0;
}

/* ---- All headers of a request ---------------------------------------------------------------- */

/* One of ours, unless somebody has set it. */
static void add_header(const struct model_service *service, struct service_headers *headers,
                       const char *name, const char *value)
{
    for (size_t i = 0; i < service->header_count; i++)
        if (strcasecmp(service->headers[i].name, name) == 0)
            return;
    headers->items[headers->count++] = (struct http_header){name, value};
}

static int add_bearer(const struct model_service *service, struct service_headers *headers)
{
    int err = acp_buf_printf(&headers->bearer, "Bearer %s", service->key);
    if (!err)
        err = acp_buf_append(&headers->bearer, "", 1);
    if (!err)
        add_header(service, headers, "Authorization", acp_buf_view(&headers->bearer).ptr);
    return err;
}

int service_headers(const struct model_service *service, struct service_headers *ret)
{
    *ret = (struct service_headers){0};
    acp_buf_init(&ret->bearer, SERVICE_MAX_TEXT);
    for (size_t i = 0; i < service->header_count; i++)
        ret->items[ret->count++] =
            (struct http_header){service->headers[i].name, service->headers[i].value};
    add_header(service, ret, "Content-Type", "application/json");
    if (service->api == MODEL_ANTHROPIC)
        add_header(service, ret, "anthropic-version", "2023-06-01");
    if (!service->key)
        return 0;
    if (service->key_header)
        add_header(service, ret, service->key_header, service->key);
    else if (service->api == MODEL_ANTHROPIC && !service->bearer)
        add_header(service, ret, "x-api-key", service->key);
    else if (service->api == MODEL_GEMINI)
        add_header(service, ret, "x-goog-api-key", service->key);
    else
        return add_bearer(service, ret);
    return 0;
}

void service_headers_finish(struct service_headers *headers)
{
    acp_buf_finish(&headers->bearer);
}

/* ---- Keeping them quiet ---------------------------------------------------------------------- */

static bool is_word_end(char c)
{
    return c == '\0' || strchr(" \t\r\n\"'`,;:()[]{}<>=&?/", c);
}

/* Puts the mark in place of n bytes; it is shorter than any key that is looked for. */
static char *put_mark(char *at, size_t n)
{
    static const char mark[] = "[key]";
    memcpy(at, mark, sizeof(mark) - 1);
    memmove(at + sizeof(mark) - 1, at + n, strlen(at + n) + 1);
    return at + sizeof(mark) - 1;
}

/*
 * The key itself, and words that begin like it: services repeat keys with stars in the middle.
 * Very short "keys" are words like "none" that servers without keys are given.
 */
static void redact_key(const char *key, char *sentence)
{
    enum { SHORTEST = 8, BEGINNING = 4 };
    size_t n = strlen(key);
    if (n < SHORTEST)
        return;
    for (char *at; (at = strstr(sentence, key));)
        (void) put_mark(at, n);
    for (char *p = sentence; *p; p++) {
        if ((p > sentence && !is_word_end(p[-1])) || strncmp(p, key, BEGINNING) != 0)
            continue;
        size_t word = 0;
        while (!is_word_end(p[word]))
            word++;
        if (word >= SHORTEST)
            p = put_mark(p, word) - 1;
    }
}

/* Of "Bearer KEY" the key is the last word. */
static const char *last_word(const char *value)
{
    const char *blank = strrchr(value, ' ');
    return blank ? blank + 1 : value;
}

void service_redact(const struct model_service *service, char *sentence)
{
    if (service->key)
        redact_key(service->key, sentence);
    for (size_t i = 0; i < service->header_count; i++)
        redact_key(last_word(service->headers[i].value), sentence);
}
