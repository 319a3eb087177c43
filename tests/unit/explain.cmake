keet_test(explain explain core base LINK m)
