keet_test(inputs core base LINK m)
