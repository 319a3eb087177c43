/* Owns the texts of the stand-in headers. Types follow CUDA on 64-bit Linux (LP64), where int64_t
 * is `long`; CCCL would make it `long long` under NVRTC, so that header of CCCL's has one here too.
 */
#include "compile/standins.h"

#include "base/hash.h"

#include <string.h>

#define GUARD "#pragma once\n"

static const char stddef_h[] = GUARD "typedef decltype(nullptr) keet_nullptr_t;\n"
                                     "typedef decltype((char *)0 - (char *)0) ptrdiff_t;\n"
                                     "#ifndef NULL\n#define NULL 0\n#endif\n"
                                     "#ifndef offsetof\n"
                                     "#define offsetof(t, m) __builtin_offsetof(t, m)\n#endif\n"
                                     "namespace std {\n"
                                     "using ::size_t; using ::ptrdiff_t;\n"
                                     "typedef keet_nullptr_t nullptr_t;\n"
                                     "}\n";

static const char stdint_h[] = GUARD
    "typedef signed char int8_t; typedef short int16_t; typedef int int32_t;\n"
    "typedef long int64_t;\n"
    "typedef unsigned char uint8_t; typedef unsigned short uint16_t;\n"
    "typedef unsigned int uint32_t; typedef unsigned long uint64_t;\n"
    "typedef int64_t intptr_t; typedef uint64_t uintptr_t;\n"
    "typedef int64_t intmax_t; typedef uint64_t uintmax_t;\n"
    "typedef int8_t int_least8_t; typedef int16_t int_least16_t;\n"
    "typedef int32_t int_least32_t; typedef int64_t int_least64_t;\n"
    "typedef uint8_t uint_least8_t; typedef uint16_t uint_least16_t;\n"
    "typedef uint32_t uint_least32_t; typedef uint64_t uint_least64_t;\n"
    "typedef int8_t int_fast8_t; typedef uint8_t uint_fast8_t;\n"
    "typedef int16_t int_fast16_t; typedef int32_t int_fast32_t; typedef int64_t int_fast64_t;\n"
    "typedef uint16_t uint_fast16_t; typedef uint32_t uint_fast32_t;\n"
    "typedef uint64_t uint_fast64_t;\n"
    "namespace std {\n"
    "using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;\n"
    "using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;\n"
    "using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t;\n"
    "using ::int_fast8_t; using ::int_fast16_t; using ::int_fast32_t; using ::int_fast64_t;\n"
    "using ::uint_fast8_t; using ::uint_fast16_t; using ::uint_fast32_t; using ::uint_fast64_t;\n"
    "}\n"
    "#ifndef INT64_C\n"
    "#define INT8_C(n) n\n#define INT16_C(n) n\n#define INT32_C(n) n\n"
    "#define UINT8_C(n) n\n#define UINT16_C(n) n\n#define UINT32_C(n) n##u\n"
    "#define INT64_C(n) n##l\n#define UINT64_C(n) n##ul\n"
    "#define INTMAX_C(n) n##l\n#define UINTMAX_C(n) n##ul\n"
    "#endif\n"
    "#ifndef INT8_MIN\n"
    "#define INT8_MIN (-128)\n#define INT8_MAX 127\n#define UINT8_MAX 255\n"
    "#define INT16_MIN (-32768)\n#define INT16_MAX 32767\n#define UINT16_MAX 65535\n"
    "#define INT32_MIN (-2147483647 - 1)\n#define INT32_MAX 2147483647\n"
    "#define UINT32_MAX 4294967295u\n"
    "#define INT64_MIN (-9223372036854775807l - 1)\n#define INT64_MAX 9223372036854775807l\n"
    "#define UINT64_MAX 18446744073709551615ul\n"
    "#define SIZE_MAX 18446744073709551615ul\n"
    "#define INTPTR_MIN INT64_MIN\n#define INTPTR_MAX INT64_MAX\n#define UINTPTR_MAX UINT64_MAX\n"
    "#endif\n";

