/* acp.cpp - see acp.hpp. */
#include "acp.hpp"

#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstring>
#include <random>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace acp {

void check(int err, const char *what)
{
    if (err < 0)
        throw Error(err, std::string(what) + ": " + acp_err_text(err));
}

/* ---- Descriptors and processes --------------------------------------------------------------- */

Descriptor &Descriptor::operator=(Descriptor &&other) noexcept
{
    if (this != &other) {
        reset();
        fd_ = other.release();
    }
    return *this;
}

int Descriptor::release() noexcept
{
    int fd = fd_;
    fd_ = -1;
    return fd;
}

void Descriptor::reset() noexcept
{
    if (fd_ >= 0)
        (void) close(fd_);
    fd_ = -1;
}

/* The reading end and the writing end; neither is inherited by children of other threads. */
static std::pair<Descriptor, Descriptor> make_pipe()
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC))
        throw std::system_error(errno, std::generic_category(), "pipe");
    return {Descriptor(fds[0]), Descriptor(fds[1])};
}

Process::Process(const std::vector<std::string> &argv)
{
    /* All memory is allocated before fork(): another thread may hold a lock of malloc(). */
    std::vector<char *> words;
    for (const std::string &word : argv)
        words.push_back(const_cast<char *>(word.c_str()));
    words.push_back(nullptr);
    auto [child_in, to] = make_pipe();
    auto [from, child_out] = make_pipe();
    pid_ = fork();
    if (pid_ < 0)
        throw std::system_error(errno, std::generic_category(), "fork");
    if (pid_ == 0) {
        (void) dup2(child_in.get(), STDIN_FILENO);
        (void) dup2(child_out.get(), STDOUT_FILENO);
        (void) execvp(words[0], words.data());
        static const char message[] = "cannot run the agent's program\n";
        _exit(write(STDERR_FILENO, message, sizeof(message) - 1) < 0 ? 126 : 127);
    }
    to_ = std::move(to);
    from_ = std::move(from);
}

