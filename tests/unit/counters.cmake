keet_test(counters core base)
