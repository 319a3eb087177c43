keet_test(worker_sandbox device core base LABEL gpu)
target_compile_definitions(test_worker_sandbox PRIVATE
    KEET_HOSTILE_DRIVER="$<TARGET_FILE:keet-hostile-driver>")
add_dependencies(test_worker_sandbox keet-hostile-driver)
