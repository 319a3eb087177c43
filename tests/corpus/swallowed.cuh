/* Of another system: a brace that nothing closes here. */
struct unclosed {
