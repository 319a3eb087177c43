keet_test(reply propose core base LABEL model)
