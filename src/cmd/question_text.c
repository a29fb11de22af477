/*
 * question_text.c - see question_text.h.
 *
 * The label of an option comes from its kind, which is what we act on.  Options are listed with
 * numbers where a letter would not tell which is meant, or where the name that the agent gave one
 * says more than its kind; the name is then shown beside the label, in quotes.
 */
#include "cmd/question_text.h"

#include "acp/types.h"
#include "base/ascii.h"
#include "base/trim.h"
#include "cmd/shown_text.h"

/* ---- The answers ----------------------------------------------------------------------------- */

/* Answers that can be typed as a word or its first letter. */
static const struct letter {
    enum acp_permission_option_kind_is kind;
    const char *word; /* also by its first letter */
    const char *offer;
    const char *label;
    const char *help;
    const char *names[8]; /* that say no more than the kind, in lower case */
} letters[] = {
    {ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE,
     "yes",
     "[y]es",
     "Allow once",
     "allow exactly what is shown, once",
     {"allow", "allow once", "yes", "approve", "approve once", "accept", "yes, allow"}},
    {ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS,
     "always",
     "[a]lways",
     "Always allow",
     "allow it now and in future, as shown under 'always'",
     {"always", "allow always", "always allow", "always approve", "yes, always"}},
    {ACP_PERMISSION_OPTION_KIND_REJECT_ONCE,
     "no",
     "[n]o",
     "Reject",
     "do not allow it",
     {"no", "reject", "reject once", "deny", "deny once", "decline", "cancel"}},
    {ACP_PERMISSION_OPTION_KIND_REJECT_ALWAYS,
     "don't",
     "[d]on't ask again",
     "Always reject",
     "do not allow exactly this, now or in future, without asking",
     {"never", "reject always", "always reject", "deny always", "always deny", "no, never"}},
};

enum { LETTERS = sizeof(letters) / sizeof(letters[0]) };

static const struct letter *find_letter(enum acp_permission_option_kind_is kind)
{
    for (size_t i = 0; i < LETTERS; i++)
        if (letters[i].kind == kind)
            return &letters[i];
    return NULL;
}

static bool says_its_kind(const struct acp_permission_option *option)
{
    const struct letter *letter = find_letter(option->kind.is);
    if (!letter)
        return false;
    for (size_t i = 0; i < 8 && letter->names[i]; i++)
        if (acp_ascii_same(option->name, acp_str_from(letter->names[i])))
            return true;
    return !option->name.len;
}

/* What is too long to be read in the line is in the question alone. */
static void write_always(struct question_choices *choices, struct acp_str brief)
{
    struct acp_buf text;
    acp_buf_init(&text, (size_t) 16 * QUESTION_MAX_BYTES);
    if (brief.len && shown_text_line(&text, brief) == 0 && text.len < sizeof(choices->always))
        (void) memcpy(choices->always, acp_buf_view(&text).ptr, text.len);
    else if (brief.len)
        (void) memcpy(choices->always, "as shown above", sizeof("as shown above"));
    acp_buf_finish(&text);
}

void question_choices_init(struct question_choices *choices,
                           const struct permission_question *question)
{
    struct acp_permission_option_list options = question->options;
    *choices = (struct question_choices){0};
    for (size_t i = 0; i < options.count && i < QUESTION_MAX_OPTIONS; i++) {
        for (size_t k = 0; k < i; k++)
            choices->numbered |= choices->kinds[k] == options.items[i].kind.is;
        choices->numbered |= !says_its_kind(&options.items[i]);
        choices->kinds[choices->count++] = options.items[i].kind.is;
    }
    write_always(choices, question->always_brief);
}

static size_t count_kind(const struct question_choices *choices,
                         enum acp_permission_option_kind_is kind, size_t *ret_index)
{
    size_t count = 0;
    for (size_t i = 0; i < choices->count; i++)
        if (choices->kinds[i] == kind && count++ == 0)
            *ret_index = i;
    return count;
}

