keet_test(doctor base LINK PkgConfig::JANSSON LABEL gpu)
target_compile_definitions(test_doctor PRIVATE
    KEET_POSING_DRIVER="$<TARGET_FILE:keet-posing-driver>" KEET_FAKE_NVML="$<TARGET_FILE:keet-fake-nvml>")
add_dependencies(test_doctor keet-posing-driver keet-fake-nvml)