/* The names of CCCL 2 and 3 for where its own are. */
static const char cuda_cstdint_h[] = GUARD
    "#include <cuda/std/climits>\n#include <stdint.h>\n"
    "#define PTRDIFF_MIN INT64_MIN\n#define PTRDIFF_MAX INT64_MAX\n"
    "#ifdef _CCCL_BEGIN_NAMESPACE_CUDA_STD\n"
    "_CCCL_BEGIN_NAMESPACE_CUDA_STD\n"
    "#else\n"
    "_LIBCUDACXX_BEGIN_NAMESPACE_STD\n"
    "#endif\n"
    "using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;\n"
    "using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;\n"
    "using ::int_fast8_t; using ::int_fast16_t; using ::int_fast32_t; using ::int_fast64_t;\n"
    "using ::uint_fast8_t; using ::uint_fast16_t; using ::uint_fast32_t; using ::uint_fast64_t;\n"
    "using ::int_least8_t; using ::int_least16_t; using ::int_least32_t; using ::int_least64_t;\n"
    "using ::uint_least8_t; using ::uint_least16_t; using ::uint_least32_t;\n"
    "using ::uint_least64_t; using ::intptr_t; using ::uintptr_t; using ::intmax_t;\n"
    "using ::uintmax_t;\n"
    "#if defined(_CCCL_HAS_INT128) && _CCCL_HAS_INT128()\n"
    "using __cccl_intmax_t = __int128_t; using __cccl_uintmax_t = __uint128_t;\n"
    "#else\n"
    "using __cccl_intmax_t = long long; using __cccl_uintmax_t = unsigned long long;\n"
    "#endif\n"
    "#ifdef _CCCL_BEGIN_NAMESPACE_CUDA_STD\n"
    "_CCCL_END_NAMESPACE_CUDA_STD\n"
    "#else\n"
    "_LIBCUDACXX_END_NAMESPACE_STD\n"
    "#endif\n";

/* Headers of the toolkit that declare uint64_t their own way (`long long`) under NVRTC: under other
 * names then. */
#define RENAMED(header)                                                                            \
    GUARD "#include <stdint.h>\n"                                                                  \
          "#ifdef KEET_RENAMED\n#include <../include/" header ">\n#else\n#define KEET_RENAMED\n"   \
          "#define uint32_t keet_uint32_t\n#define uint64_t keet_uint64_t\n"                       \
          "#define uintptr_t keet_uintptr_t\n#include <../include/" header ">\n"                   \
          "#undef uint32_t\n#undef uint64_t\n#undef uintptr_t\n#undef KEET_RENAMED\n#endif\n"

static const char limits_h[] = GUARD
    "#ifndef CHAR_BIT\n#define CHAR_BIT 8\n#endif\n"
    "#ifndef INT_MAX\n"
    "#define SCHAR_MIN (-128)\n#define SCHAR_MAX 127\n#define UCHAR_MAX 255\n"
    "#define CHAR_MIN SCHAR_MIN\n#define CHAR_MAX SCHAR_MAX\n"
    "#define SHRT_MIN (-32768)\n#define SHRT_MAX 32767\n#define USHRT_MAX 65535\n"
    "#define INT_MIN (-2147483647 - 1)\n#define INT_MAX 2147483647\n"
    "#define UINT_MAX 4294967295u\n"
    "#define LONG_MIN (-9223372036854775807l - 1)\n#define LONG_MAX 9223372036854775807l\n"
    "#define ULONG_MAX 18446744073709551615ul\n"
    "#define LLONG_MIN (-9223372036854775807ll - 1)\n#define LLONG_MAX 9223372036854775807ll\n"
    "#define ULLONG_MAX 18446744073709551615ull\n"
    "#endif\n";

/* IEEE 754 binary32 and binary64. */
static const char float_h[] =
    GUARD "#ifndef FLT_MAX\n"
          "#define FLT_RADIX 2\n#define FLT_MANT_DIG 24\n#define FLT_DIG 6\n"
          "#define FLT_MIN_EXP (-125)\n#define FLT_MAX_EXP 128\n"
          "#define FLT_MAX 3.402823466e+38f\n#define FLT_MIN 1.175494351e-38f\n"
          "#define FLT_EPSILON 1.192092896e-07f\n#define FLT_TRUE_MIN 1.401298464e-45f\n"
          "#define DBL_MANT_DIG 53\n#define DBL_DIG 15\n"
          "#define DBL_MIN_EXP (-1021)\n#define DBL_MAX_EXP 1024\n"
          "#define DBL_MAX 1.7976931348623157e+308\n#define DBL_MIN 2.2250738585072014e-308\n"
          "#define DBL_EPSILON 2.2204460492503131e-16\n"
          "#define DBL_TRUE_MIN 4.9406564584124654e-324\n"
          "#endif\n";

/* The functions themselves are built into the compiler, in the global namespace. */
static const char math_h[] =
    GUARD "#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n#endif\n"
          "#ifndef NAN\n#define NAN __int_as_float(0x7fffffff)\n#endif\n"
          "#ifndef HUGE_VALF\n#define HUGE_VALF INFINITY\n#endif\n"
          "#ifndef HUGE_VAL\n#define HUGE_VAL __longlong_as_double(0x7ff0000000000000ll)\n#endif\n"
          "#ifndef M_PI\n"
          "#define M_E 2.7182818284590452354\n#define M_LOG2E 1.4426950408889634074\n"
          "#define M_LOG10E 0.43429448190325182765\n#define M_LN2 0.69314718055994530942\n"
          "#define M_LN10 2.30258509299404568402\n#define M_PI 3.14159265358979323846\n"
          "#define M_PI_2 1.57079632679489661923\n#define M_PI_4 0.78539816339744830962\n"
          "#define M_1_PI 0.31830988618379067154\n#define M_2_PI 0.63661977236758134308\n"
          "#define M_2_SQRTPI 1.12837916709551257390\n#define M_SQRT2 1.41421356237309504880\n"
          "#define M_SQRT1_2 0.70710678118654752440\n"
          "#endif\n";

