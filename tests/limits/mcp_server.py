"""An MCP server that lists too much.

    mcp_server.py COUNT NAME_SIZE DESCRIPTION_SIZE RESULT_SIZE

It has COUNT tools, one a page and without an end where COUNT is "endless".  A call of any of them gives a
result of RESULT_SIZE bytes.
"""

import json
import sys

count, name_size, description_size, result_size = (
    None if word == "endless" else int(word) for word in sys.argv[1:])


def tool(at):
    return {"name": f"{at:0{name_size}}", "description": "d" * description_size,
            "inputSchema": {"type": "object"}}


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": "2025-03-26", "capabilities": {"tools": {}},
                "serverInfo": {"name": "hostile", "version": "1"}}
    if method == "tools/list" and count is None:
        at = int(params.get("cursor", "0"))
        return {"tools": [tool(at)], "nextCursor": str(at + 1)}
    if method == "tools/list":
        return {"tools": [tool(at) for at in range(count)]}
    return {"content": [{"type": "text", "text": "r" * result_size}]}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], message.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
