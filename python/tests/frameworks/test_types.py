"""Type checks of the framework modules, except Django's: Django itself has no types."""


def test_type_checker_accepts_the_framework_modules(checker):
    output, _ = checker.communicate()
    assert checker.returncode == 0, output
