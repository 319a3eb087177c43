keet_test(cuda_tree propose core base)
