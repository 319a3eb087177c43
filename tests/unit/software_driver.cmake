keet_test(software_driver nv base LABEL gpu)
target_include_directories(test_software_driver SYSTEM PRIVATE ${CUDA_INCLUDE})
target_compile_definitions(test_software_driver PRIVATE KEET_SOFTWARE_DRIVER="$<TARGET_FILE:keet-cuda>")
add_dependencies(test_software_driver keet-cuda)
