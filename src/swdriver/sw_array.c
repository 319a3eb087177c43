/* Owns arrays, and the textures and surfaces over arrays and linear memory. */
#include "swdriver/sw_state.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static unsigned channel_bytes(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

static bool owns_array(CUcontext ctx, const void *array)
{
    CUarray a = ctx->arrays;

    while (a != NULL && a != array)
        a = a->next;
    return a != NULL;
}

static CUresult make_array(CUcontext ctx, CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
    enum { ROW = 32, SLACK = 256 };
    const unsigned each = channel_bytes(shape->Format) * shape->NumChannels;
    struct CUarray_st a = {.ctx = ctx, .shape = *shape, .texel_bytes = each};
    struct err err;

    if (each == 0 || shape->NumChannels > 4 || shape->NumChannels == 3 || shape->Width == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (shape->Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING))
        return CUDA_ERROR_NOT_SUPPORTED;
    a.pitch_bytes = (shape->Width * each + ROW - 1) / ROW * ROW;
    a.layer_bytes = a.pitch_bytes * (shape->Height > 0 ? shape->Height : 1);
    a.bytes = a.layer_bytes * (shape->Depth > 0 ? shape->Depth : 1);
    a.address = emu_alloc(ctx->emu, a.bytes + SLACK, "an array", &err);
    if (a.address == 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *array = xmalloc(sizeof(a));
    a.next = ctx->arrays;
    **array = a;
    ctx->arrays = *array;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuArray3DCreate(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && (array == NULL || shape == NULL))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        code = make_array(ctx, array, shape);
    return sw_end(code);
}

CUresult CUDAAPI cuArrayCreate(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *shape)
{
    CUDA_ARRAY3D_DESCRIPTOR all;

    if (shape == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    all = (CUDA_ARRAY3D_DESCRIPTOR){.Width = shape->Width,
        .Height = shape->Height,
        .Format = shape->Format,
        .NumChannels = shape->NumChannels};
    return cuArray3DCreate(array, &all);
}

CUresult CUDAAPI cuArrayDestroy(CUarray array)
{
    CUcontext ctx;
    CUarray *link;
    CUresult code = sw_begin_owner(&ctx, owns_array, array);

    if (code == CUDA_SUCCESS && !owns_array(ctx, array))
        code = CUDA_ERROR_INVALID_HANDLE;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    for (link = &ctx->arrays; *link != array;)
        link = &(*link)->next;
    *link = array->next;
    emu_free(ctx->emu, array->address);
    free(array);
    return sw_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *shape, CUarray array)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && (shape == NULL || !owns_array(ctx, array)))
        code = CUDA_ERROR_INVALID_HANDLE;
    if (code == CUDA_SUCCESS)
        *shape = array->shape;
    return sw_end(code);
}

CUresult CUDAAPI cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *shape, CUarray array)
{
    CUDA_ARRAY3D_DESCRIPTOR all;
    const CUresult code = cuArray3DGetDescriptor(&all, array);

    if (code != CUDA_SUCCESS || shape == NULL)
        return code != CUDA_SUCCESS ? code : CUDA_ERROR_INVALID_VALUE;
    *shape = (CUDA_ARRAY_DESCRIPTOR){.Width = all.Width,
        .Height = all.Height,
        .Format = all.Format,
        .NumChannels = all.NumChannels};
    return CUDA_SUCCESS;
}

/* --- textures and surfaces --- */

static bool set_texels(struct emu_texture *t, CUarray_format format, unsigned nr_channels)
{
    t->channel_bytes = channel_bytes(format);
    t->nr_channels = nr_channels;
    t->kind = format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT ? EMU_TEXEL_FLOAT
              : format == CU_AD_FORMAT_SIGNED_INT8 || format == CU_AD_FORMAT_SIGNED_INT16 ||
                      format == CU_AD_FORMAT_SIGNED_INT32
                  ? EMU_TEXEL_SIGNED
                  : EMU_TEXEL_UNSIGNED;
    return t->channel_bytes > 0 && nr_channels > 0;
}

