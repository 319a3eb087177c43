keet_test(cupti_target nv core base LINK m LABEL gpu)
target_compile_definitions(test_cupti_target PRIVATE FAKE_CUPTI="$<TARGET_FILE:keet-fake-cupti>")
target_include_directories(test_cupti_target PRIVATE ${PROJECT_SOURCE_DIR}/tests)
add_dependencies(test_cupti_target keet-fake-cupti)
