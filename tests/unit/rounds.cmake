keet_test(rounds LABEL campaign campaign report store core base LINK m)

# The list's grammar: no bytes crash it, and what it makes of them has names that are file names.
add_executable(fuzz_list ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_list.c)
target_link_libraries(fuzz_list PRIVATE keet_campaign keet_report keet_store keet_core keet_base)
add_test(NAME fuzz_list COMMAND fuzz_list)
set_tests_properties(fuzz_list PROPERTIES LABELS campaign TIMEOUT 300)
