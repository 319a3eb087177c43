keet_test(nursery base)
