import type { FileHandle } from 'node:fs/promises'
import type { AudioStreamInfo } from '../../media-info.js'
import { type NearReader, nearReader } from '../../probe/near-reader.js'
import type { StatedPlace } from './stated-place.js'

/** How a form states its chunks. */
interface Form {
  /** Bytes before its first chunk, and of the head of a chunk. */
  readonly head: number
  readonly chunk: number
  /** Chunks begin at multiples of it. */
  readonly align: number
  /** Length of a body, by the head of its chunk. */
  readonly bodyOf: (head: Buffer) => number
}

const LITTLE: Form = { head: 12, chunk: 8, align: 2, bodyOf: (head) => head.readUInt32LE(4) }
const BIG: Form = { ...LITTLE, bodyOf: (head) => head.readUInt32BE(4) }
const WAVE_64: Form = { head: 40, chunk: 24, align: 8, bodyOf: (head) => Number(head.readBigUInt64LE(16)) - 24 }
const CORE_AUDIO: Form = { head: 8, chunk: 12, align: 1, bodyOf: (head) => Number(head.readBigInt64BE(4)) }
/** Forms by the first bytes of their files. Those of AVI may follow each other. */
const FORMS: ReadonlyMap<string, Form> = new Map([
  ...(['RIFF', 'RF64', 'BW64'] as const).map((magic) => [magic, LITTLE] as const),
  ...(['RIFX', 'FORM'] as const).map((magic) => [magic, BIG] as const),
  ...([['riff', WAVE_64] as const, ['caff', CORE_AUDIO] as const] as const),
])

/** A size that `ds64` states. */
const ELSEWHERE = 0xffff_ffff
/** Chunks that last to the end of the file if they state no size. */
const OPENABLE: ReadonlySet<string> = new Set(['data', 'LIST'])
const MOST_CHUNKS = 20_000
const HEAD_BYTES = 24
/** Bytes of `fmt ` up to the rate, with the number of channels before it. */
const FORMAT_BYTES = 8

type Sound = Pick<AudioStreamInfo, 'sampleRate' | 'channels'>

/**
 * Reads the sizes that a file of chunks states for its chunks and for itself. ffmpeg plays a file with other sizes to its
 * end. Other readers do not. The channels and the rate in `fmt ` must be those that are decoded.
 */
export async function chunkPlaces(file: FileHandle, sound?: Sound): Promise<readonly StatedPlace[]> {
  const { size: sizeBytes } = await file.stat()
  const near = nearReader(file)
  const places: StatedPlace[] = []
  for (let at = 0; ; ) {
    const part = await partAt(near, at, sizeBytes)
    if (!part) return places
    places.push({ by: 'the sizes of chunks', leadsTo: part.isWhole ? '' : null })
    if (part.format && sound) {
      const [channels, rate] = [part.format.readUInt16LE(2), part.format.readUInt32LE(4)]
      const isRight = channels === sound.channels && rate === sound.sampleRate
      places.push({ by: 'the channels and the rate in fmt', leadsTo: isRight ? '' : null })
    }
    if (!part.isWhole) return places
    at = part.end
  }
}

/** A form with its chunks, at an offset; undefined if there is none. */
async function partAt(near: NearReader, start: number, sizeBytes: number) {
  const head = await near(start, 40)
  const form = FORMS.get(head.toString('latin1', 0, 4))
  if (!form || head.length < HEAD_BYTES) return undefined
  let format: Buffer | undefined
  let samples = ELSEWHERE
  let at = start + form.head
  let end = form === CORE_AUDIO ? sizeBytes : start + endOf(form, head)
  for (let count = 0; at + form.chunk <= Math.min(end, sizeBytes) && count < MOST_CHUNKS; count++) {
    const bytes = await near(at, HEAD_BYTES)
    const id = bytes.toString('latin1', 0, 4)
    const stated = bytes.length < form.chunk ? -1 : form.bodyOf(bytes)
    if (stated < 0 || (stated === 0 && OPENABLE.has(id))) break
    if (id === 'ds64' && bytes.length === HEAD_BYTES) {
      end = start + 8 + Number(bytes.readBigUInt64LE(8))
      samples = Number(bytes.readBigUInt64LE(16))
    }
    if (id === 'fmt ' && form === LITTLE) format = await near(at + form.chunk, FORMAT_BYTES)
    const body = id === 'data' && stated === ELSEWHERE ? samples : stated
    at += form.chunk + Math.ceil(body / form.align) * form.align
  }
  // The padding at the end may be missing, and the size of the form may count it or not.
  const isWhole = Math.abs(at - end) < form.align && end < sizeBytes + form.align
  return { end, isWhole, format: format?.length === FORMAT_BYTES ? format : undefined }
}

function endOf(form: Form, head: Buffer): number {
  return form === WAVE_64 ? form.bodyOf(head) + WAVE_64.chunk : 8 + form.bodyOf(head)
}
