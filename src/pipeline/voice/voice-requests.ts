import { basename, extname } from 'node:path'
import type { OutputType } from '../../contract/index.js'
import { valueSha256 } from '../../core/file-identity.js'
import { formatTime } from '../../core/time.js'
import { alignVoice, requireDecodable, type VoiceAlignment } from '../../media/index.js'
import type { CutSound, VoiceCut } from '../../media/voice-cut.js'
import type { StageSlots } from '../stage-slots.js'
import { lastingAddress } from '../web-address.js'
import type { VoiceRequest } from './voice-service.js'

type RequestOptions = Pick<VoiceRequest<unknown>, 'model' | 'audioPath' | 'requireInput'>

/** A voice that was cut here and is uploaded. @param input its file, which names the voice with the part */
export function voiceOfCut(
  input: string,
  cut: VoiceCut,
  {
    slots,
    ...options
  }: RequestOptions & { readonly outputType: OutputType; readonly slots: Pick<StageSlots, 'local'> },
): VoiceRequest<VoiceAlignment> {
  return {
    ...options,
    judge: (audioPath, signal) => slots.local.run(() => alignVoice(cut, audioPath, { signal }), signal),
    voiceHash: cut.voiceHash,
    sec: cut.sampleCount / cut.sampleRate,
    maxBytes: mostRegeneratedBytes(cut),
    source: { kind: 'upload', path: cut.path, clientFileId: cutName(input, cut) },
  }
}

/** A file that the service fetches itself. Its content is unknown here. */
export function voiceOfAddress(address: string, options: RequestOptions): VoiceRequest<void> {
  const lasting = lastingAddress(address)
  return {
    ...options,
    judge: requireDecodable,
    outputType: null,
    voiceHash: valueSha256(lasting),
    sec: 0,
    source: { kind: 'address', address, clientFileId: basename(lasting.pathname) || 'file' },
  }
}

/** Name, channel and part: `interview 0:12.000-0:15.500.flac`, `12A-3 channel 1 0:00.000-2:10.000.flac`. */
function cutName(input: string, { range, sampleRate, format, request }: VoiceCut): string {
  const { channels, audioIndex } = request
  const where = [
    ...(audioIndex > 0 ? [`track ${audioIndex}`] : []),
    ...(channels.kind === 'one' ? [`channel ${channels.channel}`] : []),
    `${formatTime(range.startSample / sampleRate)}-${formatTime(range.endSample / sampleRate)}`,
  ]
  return `${basename(input, extname(input))} ${where.join(' ')}.${format}`
}

/** Floating point of 64 bits: no format of PCM has wider samples. */
const SAMPLE_BYTES = 8
/** A service may return another rate: this one is as much as 192 kHz in 32 bits. */
const LEAST_RATE = 96_000
/** A service may return stereo for a mono voice. */
const LEAST_CHANNELS = 2
/** Room for headers, tags and a cover, and for audio that is a little longer. */
const EXTRA_BYTES = 64 * 2 ** 20

/** Length in bytes that regenerated audio of a cut cannot reach, in any lossless format of PCM. */
export function mostRegeneratedBytes({
  sampleCount,
  sampleRate,
  channels,
}: Pick<CutSound, 'sampleCount' | 'sampleRate' | 'channels'>): number {
  const samples = (sampleCount / sampleRate) * Math.max(sampleRate, LEAST_RATE)
  return Math.ceil(samples * Math.max(channels, LEAST_CHANNELS) * SAMPLE_BYTES) + EXTRA_BYTES
}
