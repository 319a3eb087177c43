keet_test(check check device core base LINK m)