static const char cmath_h[] = GUARD
    "#include <math.h>\n"
    "namespace std {\n"
    "using ::abs; using ::fabs; using ::fmod; using ::remainder; using ::fma; using ::fmax;\n"
    "using ::fmin; using ::fdim; using ::exp; using ::exp2; using ::expm1; using ::log;\n"
    "using ::log10; using ::log2; using ::log1p; using ::pow; using ::sqrt; using ::cbrt;\n"
    "using ::hypot; using ::sin; using ::cos; using ::tan; using ::asin; using ::acos;\n"
    "using ::atan; using ::atan2; using ::sinh; using ::cosh; using ::tanh; using ::asinh;\n"
    "using ::acosh; using ::atanh; using ::erf; using ::erfc; using ::tgamma; using ::lgamma;\n"
    "using ::ceil; using ::floor; using ::trunc; using ::round; using ::rint;\n"
    "using ::nearbyint; using ::lround; using ::llround; using ::lrint; using ::llrint;\n"
    "using ::frexp; using ::ldexp; using ::modf; using ::scalbn; using ::logb; using ::ilogb;\n"
    "using ::copysign; using ::nextafter; using ::isnan; using ::isinf; using ::isfinite;\n"
    "using ::signbit;\n"
    "using ::fabsf; using ::fmaf; using ::fmaxf; using ::fminf; using ::expf; using ::logf;\n"
    "using ::powf; using ::sqrtf; using ::sinf; using ::cosf; using ::tanhf; using ::floorf;\n"
    "using ::ceilf; using ::roundf; using ::erff; using ::tanf; using ::asinf; using ::acosf;\n"
    "using ::atanf; using ::atan2f; using ::sinhf; using ::coshf; using ::exp2f; using ::expm1f;\n"
    "using ::log2f; using ::log10f; using ::log1pf; using ::cbrtf; using ::hypotf; using ::fmodf;\n"
    "using ::truncf; using ::rintf; using ::nearbyintf; using ::copysignf; using ::fdimf;\n"
    "using ::lroundf; using ::lrintf; using ::erfcf; using ::tgammaf; using ::lgammaf;\n"
    "}\n";

