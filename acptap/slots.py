"""What of a value is secret because of where it stands."""

from enum import StrEnum


class Slot(StrEnum):
    """What of a value is secret."""

    WHOLE = "all of it"
    NAMED = "all of it, if it is named like a credential"
    MEMBER = "all of it, for it is named like a credential; prose is not looked for elsewhere"
    URL = "a URL's user info and token-like parameters"
    LINK = "all of a URL behind its host: links that work once carry codes anywhere"
    WORDS = "what follows `--token`, `KEY=` and the like"
    BASE64 = "what is secret in the text it encodes"
