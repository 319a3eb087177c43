keet_test(gpu_timing device core base LABEL gpu)
target_compile_definitions(test_gpu_timing PRIVATE
    KEET_SOFTWARE_DRIVER="$<TARGET_FILE:keet-cuda>" KEET_FAKE_NVML="$<TARGET_FILE:keet-fake-nvml>")
add_dependencies(test_gpu_timing keet-cuda keet-fake-nvml)
