"""A model, of OpenAI's chat completions, that says too much.

    with Model(pieces) as model: ...

pieces(request) yields the deltas of an answer; they are sent as a stream until the other side closes
the connection.
"""

import http.server
import json
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply(b'{"data":[]}', "application/json")

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests += 1
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            reason = "stop"
            for delta in self.server.pieces(request):
                reason = "tool_calls" if "tool_calls" in delta else reason
                self.event({"index": 0, "delta": delta, "finish_reason": None})
            self.event({"index": 0, "delta": {}, "finish_reason": reason})
            self.wfile.write(b"data: [DONE]\n\n")
        except (BrokenPipeError, ConnectionResetError):
            pass  # enough, says the other side

    def event(self, choice):
        body = {"id": "1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
        self.wfile.write(b"data: " + json.dumps(body).encode() + b"\n\n")

    def reply(self, body, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        pass  # the other side has gone, which is its right


class Model:
    def __init__(self, pieces):
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.pieces = pieces
        self.server.requests = 0
        self.server.daemon_threads = True
        self.environment = {"OPENAI_API_KEY": "k",
                            "OPENAI_BASE_URL": f"http://127.0.0.1:{self.server.server_port}/v1"}

    def requests(self):
        return self.server.requests

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
