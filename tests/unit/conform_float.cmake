conform_test(conform_float)
