"""What a view of a thread has to react to: the effects of events, in the order of the wire."""
