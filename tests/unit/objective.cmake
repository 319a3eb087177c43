keet_test(objective core base LINK m)
