keet_test(chip core base)
