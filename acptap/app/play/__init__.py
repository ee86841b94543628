"""Play cassettes: on standard input and output, in tests, and for test suites of any language."""
