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
