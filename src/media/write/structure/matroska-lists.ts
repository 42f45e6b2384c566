import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { readHead } from '../../probe/matroska/ebml.js'
import type { Structure } from './structure.js'

/** Lists of a Matroska file whose elements may say more than ffmpeg reads. */
const OPENED: ReadonlySet<string> = new Set(['Segment/Chapters', 'Segment/Tags'])

/** Elements in which others are searched (RFC 9559, 5.1.7 and 5.1.8). */
const MASTERS: Readonly<Record<number, string>> = {
  ...{ 272869232: 'Chapters', 17849: 'EditionEntry', 182: 'ChapterAtom', 307544935: 'Tags', 29555: 'Tag' },
  ...{ 25536: 'Targets', 26568: 'SimpleTag' },
}
const NAMES: Readonly<Record<number, string>> = {
  ...MASTERS,
  ...{ 17883: 'EditionFlagOrdered', 152: 'ChapterFlagHidden', 128: 'ChapterDisplay', 26948: 'ChapProcess' },
  ...{ 28263: 'ChapterSegmentUUID', 17541: 'TagBinary', 25545: 'TagEditionUID', 25542: 'TagAttachmentUID' },
}

/** Elements that ffmpeg does not read: at all, beside another of their name, or if their number is not zero. */
const UNREAD: Readonly<Record<string, 'always' | 'repeated' | 'set'>> = {
  ...{ 'Chapters/EditionEntry': 'repeated', 'ChapterAtom/ChapterDisplay': 'repeated' },
  ...{ 'ChapterAtom/ChapterAtom': 'always', 'ChapterAtom/ChapProcess': 'always' },
  ...{ 'ChapterAtom/ChapterSegmentUUID': 'always', 'SimpleTag/SimpleTag': 'always', 'SimpleTag/TagBinary': 'always' },
  ...{ 'EditionEntry/EditionFlagOrdered': 'set', 'ChapterAtom/ChapterFlagHidden': 'set' },
  ...{ 'Targets/TagEditionUID': 'set', 'Targets/TagAttachmentUID': 'set' },
}

/** Chapters and tags of a film are shorter. */
const MOST_BYTES = 4 * 1024 ** 2
/** No program nests chapters or tags as deep. */
const DEEPEST = 16

/** The structures of a Matroska file with those parts of its chapters and tags that ffmpeg does not read, each name once. */
export async function withMatroskaLists(
  file: FileHandle,
  structures: Iterable<Structure>,
): Promise<readonly Structure[]> {
  const all = [...structures]
  const unread = new Map<string, Structure>()
  for (const { path, start, length } of all) {
    if (!OPENED.has(path) || length > MOST_BYTES) continue
    const bytes = await readAt(file, start, length)
    for (const part of unreadIn(bytes, 0, bytes.length, [])) {
      unread.set(part.path, { ...part, start: start + part.start })
    }
  }
  return [...all, ...unread.values()]
}

function* unreadIn(bytes: Buffer, from: number, to: number, around: readonly string[]): Generator<Structure> {
  const seen = new Set<number>()
  for (let at = from; at < to; ) {
    const head = readHead(bytes, at)
    if (!head || head.length === null || around.length > DEEPEST) return
    const [bodyAt, end] = [at + head.headBytes, at + head.headBytes + head.length]
    const name = NAMES[head.id]
    const rule = name && UNREAD[`${around.at(-1)}/${name}`]
    const isSet = bytes.subarray(bodyAt, end).some((byte) => byte !== 0)
    if (rule === 'always' || (rule === 'repeated' && seen.has(head.id)) || (rule === 'set' && isSet)) {
      yield { path: `Segment/${[...around, name].join('/')}`, start: at, length: end - at }
    }
    seen.add(head.id)
    if (name && head.id in MASTERS) yield* unreadIn(bytes, bodyAt, Math.min(end, to), [...around, name])
    at = end
  }
}
