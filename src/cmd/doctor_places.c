/* doctor_places.c - acp doctor: the sandbox, the session log, the daemons and the terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/output.h"
#include "cli/terminal_traits.h"
#include "cmd/doctor.h"
#include "daemon/daemon.h"
#include "launch/sandbox.h"
#include "store/store.h"

/* ---- The session log ------------------------------------------------------------------------ */

static int count_session(const struct store_session *session, void *user)
{
    (void) session;
    ++*(size_t *) user;
    return 0;
}

void doctor_check_store(struct doctor *doctor)
{
    const char *path = conversation_setup_store_path(&doctor->setup);
    struct acp_failure failure = {0};
    struct store_filter all = {0};
    struct store *store = NULL;
    struct stat st;
    size_t count = 0;
    if (!path) {
        doctor_found(doctor, FINDING_NOTE, "session log", NULL,
                     "disabled; sessions are not logged");
        return;
    }
    int err = store_open(path, STORE_CREATE, &store, &failure);
    if (!err)
        err = store_list(store, &all, count_session, &count, &failure);
    store_close(store);
    if (err)
        doctor_found(doctor, FINDING_BAD, "session log",
                     "sessions still work but are not logged; see log.path in the configuration",
                     "%s", failure.message);
    else
        doctor_found(doctor, FINDING_GOOD, "session log", NULL, "%zu session%s, %.1f MiB, %s",
                     count, count == 1 ? "" : "s",
                     stat(path, &st) ? 0.0 : (double) st.st_size / (1024 * 1024), path);
}

/* ---- The sandbox ---------------------------------------------------------------------------- */

void doctor_check_sandbox(struct doctor *doctor)
{
    struct acp_failure failure = {0};
    struct sandbox *sandbox = NULL;
    if (sandbox_new(NULL, &sandbox, &failure))
        doctor_found(doctor, FINDING_NOTE, "sandbox",
                     "until it is fixed, mode sandbox is refused; see THE SANDBOX in acp-agent(1)",
                     "%s", failure.message);
    else if (sandbox_wall(sandbox) == SANDBOX_LANDLOCK)
        doctor_found(doctor, FINDING_NOTE, "sandbox",
                     "install bubblewrap, or enable user namespaces, for stronger isolation",
                     "%s; bubblewrap is missing or fails", sandbox_describe(sandbox));
    else
        doctor_found(doctor, FINDING_GOOD, "sandbox", NULL, "%s", sandbox_describe(sandbox));
    sandbox_free(sandbox);
}

/* ---- Daemons -------------------------------------------------------------------------------- */

struct daemons {
    size_t running;
    size_t stale;
    char names[400]; /* of the sessions, as many as fit */
    size_t len;
};

static void count_daemon(struct acp_str session, bool listens, void *user)
{
    struct daemons *daemons = user;
    if (!listens) {
        daemons->stale++;
        return;
    }
    daemons->running++;
    if (daemons->len + session.len + 3 < sizeof(daemons->names))
        daemons->len +=
            (size_t) snprintf(daemons->names + daemons->len, sizeof(daemons->names) - daemons->len,
                              "%s%.*s", daemons->len ? ", " : ": ", (int) session.len, session.ptr);
}

void doctor_check_daemons(struct doctor *doctor)
{
    struct acp_failure failure = {0};
    struct daemons daemons = {0};
    if (daemon_list(count_daemon, &daemons, &failure))
        doctor_found(doctor, FINDING_BAD, "daemons", "acp prompt needs that directory", "%s",
                     failure.message);
    else if (daemons.stale)
        doctor_found(doctor, FINDING_NOTE, "daemons",
                     "nothing is lost; the next prompt of such a session starts a new one",
                     "%zu running%s; %zu ended without removing the socket", daemons.running,
                     daemons.names, daemons.stale);
    else
        doctor_found(doctor, FINDING_GOOD, "daemons", NULL, "%zu running%s", daemons.running,
                     daemons.names);
}

/* ---- The terminal --------------------------------------------------------------------------- */

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool contains(const char *text, const char *part)
{
    return text && strstr(text, part);
}

/* Which colours there are, as far as the environment tells. */
static const char *describe_colours(const struct terminal_traits *traits)
{
    const char *term = variable("TERM");
    const char *depth = variable("COLORTERM");
    if (variable("NO_COLOR"))
        return "no colours, because NO_COLOR is set";
    if (traits->is_dumb)
        return "no colours";
    if (contains(depth, "truecolor") || contains(depth, "24bit") || contains(term, "direct"))
        return "24-bit colours";
    return contains(term, "256") || contains(term, "kitty") ? "256 colours" : "8 colours or more";
}

/* Keys such as Shift-Enter are told apart by the protocol of kitty. */
static bool has_kitty_keys(void)
{
    const char *term = variable("TERM");
    const char *program = variable("TERM_PROGRAM");
    return contains(term, "kitty") || contains(term, "foot") || contains(term, "ghostty") ||
           contains(program, "WezTerm") || contains(program, "ghostty");
}

static const char *find_locale(void)
{
    const char *names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = NULL;
    for (size_t i = 0; i < 3 && !locale; i++)
        locale = variable(names[i]);
    return locale;
}

void doctor_check_terminal(struct doctor *doctor)
{
    struct terminal_traits traits = terminal_traits(OUTPUT_MESSAGES);
    const char *term = variable("TERM");
    const char *locale = find_locale();
    if (!traits.is_terminal) {
        doctor_found(doctor, FINDING_NOTE, "terminal", NULL,
                     "standard error is not a terminal; permission questions cannot be asked");
        return;
    }
    doctor_found(doctor, traits.unicode ? FINDING_GOOD : FINDING_NOTE, "terminal",
                 traits.unicode ? NULL : "set LANG to a locale with UTF-8, such as C.UTF-8",
                 "%.60s, %.60s%s; %zu columns; %s; links (OSC 8) %s; kitty keys %s",
                 term ? term : "TERM is not set", locale ? locale : "no locale",
                 traits.unicode ? "" : " (not UTF-8)", terminal_columns(OUTPUT_MESSAGES),
                 describe_colours(&traits), traits.hyperlinks ? "yes" : "not known",
                 has_kitty_keys() ? "yes" : "not known");
}
