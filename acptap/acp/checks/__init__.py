"""What a conversation is held against, by what a check looks at.

A check is a function that looks at one thing (a method's request, its answer, a kind of update, a
reported state, a session at the end) and returns the particulars if its rule is broken, else None.
It is registered in a table beside the id of the rule, and that rule's row in `acptap.acp.rules`
says which versions it holds in. Checks read what the conversation knows before the message changes
anything; what later checks have to remember is written down behind them, in the session's record.
"""
