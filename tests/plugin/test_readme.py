"""README's example, extracted and run."""

from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_example(suite):
    blocks = README.read_text().split("```python\n")[1:]
    snippets = [block.partition("```")[0] for block in blocks]
    (example,) = [snippet for snippet in snippets if "acptap_agent" in snippet]
    (suite.path / "test_example.py").write_text(example)
    result = suite.runpytest("-p", "no:cacheprovider")
    result.assert_outcomes(passed=2)
