# `cpack` in a build folder makes keet-opt_VERSION_ARCHITECTURE.deb and keet-opt-VERSION-Linux.tar.gz.
# The version is the project's, and in a checkout how many commits it has and which is the last.
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
find_package(Git QUIET)
if(Git_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-list --count HEAD
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
        OUTPUT_VARIABLE count OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --short=9 HEAD
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(count AND commit)
        string(APPEND CPACK_PACKAGE_VERSION "+${count}.g${commit}")
    endif()
endif()

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME keet-opt)
set(CPACK_PACKAGE_VENDOR "keet-opt maintainers")
set(CPACK_PACKAGE_CONTACT "keet-opt maintainers <keet-opt@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "closed-loop optimizer of CUDA kernels")
set(CPACK_PACKAGE_DESCRIPTION
    "keet-opt makes a CUDA kernel faster and proves that it still computes the same. A tree search
proposes variants; each is compiled, checked against the original, profiled and explained.
Without a GPU kernels run on a built-in emulator, which counts exactly and models time.
.
It needs NVRTC and CUDA's headers, 12.8 or newer, which are not in this package: a CUDA toolkit,
or NVIDIA's wheels from PyPI. `keet-opt doctor` says what is found, and what to do.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON) # what the program is linked to: sqlite, curl, ...
# And what it loads: the package that libclang is of, where Debian's is used.
find_program(DPKG_QUERY dpkg-query)
if(DPKG_QUERY)
    execute_process(COMMAND ${DPKG_QUERY} -S ${LIBCLANG_FILE}
        OUTPUT_VARIABLE owner ERROR_QUIET)
    string(REGEX MATCH "^[^:]+" CPACK_DEBIAN_PACKAGE_DEPENDS "${owner}")
endif()
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-venv, man-db")
include(CPack)