static const char type_traits_h[] = GUARD
    "namespace std {\n"
    "template <class T, T v> struct integral_constant {\n"
    "    static constexpr T value = v; typedef T value_type; typedef integral_constant type;\n"
    "    constexpr operator T() const noexcept { return v; }\n"
    "    constexpr T operator()() const noexcept { return v; }\n"
    "};\n"
    "template <bool b> using bool_constant = integral_constant<bool, b>;\n"
    "typedef bool_constant<true> true_type; typedef bool_constant<false> false_type;\n"
    "template <bool b, class T = void> struct enable_if {};\n"
    "template <class T> struct enable_if<true, T> { typedef T type; };\n"
    "template <bool b, class T = void> using enable_if_t = typename enable_if<b, T>::type;\n"
    "template <bool b, class T, class F> struct conditional { typedef T type; };\n"
    "template <class T, class F> struct conditional<false, T, F> { typedef F type; };\n"
    "template <bool b, class T, class F> using conditional_t =\n"
    "    typename conditional<b, T, F>::type;\n"
    "template <class...> using void_t = void;\n"
    "template <class T> struct type_identity { typedef T type; };\n"
    "template <class T, class U> struct is_same : false_type {};\n"
    "template <class T> struct is_same<T, T> : true_type {};\n"
    "template <class T, class U> inline constexpr bool is_same_v = is_same<T, U>::value;\n"
    "template <class T> struct remove_const { typedef T type; };\n"
    "template <class T> struct remove_const<const T> { typedef T type; };\n"
    "template <class T> struct remove_volatile { typedef T type; };\n"
    "template <class T> struct remove_volatile<volatile T> { typedef T type; };\n"
    "template <class T> struct remove_cv {\n"
    "    typedef typename remove_const<typename remove_volatile<T>::type>::type type; };\n"
    "template <class T> struct remove_reference { typedef T type; };\n"
    "template <class T> struct remove_reference<T &> { typedef T type; };\n"
    "template <class T> struct remove_reference<T &&> { typedef T type; };\n"
    "template <class T> struct remove_pointer { typedef T type; };\n"
    "template <class T> struct remove_pointer<T *> { typedef T type; };\n"
    "template <class T> struct remove_pointer<T *const> { typedef T type; };\n"
    "template <class T> struct remove_extent { typedef T type; };\n"
    "template <class T> struct remove_extent<T[]> { typedef T type; };\n"
    "template <class T, size_t n> struct remove_extent<T[n]> { typedef T type; };\n"
    "template <class T> using remove_const_t = typename remove_const<T>::type;\n"
    "template <class T> using remove_volatile_t = typename remove_volatile<T>::type;\n"
    "template <class T> using remove_cv_t = typename remove_cv<T>::type;\n"
    "template <class T> using remove_reference_t = typename remove_reference<T>::type;\n"
    "template <class T> using remove_pointer_t = typename remove_pointer<T>::type;\n"
    "template <class T> using remove_extent_t = typename remove_extent<T>::type;\n"
    "template <class T> using remove_cvref_t = remove_cv_t<remove_reference_t<T>>;\n"
    "template <class T> using decay_t = remove_cvref_t<T>;\n"
    "template <class T> struct decay { typedef decay_t<T> type; };\n"
    "template <class T> struct add_const { typedef const T type; };\n"
    "template <class T> using add_const_t = const T;\n"
    "template <class T> struct add_pointer { typedef remove_reference_t<T> *type; };\n"
    "template <class T> using add_pointer_t = typename add_pointer<T>::type;\n"
    "template <class T> struct is_void : is_same<remove_cv_t<T>, void> {};\n"
    "template <class T> struct is_const : false_type {};\n"
    "template <class T> struct is_const<const T> : true_type {};\n"
    "template <class T> struct is_pointer : false_type {};\n"
    "template <class T> struct is_pointer<T *> : true_type {};\n"
    "template <class T> struct is_pointer<T *const> : true_type {};\n"
    "template <class T> struct is_reference : bool_constant<!is_same<T,\n"
    "    remove_reference_t<T>>::value> {};\n"
    "template <class T> struct is_array : bool_constant<!is_same<T, remove_extent_t<T>>::value> "
    "{};\n"
    "template <class T, class... U> struct keet_is_any : bool_constant<(is_same<remove_cv_t<T>,\n"
    "    U>::value || ...)> {};\n"
    "template <class T> struct is_integral : keet_is_any<T, bool, char, signed char,\n"
    "    unsigned char, short, unsigned short, int, unsigned, long, unsigned long, long long,\n"
    "    unsigned long long, wchar_t, char16_t, char32_t> {};\n"
    "template <class T> struct is_floating_point : keet_is_any<T, float, double> {};\n"
    "template <class T> struct is_arithmetic : bool_constant<is_integral<T>::value ||\n"
    "    is_floating_point<T>::value> {};\n"
    "template <class T, bool = is_arithmetic<T>::value> struct is_signed : bool_constant<(T(-1) <\n"
    "    T(0))> {};\n"
    "template <class T> struct is_signed<T, false> : false_type {};\n"
    "template <class T> struct is_unsigned : bool_constant<is_arithmetic<T>::value &&\n"
    "    !is_signed<T>::value> {};\n"
    "template <class T> struct is_enum : bool_constant<__is_enum(T)> {};\n"
    "template <class T> struct is_class : bool_constant<__is_class(T)> {};\n"
    "template <class T> struct is_trivially_copyable : bool_constant<__is_trivially_copyable(T)> "
    "{};\n"
    "template <class B, class D> struct is_base_of : bool_constant<__is_base_of(B, D)> {};\n"
    "template <class F, class T> struct is_convertible : bool_constant<__is_convertible_to(F, T)> "
    "{};\n"
    "template <class T> inline constexpr bool is_void_v = is_void<T>::value;\n"
    "template <class T> inline constexpr bool is_const_v = is_const<T>::value;\n"
    "template <class T> inline constexpr bool is_pointer_v = is_pointer<T>::value;\n"
    "template <class T> inline constexpr bool is_integral_v = is_integral<T>::value;\n"
    "template <class T> inline constexpr bool is_floating_point_v = is_floating_point<T>::value;\n"
    "template <class T> inline constexpr bool is_arithmetic_v = is_arithmetic<T>::value;\n"
    "template <class T> inline constexpr bool is_signed_v = is_signed<T>::value;\n"
    "template <class T> inline constexpr bool is_unsigned_v = is_unsigned<T>::value;\n"
    "template <class T> inline constexpr bool is_trivially_copyable_v =\n"
    "    is_trivially_copyable<T>::value;\n"
    "template <class... T> struct common_type {};\n"
    "template <class T> struct common_type<T> { typedef decay_t<T> type; };\n"
    "template <class T, class U> struct common_type<T, U> {\n"
    "    typedef decay_t<decltype(true ? *(decay_t<T> *)0 : *(decay_t<U> *)0)> type; };\n"
    "template <class T, class U, class V, class... W> struct common_type<T, U, V, W...>\n"
    "    : common_type<typename common_type<T, U>::type, V, W...> {};\n"
    "template <class... T> using common_type_t = typename common_type<T...>::type;\n"
    "template <size_t n, size_t a = 16> struct aligned_storage {\n"
    "    struct type { alignas(a) unsigned char bytes[n]; }; };\n"
    "template <size_t n, size_t a = 16>\n"
    "using aligned_storage_t = typename aligned_storage<n, a>::type;\n"
    "template <class T> struct underlying_type { typedef __underlying_type(T) type; };\n"
    "template <class T> using underlying_type_t = typename underlying_type<T>::type;\n"
    "template <class T> struct make_unsigned {};\n"
    "template <> struct make_unsigned<char> { typedef unsigned char type; };\n"
    "template <> struct make_unsigned<signed char> { typedef unsigned char type; };\n"
    "template <> struct make_unsigned<unsigned char> { typedef unsigned char type; };\n"
    "template <> struct make_unsigned<short> { typedef unsigned short type; };\n"
    "template <> struct make_unsigned<unsigned short> { typedef unsigned short type; };\n"
    "template <> struct make_unsigned<int> { typedef unsigned type; };\n"
    "template <> struct make_unsigned<unsigned> { typedef unsigned type; };\n"
    "template <> struct make_unsigned<long> { typedef unsigned long type; };\n"
    "template <> struct make_unsigned<unsigned long> { typedef unsigned long type; };\n"
    "template <> struct make_unsigned<long long> { typedef unsigned long long type; };\n"
    "template <> struct make_unsigned<unsigned long long> { typedef unsigned long long type; };\n"
    "template <class T> using make_unsigned_t = typename make_unsigned<T>::type;\n"
    "template <class T> struct make_signed {};\n"
    "template <> struct make_signed<char> { typedef signed char type; };\n"
    "template <> struct make_signed<signed char> { typedef signed char type; };\n"
    "template <> struct make_signed<unsigned char> { typedef signed char type; };\n"
    "template <> struct make_signed<short> { typedef short type; };\n"
    "template <> struct make_signed<unsigned short> { typedef short type; };\n"
    "template <> struct make_signed<int> { typedef int type; };\n"
    "template <> struct make_signed<unsigned> { typedef int type; };\n"
    "template <> struct make_signed<long> { typedef long type; };\n"
    "template <> struct make_signed<unsigned long> { typedef long type; };\n"
    "template <> struct make_signed<long long> { typedef long long type; };\n"
    "template <> struct make_signed<unsigned long long> { typedef long long type; };\n"
    "template <class T> using make_signed_t = typename make_signed<T>::type;\n"
    "template <class... T> struct conjunction : bool_constant<(T::value && ...)> {};\n"
    "template <class... T> struct disjunction : bool_constant<(T::value || ...)> {};\n"
    "template <class T> struct negation : bool_constant<!T::value> {};\n"
    "template <class... T> inline constexpr bool conjunction_v = (T::value && ...);\n"
    "template <class... T> inline constexpr bool disjunction_v = (T::value || ...);\n"
    "template <class T> inline constexpr bool negation_v = !T::value;\n"
    "template <class T> inline constexpr bool is_enum_v = is_enum<T>::value;\n"
    "template <class T> inline constexpr bool is_class_v = is_class<T>::value;\n"
    "template <class T> inline constexpr bool is_array_v = is_array<T>::value;\n"
    "template <class T> inline constexpr bool is_reference_v = is_reference<T>::value;\n"
    "template <class B, class D> inline constexpr bool is_base_of_v = is_base_of<B, D>::value;\n"
    "template <class F, class T> inline constexpr bool is_convertible_v =\n"
    "    is_convertible<F, T>::value;\n"
    "template <class T> struct is_empty : bool_constant<__is_empty(T)> {};\n"
    "template <class T> struct is_trivial : bool_constant<__is_trivial(T)> {};\n"
    "template <class T> struct is_standard_layout : bool_constant<__is_standard_layout(T)> {};\n"
    "template <class T> struct alignment_of : integral_constant<size_t, alignof(T)> {};\n"
    "}\n";

