import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { kept } from '../census.js'
import type { Structure } from '../structure/structure.js'
import { keepApe } from './ape-tag.js'
import { type KeptTag, keepId3 } from './id3-frames.js'

/** Decides the fate of what precedes the audio. @param head tags of `tagBlocks` */
export function keepHead(file: FileHandle, head: readonly Structure[]): Promise<KeptTag> {
  return keepAll(file, head, 'ID3v2', keepId3)
}

/** Decides the fate of what follows the audio. @param tail tags of `tagBlocks` */
export function keepTail(file: FileHandle, tail: readonly Structure[]): Promise<KeptTag> {
  return keepAll(file, tail, 'APE', keepApe)
}

/** @param parsed name of the tags that `keep` reads; all others stay as they are */
async function keepAll(
  file: FileHandle,
  structures: readonly Structure[],
  parsed: string,
  keep: (tag: Buffer, start: number) => KeptTag,
): Promise<KeptTag> {
  const parts: KeptTag[] = []
  // One at a time: a tag may have 256 MB.
  for (const { path, start, length } of structures) {
    const isRead = path === parsed
    parts.push(isRead ? keep(await readAt(file, start, length), start) : unread(path, start, length))
  }
  return {
    entries: parts.flatMap(({ entries }) => entries),
    pieces: parts.flatMap(({ pieces }) => pieces),
    levels: parts.flatMap(({ levels }) => levels),
  }
}

function unread(path: string, start: number, length: number): KeptTag {
  return { entries: [kept(path, start, length)], pieces: [{ kind: 'input', start, length }], levels: [] }
}