static bool set_array(CUcontext ctx, struct emu_texture *t, CUarray a)
{
    const CUDA_ARRAY3D_DESCRIPTOR *s = &a->shape;
    const bool layered = s->Flags & CUDA_ARRAY3D_LAYERED;

    if (!owns_array(ctx, a))
        return false;
    t->address = a->address;
    t->pitch_bytes = a->pitch_bytes;
    t->layer_bytes = a->layer_bytes;
    t->cube = s->Flags & CUDA_ARRAY3D_CUBEMAP;
    t->size[0] = (uint32_t)s->Width;
    t->size[1] = (uint32_t)(s->Height > 0 ? s->Height : 1);
    t->size[2] = (uint32_t)(s->Depth > 0 ? s->Depth : 1);
    t->nr_dims = s->Height == 0 ? 1 : s->Depth == 0 || layered || t->cube ? 2 : 3;
    return set_texels(t, s->Format, s->NumChannels);
}

/* What a resource is; CUDA_ERROR_NOT_SUPPORTED for mipmaps. */
static CUresult set_resource(CUcontext ctx, struct emu_texture *t, const CUDA_RESOURCE_DESC *r)
{
    switch (r->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        return set_array(ctx, t, r->res.array.hArray) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_RESOURCE_TYPE_LINEAR:
        if (!set_texels(t, r->res.linear.format, r->res.linear.numChannels))
            return CUDA_ERROR_INVALID_VALUE;
        t->address = r->res.linear.devPtr;
        t->nr_dims = 1;
        t->size[0] =
            (uint32_t)(r->res.linear.sizeInBytes / (t->channel_bytes * (size_t)t->nr_channels));
        t->size[1] = t->size[2] = 1;
        t->pitch_bytes = t->layer_bytes = r->res.linear.sizeInBytes;
        return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_PITCH2D:
        if (!set_texels(t, r->res.pitch2D.format, r->res.pitch2D.numChannels))
            return CUDA_ERROR_INVALID_VALUE;
        t->address = r->res.pitch2D.devPtr;
        t->nr_dims = 2;
        t->size[0] = (uint32_t)r->res.pitch2D.width;
        t->size[1] = (uint32_t)r->res.pitch2D.height;
        t->size[2] = 1;
        t->pitch_bytes = r->res.pitch2D.pitchInBytes;
        t->layer_bytes = t->pitch_bytes * t->size[1];
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

static void set_reading(struct emu_texture *t, const CUDA_TEXTURE_DESC *d)
{
    for (unsigned i = 0; i < 3; i++)
        t->address_mode[i] = (enum emu_address_mode)d->addressMode[i];
    t->linear = d->filterMode == CU_TR_FILTER_MODE_LINEAR;
    t->normalized_coordinates = d->flags & CU_TRSF_NORMALIZED_COORDINATES;
    t->normalized_float =
        !(d->flags & CU_TRSF_READ_AS_INTEGER) && t->kind != EMU_TEXEL_FLOAT && t->channel_bytes < 4;
}

/* A texture; without `how` a surface. */
static CUresult make_object(CUcontext ctx, unsigned long long *object,
    const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *how)
{
    struct emu_texture t = {0};
    const CUresult code = set_resource(ctx, &t, resource);

    if (code != CUDA_SUCCESS)
        return code;
    if (how != NULL)
        set_reading(&t, how);
    *object = emu_texture_create(ctx->emu, &t);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuTexObjectCreate(CUtexObject *texture, const CUDA_RESOURCE_DESC *resource,
    const CUDA_TEXTURE_DESC *how, const CUDA_RESOURCE_VIEW_DESC *view)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && (texture == NULL || resource == NULL || how == NULL))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS && view != NULL && view->format != CU_RES_VIEW_FORMAT_NONE)
        code = CUDA_ERROR_NOT_SUPPORTED;
    if (code == CUDA_SUCCESS)
        code = make_object(ctx, texture, resource, how);
    return sw_end(code);
}

static CUresult destroy_object(unsigned long long object)
{
    CUcontext ctx;
    const CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && object != 0)
        emu_texture_destroy(ctx->emu, object);
    return sw_end(code);
}

CUresult CUDAAPI cuTexObjectDestroy(CUtexObject texture)
{
    return destroy_object(texture);
}

CUresult CUDAAPI cuSurfObjectCreate(CUsurfObject *surface, const CUDA_RESOURCE_DESC *resource)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS &&
        (surface == NULL || resource == NULL || resource->resType != CU_RESOURCE_TYPE_ARRAY))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        code = make_object(ctx, surface, resource, NULL);
    return sw_end(code);
}

CUresult CUDAAPI cuSurfObjectDestroy(CUsurfObject surface)
{
    return destroy_object(surface);
}
