/* form.c - see form.h: the fields of a form, its text, and the steps through it. */
#include "cmd/form.h"

#include "acp/types.h"
#include "base/trim.h"
#include "cmd/form_value.h"
#include "cmd/shown_text.h"

/* ---- The fields ------------------------------------------------------------------------------ */

static bool is_in(struct acp_str_list list, struct acp_str text)
{
    for (size_t i = 0; i < list.count; i++)
        if (acp_str_eq(list.items[i], text))
            return true;
    return false;
}

/* The property as JSON Schema, which it is. */
static struct schema *compile(const struct acp_elicitation_property_schema *property)
{
    struct schema *schema = NULL;
    struct acp_buf text;
    struct acp_json_writer w;
    acp_buf_init(&text, (size_t) 4 * FORM_MAX_BYTES);
    acp_json_writer_init(&w, &text);
    int err = acp_encode(ACP_TYPE_ELICITATION_PROPERTY_SCHEMA, ACP_V1, property, &w, NULL);
    if (err || w.err || schema_compile(acp_raw_n(text.data + text.start, text.len), &schema, NULL))
        schema = NULL;
    acp_buf_finish(&text);
    return schema;
}

static int add_field(struct form *form, const struct acp_elicitation_property_schema_entry *entry,
                     const char **ret_complaint)
{
    const struct acp_elicitation_schema *schema = &form->request.form.requested_schema;
    struct form_field field = {.name = entry->key,
                               .property = &entry->value,
                               .is_required = is_in(schema->required, entry->key)};
    int err = form_field_read(&field, &form->arena);
    if (err == ACP_ERR_VARIANT) {
        /* What is optional may be left out. */
        *ret_complaint = "it requires a field of an unknown kind";
        return field.is_required ? ACP_ERR_ARGUMENT : 0;
    }
    if (!err && field.choices.count > FORM_MAX_CHOICES) {
        *ret_complaint = "a field has more than 100 choices";
        return ACP_ERR_ARGUMENT;
    }
    if (err)
        return err;
    if (!field.title.len)
        field.title = field.name;
    field.schema = compile(&entry->value);
    form->fields[form->count++] = field;
    return 0;
}

static int add_fields(struct form *form, const char **ret_complaint)
{
    const struct acp_elicitation_schema *schema = &form->request.form.requested_schema;
    size_t count = schema->properties.count;
    if (count > FORM_MAX_FIELDS) {
        *ret_complaint = "it has more than 50 fields";
        return ACP_ERR_ARGUMENT;
    }
    form->fields = acp_arena_alloc(&form->arena, (count + 1) * sizeof(*form->fields));
    int err = form->fields ? 0 : ACP_ERR_NOMEM;
    for (size_t i = 0; i < count && !err; i++)
        err = add_field(form, &schema->properties.items[i], ret_complaint);
    return err;
}

int form_init(struct form *form, const struct elicitation_question *question,
              const char **ret_complaint)
{
    *form = (struct form){0};
    acp_arena_init(&form->arena, 0);
    if (question->params.len > FORM_MAX_BYTES) {
        *ret_complaint = "it is longer than 32 KiB";
        return ACP_ERR_ARGUMENT;
    }
    struct acp_str copy =
        acp_arena_copy(&form->arena, acp_str_n(question->params.ptr, question->params.len));
    form->agent = acp_arena_copy(&form->arena, question->agent);
    if (!copy.ptr)
        return ACP_ERR_NOMEM;
    int err = acp_decode(ACP_TYPE_CREATE_ELICITATION_REQUEST, question->protocol,
                         acp_raw_n(copy.ptr, copy.len), &form->arena, &form->request, NULL);
    if (err) {
        *ret_complaint = "it is malformed";
        return err == ACP_ERR_NOMEM ? err : ACP_ERR_ARGUMENT;
    }
    if (form->request.is == ACP_CREATE_ELICITATION_REQUEST_FORM) {
        err = add_fields(form, ret_complaint);
    } else if (form->request.is != ACP_CREATE_ELICITATION_REQUEST_URL) {
        *ret_complaint = "it is neither a form nor a web page";
        err = ACP_ERR_ARGUMENT;
    }
    form->stage = form->count ? FORM_ASKING : FORM_CONSENT;
    return err;
}

void form_finish(struct form *form)
{
    for (size_t i = 0; i < form->count; i++)
        schema_free(form->fields[i].schema);
    form->count = 0;
    acp_arena_finish(&form->arena);
}

/* ---- The text -------------------------------------------------------------------------------- */

static int put_line(struct acp_buf *out, const char *before, struct acp_str text)
{
    int err = acp_buf_append_str(out, acp_str_from(before));
    if (!err)
        err = shown_text_lines(out, SANITIZE_LINE, text);
    return err;
}

