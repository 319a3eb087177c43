keet_test(elem core base LINK m)
