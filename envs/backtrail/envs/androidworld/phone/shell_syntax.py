"""The language of the phone's shell: words, quotes, lists of commands, pipes, redirections and ``if``."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Branch", "Chain", "Command", "Failure", "ShellSyntaxError", "Word", "parse"]

_OPERATORS = ("2>&1", "&&", "||", "2>>", ">>", "2>", ">&2", ">", "<", "|", "&", ";", "\n")
_REDIRECTIONS = frozenset({"2>&1", "2>>", ">>", "2>", ">&2", ">", "<"})
_RESERVED = frozenset({"then", "elif", "else", "fi"})
_GLOB = "*?["


class ShellSyntaxError(ValueError):
    """The text is no program of this shell."""


class Failure(Exception):
    """A command ended with a status other than zero: what it says on standard error, and what it had printed before."""

    def __init__(self, message: str, status: int = 1, output: bytes = b""):
        super().__init__(message)
        self.message, self.status, self.output = message, status, output


@dataclass(frozen=True)
class Word:
    """A word without its quotes.

    Attributes:
        text: What it says.
        pattern: The pattern of paths that it stands for, "" for none: what was quoted in it stands for itself.
        quoted: Whether any of it was quoted.
    """

    text: str
    pattern: str = ""
    quoted: bool = False


@dataclass(frozen=True)
class Command:
    """Words, and redirections as (operator, word)."""

    words: tuple[Word, ...]
    redirections: tuple[tuple[str, Word], ...] = ()


@dataclass(frozen=True)
class Branch:
    """``if`` with what follows in either case."""

    condition: Chain
    then: Chain
    otherwise: Chain


@dataclass(frozen=True)
class Chain:
    """Pipelines, each with how it hangs on the one before: ";", "&&" or "||"."""

    parts: tuple[tuple[str, tuple[Command | Branch, ...]], ...] = ()


def parse(text: str) -> Chain:
    """Return a program as a tree.

    Raises:
        ShellSyntaxError: If it is none, or uses what this shell does not have.
    """
    parser = _Parser(_tokens(text))
    chain = parser.chain()
    if parser.next is not None:
        raise ShellSyntaxError(f"syntax error: unexpected '{parser.said()}'")
    return chain


class _Parser:
    def __init__(self, tokens: list[Word | str]):
        self._tokens, self._place = tokens, 0

    @property
    def next(self) -> Word | str | None:
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def said(self) -> str:
        return (
            self.next.text if isinstance(self.next, Word) else str(self.next or "end of file").replace("\n", "newline")
        )

    def chain(self) -> Chain:
        parts, how = [], ";"
        while True:
            while self.next in (";", "\n", "&"):
                self._place += 1
            if self.next is None or self._reserved() in _RESERVED:
                break
            parts.append((how, self._pipeline()))
            if self.next not in ("&&", "||", ";", "\n", "&"):
                break
            how = str(self.next) if self.next in ("&&", "||") else ";"
            self._place += 1
            if how != ";" and self.next is None:
                raise ShellSyntaxError("syntax error: unexpected end of file")
        return Chain(tuple(parts))

    def _pipeline(self) -> tuple[Command | Branch, ...]:
        commands = [self._command()]
        while self.next == "|":
            self._place += 1
            commands.append(self._command())
        return tuple(commands)

    def _command(self) -> Command | Branch:
        if self._reserved() == "if":
            self._place += 1
            return self._branch()
        words, redirections = [], []
        while self.next is not None:
            token = self.next
            if isinstance(token, Word):
                words.append(token)
            elif token in _REDIRECTIONS:
                redirections.append((token, self._target(token)))
            else:
                break
            self._place += 1
        if not words:
            raise ShellSyntaxError(f"syntax error: unexpected '{self.said()}'")
        return Command(tuple(words), tuple(redirections))

    def _target(self, operator: str) -> Word:
        """Return where a redirection goes; the place is then at its last token."""
        if operator in ("2>&1", ">&2"):
            return Word("")
        self._place += 1
        if not isinstance(self.next, Word):
            raise ShellSyntaxError(f"syntax error: unexpected '{self.said()}'")
        return self.next

    def _branch(self) -> Branch:
        condition = self.chain()
        self._take("then")
        then, otherwise = self.chain(), Chain()
        if self._reserved() == "elif":
            self._place += 1
            return Branch(condition, then, Chain(((";", (self._branch(),)),)))
        if self._reserved() == "else":
            self._place += 1
            otherwise = self.chain()
        self._take("fi")
        return Branch(condition, then, otherwise)

    def _take(self, word: str) -> None:
        if self._reserved() != word:
            raise ShellSyntaxError(f"syntax error: unexpected '{self.said()}', expected '{word}'")
        self._place += 1

    def _reserved(self) -> str:
        """Return the text of the next token if it can be a reserved word, else ""."""
        return self.next.text if isinstance(self.next, Word) and not self.next.quoted else ""


def _tokens(text: str) -> list[Word | str]:
    tokens: list[Word | str] = []
    place = 0
    while place < len(text):
        character = text[place]
        operator = next((each for each in _OPERATORS if text.startswith(each, place)), "")
        if operator:
            tokens.append(operator)
            place += len(operator)
        elif character in " \t\r":
            place += 1
        elif character == "#":
            place = text.find("\n", place) if "\n" in text[place:] else len(text)
        else:
            word, place = _word(text, place)
            tokens.append(word)
    return tokens


def _word(text: str, place: int) -> tuple[Word, int]:
    """Read the word that begins at a place; return it and the place behind it."""
    said, pattern, quoted, globs = "", "", False, False

    def take(part: str, plain: bool) -> None:
        nonlocal said, pattern, globs
        said += part
        pattern += part if plain else "".join(f"[{each}]" if each in _GLOB else each for each in part)
        globs = globs or (plain and any(each in _GLOB for each in part))

    while place < len(text) and text[place] not in " \t\r\n;|&<>":
        character = text[place]
        if character == "'":
            end = text.find("'", place + 1)
            if end < 0:
                raise ShellSyntaxError("syntax error: no closing quote")
            take(text[place + 1 : end], False)
            quoted, place = True, end + 1
        elif character == '"':
            part, place = _double(text, place + 1)
            take(part, False)
            quoted = True
        elif character == "\\" and place + 1 < len(text):
            take("" if text[place + 1] == "\n" else text[place + 1], False)
            quoted, place = True, place + 2
        elif character in "$`":
            part, place = _variable(text, place)
            take(part, False)
        else:
            take(character, True)
            place += 1
    return Word(said, pattern if globs else "", quoted), place


def _double(text: str, place: int) -> tuple[str, int]:
    """Read a text in double quotes from behind the first; return it and the place behind the last."""
    said = ""
    while place < len(text):
        character = text[place]
        if character == '"':
            return said, place + 1
        if character == "\\" and text[place + 1 : place + 2] in ("$", "`", '"', "\\", "\n"):
            said += text[place + 1].strip("\n")
            place += 2
        elif character in "$`":
            part, place = _variable(text, place)
            said += part
        else:
            said += character
            place += 1
    raise ShellSyntaxError("syntax error: no closing quote")


def _variable(text: str, place: int) -> tuple[str, int]:
    """Read a variable, none of which is set; a lone dollar sign stands for itself."""
    following = text[place + 1 : place + 2]
    if text[place] == "`" or following == "(":
        raise ShellSyntaxError("syntax error: the output of a command as a word is not supported")
    if following == "{" and "}" in text[place:]:
        return "", text.index("}", place) + 1
    if following.isdigit():
        return "", place + 2
    end = place + 1
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return ("", end) if end > place + 1 else ("$", end)
