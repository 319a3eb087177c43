keet_test(sass compile nv core base LABEL emulator)

# The seeds, their beginnings, and many mutants of them.
add_executable(fuzz_cubin ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_cubin.c)
target_link_libraries(fuzz_cubin PRIVATE keet_nv keet_core keet_base)
file(GLOB cubins CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/cubin/*.cubin
    ${PROJECT_SOURCE_DIR}/tests/fuzz/cubin/corpus/*.cubin)
add_test(NAME fuzz_cubin COMMAND fuzz_cubin ${cubins})
set_tests_properties(fuzz_cubin PROPERTIES LABELS emulator TIMEOUT 300)
