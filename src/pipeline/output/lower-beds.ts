import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { formatTime } from '../../core/time.js'
import { readPcmFile } from '../../media/index.js'
import { addPcm } from '../../media/pcm/add-pcm.js'
import type { PcmStream } from '../../media/pcm/pcm.js'
import type { PcmFile } from '../../media/pcm/pcm-file.js'
import { readSamples } from '../../media/pcm/pcm-samples.js'
import { resamplePcm } from '../../media/pcm/resample-pcm.js'
import { BED_LOWER_DB, lowerBeds, VOICE_SAMPLE_RATE, VoicePool } from '../../voice/index.js'
import type { ObtainedChunk } from '../voice/obtain-chunk.js'
import type { ObtainedPiece } from '../voice/obtain-voices.js'

/**
 * Lowers music under the voice in regenerated audio, of any service. The embedded engine does it on this machine, so
 * another choice is not paid for again. The result is written beside the regenerated audio. Sound without music stays as
 * it is. A note says what was found.
 */
export async function withLowerBeds(
  pieces: readonly ObtainedPiece[],
  signal: AbortSignal,
): Promise<readonly ObtainedPiece[]> {
  await using pool = new VoicePool()
  const lowered: ObtainedPiece[] = []
  let found = false
  for (const piece of pieces) {
    const chunks: ObtainedChunk[] = []
    // A channel without a voice has no music under one. A part without a voice belongs to the rest of its channel.
    const hasVoice = piece.chunks.some(({ regenerated }) => regenerated !== null)
    for (const chunk of piece.chunks) {
      const made = hasVoice ? await lowerChunk(chunk, pool, signal) : { chunk, note: null }
      found ||= made.note !== null
      chunks.push(made.note === null ? made.chunk : withNote(made.chunk, made.note))
    }
    lowered.push({ ...piece, chunks })
  }
  return found ? lowered : withFirstNote(lowered, 'No music was found under the voice, so nothing was lowered.')
}

function withNote(chunk: ObtainedChunk, note: string): ObtainedChunk {
  const { regenerated } = chunk
  return { ...chunk, regenerated: regenerated && { ...regenerated, notes: [...regenerated.notes, note] } }
}

/** Adds a note of the whole job, once. */
function withFirstNote(pieces: readonly ObtainedPiece[], note: string): readonly ObtainedPiece[] {
  const first = pieces.flatMap(({ chunks }) => chunks).find(({ regenerated }) => regenerated !== null)
  return pieces.map((piece) => ({
    ...piece,
    chunks: piece.chunks.map((chunk) => (chunk === first ? withNote(chunk, note) : chunk)),
  }))
}

/** The note is null if no music was found. */
async function lowerChunk(chunk: ObtainedChunk, pool: VoicePool, signal: AbortSignal) {
  const { alignment } = chunk
  let changed = 0
  const pcm = await lowerFile(alignment.regenerated.pcm, pool, signal, (values) => {
    for (const value of values) if (value !== 0) changed++
  })
  const time = formatTime(changed / pcm.format.channels / VOICE_SAMPLE_RATE)
  const note = `Music under the voice is ${BED_LOWER_DB} dB quieter for ${time}.`
  return {
    chunk: { ...chunk, alignment: { ...alignment, regenerated: { ...alignment.regenerated, pcm } } },
    note: changed === 0 ? null : note,
  }
}

/** Only the changes are resampled, so that samples without a change stay to the bit. */
async function lowerFile(
  file: PcmFile,
  pool: VoicePool,
  signal: AbortSignal,
  onChange: (values: Float64Array) => void,
): Promise<PcmFile> {
  const heard = resamplePcm(readPcmFile(file, { sample: 'f32', signal }), VOICE_SAMPLE_RATE, { signal })
  const { format } = heard
  const change: PcmStream = {
    format,
    sampleCount: null,
    async *buffers() {
      for await (const buffer of lowerBeds(
        { channelCount: format.channels, buffers: heard.buffers() },
        { pool, signal },
      )) {
        onChange(readSamples(buffer, format.sample))
        yield buffer
      }
    },
  }
  const sum = addPcm(readPcmFile(file, { signal }), resamplePcm(change, file.format.sampleRate, { signal }))
  const path = `${file.path}.bed`
  await pipeline(Readable.from(sum.buffers(), { objectMode: false }), createWriteStream(path), { signal })
  return { ...file, path }
}
