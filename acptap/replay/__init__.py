"""Floors 3 and 4: a recorded connection, played to a live client. Pure: no time, no transport.

transcript ─▶ script, lanes     what was recorded, and whose turn it is
live, casting, matching         which recorded step a live message stands for
progress, player                what may be said now
renaming, voice, release        how it is spelled for this client
misses, report                  what did not fit
"""
