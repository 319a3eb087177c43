keet_test(conform_rows emu ptx core base LINK Threads::Threads m LABEL emulator)
target_compile_definitions(test_conform_rows PRIVATE KEET_FORMS_DIR="${CMAKE_BINARY_DIR}/forms"
    FORMS_BY="conform_int","conform_float","conform_memory","conform_compare","conform_convert","conform_warp","conform_video")
set_tests_properties(conform_rows PROPERTIES FIXTURES_REQUIRED forms)
