"""The list of cases of one file."""


def cases():
    """An empty list, and what adds a function to it: @case(SECONDS, LONG)."""
    found = []

    def case(seconds, long=False):
        def add(function):
            found.append((function.__name__, seconds, long, function))
            return function
        return add
    return found, case