Process::~Process()
{
    to_.reset(); /* the end of its input tells an agent to exit */
    from_.reset();
    for (int i = 0; i < 200; i++) {
        if (waitpid(pid_, nullptr, WNOHANG) != 0)
            return;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    (void) kill(pid_, SIGKILL);
    (void) waitpid(pid_, nullptr, 0);
}

/* ---- The loop -------------------------------------------------------------------------------- */

static std::uint64_t now()
{
    using namespace std::chrono;
    auto time = steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(duration_cast<milliseconds>(time).count());
}

bool Loop::step()
{
    acp_endpoint_want want;
    acp_endpoint_tick(endpoint_, now());
    acp_endpoint_poll(endpoint_, now(), &want);
    if (in_ < 0 && (out_ < 0 || (!want.output && !want.holding)))
        return false;
    pollfd fds[2] = {{want.input ? in_ : -1, POLLIN, 0}, {want.output ? out_ : -1, POLLOUT, 0}};
    if (poll(fds, 2, want.timeout_ms) < 0 && errno != EINTR)
        throw std::system_error(errno, std::generic_category(), "poll");
    if (fds[1].revents)
        send();
    if (fds[0].revents)
        receive(want.input);
    return true;
}

void Loop::receive(std::size_t most)
{
    char buffer[16384];
    ssize_t n = read(in_, buffer, most < sizeof(buffer) ? most : sizeof(buffer));
    if (n < 0 && errno == EINTR)
        return;
    if (n > 0 && acp_endpoint_receive(endpoint_, buffer, static_cast<std::size_t>(n), now()) >= 0)
        return;
    in_ = -1;
    acp_endpoint_receive_end(endpoint_, now());
}

void Loop::send()
{
    struct acp_str bytes = acp_endpoint_output(endpoint_);
    ssize_t n = write(out_, bytes.ptr, bytes.len < PIPE_BUF ? bytes.len : PIPE_BUF);
    if (n >= 0)
        acp_endpoint_sent(endpoint_, static_cast<std::size_t>(n));
    else if (errno != EINTR)
        out_ = -1;
}

/* ---- The client ------------------------------------------------------------------------------ */

static acp_client *make_client(const acp_client_handler &handler, void *user)
{
    acp_client_options options = {};
    acp_client *client = nullptr;
    options.name = acp_str_from("cxx-client");
    options.version = acp_str_from("1.0");
    options.versions = ACP_V1 | ACP_V2;
    check(acp_client_new(&options, &handler, user, &client), "cannot make a client");
    return client;
}

static acp_client_handler client_handler(decltype(acp_client_handler::event) event,
                                         decltype(acp_client_handler::permission) permission)
{
    acp_client_handler handler = {};
    handler.event = event;
    handler.permission = permission;
    return handler;
}

Client::Client(const std::vector<std::string> &argv, Callbacks callbacks)
    : callbacks_(std::move(callbacks)), process_(argv),
      client_(make_client(client_handler(on_event, on_permission), this)),
      loop_(acp_client_endpoint(client_.get()), process_.in(), process_.out())
{
}

/* Freeing the client calls back for everything open, while all members are still there. */
Client::~Client()
{
    client_.reset();
}

void Client::keep_exception() noexcept
{
    if (!exception_)
        exception_ = std::current_exception();
    waiting_ = false;
}

/* Called in callbacks: what waits for the answer goes on. */
void Client::finish(const acp_outcome *outcome)
{
    waiting_ = false;
    if (outcome->err && !exception_)
        exception_ = std::make_exception_ptr(Error(outcome->err, std::string(view(outcome->why))));
}

void Client::wait()
{
    waiting_ = true;
    while (waiting_ && !exception_ && loop_.step())
        continue;
    if (exception_)
        std::rethrow_exception(std::exchange(exception_, nullptr));
    if (waiting_)
        throw Error(ACP_ERR_CLOSED, "the agent has closed the connection");
}

void Client::on_ready(acp_client *, const acp_outcome *outcome, void *user) noexcept
{
    auto *self = static_cast<Client *>(user);
    try {
        self->finish(outcome);
    } catch (...) {
        self->keep_exception();
    }
}

void Client::on_session(acp_client *, struct acp_client_session *session,
                        const acp_outcome *outcome, void *user) noexcept
{
    static_cast<Client *>(user)->session_ = session;
    on_ready(nullptr, outcome, user);
}

void Client::on_end(struct acp_client_session *, const acp_turn_stop *stop,
                    const acp_outcome *outcome, void *user) noexcept
{
    auto *self = static_cast<Client *>(user);
    try {
        self->stop_ = view(stop->text);
        self->finish(outcome);
    } catch (...) {
        self->keep_exception();
    }
}

void Client::on_event(struct acp_client_session *, const acp_event *event, void *user) noexcept
{
    auto *self = static_cast<Client *>(user);
    if (!self->callbacks_.text || event->kind != ACP_EVENT_CHUNK ||
        event->author != ACP_MESSAGE_ROLE_AGENT || event->block->is != ACP_CONTENT_BLOCK_TEXT)
        return;
    try {
        self->callbacks_.text(view(event->block->text.text));
    } catch (...) {
        self->keep_exception();
    }
}

void Client::on_permission(struct acp_client_session *, acp_call call,
                           const acp_permission_request *question, void *user) noexcept
{
    auto *self = static_cast<Client *>(user);
    try {
        std::string option =
            self->callbacks_.permission ? self->callbacks_.permission(*question) : std::string();
        if (!option.empty() && acp_client_select_permission(self->client_.get(), call,
                                                            str(option)) != ACP_ERR_ARGUMENT)
            return;
    } catch (...) {
        self->keep_exception();
    }
    (void) acp_client_cancel_permission(self->client_.get(), call);
}

void Client::initialize()
{
    check(acp_client_initialize(client_.get(), on_ready, this), "initialize");
    wait();
}

void Client::new_session(const std::string &cwd)
{
    acp_session_params place = {};
    place.cwd = str(cwd);
    check(acp_client_new_session(client_.get(), &place, on_session, this), "session/new");
    wait();
}

std::string Client::prompt(const std::string &text)
{
    acp_content_block block;
    if (!session_)
        throw Error(ACP_ERR_STATE, "there is no session to prompt");
    acp_content_block_init_text(&block, str(text));
    check(acp_client_prompt(session_, &block, 1, on_end, this), "session/prompt");
    wait();
    return stop_;
}

/* ---- The agent ------------------------------------------------------------------------------- */

Agent::Agent(const char *name, Prompt prompt) : prompt_(std::move(prompt))
{
    acp_agent_options options = {};
    acp_agent_handler handler = {};
    acp_agent *agent = nullptr;
    std::random_device random;
    options.name = acp_str_from(name);
    options.version = acp_str_from("1.0");
    options.versions = ACP_V1 | ACP_V2;
    for (std::uint64_t &seed : options.seed)
        seed = static_cast<std::uint64_t>(random()) << 32 | random();
    handler.prompt = on_prompt;
    check(acp_agent_new(&options, &handler, this, &agent), "cannot make an agent");
    agent_.reset(agent);
}

void Agent::on_prompt(acp_turn *turn, acp_content_block_list prompt, void *user) noexcept
{
    auto *self = static_cast<Agent *>(user);
    try {
        Turn working(turn);
        for (std::size_t i = 0; i < prompt.count; i++)
            if (prompt.items[i].is == ACP_CONTENT_BLOCK_TEXT)
                self->prompt_(working, view(prompt.items[i].text.text));
        (void) acp_turn_end(turn, ACP_STOP_END_TURN);
    } catch (const std::exception &failure) {
        (void) acp_turn_fail(turn, ACP_ERROR_CODE_INTERNAL_ERROR, acp_str_from(failure.what()));
    } catch (...) {
        (void) acp_turn_fail(turn, ACP_ERROR_CODE_INTERNAL_ERROR,
                             acp_str_from("unknown exception"));
    }
}

void Agent::run(int in, int out)
{
    Loop loop(acp_agent_endpoint(agent_.get()), in, out);
    while (loop.step())
        continue;
}

} // namespace acp
