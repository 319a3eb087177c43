# Where the outside libraries are. setup.sh is the one list of how each is installed.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(SQLITE3 REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

# CUDA: headers only, everything is loaded with dlopen. KEET_CUDA when it is set; .deps/cuda, which
# setup.sh makes where it finds no toolkit that is new enough; else the toolkit.
find_path(CUDA_INCLUDE nvrtc.h
    HINTS $ENV{KEET_CUDA}/include ${PROJECT_SOURCE_DIR}/.deps/cuda/include $ENV{CUDA_HOME}/include
        /usr/local/cuda/include
    REQUIRED)
find_path(CUPTI_INCLUDE cupti_profiler_host.h
    HINTS ${CUDA_INCLUDE} ${CUDA_INCLUDE}/../extras/CUPTI/include REQUIRED)
find_path(LIBCLANG_INCLUDE clang-c/Index.h
    HINTS /usr/lib/llvm-14/include /usr/lib/llvm-16/include /usr/lib/llvm-19/include REQUIRED)
find_library(LIBCLANG_LIBRARY NAMES clang-14 clang
    HINTS ${LIBCLANG_INCLUDE}/../lib REQUIRED)
# Loaded with dlopen, by the name that it has in other installations, too.
file(REAL_PATH ${LIBCLANG_LIBRARY} LIBCLANG_FILE)
execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${LIBCLANG_FILE} OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "SONAME +([^ \n]+)" headers "${headers}")
set(LIBCLANG_SONAME ${CMAKE_MATCH_1} CACHE INTERNAL "the file name by which libclang is loaded")
