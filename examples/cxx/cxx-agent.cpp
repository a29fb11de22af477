/*
 * cxx-agent - an agent in C++ that answers each prompt with the prompt; "throw WORDS" fails the
 * turn by an exception.
 */
#include <csignal>
#include <iostream>

#include <unistd.h>

#include "acp.hpp"

static void on_prompt(acp::Turn &turn, std::string_view text)
{
    if (text.substr(0, 6) == "throw ")
        throw std::runtime_error(std::string(text.substr(6)));
    turn.text(text);
}

int main()
{
    (void) std::signal(SIGPIPE, SIG_IGN);
    try {
        acp::Agent("cxx-agent", on_prompt).run(STDIN_FILENO, STDOUT_FILENO);
        return 0;
    } catch (const std::exception &failure) {
        std::cerr << "cxx-agent: " << failure.what() << '\n';
        return 1;
    }
}
