keet_test(search search LINK m)
