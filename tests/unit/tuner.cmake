keet_test(tuner propose core base)