/* A letter selects the only option of its kind; "no" is always possible. */
static bool is_offered(const struct question_choices *choices, const struct letter *letter)
{
    size_t index;
    return letter->kind == ACP_PERMISSION_OPTION_KIND_REJECT_ONCE ||
           count_kind(choices, letter->kind, &index) == 1;
}

/* ---- The text -------------------------------------------------------------------------------- */

/* A text from the agent, with a label. */
static int put_field(struct acp_buf *out, const char *name, struct acp_str text)
{
    int err = acp_buf_printf(out, "  %s: ", name);
    return err ? err : shown_text_lines(out, SANITIZE_LINE, text);
}

/* A patch: ends with a line feed, and tabs are kept. */
static int put_changes(struct acp_buf *out, struct acp_str patch)
{
    if (patch.len && patch.ptr[patch.len - 1] == '\n')
        patch.len--;
    int err = acp_buf_append_str(out, acp_str_from("  changes:\n  | "));
    return err ? err : shown_text_lines(out, SANITIZE_TEXT, patch);
}

static int put_variable(struct acp_buf *out, const struct acp_str_entry *entry)
{
    struct acp_buf text;
    acp_buf_init(&text, (size_t) 2 * QUESTION_MAX_BYTES);
    int err = acp_buf_append_str(&text, entry->key);
    if (!err)
        err = acp_buf_append(&text, "=", 1);
    if (!err)
        err = acp_buf_append_str(&text, entry->value);
    if (!err)
        err = put_field(out, "variable", acp_buf_view(&text));
    acp_buf_finish(&text);
    return err;
}

/* Of the files whose new content is not known the person hears; of the others all is shown. */
static int put_edit(struct acp_buf *out, const struct acp_action_edit *edit)
{
    return edit->known ? 0 : put_field(out, "shown in part only", edit->path);
}

static int put_action(struct acp_buf *out, const struct acp_action *action)
{
    int err = 0;
    if (action->command.len)
        err = put_field(out, "command", action->command);
    if (!err && action->command_cwd.len)
        err = put_field(out, "directory", action->command_cwd);
    for (size_t i = 0; i < action->env.count && !err; i++)
        err = put_variable(out, &action->env.items[i]);
    for (size_t i = 0; i < action->paths.count && !err; i++)
        err = put_field(out, "file", action->paths.items[i]);
    for (size_t i = 0; i < action->edits.count && !err; i++)
        err = put_edit(out, &action->edits.items[i]);
    return err;
}

static int put_label(struct acp_buf *out, const struct acp_permission_option *option)
{
    const struct letter *letter = find_letter(option->kind.is);
    if (letter)
        return acp_buf_printf(out, "%s", letter->label);
    int err = acp_buf_printf(out, "Unknown kind '");
    if (!err)
        err = shown_text_line(out, option->kind.text);
    return err ? err : acp_buf_append(out, "'", 1);
}

static int put_option(struct acp_buf *out, size_t number,
                      const struct acp_permission_option *option)
{
    int err = acp_buf_printf(out, "  %zu) ", number);
    if (!err)
        err = put_label(out, option);
    if (!err && option->name.len) {
        err = acp_buf_append_str(out, acp_str_from(", \""));
        if (!err)
            err = shown_text_line(out, option->name);
        if (!err)
            err = acp_buf_append(out, "\"", 1);
    }
    return err ? err : acp_buf_append(out, "\n", 1);
}

static bool has_always(struct acp_permission_option_list options)
{
    for (size_t i = 0; i < options.count; i++)
        if (options.items[i].kind.is == ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS ||
            options.items[i].kind.is == ACP_PERMISSION_OPTION_KIND_REJECT_ALWAYS)
            return true;
    return false;
}

