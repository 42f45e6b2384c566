export { alignVoice, type VoiceAlignment } from './align/align-voice.js'
export { alignedVoice } from './align/aligned-voice.js'
export { joinChunks } from './align/join-chunks.js'
export { requireDecodable } from './align/open-answer.js'
export { type SoundChange, soundChange } from './align/sound-change.js'
export { soundLag } from './align/sound-lag.js'
export { soundPairs } from './align/sound-pairs.js'
export { splice } from './align/splice.js'
export { findSilences, type LoudnessOverTime, planChunkCuts } from './cut/chunk-plan.js'
export { type CutOptions, cutVoice } from './cut/cut.js'
export { cutCommand, cutReadings, decodedFormat, type PlannedCut, planCuts } from './cut/cut-command.js'
export { cutEncoding } from './cut/cut-encoding.js'
export { findFfmpeg, findFfprobe, forgetBinaries, type MediaBinary } from './ffmpeg/binaries.js'
export { blamingFile } from './ffmpeg/blaming-file.js'
export { lowerToolPriority } from './ffmpeg/child-process.js'
export {
  type FfmpegCommand,
  ffmpegArguments,
  runFfmpeg,
  streamFfmpeg,
} from './ffmpeg/ffmpeg.js'
export { fileUrl, safeInputOptions } from './ffmpeg/input-safety.js'
export { lackingParts } from './ffmpeg/tool-parts.js'
export {
  type AudioStreamInfo,
  audioStreams,
  type MediaInfo,
  pictureOf,
} from './media-info.js'
export { blockSizeOptions } from './pcm/block-size.js'
export { decodePcm } from './pcm/decode-pcm.js'
export { type ClockRange, FILE_CLOCK_INPUT_OPTIONS } from './pcm/file-clock.js'
export { applyGain, loudnessGain, measureLoudness, meteredPcm } from './pcm/loudness.js'
export type { Loudness } from './pcm/loudness-meter.js'
export { PartMeter } from './pcm/part-meter.js'
export {
  type PcmSection,
  type PcmStream,
  pcmFormatFor,
  rawFormatName,
  type SampleType,
  sampleBytes,
} from './pcm/pcm.js'
export { type PcmFile, readPcmFile } from './pcm/pcm-file.js'
export { soundPeaks } from './pcm/sound-peaks.js'
export { id3Length } from './probe/id3-length.js'
export { pictureStart } from './probe/picture-start.js'
export { probe } from './probe/probe.js'
export { hashPackets } from './verify/hash-packets.js'
export { measureSound } from './verify/measure-sound.js'
export type { MeasuredSound } from './verify/sound-lines.js'
export type { MuxVerification } from './verify/verify-mux.js'
export { verifyOrRewrite } from './verify/verify-or-rewrite.js'
export type { SampleRange } from './voice-cut.js'
export { SIGNS_OLD_BYTES } from './write/census.js'
export { containerProfile } from './write/container-profile.js'
export { copyExcerpt } from './write/copy-excerpt.js'
export { decodeAdts, encodeAdts } from './write/encode/adts-audio.js'
export { levelFilters } from './write/encode/encoder-level.js'
export { donorCommands } from './write/encode-donor.js'
export { id3Frames } from './write/frames/id3-frames.js'
export { packetReading } from './write/packet-facts.js'
export { type PlanOutputOptions, planOutput } from './write/plan-writing.js'
export { forecastVoice, measureEncoders } from './write/remux/carried-voice.js'
export { hasIndexFirst } from './write/remux/index-first.js'
export { type MuxedVoice, type MuxResult, mux } from './write/remux/mux.js'
export { muxCommand, newStreams } from './write/remux/mux-command.js'

export { type MuxPlan, planMux } from './write/remux/mux-plan.js'

export { PART_FORMAT } from './write/splice/splice-part.js'
export { CREDENTIALS_BOX, isoBoxes } from './write/structure/iso-boxes.js'
export { writeOutput } from './write/write-output.js'
export { WRITER_NAMES } from './write/writer.js'
export { writingFacts } from './write/writing.js'
