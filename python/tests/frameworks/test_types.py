"""What type checkers make of the modules, except those for Django, which has no types itself."""


def test_type_checker_accepts_the_framework_modules(checker):
    output, _ = checker.communicate()
    assert checker.returncode == 0, output
