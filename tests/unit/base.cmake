keet_test(base base LINK m)
