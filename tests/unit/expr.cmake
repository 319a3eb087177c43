keet_test(expr core base LINK m)