/* What a person should notice about an address. */
static int put_cautions(struct acp_buf *out, struct acp_str url)
{
    static const struct {
        unsigned caution;
        const char *text;
    } rows[] = {
        {FORM_URL_NOT_WEB, "this is not the address of a web page"},
        {FORM_URL_PLAIN, "the connection is not encrypted"},
        {FORM_URL_USER, "the address has a user name in front of the host"},
        {FORM_URL_DISGUISED, "the name of the host has letters that can look like others"},
    };
    unsigned cautions = form_url_cautions(url);
    int err = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !err; i++)
        if (cautions & rows[i].caution)
            err = acp_buf_printf(out, "  caution: %s\n", rows[i].text);
    return err;
}

static int put_page(struct acp_buf *out, struct acp_str url)
{
    struct acp_str host = form_url_host(url);
    int err = put_line(out, "  web page: ", url);
    if (!err && host.len)
        err = put_line(out, "  host: ", host);
    return err ? err : put_cautions(out, url);
}

int form_write(const struct form *form, struct acp_buf *out)
{
    const struct acp_elicitation_schema *schema = &form->request.form.requested_schema;
    int err = acp_buf_append_str(out, acp_str_from("\n[question] "));
    if (!err)
        err = shown_text_line(out, form->agent);
    if (!err)
        err = put_line(out, " asks: ", form->request.message);
    if (err)
        return err;
    if (form->request.is == ACP_CREATE_ELICITATION_REQUEST_URL)
        return put_page(out, form->request.url.url);
    if (schema->title.len)
        err = put_line(out, "  ", schema->title);
    if (!err && schema->description.len)
        err = put_line(out, "  ", schema->description);
    if (!err && form->count)
        err = acp_buf_printf(out, "  (? for help, /decline to refuse)\n");
    return err;
}

static int put_choice(struct acp_buf *out, size_t number, const struct acp_enum_option *choice)
{
    int err = acp_buf_printf(out, "    %zu) ", number);
    if (!err)
        err = shown_text_line(out, choice->title.len ? choice->title : choice->const_);
    if (!err && choice->description.len) {
        err = acp_buf_append(out, ": ", 2);
        if (!err)
            err = shown_text_line(out, choice->description);
    }
    return err ? err : acp_buf_append(out, "\n", 1);
}

/* What Enter alone means: the value that was given before, or the agent's default. */
static const struct acp_elicitation_content_value *usual_value(const struct form_field *field)
{
    return field->has_value ? &field->value : field->has_default ? &field->preset : NULL;
}

static int put_field(struct acp_buf *out, const struct form *form, const struct form_field *field)
{
    const struct acp_elicitation_content_value *usual = usual_value(field);
    int err = acp_buf_printf(out, "  ");
    if (!err && form->count > 1)
        err = acp_buf_printf(out, "%zu/%zu ", form->at + 1, form->count);
    if (!err)
        err = shown_text_line(out, field->title);
    if (!err)
        err = acp_buf_printf(out, "%s\n", field->is_required ? "" : " (optional)");
    if (!err && field->description.len)
        err = put_line(out, "    ", field->description);
    for (size_t i = 0; i < field->choices.count && !err; i++)
        err = put_choice(out, i + 1, &field->choices.items[i]);
    if (!err)
        err = form_write_expected(field, out);
    if (!err && usual) {
        err = acp_buf_append(out, " [", 2);
        if (!err)
            err = form_write_value(field, usual, out);
        if (!err)
            err = acp_buf_append(out, "]", 1);
    }
    return err ? err : acp_buf_append(out, ": ", 2);
}

static int put_review(struct acp_buf *out, const struct form *form)
{
    int err = 0;
    for (size_t i = 0; i < form->count && !err; i++) {
        const struct form_field *field = &form->fields[i];
        err = acp_buf_append(out, "  ", 2);
        if (!err)
            err = shown_text_line(out, field->title);
        if (!err)
            err = acp_buf_append(out, ": ", 2);
        if (!err)
            err = field->has_value ? form_write_value(field, &field->value, out)
                                   : acp_buf_printf(out, "(left out)");
        if (!err)
            err = acp_buf_append(out, "\n", 1);
    }
    return err ? err
               : acp_buf_printf(out,
                                "send these answers? [y]es, [e]dit, [d]ecline, [c]ancel, [?] ");
}

