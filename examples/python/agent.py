#!/usr/bin/env python3
"""An agent in Python that answers each prompt with the prompt; "raise WORDS" fails the turn."""

import acp


def on_prompt(turn, blocks):
    for block in blocks:
        text = block.get("text", f"[{block['type']}]")
        if text.startswith("raise "):
            raise RuntimeError(text[6:])
        turn.text(text)


acp.Agent(on_prompt).run(0, 1)
