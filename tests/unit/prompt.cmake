keet_test(prompt propose core base LABEL model)