int form_write_prompt(const struct form *form, struct acp_buf *out)
{
    switch (form->stage) {
    case FORM_ASKING:
        return put_field(out, form, &form->fields[form->at]);
    case FORM_REVIEW:
        return put_review(out, form);
    default:
        return acp_buf_printf(out, "%s [y]es, [d]ecline, [c]ancel, [?] ",
                              form->request.is == ACP_CREATE_ELICITATION_REQUEST_URL
                                  ? "do you agree to open it in your browser?"
                                  : "do you agree?");
    }
}

/* ---- The reply ------------------------------------------------------------------------------- */

static enum form_reply explain(const struct form *form, struct acp_buf *out)
{
    if (form->stage == FORM_ASKING)
        (void) acp_buf_printf(out, "  Enter     takes the value in brackets, or leaves out what is "
                                   "optional\n"
                                   "  /back     goes back to the field before\n"
                                   "  /decline  refuses to answer\n"
                                   "  /cancel   closes the question without an answer\n");
    else
        (void) acp_buf_printf(out,
                              "  y  agree%s\n%s"
                              "  d  refuse\n"
                              "  c  close the question without an answer\n",
                              form->stage == FORM_REVIEW ? ", and send the answers" : "",
                              form->stage == FORM_REVIEW ? "  e  change the answers\n" : "");
    return FORM_AGAIN;
}

static enum form_reply read_field(struct form *form, struct acp_str line, struct acp_buf *out)
{
    struct form_field *field = &form->fields[form->at];
    const struct acp_elicitation_content_value *usual = usual_value(field);
    if (acp_str_is(line, "/decline"))
        return FORM_DECLINED;
    if (acp_str_is(line, "/cancel"))
        return FORM_CANCELLED;
    if (acp_str_is(line, "/back")) {
        form->at -= form->at > 0;
        return FORM_NEXT;
    }
    if (line.len) {
        if (form_read_value(field, line, &form->arena, out))
            return FORM_AGAIN;
    } else if (usual) {
        field->value = *usual;
        field->has_value = true;
    } else if (field->is_required) {
        (void) acp_buf_printf(out, "an answer is required; ? for help\n");
        return FORM_AGAIN;
    }
    if (++form->at < form->count)
        return FORM_NEXT;
    form->stage = form->count > 1 ? FORM_REVIEW : FORM_DONE;
    return form->stage == FORM_DONE ? FORM_ACCEPTED : FORM_NEXT;
}

static enum form_reply read_consent(struct form *form, struct acp_str line, struct acp_buf *out)
{
    if (form_is_word(line, "yes")) {
        form->stage = FORM_DONE;
        return FORM_ACCEPTED;
    }
    if (form_is_word(line, "decline") || acp_str_is(line, "/decline"))
        return FORM_DECLINED;
    if (form_is_word(line, "cancel") || acp_str_is(line, "/cancel"))
        return FORM_CANCELLED;
    if (form->stage == FORM_REVIEW && form_is_word(line, "edit")) {
        form->stage = FORM_ASKING;
        form->at = 0;
        return FORM_NEXT;
    }
    (void) acp_buf_printf(out, "not a valid answer; ? for help\n");
    return FORM_AGAIN;
}

enum form_reply form_read(struct form *form, struct acp_str line, struct acp_buf *out)
{
    line = acp_str_trim(line);
    if (line.len > FORM_MAX_LINE) {
        (void) acp_buf_printf(out, "the answer is longer than %d bytes\n", FORM_MAX_LINE);
        return FORM_AGAIN;
    }
    if (acp_str_is(line, "?"))
        return explain(form, out);
    return form->stage == FORM_ASKING ? read_field(form, line, out) : read_consent(form, line, out);
}

/* ---- The response ---------------------------------------------------------------------------- */

int form_write_response(const struct form *form, enum form_reply reply, struct acp_buf *out)
{
    struct acp_elicitation_content_value_entry entries[FORM_MAX_FIELDS + 1];
    struct acp_create_elicitation_response response;
    struct acp_json_writer w;
    size_t count = 0;
    if (reply == FORM_ACCEPTED) {
        acp_create_elicitation_response_init_accept(&response);
        for (size_t i = 0; i < form->count; i++)
            if (form->fields[i].has_value)
                entries[count++] = (struct acp_elicitation_content_value_entry){
                    form->fields[i].name, form->fields[i].value};
        if (form->request.is == ACP_CREATE_ELICITATION_REQUEST_FORM)
            response.accept.content = (struct acp_elicitation_content_value_map){entries, count};
    } else if (reply == FORM_DECLINED) {
        acp_create_elicitation_response_init_decline(&response);
    } else {
        acp_create_elicitation_response_init_cancel(&response);
    }
    acp_json_writer_init(&w, out);
    int err = acp_encode(ACP_TYPE_CREATE_ELICITATION_RESPONSE, ACP_V1, &response, &w, NULL);
    return err ? err : w.err;
}
