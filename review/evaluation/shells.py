"""The commands that a container runs: its words, and those of the scripts that it hands to a shell.

Kubernetes puts variables into words, `$(NAME)`, and so does a shell, `$NAME`. Those that the container itself is given
as text are put in here too; what else a shell would do is not done.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard.review.evaluation.objects import Json
from gpuyard.review.values import mapping, sequence

_SHELLS = frozenset({"ash", "bash", "dash", "ksh", "sh", "zsh"})
_SCRIPT = re.compile(r"-[a-z]*c[a-z]*")
"""An option of a shell after which its script comes: -c, -lc, -exc."""
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_OF_KUBERNETES = re.compile(r"\$\(([A-Za-z_][\w.-]*)\)")
_OF_A_SHELL = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_ENDS_A_COMMAND = re.compile(r"[;&|()\n]+")
_DEEPEST = 3
"""Scripts within scripts."""
_LONGEST = 100_000
"""Characters of a script that are looked at: Linux takes no longer argument than 128 KiB."""

Word = tuple[str, str]
"""A word, and the JSON pointer of the one that the program writes it in."""


@dataclass(frozen=True, slots=True)
class Command:
    """A program that a container starts, with its arguments."""

    words: list[Word]
    environment: Mapping[str, str]
    """What the container and the script say of it, as far as it is text."""


def texts(value: Any, path: str) -> Iterator[Word]:
    """The texts of a list and where they are."""
    for i, text in enumerate(sequence(value)):
        if isinstance(text, str):
            yield f"{path}/{i}", text


def environment(container: Json) -> dict[str, str]:
    """The variables of a container whose values are written out."""
    return {
        name: value
        for variable in sequence(container.get("env"))
        if isinstance(name := mapping(variable).get("name"), str) and isinstance(value := variable.get("value"), str)
    }


def commands(container: Json, path: str) -> Iterator[Command]:
    """Every command of a container; of one that names no program, its arguments alone."""
    known = environment(container)
    words = [
        (_put_in(_OF_KUBERNETES, text, known), place)
        for field in ("command", "args")
        for place, text in texts(container.get(field), f"{path}/{field}")
    ]
    yield from _commands(words, known, 0)


def split(script: str) -> list[list[str]]:
    """The words of each command of a script."""
    text = script[:_LONGEST].replace("\\\n", " ")
    try:
        lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|()\n")
        lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
        words = list(lexer)
    except ValueError:
        # A quote that is not closed: no shell would run it.
        words = re.split(r"[ \t\r]+|(\n)", text)
    found: list[list[str]] = [[]]
    comment = False
    for word in words:
        if word and _ENDS_A_COMMAND.fullmatch(word):
            comment = comment and "\n" not in word
            found.append([])
        elif word and not comment:
            comment = word.startswith("#")
            if not comment:
                found[-1].append(word)
    return [command for command in found if command]


def _commands(words: list[Word], known: Mapping[str, str], depth: int) -> Iterator[Command]:
    script = _script(words) if depth < _DEEPEST else None
    if script is None:
        yield Command(words, known)
        return
    text, place = script
    inside = dict(known)
    for command in split(text):
        said = [word for word in command if word not in ("export", "exec", "env")]
        own = dict(inside)
        while said and (found := _ASSIGNMENT.fullmatch(said[0])):
            own[found[1]] = _put_in(_OF_A_SHELL, found[2], own)
            said.pop(0)
        if not said:
            inside = own
        else:
            yield from _commands([(_put_in(_OF_A_SHELL, word, own), place) for word in said], own, depth + 1)


def _script(words: list[Word]) -> Word | None:
    """The script that a command hands to a shell, whatever starts that shell."""
    shell = next((i for i, (word, _) in enumerate(words) if word.rpartition("/")[2] in _SHELLS), None)
    if shell is None:
        return None
    for i, (word, _) in enumerate(words[shell + 1 :], start=shell + 1):
        if _SCRIPT.fullmatch(word):
            return words[i + 1] if i + 1 < len(words) else None
        if not word.startswith("-"):
            return None
    return None


def _put_in(form: re.Pattern[str], text: str, known: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        name = next(group for group in found.groups() if group is not None)
        return known.get(name, found[0])

    return form.sub(value, text) if "$" in text else text
