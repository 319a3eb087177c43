keet_test(moves_walk propose check compile device profile core base LABEL slow)
