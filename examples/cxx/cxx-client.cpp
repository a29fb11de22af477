/*
 * cxx-client - asks two agents at once, each over a connection in a thread of its own, and prints
 * both answers.
 *
 *     cxx-client MESSAGE MESSAGE AGENT [ARGUMENT...]
 *
 * Permission requests are answered with the first option.  The message "throw" makes the callback
 * for text throw, to show where such an exception comes out.
 */
#include <array>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <thread>

#include <unistd.h>

#include "acp.hpp"

struct Answer {
    std::string text;
    std::string error;
};

static std::string first_option(const acp_permission_request &question)
{
    return question.options.count ? std::string(acp::view(question.options.items[0].option_id))
                                  : std::string();
}

static void ask(const std::vector<std::string> &argv, const std::string &message, Answer &answer)
{
    try {
        acp::Client::Callbacks callbacks;
        callbacks.permission = first_option;
        callbacks.text = [&](std::string_view text) {
            if (message == "throw")
                throw std::runtime_error("thrown by the callback");
            answer.text += text;
        };
        acp::Client client(argv, std::move(callbacks));
        client.initialize();
        client.new_session("/");
        answer.text += " [" + client.prompt(message) + "]";
    } catch (const std::exception &failure) {
        answer.error = failure.what();
    }
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        std::cerr << "usage: cxx-client MESSAGE MESSAGE AGENT [ARGUMENT...]\n";
        return 2;
    }
    (void) std::signal(SIGPIPE, SIG_IGN);
    const std::vector<std::string> agent(argv + 3, argv + argc);
    std::array<Answer, 2> answers;
    std::thread second([&] { ask(agent, argv[2], answers[1]); });
    ask(agent, argv[1], answers[0]);
    second.join();
    int status = 0;
    for (const Answer &answer : answers) {
        std::cout << (answer.error.empty() ? answer.text : "failed: " + answer.error) << '\n';
        status |= !answer.error.empty();
    }
    return status;
}
