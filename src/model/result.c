/* Answers that are no stream: errors, web pages, and what else servers send instead. */
#include <stdio.h>
#include <stdlib.h>

#include "model/pick.h"
#include "model/service.h"

bool service_says_too_long(struct acp_str text)
{
    static const char *const phrases[] = {
        "prompt is too long",         /* Anthropic */
        "exceed context limit",       /* Anthropic, with max_tokens */
        "request_too_large",          /* Anthropic */
        "context_length_exceeded",    /* OpenAI, Groq */
        "maximum context length",     /* OpenAI, DeepSeek, Mistral, vLLM, OpenRouter */
        "context window",             /* OpenAI's responses */
        "exceeds the maximum number", /* Gemini */
        "maximum prompt length",      /* xAI */
        "context size",               /* llama.cpp */
        "context the overflows",      /* LM Studio */
        "input is too long",          /* Bedrock */
    };
    char small[800];
    size_t n = text.len < sizeof(small) - 1 ? text.len : sizeof(small) - 1;
    for (size_t i = 0; i < n; i++) {
        char c = text.ptr[i];
        small[i] = (char) (c >= 'A' && c <= 'Z' ? c + 32 : c == '\0' ? ' ' : c);
    }
    small[n] = '\0';
    for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
        if (strstr(small, phrases[i]))
            return true;
    }
    return false;
}

/* Gemini says how long to wait in the body: error.details[].retryDelay is "17s". */
static void read_wait(struct service_answer *answer, struct acp_raw body)
{
    struct acp_raw details = pick(pick(body, "0").ptr ? pick(body, "0") : body, "error.details");
    struct pick_cursor cursor = {0};
    struct acp_raw detail;
    while (pick_next(details, &cursor, &detail)) {
        struct acp_raw delay = pick(detail, "retryDelay");
        if (delay.len < 4 || *delay.ptr != '"')
            continue;
        /* The quote behind it ends the number. */
        double seconds = strtod(delay.ptr + 1, NULL);
        answer->has_wait = seconds >= 0 && seconds < 1e9;
        answer->wait_ms = answer->has_wait ? (uint64_t) (seconds * 1000) : 0;
    }
}

static bool looks_like_html(struct acp_str body)
{
    size_t i = 0;
    while (i < body.len && (unsigned char) body.ptr[i] <= ' ')
        i++;
    return i < body.len && body.ptr[i] == '<';
}

/* What the status means, around the name of the service. */
struct meaning {
    const char *before;
    const char *behind;
};

static struct meaning meaning_of(int status, bool has_key)
{
    static const struct {
        int status;
        struct meaning meaning;
    } rows[] = {
        {400, {"", " does not take the request"}},
        {401, {"", " does not accept the key: please check it"}},
        {402, {"", " wants to be paid: the account has no credit"}},
        {403, {"", " does not allow this with this key"}},
        {404, {"", " does not know this model, or the base URL is wrong"}},
        {408, {"", " took too long"}},
        {413, {"the conversation is too large for ", ""}},
        {422, {"", " does not take the request"}},
        {429, {"", " is busy, or the limit of the key is reached"}},
    };
    if (status == 401 && !has_key)
        return (struct meaning){"", " wants a key, and none is set"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].status == status)
            return rows[i].meaning;
    }
    if (status >= 500)
        return (struct meaning){"", " has a problem"};
    return (struct meaning){"", " answers with something unexpected"};
}

static void say(const struct model_service *service, struct service_answer *answer,
                const char *detail)
{
    struct meaning meaning = meaning_of(answer->status, service->key);
    char number[32];
    (void) snprintf(number, sizeof(number), "status %d", answer->status);
    /* There is room for all of it: the detail is shorter than a stream's sentence. */
    (void) snprintf(answer->sentence, sizeof(answer->sentence), "%s%.100s%s (%s)", meaning.before,
                    service->name, meaning.behind, *detail ? detail : number);
}

static void say_page(const struct model_service *service, struct service_answer *answer)
{
    (void) snprintf(
        answer->sentence, sizeof(answer->sentence),
        "%.100s answers with a web page instead of JSON (status %d): is the base URL right?",
        service->name, answer->status);
}

static void one_line(char *text)
{
    for (; *text; text++) {
        if ((unsigned char) *text < ' ' || *text == 127)
            *text = ' ';
    }
}

void service_read_answer(const struct model_service *service, struct service_answer *answer)
{
    static const struct stream_sink nobody = {0};
    struct acp_raw body = acp_raw_n(answer->body.ptr, answer->body.len);
    struct model_stream s; /* for its way of reading errors; nothing is said through it */
    stream_init(&s, &nobody, NULL);
    bool is_json = body.len && acp_json_validate(body, 0, NULL) == 0;
    if (!is_json || !dialect_read_error(&s, body, answer->status)) {
        stream_fault(&s, answer->status == 401 || answer->status == 403 ? FAULT_AUTH : FAULT_NONE,
                     acp_str_from(""));
        if (answer->status == 408 || answer->status == 429 || answer->status >= 500)
            s.fault = FAULT_BUSY;
    }
    if (is_json)
        read_wait(answer, body);
    answer->is_busy = s.fault == FAULT_BUSY;
    answer->is_auth = s.fault == FAULT_AUTH;
    answer->is_too_long = answer->status == 413 ||
                          service_says_too_long(acp_str_from(s.sentence)) ||
                          (is_json && answer->status == 400 && service_says_too_long(answer->body));
    if (!is_json && looks_like_html(answer->body) && answer->status < 500)
        say_page(service, answer);
    else
        say(service, answer, s.sentence);
    one_line(answer->sentence);
    service_redact(service, answer->sentence);
    stream_finish(&s);
}
