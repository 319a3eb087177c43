/* Has this test been built with AddressSanitizer? */
#ifndef KEET_TESTS_SANITIZED_H
#define KEET_TESTS_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
#define KEET_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEET_SANITIZED 1
#endif
#endif
#ifndef KEET_SANITIZED
#define KEET_SANITIZED 0
#endif

#endif
