/* Owns the form of a message on the socket: a mark, three lengths, three texts. */
#include "lib/frame.h"

#include "base/fd.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* In the order of bytes of the machine, on which both ends run. */
struct frame_lengths {
    uint32_t mark, bytes[FRAME_PARTS];
};

static const uint32_t mark = 0x4b454554;

bool frame_send(int socket, const struct frame *frame)
{
    struct frame_lengths lengths = {.mark = mark};

    for (int i = 0; i < FRAME_PARTS; i++) {
        if (frame->bytes[i] > FRAME_MOST_BYTES)
            return false;
        lengths.bytes[i] = (uint32_t)frame->bytes[i];
    }
    if (!fd_send(socket, &lengths, sizeof(lengths)))
        return false;
    for (int i = 0; i < FRAME_PARTS; i++)
        if (frame->bytes[i] > 0 && !fd_send(socket, frame->text[i], frame->bytes[i]))
            return false;
    return true;
}

static bool receive_part(int socket, struct frame *frame, int part, uint32_t bytes)
{
    char *text = bytes <= FRAME_MOST_BYTES ? malloc((size_t)bytes + 1) : NULL;

    frame->text[part] = text;
    if (!text || !fd_read(socket, text, bytes))
        return false;
    text[bytes] = '\0';
    frame->bytes[part] = bytes;
    return true;
}

bool frame_receive(int socket, struct frame *frame)
{
    struct frame_lengths lengths;
    bool ok;

    *frame = (struct frame){0};
    ok = fd_read(socket, &lengths, sizeof(lengths)) && lengths.mark == mark;
    for (int i = 0; i < FRAME_PARTS && ok; i++)
        ok = receive_part(socket, frame, i, lengths.bytes[i]);
    if (!ok)
        frame_finish(frame);
    return ok;
}

void frame_finish(struct frame *frame)
{
    for (int i = 0; i < FRAME_PARTS; i++)
        free(frame->text[i]);
    *frame = (struct frame){0};
}
