export { type AdtsEncoding, type AdtsOptions, decodeAdts, encodeAdts } from './adts-audio.js'
export { type AlignVoiceOptions, alignVoice, type VoiceAlignment } from './align-voice.js'
export { type AlignedVoiceOptions, alignedVoice } from './aligned-voice.js'
export type { AudioEncoding, AudioWishes } from './audio-encoding.js'
export { findFfmpeg, findFfprobe, forgetBinaries, type MediaBinary } from './binaries.js'
export { blockSizeOptions } from './block-size.js'
export { forecastVoice, measureEncoders } from './carried-voice.js'
export { letToolsYield } from './child-process.js'
export { type ChunkLengths, findSilences, type LoudnessOverTime, planChunkCuts } from './chunk-plan.js'
export { type ContainerProfile, containerProfile } from './container-profile.js'
export { type CutOptions, cutVoice } from './cut.js'
export { cutCommand, heardFormat, type PlannedCut, planCuts } from './cut-command.js'
export { cutEncoding } from './cut-encoding.js'
export { type DecodePcmOptions, decodePcm } from './decode-pcm.js'
export {
  type FfmpegCommand,
  type FfmpegInput,
  type FfmpegOutput,
  type FfmpegResult,
  type FfmpegRunOptions,
  ffmpegArguments,
  runFfmpeg,
  streamFfmpeg,
} from './ffmpeg.js'
export { type ClockRange, FILE_CLOCK_INPUT_OPTIONS, type FileClock, fileClockFilters } from './file-clock.js'
export { hasIndexFirst } from './index-first.js'
export { fileUrl, safeInputOptions } from './input-safety.js'
export { type JoinChunksOptions, joinChunks, type VoiceChunk } from './join-chunks.js'
export { type MeteredPcm, measureLoudness, meteredPcm } from './loudness.js'
export { applyGain, type LoudnessGain, type LoudnessTarget, loudnessGain } from './loudness-gain.js'
export type { Loudness } from './loudness-meter.js'
export {
  type AudioStreamInfo,
  audioStreams,
  type ChapterInfo,
  type MediaInfo,
  type OtherStreamInfo,
  type StreamInfo,
  type VideoStreamInfo,
} from './media-info.js'
export { type MuxedVoice, type MuxResult, type MuxRunOptions, mux } from './mux.js'
export { type MuxSetting, muxCommand, replacedStreams, type VoiceInput } from './mux-command.js'
export type { MuxLoss } from './mux-losses.js'
export { describeStream, type MuxOptions, type MuxPlan, type PlannedStream, planMux } from './mux-plan.js'
export { type PcmFormat, type PcmStream, pcmFormatFor, rawFormatName, type SampleType, sampleBytes } from './pcm.js'
export { pcmFromBuffer, silentPcm, slicePcm } from './pcm-streams.js'
export { pictureStart } from './picture-start.js'
export { type ProbeOptions, probe } from './probe.js'
export { soundLag } from './sound-lag.js'
export { type SplicePiece, splice } from './splice.js'
export type { PacketHashes } from './stream-hash.js'
export type { SyncPlace, SyncPlaceName } from './sync-reference.js'
export { type LackingParts, lackingParts } from './tool-parts.js'
export {
  type MuxVerification,
  type VerifiedStream,
  type VerifyOptions,
  verifyMux,
} from './verify-mux.js'
export type { Alignment, AlignmentPlace, ChannelPick, CutRequest, SampleRange, VoiceCut } from './voice-cut.js'
