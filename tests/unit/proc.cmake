keet_test(proc base)
