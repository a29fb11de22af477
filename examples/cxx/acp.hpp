/*
 * acp.hpp - a small C++17 wrapper of libacp: a client with its agent process, and an agent on two
 * descriptors.  Objects free what they own, callbacks are std::function, failures are exceptions.
 *
 * An exception must not pass through the C library.  One that a callback throws is kept until the
 * call into the library has returned; then a client throws it again, and an agent ends the turn
 * with it.  One object belongs to one thread at a time; different ones need no lock.
 */
#ifndef EXAMPLES_ACP_HPP
#define EXAMPLES_ACP_HPP

#include <sys/types.h>

#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "acp/agent.h"
#include "acp/client.h"

namespace acp {

class Error : public std::runtime_error {
  public:
    Error(int code, const std::string &message) : std::runtime_error(message), code(code)
    {
    }
    const int code; /* enum acp_err */
};

/* Throws when a function of the library has returned an error. */
void check(int err, const char *what);

inline std::string_view view(struct acp_str text)
{
    return {text.ptr ? text.ptr : "", text.len};
}

inline struct acp_str str(std::string_view text)
{
    return acp_str_n(text.data(), text.size());
}

struct Free {
    void operator()(acp_client *client) const noexcept
    {
        acp_client_free(client);
    }
    void operator()(acp_agent *agent) const noexcept
    {
        acp_agent_free(agent);
    }
};

/* A file descriptor, closed with its owner. */
class Descriptor {
  public:
    explicit Descriptor(int fd = -1) noexcept : fd_(fd)
    {
    }
    Descriptor(Descriptor &&other) noexcept : fd_(other.release())
    {
    }
    Descriptor &operator=(Descriptor &&other) noexcept;
    ~Descriptor()
    {
        reset();
    }
    int get() const noexcept
    {
        return fd_;
    }
    int release() noexcept;
    void reset() noexcept;

  private:
    int fd_;
};

/* Carries the bytes of an endpoint with poll(2). */
class Loop {
  public:
    Loop(acp_endpoint *endpoint, int in, int out) : endpoint_(endpoint), in_(in), out_(out)
    {
    }
    /* Waits and does what there is to do.  False when the connection is over. */
    bool step();

  private:
    void receive(std::size_t most);
    void send();
    acp_endpoint *endpoint_;
    int in_;
    int out_;
};

/* A child process with pipes to its standard input and output; ended with its owner. */
class Process {
  public:
    explicit Process(const std::vector<std::string> &argv);
    Process(const Process &) = delete;
    Process &operator=(const Process &) = delete;
    ~Process();
    int in() const noexcept
    {
        return from_.get();
    }
    int out() const noexcept
    {
        return to_.get();
    }

  private:
    Descriptor to_;
    Descriptor from_;
    pid_t pid_ = -1;
};

/* A client and its agent.  Each call returns when the agent has answered. */
class Client {
  public:
    struct Callbacks {
        /* Text of the agent's message. */
        std::function<void(std::string_view text)> text;
        /* Returns the id of one of the options; empty, or left out: no answer. */
        std::function<std::string(const acp_permission_request &question)> permission;
    };

    Client(const std::vector<std::string> &argv, Callbacks callbacks);
    Client(const Client &) = delete;
    Client &operator=(const Client &) = delete;
    ~Client();

    void initialize();
    /* Opens the session that prompts go to. */
    void new_session(const std::string &cwd);
    /* Returns the reason why the turn ended: "end_turn". */
    std::string prompt(const std::string &text);

  private:
    static void on_event(struct acp_client_session *session, const acp_event *event,
                         void *user) noexcept;
    static void on_permission(struct acp_client_session *session, acp_call call,
                              const acp_permission_request *question, void *user) noexcept;
    static void on_ready(acp_client *client, const acp_outcome *outcome, void *user) noexcept;
    static void on_session(acp_client *client, struct acp_client_session *session,
                           const acp_outcome *outcome, void *user) noexcept;
    static void on_end(struct acp_client_session *session, const acp_turn_stop *stop,
                       const acp_outcome *outcome, void *user) noexcept;

    void finish(const acp_outcome *outcome);
    void keep_exception() noexcept;
    void wait();

    Callbacks callbacks_;
    Process process_;
    std::unique_ptr<acp_client, Free> client_;
    Loop loop_;
    struct acp_client_session *session_ = nullptr;
    bool waiting_ = false;
    std::string stop_;
    std::exception_ptr exception_;
};

/* A turn of an agent while its callback runs. */
class Turn {
  public:
    explicit Turn(acp_turn *turn) : turn_(turn)
    {
    }
    void text(std::string_view words)
    {
        check(acp_turn_send_text(turn_, str(words)), "text");
    }

  private:
    acp_turn *turn_;
};

/* An agent that answers each prompt within the callback. */
class Agent {
  public:
    using Prompt = std::function<void(Turn &turn, std::string_view text)>;

    Agent(const char *name, Prompt prompt);
    /* Serves one client until it is gone. */
    void run(int in, int out);

  private:
    static void on_prompt(acp_turn *turn, acp_content_block_list prompt, void *user) noexcept;

    Prompt prompt_;
    std::unique_ptr<acp_agent, Free> agent_;
};

} // namespace acp

#endif
