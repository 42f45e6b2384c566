import { stat } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import type { OutputType } from '../contract/index.js'
import { formatTime } from '../core/time.js'
import type { VoiceCut } from '../media/voice-cut.js'
import { valueSha256 } from './file-identity.js'
import type { VoiceOrder } from './voice-service.js'

interface OrderOptions {
  readonly model: string
  readonly answerPath: string
}

/**
 * A voice that was cut here: its file is uploaded.
 *
 * @param input path of the file it was cut from: with the part, it names the voice for people who look at the service
 */
export function cutOrder(
  input: string,
  cut: VoiceCut,
  options: OrderOptions & { readonly outputType: OutputType },
): VoiceOrder {
  return {
    ...options,
    voiceHash: cut.voiceHash,
    sec: cut.sampleCount / cut.sampleRate,
    send: async (client, { signal, onRegistered, onPercent }) => {
      const { size } = await stat(cut.path)
      await client.registerAndUpload({ clientFileId: cutName(input, cut) }, cut.path, {
        signal,
        onRegistered: ({ file_id }) => onRegistered(file_id),
        onProgress: ({ transferredBytes }) => onPercent((100 * transferredBytes) / size),
      })
    },
  }
}

/** A file that the service fetches itself. Its content is not known here: the address without its signature stands for it. */
export function addressOrder(address: string, options: OrderOptions): VoiceOrder {
  const { origin, pathname } = new URL(address)
  return {
    ...options,
    outputType: null,
    voiceHash: valueSha256({ origin, pathname }),
    sec: 0,
    send: async (client, { signal, onRegistered }) => {
      const file = { clientFileId: basename(pathname) || 'file', sourceUrl: address }
      const { file_id } = await client.registerFileFromUrl(file, { signal })
      await onRegistered(file_id)
    },
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