/* std::move and std::forward are built into the compiler. */
static const char utility_h[] = GUARD
    "#include <type_traits>\n"
    "namespace std {\n"
    "template <class T> constexpr void swap(T &a, T &b) { T t = a; a = b; b = t; }\n"
    "template <class T> T &&declval() noexcept;\n"
    "template <class A, class B> struct pair { A first; B second; };\n"
    "template <class A, class B> constexpr pair<A, B> make_pair(A a, B b) { return {a, b}; }\n"
    "template <class T, T... v> struct integer_sequence {\n"
    "    static constexpr size_t size() noexcept { return sizeof...(v); } };\n"
    "template <size_t... v> using index_sequence = integer_sequence<size_t, v...>;\n"
    "template <size_t n, size_t... v> struct keet_indices : keet_indices<n - 1, n - 1, v...> {};\n"
    "template <size_t... v> struct keet_indices<0, v...> { typedef index_sequence<v...> type; };\n"
    "template <size_t n> using make_index_sequence = typename keet_indices<n>::type;\n"
    "template <class... T> using index_sequence_for = make_index_sequence<sizeof...(T)>;\n"
    "template <class T, class U = T> constexpr T exchange(T &a, U b)\n"
    "{ T old = a; a = b; return old; }\n"
    "}\n";

