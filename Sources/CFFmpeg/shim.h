// What Swift cannot call in libav* by itself, and the places where FFmpeg 5.1, 6 and 7 differ.
// Each entry says why it is here. Nothing in this file keeps state.
#pragma once

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavformat/avformat.h>
#include <libavutil/buffer.h>
#include <libavutil/channel_layout.h>
#include <libavutil/dict.h>
#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libavutil/samplefmt.h>
#include <libavutil/timecode.h>
#include <libavutil/version.h>

// Macros with arguments or casts are not imported.
static inline int weft_averror(int posix) { return AVERROR(posix); }
static inline int weft_averror_eof(void) { return AVERROR_EOF; }
static inline int weft_averror_exit(void) { return AVERROR_EXIT; }
static inline int weft_averror_invalid_data(void) { return AVERROR_INVALIDDATA; }
static inline int weft_averror_experimental(void) { return AVERROR_EXPERIMENTAL; }
static inline int weft_averror_encoder_not_found(void) { return AVERROR_ENCODER_NOT_FOUND; }
static inline int weft_averror_decoder_not_found(void) { return AVERROR_DECODER_NOT_FOUND; }
static inline int weft_averror_option_not_found(void) { return AVERROR_OPTION_NOT_FOUND; }
static inline int64_t weft_no_pts(void) { return AV_NOPTS_VALUE; }
static inline AVRational weft_microseconds(void) { return (AVRational){1, AV_TIME_BASE}; }

// Containers: error tags and casts that are not imported.
static inline int weft_averror_http_not_found(void) { return AVERROR_HTTP_NOT_FOUND; }
static inline int weft_averror_http_unauthorized(void) { return AVERROR_HTTP_UNAUTHORIZED; }
static inline int weft_averror_http_forbidden(void) { return AVERROR_HTTP_FORBIDDEN; }
static inline int weft_averror_http_server(void) { return AVERROR_HTTP_SERVER_ERROR; }
static inline int weft_averror_protocol_not_found(void) { return AVERROR_PROTOCOL_NOT_FOUND; }
static inline int weft_averror_demuxer_not_found(void) { return AVERROR_DEMUXER_NOT_FOUND; }
static inline int weft_averror_patch_welcome(void) { return AVERROR_PATCHWELCOME; }
static inline int weft_rounding_pass_minmax(void) { return AV_ROUND_NEAR_INF | AV_ROUND_PASS_MINMAX; }

// AVIndexEntry keeps its size and flags in bit fields, and AVINDEX_… are plain macros.
static inline int weft_index_entry_size(const AVIndexEntry *entry) { return entry->size; }
static inline int weft_index_entry_is_key(const AVIndexEntry *entry) { return (entry->flags & AVINDEX_KEYFRAME) != 0; }
static inline int weft_index_entry_is_discarded(const AVIndexEntry *entry) {
    return (entry->flags & AVINDEX_DISCARD_FRAME) != 0;
}

