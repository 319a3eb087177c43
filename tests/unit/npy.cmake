keet_test(npy core base LINK m)
