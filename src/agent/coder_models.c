/*
 * coder_models.c - which models the service has, for the option that chooses one.
 *
 * The service is asked once, when the first session is made; nobody waits for it.  Until it has
 * answered, and when it does not, the model that is asked is the only choice.
 */
#include <stdlib.h>

#include "acp/types.h"
#include "agent/coder_inside.h"

/* Nobody looks through more in a menu. */
enum { MAX_LISTED = CODER_MAX_MODELS - 1 };

static int keep_rows(struct coder *coder, const struct model_row *rows, size_t count)
{
    count = count < MAX_LISTED ? count : (size_t) MAX_LISTED;
    struct model_row *models = acp_arena_alloc(&coder->model_arena, (count + 1) * sizeof(*models));
    if (!models)
        return ACP_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        models[i] = rows[i];
        models[i].id = acp_arena_copy(&coder->model_arena, rows[i].id);
        models[i].name =
            acp_arena_copy(&coder->model_arena, rows[i].name.len ? rows[i].name : rows[i].id);
        if (!models[i].id.ptr || !models[i].name.ptr)
            return ACP_ERR_NOMEM;
    }
    coder->models = models;
    coder->model_count = count;
    return 0;
}

static void on_listed(struct model_list *list, const struct model_row *rows, size_t count,
                      const char *sentence, void *user)
{
    struct coder *coder = user;
    (void) sentence; /* what is wrong with the service is told when it is asked for an answer */
    int err = rows && count ? keep_rows(coder, rows, count) : ACP_ERR_MISSING;
    model_list_free(list);
    coder->model_list = NULL;
    for (struct coding *coding = coder->first; coding && !err; coding = coding->next)
        coding_tell_options(coding);
}

void coder_list_models(struct coder *coder)
{
    if (coder->asked_models || model_service_api(coder->service) == MODEL_DEMO)
        return;
    coder->asked_models = true;
    acp_arena_init(&coder->model_arena, 0);
    (void) model_list_new(coder->service, on_listed, coder, &coder->model_list, NULL);
}

void coder_forget_models(struct coder *coder)
{
    model_list_free(coder->model_list);
    coder->model_list = NULL;
    acp_arena_finish(&coder->model_arena);
    coder->models = NULL;
    coder->model_count = 0;
}

static bool is_listed(const struct coder *coder, struct acp_str model)
{
    for (size_t i = 0; i < coder->model_count; i++)
        if (acp_str_eq(coder->models[i].id, model))
            return true;
    return false;
}

bool coding_may_choose(const struct coding *coding, struct acp_str model)
{
    return model.len && (!coding->coder->model_count || is_listed(coding->coder, model) ||
                         acp_str_is(model, coding_model(coding)));
}

size_t coding_model_choices(const struct coding *coding,
                            struct acp_session_config_select_option choices[CODER_MAX_MODELS])
{
    const struct coder *coder = coding->coder;
    struct acp_str current = acp_str(coding_model(coding));
    size_t count = 0;
    for (; count < coder->model_count; count++)
        acp_session_config_select_option_init(&choices[count], coder->models[count].id,
                                              coder->models[count].name);
    /* A name that the service does not list may still be one: /model takes any. */
    if (!is_listed(coder, current))
        acp_session_config_select_option_init(&choices[count++], current, current);
    return count;
}
