"""The layers of the tree: which folder may use which, and the picture of it in docs/architecture.md.

A layer may include its own headers, those of the layers it uses, and those of the layers they use.
"""

USES = {
    "lib/base": [],
    "lib/json": ["lib/base"],
    "lib/wire": ["lib/json"],
    "lib/rpc": ["lib/wire"],
    "lib/codec": ["lib/json"],
    "lib/role": ["lib/rpc", "lib/codec"],
    "lib/io": ["lib/role"],
    "lib/workspace": ["lib/io"],
    "src/text": ["lib/base"],
    "src/markdown": ["src/text"],
    "src/cli": ["src/text", "lib/io"],
    "src/schema": ["lib/json"],
    "src/store": ["lib/io"],
    "src/launch": ["lib/io"],
    "src/http": ["lib/io"],
    "src/model": ["src/http"],
    "src/oauth": ["src/http", "lib/workspace"],
    "src/mcp": ["src/oauth", "src/launch"],
    "src/config": ["src/cli", "src/model", "src/oauth"],
    "src/registry": ["src/config", "src/launch"],
    "src/transcript": ["lib/role"],
    "src/render": ["src/transcript", "src/cli", "src/markdown"],
    "src/conversation": ["src/transcript", "src/store", "src/launch", "lib/workspace"],
    "src/daemon": ["src/conversation"],
    "src/hub": ["src/launch", "src/store", "lib/workspace"],
    "src/agent/toolkit": ["src/launch", "src/schema", "src/text", "lib/workspace"],
    "src/agent/tools": ["src/agent/toolkit"],
    "src/agent/loop": ["src/agent/toolkit", "src/mcp", "src/model", "src/store", "src/cli"],
    "src/cmd": ["src/agent/loop", "src/daemon", "src/hub", "src/registry", "src/render"],
}

# The layer that a public header belongs to.
PUBLIC = {
    "lib/base": ["base.h", "version.h"],
    "lib/json": ["json.h", "scan.h"],
    "lib/wire": ["wire.h"],
    "lib/rpc": ["endpoint.h", "rpc.h"],
    "lib/codec": ["codec.h", "types.h"],
    "lib/role": ["agent.h", "client.h", "turn.h"],
    "lib/io": ["io.h", "run.h"],
    "lib/workspace": ["files.h", "job.h", "policy.h", "terminals.h", "workspace.h"],
}

# libacp, which does no I/O.
PURE = ["lib/base", "lib/json", "lib/wire", "lib/rpc", "lib/codec", "lib/role"]


def below(layer):
    """All layers whose headers this one may include."""
    found = {layer}
    todo = [layer]
    while todo:
        for other in USES[todo.pop()]:
            if other not in found:
                found.add(other)
                todo.append(other)
    return found


def height(layer):
    return 1 + max((height(other) for other in USES[layer]), default=-1)


def picture():
    """The graph as text: the highest layers first, each with the layers that it uses."""
    rows = sorted(USES, key=lambda layer: (-height(layer), list(USES).index(layer)))
    width = max(len(layer) for layer in rows)
    return "".join(f"{layer:<{width}}  → {', '.join(USES[layer])}\n" if USES[layer] else f"{layer}\n"
                   for layer in rows)


if __name__ == "__main__":
    print(picture(), end="")
