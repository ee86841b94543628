"""The Agent Client Protocol, versions 1 and 2: what was said, and what it means.

The rules are tables: `methods` and `updates` say what exists, `v1` and `v2` how state is known,
`rules` what the traffic is held against. `conversation` is their one reader.
"""
