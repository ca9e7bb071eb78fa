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
#include <libavutil/channel_layout.h>
#include <libavutil/dict.h>
#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libavutil/samplefmt.h>

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
