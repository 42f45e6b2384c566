import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import type { BytePiece } from '../byte-plan.js'
import { type CensusEntry, kept } from '../census.js'
import type { Structure } from '../structure/structure.js'
import { keepApe } from './ape-tag.js'

/** The end of a file for the output, without facts about the old audio. */
export interface KeptTail {
  readonly entries: readonly CensusEntry[]
  readonly pieces: readonly BytePiece[]
}

/** Decides the fate of the tags behind the audio. @param tail those of `tagBlocks` */
export async function keepTail(file: FileHandle, tail: readonly Structure[]): Promise<KeptTail> {
  const parts = await Promise.all(
    tail.map(async ({ path, start, length }): Promise<KeptTail> => {
      if (path === 'APE') return keepApe(await readAt(file, start, length), start)
      return { entries: [kept(path, start, length)], pieces: [{ kind: 'input', start, length }] }
    }),
  )
  return {
    entries: parts.flatMap(({ entries }) => entries),
    pieces: parts.flatMap(({ pieces }) => pieces),
  }
}
