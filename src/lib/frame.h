/* Private to lib/ and serve/: the messages between the library and its helper process. A message is
 * three texts of any bytes: a head in JSON, and up to two sources. Each may be empty.
 *
 *     struct frame frame = {.text = {head, original, candidate}, .bytes = {...}};
 *     ok = frame_send(fd, &frame);
 *     ok = frame_receive(fd, &frame); ... frame_finish(&frame);
 *
 * Both ends are of one version: the helper's first message names its own. Nothing here ends the
 * process when memory is short. */
#ifndef KEET_LIB_FRAME_H
#define KEET_LIB_FRAME_H

#include <stdbool.h>
#include <stddef.h>

enum frame_part { FRAME_HEAD, FRAME_ORIGINAL, FRAME_CANDIDATE, FRAME_PARTS };

enum { FRAME_MOST_BYTES = 64 << 20 }; /* of one part */

/* As received: heap memory, each text with a NUL behind it that does not count. */
struct frame {
    char *text[FRAME_PARTS]; /* NULL is fine for an empty one to send */
    size_t bytes[FRAME_PARTS];
};

bool frame_send(int socket, const struct frame *frame);
/* False: the other end is gone, what came is no message, or memory is short; *frame is empty. */
bool frame_receive(int socket, struct frame *frame);
void frame_finish(struct frame *frame);

#endif
