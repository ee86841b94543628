"""Hold cassettes against the rules, and write their annotations anew."""
