/*
 * completion.c - acp completion prints the completion script of a shell.  The script calls the
 * hidden command `__complete` for the candidates.
 */
#include <stdio.h>

#include "cli/complete.h"
#include "cli/output.h"
#include "cmd/cmd.h"

/*
 * Bash also splits words at '=' and ':', so the words are joined again; of each candidate bash
 * expects only the part after the last split.
 */
static const char bash[] =
    "# bash completion for acp; `acp completion bash` prints it.\n"
    "_acp() {\n"
    "    local words=() word glue='' i\n"
    "    for ((i = 1; i <= COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        if ((${#words[@]})) && [[ $glue || $word == [=:]* ]]; then\n"
    "            words[${#words[@]} - 1]+=$word\n"
    "        else\n"
    "            words+=(\"$word\")\n"
    "        fi\n"
    "        glue=''\n"
    "        [[ $word == [=:] ]] && glue=yes\n"
    "    done\n"
    "    local typed=${words[${#words[@]} - 1]} kind='' kept='' line answer=()\n"
    "    while IFS= read -r line; do\n"
    "        if [[ -z $kind ]]; then\n"
    "            kind=${line%%$'\\t'*} kept=${line#*$'\\t'}\n"
    "        else\n"
    "            answer+=(\"$kept${line%%$'\\t'*}\")\n"
    "        fi\n"
    "    done < <(\"${COMP_WORDS[0]}\" __complete -- \"${words[@]}\" 2>/dev/null)\n"
    "    local how=''\n"
    "    case $kind in\n"
    "    files) how=-f ;;\n"
    "    directories) how=-d ;;\n"
    "    esac\n"
    "    if [[ $how ]]; then\n"
    "        compopt -o filenames 2>/dev/null\n"
    "        while IFS= read -r line; do\n"
    "            answer+=(\"$kept$line\")\n"
    "        done < <(compgen \"$how\" -- \"${typed#\"$kept\"}\")\n"
    "    fi\n"
    "    local last=${COMP_WORDS[COMP_CWORD]}\n"
    "    [[ $last == [=:] ]] && last=''\n"
    "    COMPREPLY=()\n"
    "    for line in \"${answer[@]}\"; do\n"
    "        COMPREPLY+=(\"${line#\"${typed%\"$last\"}\"}\")\n"
    "    done\n"
    "}\n"
    "complete -F _acp acp\n";

static const char zsh[] =
    "#compdef acp\n"
    "# zsh completion for acp; `acp completion zsh` prints it.\n"
    "_acp() {\n"
    "    local -a lines candidates\n"
    "    local kind kept line word\n"
    "    lines=(\"${(@f)$(\"${words[1]}\" __complete -- \"${(@)words[2,CURRENT]}\" \\\n"
    "        2>/dev/null)}\")\n"
    "    kind=${lines[1]%%$'\\t'*}\n"
    "    kept=${lines[1]#*$'\\t'}\n"
    "    for line in \"${(@)lines[2,-1]}\"; do\n"
    "        word=${line%%$'\\t'*}\n"
    "        [[ -n $word ]] && candidates+=(\"${word//:/\\\\:}:${line#*$'\\t'}\")\n"
    "    done\n"
    "    [[ -n $kept ]] && compset -P \"${(b)kept}\"\n"
    "    (( ${#candidates} )) && _describe -t words acp candidates\n"
    "    case $kind in\n"
    "    files) _files ;;\n"
    "    directories) _files -/ ;;\n"
    "    esac\n"
    "}\n"
    "if [[ $funcstack[1] == _acp ]]; then\n"
    "    _acp \"$@\"\n"
    "else\n"
    "    compdef _acp acp\n"
    "fi\n";

static const char fish[] = "# fish completion for acp; `acp completion fish` prints it.\n"
                           "function __acp_complete\n"
                           "    set -l words (commandline -opc) (commandline -ct)\n"
                           "    set -l program $words[1]\n"
                           "    set -l lines ($program __complete -- $words[2..-1] 2>/dev/null)\n"
                           "    set -l head (string split \\t -- $lines[1])\n"
                           "    for line in $lines[2..-1]\n"
                           "        printf '%s%s\\n' \"$head[2]\" \"$line\"\n"
                           "    end\n"
                           "    set -l part (string replace -- \"$head[2]\" '' \"$words[-1]\")\n"
                           "    switch \"$head[1]\"\n"
                           "        case files\n"
                           "            for name in (__fish_complete_path \"$part\")\n"
                           "                printf '%s%s\\n' \"$head[2]\" \"$name\"\n"
                           "            end\n"
                           "        case directories\n"
                           "            for name in (__fish_complete_directories \"$part\")\n"
                           "                printf '%s%s\\n' \"$head[2]\" \"$name\"\n"
                           "            end\n"
                           "    end\n"
                           "end\n"
                           "complete -c acp -f -a '(__acp_complete)'\n";

static const char *const scripts[] = {bash, zsh, fish};
static const char *const shells[] = {"bash", "zsh", "fish", NULL};

static int run_completion(const struct invocation *invocation)
{
    for (size_t i = 0; shells[i]; i++)
        if (strcmp(shells[i], invocation->arguments[0]) == 0)
            out_text(acp_str_from(scripts[i]));
    return EXIT_OK;
}

static const struct argument completion_arguments[] = {
    {.name = "SHELL", .kind = OPTION_CHOICE, .choices = shells},
    {0},
};

static const struct example completion_examples[] = {
    {"acp completion bash > ~/.local/share/bash-completion/completions/acp",
     "enables completion in bash"},
    {"acp completion zsh > ~/.zfunc/_acp", "enables completion in zsh if _~/.zfunc_ is in *fpath*"},
    {"acp completion fish > ~/.config/fish/completions/acp.fish", "enables completion in fish"},
    {0},
};

const struct command command_completion = {
    .name = "completion",
    .summary = "print a shell completion script",
    .description =
        "Prints a script for *bash*, *zsh* or *fish* that completes the commands, options, values "
        "and agents of *acp*. A system-wide installation includes the scripts.",
    .arguments = completion_arguments,
    .examples = completion_examples,
    .run = run_completion,
};

static int run_complete(const struct invocation *invocation)
{
    int err = complete_print(output_results(), invocation->program, invocation->arguments,
                             invocation->argument_count);
    return err ? EXIT_FAILED : EXIT_OK;
}

static const struct argument complete_arguments[] = {
    {.name = "WORD", .kind = OPTION_TEXT, .optional = true, .repeated = true},
    {0},
};

const struct command command_complete = {
    .name = "__complete",
    .summary = "print completion candidates, for the completion scripts",
    .description = "Prints the candidates for the last _WORD_.",
    .arguments = complete_arguments,
    .hidden = true,
    .run = run_complete,
};
