keet_test(moves propose check compile device profile core base)