static const char algorithm_h[] = GUARD
    "#include <utility>\n"
    "namespace std {\n"
    "template <class T> constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }\n"
    "template <class T> constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }\n"
    "template <class T> constexpr const T &clamp(const T &x, const T &lo, const T &hi)\n"
    "{ return x < lo ? lo : hi < x ? hi : x; }\n"
    "}\n";

static const char array_h[] = GUARD
    "namespace std {\n"
    "template <class T, size_t n> struct array {\n"
    "    T keet_items[n ? n : 1];\n"
    "    typedef T value_type; typedef size_t size_type; typedef T *iterator;\n"
    "    constexpr T &operator[](size_t i) { return keet_items[i]; }\n"
    "    constexpr const T &operator[](size_t i) const { return keet_items[i]; }\n"
    "    constexpr T *data() { return keet_items; }\n"
    "    constexpr const T *data() const { return keet_items; }\n"
    "    constexpr T *begin() { return keet_items; }\n"
    "    constexpr const T *begin() const { return keet_items; }\n"
    "    constexpr T *end() { return keet_items + n; }\n"
    "    constexpr const T *end() const { return keet_items + n; }\n"
    "    constexpr T &front() { return keet_items[0]; }\n"
    "    constexpr T &back() { return keet_items[n - 1]; }\n"
    "    static constexpr size_t size() { return n; }\n"
    "    constexpr void fill(const T &x) { for (size_t i = 0; i < n; i++) keet_items[i] = x; }\n"
    "};\n"
    "}\n";

static const char functional_h[] =
    GUARD "namespace std {\n"
          "#define KEET_FUNCTION(NAME, R, OP) \\\n"
          "template <class T = void> struct NAME { \\\n"
          "    constexpr R operator()(const T &a, const T &b) const { return a OP b; } }; \\\n"
          "template <> struct NAME<void> { template <class T, class U> \\\n"
          "    constexpr auto operator()(const T &a, const U &b) const { return a OP b; } };\n"
          "KEET_FUNCTION(plus, T, +)\nKEET_FUNCTION(minus, T, -)\n"
          "KEET_FUNCTION(multiplies, T, *)\nKEET_FUNCTION(divides, T, /)\n"
          "KEET_FUNCTION(less, bool, <)\nKEET_FUNCTION(greater, bool, >)\n"
          "KEET_FUNCTION(less_equal, bool, <=)\nKEET_FUNCTION(greater_equal, bool, >=)\n"
          "KEET_FUNCTION(equal_to, bool, ==)\nKEET_FUNCTION(not_equal_to, bool, !=)\n"
          "KEET_FUNCTION(modulus, T, %)\nKEET_FUNCTION(bit_and, T, &)\n"
          "KEET_FUNCTION(bit_or, T, |)\nKEET_FUNCTION(bit_xor, T, ^)\n"
          "KEET_FUNCTION(logical_and, bool, &&)\nKEET_FUNCTION(logical_or, bool, ||)\n"
          "#undef KEET_FUNCTION\n"
          "}\n";

/* Names that the C library defines beside those of the standard. */
static const char sys_types_h[] = GUARD
    "typedef unsigned int uint; typedef unsigned short ushort; typedef unsigned long ulong;\n";

/* A pointer that says where its memory is; the rest of that header is the host's. */
static const char thrust_device_ptr_h[] = GUARD
    "#include <stddef.h>\n"
    "namespace thrust {\n"
    "template <class T> class device_ptr {\n"
    "    T *keet_to;\n"
    "public:\n"
    "    typedef T value_type;\n"
    "    constexpr device_ptr() : keet_to(nullptr) {}\n"
    "    explicit constexpr device_ptr(T *to) : keet_to(to) {}\n"
    "    constexpr T *get() const { return keet_to; }\n"
    "    constexpr T &operator*() const { return *keet_to; }\n"
    "    constexpr T *operator->() const { return keet_to; }\n"
    "    constexpr T &operator[](ptrdiff_t i) const { return keet_to[i]; }\n"
    "    constexpr device_ptr operator+(ptrdiff_t n) const { return device_ptr(keet_to + n); }\n"
    "    constexpr device_ptr operator-(ptrdiff_t n) const { return device_ptr(keet_to - n); }\n"
    "};\n"
    "template <class T> constexpr T *raw_pointer_cast(device_ptr<T> p) { return p.get(); }\n"
    "}\n";

