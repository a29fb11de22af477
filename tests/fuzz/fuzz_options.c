/*
 * Fuzzes the reading of command lines: bytes become words, which are read and completed.
 * What was read must be consistent with the tables, what was refused must come with a printable
 * sentence, and every word must have gone somewhere.  Words are separated by line ends.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cli/complete.h"
#include "fuzz.h"
#include "test_program.h"
#include "text/suggest.h"

enum { MOST_WORDS = 64, MOST_BYTES = 2000 };

struct words {
    const char *items[MOST_WORDS + 1];
    size_t count;
};

/* Each word in a block of its own size, so that the sanitizer sees every read outside of it. */
static void cut(struct words *words, const uint8_t *data, size_t size)
{
    memset(words, 0, sizeof(*words));
    while (size > 0 && words->count < MOST_WORDS) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t n = end ? (size_t) (end - data) : size;
        char *word = malloc(n + 1);
        CHECK(word);
        memcpy(word, data, n);
        word[n] = '\0';
        words->items[words->count++] = word;
        data += n + (end != NULL);
        size -= n + (end != NULL);
    }
}

static void check_refusal(const struct usage_error *error)
{
    CHECK(error->message[0] != '\0');
    CHECK(memchr(error->message, '\0', sizeof(error->message)));
    for (const char *c = error->message; *c; c++)
        CHECK((unsigned char) *c >= 0x20 && *c != 0x7F);
}

static bool is_word(const struct words *words, const char *text)
{
    for (size_t i = 0; i < words->count; i++)
        if (text >= words->items[i] && text <= words->items[i] + strlen(words->items[i]))
            return true;
    return false;
}

static void check_prompt(const struct words *words, const struct test_prompt_options *options)
{
    const struct conversation_flags *c = &options->conversation;
    CHECK(options->agent.format >= 0 && options->agent.format <= RENDER_QUIET);
    CHECK(c->permit >= 0 && c->permit <= PERMIT_NONE);
    CHECK(!c->timeout.given || c->timeout.value >= 1);
    CHECK(!c->retries.given || c->retries.value <= 100);
    CHECK(!c->model || *c->model);
    for (size_t i = 0; i < c->set.count; i++)
        CHECK(is_word(words, c->set.items[i]) && strchr(c->set.items[i], '='));
}

static void check_invocation(const struct words *words, const struct invocation *in)
{
    if (in->help || in->version)
        return;
    CHECK(in->command && in->command->run && in->arguments);
    CHECK(in->argument_count + in->agent_command_count <= words->count);
    for (size_t i = 0; i < in->argument_count; i++)
        CHECK(is_word(words, in->arguments[i]));
    CHECK(in->arguments[in->argument_count] == NULL);
    CHECK(!in->agent_command || (in->agent_command_count && !in->agent));
    CHECK(!in->agent || in->command->agent != AGENT_NONE);
    if (in->command == &test_prompt)
        check_prompt(words, in->options);
}

static void check_completion(const struct words *words)
{
    struct output out;
    output_init_results(&out, -1);
    CHECK(complete_print(&out, &test_program, words->items, words->count) == 0);
    CHECK(!out.err);
    struct acp_str answer = acp_buf_view(&out.pending);
    CHECK(acp_str_starts_with(answer, "words\t") || acp_str_starts_with(answer, "files\t") ||
          acp_str_starts_with(answer, "directories\t"));
    output_finish(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct words words;
    struct invocation invocation;
    struct usage_error error = {""};
    if (size > MOST_BYTES || memchr(data, '\0', size))
        return 0;
    cut(&words, data, size);
    int err = invocation_parse(&invocation, &test_program, words.items, words.count, &error);
    if (err) {
        CHECK(err == ACP_ERR_ARGUMENT);
        check_refusal(&error);
    } else {
        check_invocation(&words, &invocation);
    }
    invocation_finish(&invocation);
    check_completion(&words);
    if (words.count > 1)
        CHECK(suggest_distance(words.items[0], words.items[1], 5) ==
              suggest_distance(words.items[1], words.items[0], 5));
    for (size_t i = 0; i < words.count; i++)
        free((void *) (uintptr_t) words.items[i]);
    return 0;
}
