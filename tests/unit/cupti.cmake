keet_test(cupti nv core base LINK m LABEL gpu)
set_tests_properties(cupti PROPERTIES SKIP_RETURN_CODE 77)