// Side data of a stream moved from AVStream to AVCodecParameters with libavcodec 60.30.101 (FFmpeg 6.1).
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 101)
static inline int weft_parameters_side_data_count(const AVCodecParameters *parameters) {
    return parameters->nb_coded_side_data;
}
static inline const AVPacketSideData *weft_parameters_side_data(const AVCodecParameters *parameters, int index) {
    return &parameters->coded_side_data[index];
}
static inline uint8_t *weft_parameters_new_side_data(AVCodecParameters *parameters, enum AVPacketSideDataType type,
                                                     size_t size) {
    AVPacketSideData *data = av_packet_side_data_new(&parameters->coded_side_data, &parameters->nb_coded_side_data, type,
                                                     size, 0);
    return data ? data->data : NULL;
}
static inline int weft_stream_side_data_count(const AVStream *stream) { return 0; }
static inline const AVPacketSideData *weft_stream_side_data(const AVStream *stream, int index) { return NULL; }
static inline uint8_t *weft_stream_new_side_data(AVStream *stream, enum AVPacketSideDataType type, size_t size) {
    return weft_parameters_new_side_data(stream->codecpar, type, size);
}
static inline AVRational weft_parameters_frame_rate(const AVCodecParameters *parameters) { return parameters->framerate; }
static inline void weft_parameters_set_frame_rate(AVCodecParameters *parameters, AVRational rate) {
    parameters->framerate = rate;
}
#else
static inline int weft_parameters_side_data_count(const AVCodecParameters *parameters) { return 0; }
static inline const AVPacketSideData *weft_parameters_side_data(const AVCodecParameters *parameters, int index) {
    return NULL;
}
static inline int weft_stream_side_data_count(const AVStream *stream) { return stream->nb_side_data; }
static inline const AVPacketSideData *weft_stream_side_data(const AVStream *stream, int index) {
    return &stream->side_data[index];
}
static inline uint8_t *weft_stream_new_side_data(AVStream *stream, enum AVPacketSideDataType type, size_t size) {
    return av_stream_new_side_data(stream, type, size);
}
static inline AVRational weft_parameters_frame_rate(const AVCodecParameters *parameters) { return (AVRational){0, 1}; }
static inline void weft_parameters_set_frame_rate(AVCodecParameters *parameters, AVRational rate) {}
#endif

// Cropping that a container asks for is passed on, and written, since libavcodec 61.19 (FFmpeg 7.1). AV_PKT_DATA_NB: not known.
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 19, 100)
static inline enum AVPacketSideDataType weft_frame_cropping(void) { return AV_PKT_DATA_FRAME_CROPPING; }
#else
static inline enum AVPacketSideDataType weft_frame_cropping(void) { return AV_PKT_DATA_NB; }
#endif

// libavformat has no public call that adds a chapter: the array is the caller's to build with libav's allocator.
static inline AVChapter *weft_add_chapter(AVFormatContext *context, int64_t id, AVRational time_base, int64_t start,
                                          int64_t end) {
    AVChapter *chapter = (AVChapter *)av_mallocz(sizeof(AVChapter));
    if (!chapter) return NULL;
    chapter->id = id;
    chapter->time_base = time_base;
    chapter->start = start;
    chapter->end = end;
    int count = (int)context->nb_chapters;
    if (av_dynarray_add_nofree(&context->chapters, &count, chapter) < 0) {
        av_free(chapter);
        return NULL;
    }
    context->nb_chapters = (unsigned)count;
    return chapter;
}

// AVFrame's single-bit fields became flags in libavutil 58 (FFmpeg 6.1), and the old fields are deprecated since.
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 29, 100)
static inline int weft_frame_is_key(const AVFrame *f) { return !!(f->flags & AV_FRAME_FLAG_KEY); }
static inline int weft_frame_is_interlaced(const AVFrame *f) { return !!(f->flags & AV_FRAME_FLAG_INTERLACED); }
static inline int weft_frame_is_top_first(const AVFrame *f) { return !!(f->flags & AV_FRAME_FLAG_TOP_FIELD_FIRST); }
static inline void weft_frame_set_key(AVFrame *f, int on) {
    f->flags = on ? f->flags | AV_FRAME_FLAG_KEY : f->flags & ~AV_FRAME_FLAG_KEY;
}
static inline void weft_frame_set_fields(AVFrame *f, int interlaced, int top_first) {
    f->flags &= ~(AV_FRAME_FLAG_INTERLACED | AV_FRAME_FLAG_TOP_FIELD_FIRST);
    if (interlaced) f->flags |= AV_FRAME_FLAG_INTERLACED;
    if (top_first) f->flags |= AV_FRAME_FLAG_TOP_FIELD_FIRST;
}
static inline int64_t weft_frame_duration(const AVFrame *f) { return f->duration; }
static inline void weft_frame_set_duration(AVFrame *f, int64_t ticks) { f->duration = ticks; }
#else
static inline int weft_frame_is_key(const AVFrame *f) { return !!f->key_frame; }
static inline int weft_frame_is_interlaced(const AVFrame *f) { return !!f->interlaced_frame; }
static inline int weft_frame_is_top_first(const AVFrame *f) { return !!f->top_field_first; }
static inline void weft_frame_set_key(AVFrame *f, int on) { f->key_frame = on; }
static inline void weft_frame_set_fields(AVFrame *f, int interlaced, int top_first) {
    f->interlaced_frame = interlaced;
    f->top_field_first = top_first;
}
static inline int64_t weft_frame_duration(const AVFrame *f) { return f->pkt_duration; }
static inline void weft_frame_set_duration(AVFrame *f, int64_t ticks) { f->pkt_duration = ticks; }
#endif

