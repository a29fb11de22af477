"""A binding of libacp by ctypes: messages as dictionaries, a client and an agent.

Neither needs a compiler.  The library is the one that the environment variable ACP_LIBRARY names,
or else the one that the loader finds.

Structs of acp/types.h are not declared here.  They are made from JSON and turned into JSON by the
type's name (Codec), as acp/codec.h describes.  Structs of options and callbacks are declared as far
as they are used: the functions that end in _sized are told how much that is, and take the rest as
zero.
"""

import ctypes
import ctypes.util
import json
import os
import select
import time
from ctypes import POINTER, byref, c_bool, c_char, c_int, c_int64, c_size_t, c_uint32, c_uint64
from ctypes import c_uint, c_void_p, sizeof

V1, V2 = 1, 2  # enum acp_protocol_flags
EVENT_CHUNK, AUTHOR_AGENT = 0, 0  # enum acp_event_kind, enum acp_message_role
STOP_END_TURN = 1  # enum acp_stop
INTERNAL_ERROR = -32603  # the code of JSON-RPC

lib = ctypes.CDLL(os.environ.get("ACP_LIBRARY") or ctypes.util.find_library("acp") or "libacp.so.0")


class Error(Exception):
    """A function of the library has failed, or the other side has refused."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def check(code, text=None):
    if code < 0:
        raise Error(code, text or lib.acp_err_text(code).decode())
    return code


# ---- Structs of the headers ----


def struct(class_name, **fields):
    return type(class_name, (ctypes.Structure,), {"_fields_": list(fields.items())})


class Str(ctypes.Structure):
    """struct acp_str, and struct acp_raw, which looks the same.  The bytes must be kept alive."""

    _fields_ = [("ptr", c_void_p), ("len", c_size_t)]

    @classmethod
    def of(cls, data):
        data = data.encode() if isinstance(data, str) else data
        made = cls(ctypes.cast(ctypes.c_char_p(data), c_void_p), len(data))
        made.data = data  # keeps it alive
        return made

    def bytes(self):
        return ctypes.string_at(self.ptr, self.len) if self.ptr else b""

    def text(self):
        return self.bytes().decode("utf-8", "replace")


List = struct("List", items=c_void_p, count=c_size_t)
Buf = struct("Buf", data=c_void_p, start=c_size_t, len=c_size_t, cap=c_size_t, max=c_size_t,
             reserved=c_void_p)
Arena = struct("Arena", blocks=c_void_p, next=c_void_p, end=c_void_p, used=c_size_t, max=c_size_t,
               reserved=c_void_p * 2)
Failure = struct("Failure", err=c_int, offset=c_size_t, path=c_char * 120, message=c_char * 200,
                 reserved=c_void_p * 2)
Outcome = struct("Outcome", err=c_int, code=c_int64, why=Str, value=c_void_p)
Stop = struct("Stop", reason=c_int, text=Str)
Want = struct("Want", input=c_size_t, output=c_size_t, holding=c_bool, timeout_ms=c_int,
              due_at=c_uint64, reserved=c_uint64 * 2)
Event = struct("Event", kind=c_int, author=c_int, message=Str, block=c_void_p, content=List,
               tool=c_void_p, tool_id=Str, tool_content=c_void_p, plan_id=Str, plan=List,
               commands=List, mode=Str, modes=List, options=List, state=c_int, update=c_void_p,
               raw=Str, meta=Str)
Question = struct("Question", title=Str, description=Str, tool=c_void_p, command=Str, options=List,
                  subject=c_void_p, meta=Str)
Place = struct("Place", cwd=Str, directories=List, mcp_servers=List, system_prompt=c_void_p,
               reserved=c_void_p * 4)
ClientOptions = struct("ClientOptions", name=Str, title=Str, version=Str, versions=c_uint)
AgentOptions = struct("AgentOptions", name=Str, title=Str, version=Str, versions=c_uint,
                      images=c_bool, audio=c_bool, embedded_context=c_bool, mcp_http=c_bool,
                      mcp_sse=c_bool, additional_directories=c_bool, max_prompt=c_size_t,
                      services=c_uint, capabilities_meta=Str, auth_methods=List,
                      merge_chars=c_uint32, merge_ms=c_uint32, no_merging=c_bool,
                      quiet_between_turns=c_bool, merge_waiting=c_bool, seed=c_uint64 * 2)

EVENT_FN = ctypes.CFUNCTYPE(None, c_void_p, POINTER(Event), c_void_p)
PERMISSION_FN = ctypes.CFUNCTYPE(None, c_void_p, c_uint64, POINTER(Question), c_void_p)
CLIENT_FN = ctypes.CFUNCTYPE(None, c_void_p, POINTER(Outcome), c_void_p)
SESSION_FN = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, POINTER(Outcome), c_void_p)
TURN_FN = ctypes.CFUNCTYPE(None, c_void_p, POINTER(Stop), POINTER(Outcome), c_void_p)
PROMPT_FN = ctypes.CFUNCTYPE(None, c_void_p, List, c_void_p)

ClientHandler = struct("ClientHandler", event=EVENT_FN, permission=PERMISSION_FN)
AgentHandler = struct("AgentHandler", before_prompt=c_void_p * 8, prompt=PROMPT_FN)


def declare(name, result, *arguments):
    function = getattr(lib, name)
    function.restype, function.argtypes = result, arguments


declare("acp_err_text", ctypes.c_char_p, c_int)
declare("acp_arena_init", None, POINTER(Arena), c_size_t)
declare("acp_arena_finish", None, POINTER(Arena))
declare("acp_arena_alloc", c_void_p, POINTER(Arena), c_size_t)
declare("acp_buf_init", None, POINTER(Buf), c_size_t)
declare("acp_buf_finish", None, POINTER(Buf))
declare("acp_type_find", c_int, Str, c_uint)
declare("acp_type_size", c_size_t, c_int)
declare("acp_decode", c_int, c_int, c_uint, Str, POINTER(Arena), c_void_p, POINTER(Failure))
declare("acp_encode_text", c_int, c_int, c_uint, c_void_p, POINTER(Buf), POINTER(Failure))
declare("acp_endpoint_tick", None, c_void_p, c_uint64)
declare("acp_endpoint_poll", None, c_void_p, c_uint64, POINTER(Want))
declare("acp_endpoint_receive", c_int, c_void_p, ctypes.c_char_p, c_size_t, c_uint64)
declare("acp_endpoint_receive_end", None, c_void_p, c_uint64)
declare("acp_endpoint_output", Str, c_void_p)
declare("acp_endpoint_sent", None, c_void_p, c_size_t)
declare("acp_client_new_sized", c_int, POINTER(ClientOptions), c_size_t, POINTER(ClientHandler),
        c_size_t, c_void_p, POINTER(c_void_p))
declare("acp_client_free", None, c_void_p)
declare("acp_client_endpoint", c_void_p, c_void_p)
declare("acp_client_protocol", c_uint, c_void_p)
declare("acp_client_error_text", Str, c_void_p)
declare("acp_client_initialize", c_int, c_void_p, CLIENT_FN, c_void_p)
declare("acp_client_new_session", c_int, c_void_p, POINTER(Place), SESSION_FN, c_void_p)
declare("acp_client_prompt", c_int, c_void_p, c_void_p, c_size_t, TURN_FN, c_void_p)
declare("acp_client_select_permission", c_int, c_void_p, c_uint64, Str)
declare("acp_client_cancel_permission", c_int, c_void_p, c_uint64)
declare("acp_agent_new_sized", c_int, POINTER(AgentOptions), c_size_t, POINTER(AgentHandler),
        c_size_t, c_void_p, POINTER(c_void_p))
declare("acp_agent_free", None, c_void_p)
declare("acp_agent_endpoint", c_void_p, c_void_p)
declare("acp_agent_protocol", c_uint, c_void_p)
declare("acp_turn_send_text", c_int, c_void_p, Str)
declare("acp_turn_end", c_int, c_void_p, c_int)
declare("acp_turn_fail", c_int, c_void_p, c_int64, Str)


# ---- Messages ----


class Codec:
    """Values of the types of one version, by the names that the protocol gives them."""

    def __init__(self, mode):
        self.mode = mode

    def find(self, name):
        number = lib.acp_type_find(Str.of(name), self.mode)
        if number == 0:
            raise Error(0, f"version {self.mode} has no type {name}")
        return number

    def size(self, name):
        return lib.acp_type_size(self.find(name))

    def decode(self, name, value, arena):
        """The struct of a type, from a dictionary: its address.  Also returns what it points to."""
        number, failure = self.find(name), Failure()
        text = Str.of(json.dumps(value))
        made = lib.acp_arena_alloc(byref(arena), lib.acp_type_size(number))
        if not made:
            raise MemoryError
        err = lib.acp_decode(number, self.mode, text, byref(arena), made, byref(failure))
        where = failure.path.decode()
        check(err, f"{where + ': ' if where else ''}{failure.message.decode()}")
        return made, text

    def encode(self, name, address):
        """The dictionary for the struct of a type at an address."""
        out, failure = Buf(), Failure()
        lib.acp_buf_init(byref(out), 64 << 20)
        try:
            err = lib.acp_encode_text(self.find(name), self.mode, address, byref(out),
                                      byref(failure))
            check(err, failure.message.decode())
            return json.loads(ctypes.string_at(out.data + out.start, out.len))
        finally:
            lib.acp_buf_finish(byref(out))

    def encode_list(self, name, values):
        return [self.encode(name, values.items + i * self.size(name)) for i in range(values.count)]

    def check(self, name, value):
        """The value as the library writes it.  Raises Error, with the place, when it is wrong."""
        arena = Arena()
        lib.acp_arena_init(byref(arena), 0)
        try:
            made, keep = self.decode(name, value, arena)
            checked = self.encode(name, made)
            del keep
            return checked
        finally:
            lib.acp_arena_finish(byref(arena))


# ---- The loop ----


def now():
    return time.monotonic_ns() // 1000000


class Loop:
    """Carries the bytes of an endpoint between two descriptors, which block."""

    def __init__(self, endpoint, reader, writer):
        self.endpoint, self.reader, self.writer = endpoint, reader, writer

    def step(self):
        """Waits and does what there is to do.  False when the connection is over."""
        want = Want()
        lib.acp_endpoint_tick(self.endpoint, now())
        lib.acp_endpoint_poll(self.endpoint, now(), byref(want))
        if self.reader is None and (self.writer is None or not (want.output or want.holding)):
            return False
        poll = select.poll()
        if want.input and self.reader is not None:
            poll.register(self.reader, select.POLLIN)
        if want.output and self.writer is not None:
            poll.register(self.writer, select.POLLOUT)
        ready = dict(poll.poll(want.timeout_ms))
        if self.writer in ready:
            self.send()
        if self.reader in ready:
            self.receive(min(want.input, 65536))
        return True

    def send(self):
        try:
            sent = os.write(self.writer,
                            lib.acp_endpoint_output(self.endpoint).bytes()[:select.PIPE_BUF])
            lib.acp_endpoint_sent(self.endpoint, sent)
        except BrokenPipeError:
            self.writer = None

    def receive(self, most):
        data = os.read(self.reader, most)
        if data and lib.acp_endpoint_receive(self.endpoint, data, len(data), now()) >= 0:
            return
        self.reader = None
        lib.acp_endpoint_receive_end(self.endpoint, now())


class Guard:
    """An exception must not leave a callback, so it is kept until the library has returned."""

    def __init__(self):
        self.exception = None

    def __call__(self, kind, function):
        def guarded(*arguments):
            try:
                function(*arguments)
            except BaseException as exception:  # also KeyboardInterrupt
                self.exception = self.exception or exception
        return kind(guarded)

    def reraise(self):
        exception, self.exception = self.exception, None
        if exception:
            raise exception


# ---- Roles ----


class Client:
    """A client on two descriptors.  Each call returns when the agent has answered.

    on_event gets each update as (kind, author, dictionary of the update, or of the content block
    that it adds).  on_permission gets the title and the options, and returns an optionId or None.
    """

    def __init__(self, reader, writer, on_event=None, on_permission=None, versions=V1 | V2):
        self.on_event, self.on_permission = on_event, on_permission
        self.guard, self.session, self.client = Guard(), None, c_void_p()
        self.callbacks = ClientHandler(event=self.guard(EVENT_FN, self._event),
                                       permission=self.guard(PERMISSION_FN, self._permission))
        name = Str.of("python-client")
        options = ClientOptions(name=name, version=Str.of("1.0"), versions=versions)
        self.keep = (name, options)  # texts of the options must outlive the client
        check(lib.acp_client_new_sized(byref(options), sizeof(options), byref(self.callbacks),
                                       sizeof(self.callbacks), None, byref(self.client)))
        self.loop = Loop(lib.acp_client_endpoint(self.client), reader, writer)

    def close(self):
        lib.acp_client_free(self.client)
        self.client = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    @property
    def codec(self):
        return Codec(lib.acp_client_protocol(self.client))

    def _event(self, session, event, user):
        event = event.contents
        if not self.on_event:
            return
        if event.kind == EVENT_CHUNK:
            value = self.codec.encode("ContentBlock", event.block)
        else:
            value = json.loads(event.raw.bytes() or b"null")
        self.on_event(event.kind, event.author, value)

    def _permission(self, session, call, question, user):
        chosen = None
        try:
            if self.on_permission:
                chosen = self.on_permission(question.contents.title.text(), self.codec.encode_list(
                    "PermissionOption", question.contents.options))
        finally:
            if chosen is None or lib.acp_client_select_permission(self.client, call, Str.of(chosen)) < 0:
                lib.acp_client_cancel_permission(self.client, call)

    def _call(self, kind, function, *arguments):
        """Calls a function that calls back with an outcome; returns what stands just before that."""
        answers = []

        def done(*values):
            before, outcome = values[-3], values[-2].contents
            if isinstance(before, POINTER(Stop)):
                before = before.contents.text.text()
            answers.append((outcome.err, outcome.why.text(), before))

        callback = self.guard(kind, done)
        self.keep_callback = callback  # until the client is freed, which may call it
        check(function(*arguments, callback, None), lib.acp_client_error_text(self.client).text())
        while not answers and self.guard.exception is None and self.loop.step():
            pass
        self.guard.reraise()
        if not answers:
            raise Error(0, "the connection is closed")
        err, why, before = answers[0]
        check(err, why)
        return before

    def initialize(self):
        self._call(CLIENT_FN, lib.acp_client_initialize, self.client)

    def new_session(self, cwd):
        place = Place(cwd=Str.of(cwd))
        self.session = self._call(SESSION_FN, lib.acp_client_new_session, self.client,
                                  byref(place))

    def prompt(self, block):
        """Sends a prompt of one content block, a dictionary; returns the stop reason."""
        arena = Arena()
        lib.acp_arena_init(byref(arena), 0)
        try:
            made, keep = self.codec.decode("ContentBlock", block, arena)
            stop = self._call(TURN_FN, lib.acp_client_prompt, self.session, made, 1)
            del keep
            return stop
        finally:
            lib.acp_arena_finish(byref(arena))


class Turn:
    def __init__(self, turn):
        self.turn = turn

    def text(self, words):
        check(lib.acp_turn_send_text(self.turn, Str.of(words)))


class Agent:
    """An agent whose on_prompt(turn, blocks) answers each prompt before it returns."""

    def __init__(self, on_prompt, versions=V1 | V2):
        self.on_prompt, self.guard, self.agent = on_prompt, Guard(), c_void_p()
        self.callbacks = AgentHandler(prompt=self.guard(PROMPT_FN, self._prompt))
        seed = (c_uint64 * 2).from_buffer_copy(os.urandom(16))
        name = Str.of("python-agent")
        options = AgentOptions(name=name, version=Str.of("1.0"), versions=versions, seed=seed)
        self.keep = (name, options)
        check(lib.acp_agent_new_sized(byref(options), sizeof(options), byref(self.callbacks),
                                      sizeof(self.callbacks), None, byref(self.agent)))

    def _prompt(self, turn, prompt, user):
        codec = Codec(lib.acp_agent_protocol(self.agent))
        try:
            self.on_prompt(Turn(turn), codec.encode_list("ContentBlock", prompt))
        except Exception as exception:
            lib.acp_turn_fail(turn, INTERNAL_ERROR, Str.of(str(exception)))
        else:
            lib.acp_turn_end(turn, STOP_END_TURN)

    def run(self, reader, writer):
        """Serves one client until it is gone."""
        loop = Loop(lib.acp_agent_endpoint(self.agent), reader, writer)
        try:
            while loop.step():
                self.guard.reraise()
        finally:
            lib.acp_agent_free(self.agent)