int question_write(const struct permission_question *question, struct acp_buf *out)
{
    const struct acp_action *action = question->action;
    struct acp_permission_option_list options = question->options;
    enum acp_tool_kind_is kind = action->command.len ? ACP_TOOL_KIND_EXECUTE : action->kind;
    struct question_choices choices;
    question_choices_init(&choices, question);
    if (question_complaint(question))
        return ACP_ERR_LIMIT;
    int err = acp_buf_printf(out, "\n[permission] %s", acp_kind_name(kind));
    if (!err && question->title.len && !acp_str_eq(action->command, question->title)) {
        err = acp_buf_append_str(out, acp_str_from(": "));
        if (!err)
            err = shown_text_line(out, question->title);
    }
    if (!err)
        err = acp_buf_append(out, "\n", 1);
    if (!err && question->description.len)
        err = put_field(out, "description", question->description);
    if (!err)
        err = put_action(out, action);
    if (!err && question->changes.len)
        err = put_changes(out, question->changes);
    for (size_t i = 0; choices.numbered && i < options.count && !err; i++)
        err = put_option(out, i + 1, &options.items[i]);
    if (!err && has_always(options))
        err = put_field(out, "always",
                        question->always.len
                            ? question->always
                            : acp_str_from("only within the agent, if it remembers the answer"));
    return err;
}

static int put_offer(struct acp_buf *out, const struct question_choices *choices,
                     const struct letter *letter)
{
    bool scope = letter->kind == ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS && *choices->always;
    return scope ? acp_buf_printf(out, "%s (%s), ", letter->offer, choices->always)
                 : acp_buf_printf(out, "%s, ", letter->offer);
}

/* Whether a number chooses an option that no letter does. */
static bool has_numbers(const struct question_choices *choices)
{
    return choices->numbered && choices->count > 0;
}

int question_write_prompt(const struct question_choices *choices, struct acp_buf *out)
{
    int err = 0;
    for (size_t i = 0; i < LETTERS && !err; i++)
        if (is_offered(choices, &letters[i]))
            err = put_offer(out, choices, &letters[i]);
    if (!err && has_numbers(choices))
        err = choices->count > 1 ? acp_buf_printf(out, "1-%zu, ", choices->count)
                                 : acp_buf_printf(out, "1, ");
    return err ? err : acp_buf_printf(out, "[?] ");
}

int question_write_help(const struct question_choices *choices, struct acp_buf *out)
{
    int err = 0;
    for (size_t i = 0; i < LETTERS && !err; i++)
        if (is_offered(choices, &letters[i]))
            err = acp_buf_printf(out, "  %c  %s\n", letters[i].word[0], letters[i].help);
    if (!err && has_numbers(choices))
        err = acp_buf_printf(out, "  1-%zu  choose the option with that number\n", choices->count);
    return err;
}

/* ---- The reply ------------------------------------------------------------------------------- */

/* The word or its first letter, ignoring case. */
static bool is_word(struct acp_str line, const char *word)
{
    const char letter[2] = {word[0], '\0'};
    return acp_ascii_same(line, acp_str_from(word)) || acp_ascii_same(line, acp_str_from(letter));
}

enum question_reply question_read(const struct question_choices *choices, struct acp_str line,
                                  size_t *ret_index)
{
    line = acp_str_trim(line);
    if (acp_str_is(line, "?"))
        return QUESTION_HELP;
    if (choices->numbered && line.len == 1 && line.ptr[0] >= '1' &&
        (size_t) (line.ptr[0] - '1') < choices->count) {
        *ret_index = (size_t) (line.ptr[0] - '1');
        return QUESTION_CHOSEN;
    }
    for (size_t i = 0; i < LETTERS; i++) {
        if (!is_word(line, letters[i].word) || !is_offered(choices, &letters[i]))
            continue;
        return count_kind(choices, letters[i].kind, ret_index) ? QUESTION_CHOSEN : QUESTION_REFUSE;
    }
    return QUESTION_AGAIN;
}
