"""Reads scenario files; README.md says what is in them.

A scenario is a list of steps for the runner, and the scripts of its agents.
"""

import dataclasses
import json
import re


class Mistake(Exception):
    """The file itself is wrong."""


@dataclasses.dataclass
class Step:
    line: int
    word: str
    rest: str = ""
    block: list = dataclasses.field(default_factory=list)  # (line, text) each


@dataclasses.dataclass
class Scenario:
    path: str
    title: str
    steps: list
    agents: dict  # name -> list of scripts, one for each start; a script is a list of Steps


# Steps that have an indented block below them.
WITH_BLOCK = ("agent", "file", "content", "files")
# Steps that are one character.
SIGNS = ("$", "&", "|", "!", "=")

OPENING = ("< initialize", "> initialize", "< session/new", "> session s1")


def split_word(text):
    word, _, rest = text.partition(" ")
    return word, rest.strip()


def read_lines(path):
    """The steps, with their blocks; a line that ends in a backslash goes on in the next one."""
    steps = []
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    number = 0
    while number < len(lines):
        line, start = lines[number], number + 1
        number += 1
        if line.startswith("    ") or (not line.strip() and steps and steps[-1].word in WITH_BLOCK):
            if not steps or steps[-1].word not in WITH_BLOCK:
                raise Mistake(f"{path}:{start}: nothing here has an indented block")
            steps[-1].block.append((start, line[4:]))
            continue
        while line.endswith("\\") and line[:1] in ("$", "&"):
            line = line[:-1].rstrip() + " " + lines[number].strip()
            number += 1
        if line.strip() and not line.startswith("#"):
            word, rest = (line[0], line[2:]) if line[0] in SIGNS else split_word(line)
            steps.append(Step(start, word, rest))
    for step in steps:
        while step.block and not step.block[-1][1].strip():
            step.block.pop()
    return steps, lines


def read_agent(step):
    """The script in an agent's block."""
    script = []
    begun = ""
    for line, text in step.block:
        text = begun + text.strip()
        begun = text[:-1].rstrip() + " " if text.endswith("\\") else ""
        if not text or begun or text.startswith("#"):
            continue
        for part in OPENING if text == "open" else [text]:
            script.append(Step(line, *split_word(part)))
    return script


def read(path):
    steps, lines = read_lines(path)
    if not lines[0].startswith("# "):
        raise Mistake(f"{path}:1: the first line says what the scenario shows: # ...")
    agents = {"agent": []}
    for step in steps:
        if step.word != "agent":
            continue
        match = re.fullmatch(r"([\w-]*?)\s*(?:x(\d+))?", step.rest)
        if not match:
            raise Mistake(f"{path}:{step.line}: agent [NAME] [xCOUNT]")
        scripts = agents.setdefault(match[1] or "agent", [])
        scripts.extend([read_agent(step)] * int(match[2] or 1))
    return Scenario(path, lines[0][2:].strip(), [s for s in steps if s.word != "agent"], agents)


def values(text, where):
    """The JSON values in a line, one after the other; what is not JSON is a word."""
    found = []
    decoder = json.JSONDecoder()
    while text:
        if text[0] in '{["' or re.match(r"-?\d+(\.\d+)?(\s|$)|(true|false|null)(\s|$)", text):
            try:
                value, end = decoder.raw_decode(text)
            except ValueError as error:
                raise Mistake(f"{where}: {error}") from None
            found.append(value)
            text = text[end:].lstrip()
        else:
            word, text = split_word(text)
            found.append(word)
    return found
