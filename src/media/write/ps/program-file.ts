import { type FileHandle, open } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import type { MediaInfo } from '../../media-info.js'
import { malformedReason } from '../../probe/malformed-file.js'
import type { FrameKind } from '../pes/frame-kinds.js'
import { type ProgramPart, payloadAt, programParts, programPath } from '../structure/program-packets.js'
import type { Structure } from '../structure/structure.js'
import { type ProgramSound, ProgramSoundReader } from './program-sound.js'

/** A parsed program stream. */
export interface ProgramFile {
  readonly path: string
  readonly sizeBytes: number
  /** The first structure of each kind, in file order. */
  readonly firsts: readonly Structure[]
  /** The sounds by the number that ffprobe gives them, or the reason why voxmux cannot rewrite one. */
  readonly sounds: ReadonlyMap<number, ProgramSound | string>
}

const PRIVATE_1 = 0xbd
/** Number of a sound in a private stream, count of its frames, and place of the first one (DVD). */
const SUBSTREAM_HEAD_BYTES = 4

/** Reads every packet head of a program stream, and the packets of some sounds. @param kinds coding of each sound by its number */
export async function readProgram(
  { path, sizeBytes, streams }: Pick<MediaInfo, 'path' | 'sizeBytes' | 'streams'>,
  kinds: ReadonlyMap<number, FrameKind>,
  signal?: AbortSignal,
): Promise<ProgramFile> {
  await using file = await open(path, 'r')
  const ids = new Set(streams.flatMap(({ id }) => id ?? []))
  const firsts = new Map<string, Structure>()
  const sounds = new Map<number, ProgramSoundReader | string>(
    [...kinds].map(([id, kind]) => [id, new ProgramSoundReader(kind)]),
  )
  for await (const part of programParts(file, sizeBytes, signal)) {
    const name = programPath(part, ids)
    if (!firsts.has(name)) firsts.set(name, { path: name, start: part.start, length: part.length })
    const { id, headBytes } = soundOf(part)
    const sound = sounds.get(id)
    if (typeof sound !== 'object') continue
    const fault = await faultOf(async () => sound.take(part, headBytes, await payload(file, part, headBytes)))
    if (fault !== undefined) sounds.set(id, fault)
  }
  const finished = new Map<number, ProgramSound | string>()
  for (const [id, reader] of sounds) finished.set(id, typeof reader === 'string' ? reader : finish(reader))
  return { path, sizeBytes, firsts: [...firsts.values()], sounds: finished }
}

/** The number of the stream of a packet, and the bytes before its sound. */
function soundOf({ code, head }: ProgramPart): { readonly id: number; readonly headBytes: number } {
  const at = payloadAt(head)
  if (code === PRIVATE_1) return { id: head[at] ?? 0, headBytes: at + SUBSTREAM_HEAD_BYTES }
  return { id: 0x100 + (code ?? 0), headBytes: at }
}

function payload(file: FileHandle, { start, length }: ProgramPart, headBytes: number): Promise<Buffer> {
  return readAt(file, start + headBytes, Math.max(0, length - headBytes))
}

function finish(reader: ProgramSoundReader): ProgramSound | string {
  try {
    return reader.finish()
  } catch (error) {
    return malformedReason(error)
  }
}

async function faultOf(take: () => Promise<void>): Promise<string | undefined> {
  try {
    await take()
    return undefined
  } catch (error) {
    return malformedReason(error)
  }
}