/* What thrust/complex.h names of the host's: numbers that its own can be made of, and streams. */
static const char complex_h[] = GUARD
    "#include <cmath>\n"
    "namespace std {\n"
    "template <class T> class complex {\n"
    "    T keet_real, keet_imag;\n"
    "public:\n"
    "    typedef T value_type;\n"
    "    constexpr complex(T real = T(), T imag = T()) : keet_real(real), keet_imag(imag) {}\n"
    "    constexpr T real() const { return keet_real; }\n"
    "    constexpr T imag() const { return keet_imag; }\n"
    "};\n"
    "}\n";
static const char streams_h[] = GUARD "namespace std {\n"
                                      "template <class C> struct char_traits;\n"
                                      "template <class C, class T> class basic_ostream;\n"
                                      "template <class C, class T> class basic_istream;\n"
                                      "}\n";

/* Its functions for streams are marked as the host's, which NVRTC takes for an error. */
static const char thrust_complex_h[] =
    GUARD "#include <thrust/detail/config.h>\n#include <thrust/detail/type_traits.h>\n"
          "#pragma push_macro(\"__host__\")\n"
          "#define __host__ __device__\n"
          "#include <thrust/detail/../complex.h>\n"
          "#pragma pop_macro(\"__host__\")\n";

/* The types of cuFFT that kernels take; its functions are the host's. */
static const char cufft_h[] =
    GUARD "typedef float cufftReal; typedef double cufftDoubleReal;\n"
          "typedef float2 cufftComplex; typedef double2 cufftDoubleComplex;\n";

static const char cpp_limits_h[] = GUARD
    "#include <float.h>\n#include <limits.h>\n#include <math.h>\n"
    "namespace std {\n"
    "template <class T> struct numeric_limits { static constexpr bool is_specialized = false; };\n"
    "#define KEET_INTEGER(T, LOW, HIGH, SIGNED, DIGITS) \\\n"
    "template <> struct numeric_limits<T> { \\\n"
    "    static constexpr bool is_specialized = true, is_integer = true, is_signed = SIGNED; \\\n"
    "    static constexpr bool has_infinity = false, has_quiet_NaN = false, is_exact = true; \\\n"
    "    static constexpr int digits = DIGITS, radix = 2; \\\n"
    "    static constexpr T min() noexcept { return LOW; } \\\n"
    "    static constexpr T lowest() noexcept { return LOW; } \\\n"
    "    static constexpr T max() noexcept { return HIGH; } \\\n"
    "};\n"
    "KEET_INTEGER(bool, false, true, false, 1)\n"
    "KEET_INTEGER(char, CHAR_MIN, CHAR_MAX, true, 7)\n"
    "KEET_INTEGER(signed char, SCHAR_MIN, SCHAR_MAX, true, 7)\n"
    "KEET_INTEGER(unsigned char, 0, UCHAR_MAX, false, 8)\n"
    "KEET_INTEGER(short, SHRT_MIN, SHRT_MAX, true, 15)\n"
    "KEET_INTEGER(unsigned short, 0, USHRT_MAX, false, 16)\n"
    "KEET_INTEGER(int, INT_MIN, INT_MAX, true, 31)\n"
    "KEET_INTEGER(unsigned, 0, UINT_MAX, false, 32)\n"
    "KEET_INTEGER(long, LONG_MIN, LONG_MAX, true, 63)\n"
    "KEET_INTEGER(unsigned long, 0, ULONG_MAX, false, 64)\n"
    "KEET_INTEGER(long long, LLONG_MIN, LLONG_MAX, true, 63)\n"
    "KEET_INTEGER(unsigned long long, 0, ULLONG_MAX, false, 64)\n"
    "#undef KEET_INTEGER\n"
    "#define KEET_REAL(T, PREFIX, INF, QNAN) \\\n"
    "template <> struct numeric_limits<T> { \\\n"
    "    static constexpr bool is_specialized = true, is_integer = false, is_signed = true; \\\n"
    "    static constexpr bool has_infinity = true, has_quiet_NaN = true, is_exact = false; \\\n"
    "    static constexpr int digits = PREFIX##_MANT_DIG, digits10 = PREFIX##_DIG, radix = 2; \\\n"
    "    static constexpr int min_exponent = PREFIX##_MIN_EXP; \\\n"
    "    static constexpr int max_exponent = PREFIX##_MAX_EXP; \\\n"
    "    static constexpr T min() noexcept { return PREFIX##_MIN; } \\\n"
    "    static constexpr T lowest() noexcept { return -PREFIX##_MAX; } \\\n"
    "    static constexpr T max() noexcept { return PREFIX##_MAX; } \\\n"
    "    static constexpr T epsilon() noexcept { return PREFIX##_EPSILON; } \\\n"
    "    static constexpr T denorm_min() noexcept { return PREFIX##_TRUE_MIN; } \\\n"
    "    static constexpr T infinity() noexcept { return INF; } \\\n"
    "    static constexpr T quiet_NaN() noexcept { return QNAN; } \\\n"
    "};\n"
    "KEET_REAL(float, FLT, __builtin_bit_cast(float, 0x7f800000u), \\\n"
    "    __builtin_bit_cast(float, 0x7fc00000u))\n"
    "KEET_REAL(double, DBL, __builtin_bit_cast(double, 0x7ff0000000000000ull), \\\n"
    "    __builtin_bit_cast(double, 0x7ff8000000000000ull))\n"
    "#undef KEET_REAL\n"
    "}\n";

