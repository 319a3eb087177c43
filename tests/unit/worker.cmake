keet_test(worker device core base LABEL gpu)
target_compile_definitions(test_worker PRIVATE KEET_SOFTWARE_DRIVER="$<TARGET_FILE:keet-cuda>")
add_dependencies(test_worker keet-cuda)
