conform_test(conform_int)