// AVCodec's lists of what an encoder takes moved behind avcodec_get_supported_config in libavcodec 61.13 (FFmpeg 7.1).
// Each returns NULL where the encoder names no restriction.
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100)
static inline const void *weft_codec_config(const AVCodec *c, enum AVCodecConfig what) {
    const void *list = NULL;
    int count = 0;
    return avcodec_get_supported_config(NULL, c, what, 0, &list, &count) < 0 ? NULL : list;
}
static inline const enum AVPixelFormat *weft_codec_pixel_formats(const AVCodec *c) {
    return (const enum AVPixelFormat *)weft_codec_config(c, AV_CODEC_CONFIG_PIX_FORMAT);
}
static inline const enum AVSampleFormat *weft_codec_sample_formats(const AVCodec *c) {
    return (const enum AVSampleFormat *)weft_codec_config(c, AV_CODEC_CONFIG_SAMPLE_FORMAT);
}
static inline const int *weft_codec_sample_rates(const AVCodec *c) {
    return (const int *)weft_codec_config(c, AV_CODEC_CONFIG_SAMPLE_RATE);
}
#else
static inline const enum AVPixelFormat *weft_codec_pixel_formats(const AVCodec *c) { return c->pix_fmts; }
static inline const enum AVSampleFormat *weft_codec_sample_formats(const AVCodec *c) { return c->sample_fmts; }
static inline const int *weft_codec_sample_rates(const AVCodec *c) { return c->supported_samplerates; }
#endif

// A filter graph's picture input knows its colour only since libavfilter 9.16 (FFmpeg 7.0); before, each frame tells.
static inline void weft_buffersrc_set_colour(
    AVBufferSrcParameters *p, enum AVColorSpace space, enum AVColorRange range) {
#if LIBAVFILTER_VERSION_INT >= AV_VERSION_INT(9, 16, 100)
    p->color_space = space;
    p->color_range = range;
#else
    (void)p, (void)space, (void)range;
#endif
}

// The flags that an encoder session sets; CLOSED_GOP is an unsigned macro and the field is an int.
static inline void weft_codec_set_flags(AVCodecContext *c, int global_header, int bitexact, int interlaced) {
    c->flags |= (int)AV_CODEC_FLAG_CLOSED_GOP;
    if (global_header) c->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    if (bitexact) c->flags |= AV_CODEC_FLAG_BITEXACT;
    if (interlaced) c->flags |= AV_CODEC_FLAG_INTERLACED_DCT | AV_CODEC_FLAG_INTERLACED_ME;
}

// Swift sees AVFrame's data and linesize as tuples, which cannot be passed as arrays.
static inline int weft_frame_fill_planes(AVFrame *f, const uint8_t *bytes, int alignment) {
    return av_image_fill_arrays(f->data, f->linesize, bytes, (enum AVPixelFormat)f->format, f->width, f->height, alignment);
}
static inline uint8_t **weft_frame_data(AVFrame *f) { return f->data; }

// Renamed from FF_PROFILE_UNKNOWN in libavcodec 60.31 (FFmpeg 6.1).
static inline int weft_profile_unknown(void) { return -99; }

// Why a shim: a version macro. From libavformat 60.16 (FFmpeg 6.1) on, the Matroska muxer writes CodecDelay for every codec and
// adds it to the blocks' times; before, it writes it for Opus alone and leaves the times as they are.
static inline int weft_matroska_adds_codec_delay(void) {
    return LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 16, 0);
}
