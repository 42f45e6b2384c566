import { rm } from 'node:fs/promises'
import { decodePcm } from '../../src/media/pcm/decode-pcm.js'
import type { PcmStream } from '../../src/media/pcm/pcm.js'
import { valuesOf } from '../../src/media/pcm/pcm-samples.js'
import { probe } from '../../src/media/probe/probe.js'
import { verifyMux } from '../../src/media/verify/verify-mux.js'
import { verifyOrRewrite } from '../../src/media/verify/verify-or-rewrite.js'
import type { SampleRange } from '../../src/media/voice-cut.js'
import { planOutput } from '../../src/media/write/plan-writing.js'
import { writeOutput } from '../../src/media/write/write-output.js'
import type { Writing } from '../../src/media/write/writing.js'
import { ffprobeJson } from './media-factory.js'

/** Length of the fades at both ends of a changed part, as in a job. */
const FADE = 480

/** A sound at another level in some parts, and the same samples elsewhere. */
function changedIn(voice: PcmStream, parts: readonly SampleRange[], level: number): PcmStream {
  const { channels } = voice.format
  const gainAt = (sample: number) => {
    const part = parts.find(({ startSample, endSample }) => sample >= startSample && sample < endSample)
    if (!part) return 1
    return 1 - (1 - level) * Math.min(1, (sample - part.startSample) / FADE, (part.endSample - sample) / FADE)
  }
  return {
    ...voice,
    async *buffers() {
      let at = 0
      for await (const buffer of voice.buffers()) {
        const copy = Buffer.from(buffer)
        const values = valuesOf(copy, voice.format.sample)
        for (let place = 0; place < values.length; place++) {
          values[place] = (values[place] as number) * gainAt(at + Math.floor(place / channels))
        }
        at += values.length / channels
        yield copy
      }
    },
  }
}

/** Plans, writes and verifies a file whose first sound changes in some parts (in seconds). @param level of these */
export async function splicedFile(
  path: string,
  partsSec: readonly (readonly [number, number])[],
  damage: (writing: Writing & { kind: 'bytes' }) => Writing = (writing) => writing,
  level = 0.5,
) {
  const media = await probe(path)
  const made = await planOutput(media, { replaced: [0], inParts: [0] })
  const plan = made.writing.kind === 'bytes' ? { ...made, writing: damage(made.writing) } : made
  const voice = decodePcm(media, { audioIndex: 0 })
  const { sampleRate } = voice.format
  const parts = partsSec.map(([from, to]) => {
    return { startSample: Math.round(from * sampleRate), endSample: Math.round(to * sampleRate) }
  })
  const part = `${path}.part`
  await rm(part, { force: true })
  const wanted = changedIn(voice, parts, level)
  const result = await writeOutput(plan, new Map([[0, wanted]]), part, { changed: new Map([[0, parts]]) })
  const verify = () => verifyMux(plan, result, part, { level: 'full' })
  const voices = new Map([[0, wanted]])
  const verifyOrWhole = () =>
    verifyOrRewrite(plan, result, part, {
      level: 'full',
      rewrite: (unjoined) => writeOutput(plan, voices, part, { unjoined }),
    })
  return { media, plan, parts, wanted, result, part, verify, verifyOrWhole, splice: result.voices[0]?.splice ?? null }
}

/** Hash and time of each packet of the first sound, as ffprobe reads them. */
export async function audioPackets(path: string): Promise<readonly { readonly hash: string; readonly pts: number }[]> {
  const show = ['-select_streams', 'a:0', '-show_packets', '-show_data_hash', 'CRC32']
  const { packets } = await ffprobeJson(path, ...show)
  return (packets as { data_hash: string; pts: number }[]).map(({ data_hash: hash, pts }) => ({ hash, pts }))
}
