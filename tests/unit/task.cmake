keet_test(task core base LINK m)
