keet_test(secret base)
