import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { kept } from '../census.js'
import type { Structure } from '../structure/structure.js'
import { keepApe } from './ape-tag.js'
import type { KeptTag } from './id3-frames.js'

/** Decides the fate of the tags behind the audio. @param tail those of `tagBlocks` */
export async function keepTail(file: FileHandle, tail: readonly Structure[]): Promise<KeptTag> {
  const parts = await Promise.all(
    tail.map(async ({ path, start, length }): Promise<KeptTag> => {
      if (path === 'APE') return keepApe(await readAt(file, start, length), start)
      return { entries: [kept(path, start, length)], pieces: [{ kind: 'input', start, length }], levels: [] }
    }),
  )
  return {
    entries: parts.flatMap(({ entries }) => entries),
    pieces: parts.flatMap(({ pieces }) => pieces),
    levels: parts.flatMap(({ levels }) => levels),
  }
}