static const char assert_h[] = "#undef assert\n"
                               "#ifdef NDEBUG\n#define assert(e) ((void)0)\n#else\n"
                               "#define assert(e) ((e) ? (void)0 : __trap())\n#endif\n";

/* printf, malloc, memcpy and their like are built into the compiler. */
static const char built_in_h[] = GUARD "namespace std { using ::size_t; }\n";
static const char stdbool_h[] = GUARD;
static const char cstring_h[] = GUARD "namespace std {\n"
                                      "using ::size_t; using ::memcpy; using ::memset;\n}\n";
static const char cstddef_h[] = GUARD "#include <stddef.h>\n";
static const char cstdint_h[] = GUARD "#include <stdint.h>\n";
static const char climits_h[] = GUARD "#include <limits.h>\n";
static const char cfloat_h[] = GUARD "#include <float.h>\n";
static const char cassert_h[] = "#include <assert.h>\n";

const struct nvrtc_header standins[] = {
    {"stddef.h", stddef_h},
    {"cstddef", cstddef_h},
    {"stdint.h", stdint_h},
    {"cstdint", cstdint_h},
    {"inttypes.h", cstdint_h},
    {"cuda/std/cstdint", cuda_cstdint_h},
    {"cccl/cuda/std/cstdint", cuda_cstdint_h}, /* as CUTLASS calls it */
    {"cuda_pipeline.h", RENAMED("cuda_pipeline.h")},
    {"cuda_pipeline_primitives.h", RENAMED("cuda_pipeline_primitives.h")},
    {"cuda_pipeline_helpers.h", RENAMED("cuda_pipeline_helpers.h")},
    {"cuda_awbarrier.h", RENAMED("cuda_awbarrier.h")},
    {"cuda_awbarrier_primitives.h", RENAMED("cuda_awbarrier_primitives.h")},
    {"cuda_awbarrier_helpers.h", RENAMED("cuda_awbarrier_helpers.h")},
    {"limits.h", limits_h},
    {"climits", climits_h},
    {"float.h", float_h},
    {"cfloat", cfloat_h},
    {"math.h", math_h},
    {"cmath", cmath_h},
    {"type_traits", type_traits_h},
    {"utility", utility_h},
    {"array", array_h},
    {"functional", functional_h},
    {"sys/types.h", sys_types_h},
    {"cufft.h", cufft_h},
    {"complex", complex_h},
    {"thrust/complex.h", thrust_complex_h},
    {"sstream", streams_h},
    {"thrust/device_ptr.h", thrust_device_ptr_h},
    {"algorithm", algorithm_h},
    {"limits", cpp_limits_h},
    {"assert.h", assert_h},
    {"cassert", cassert_h},
    {"stdio.h", built_in_h},
    {"cstdio", built_in_h},
    {"stdlib.h", built_in_h},
    {"cstdlib", built_in_h},
    {"string.h", built_in_h},
    {"cstring", cstring_h},
    {"stdbool.h", stdbool_h},
};
const unsigned nr_standins = sizeof(standins) / sizeof(standins[0]);

bool standin_exists(const char *name)
{
    for (unsigned i = 0; i < nr_standins; i++) {
        if (strcmp(standins[i].name, name) == 0)
            return true;
    }
    return false;
}

unsigned standins_version(void)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < nr_standins; i++)
        sum = hash_bytes(standins[i].text, strlen(standins[i].text), sum).low;
    return (unsigned)sum;
}
