keet_test(sources_library store core base)
