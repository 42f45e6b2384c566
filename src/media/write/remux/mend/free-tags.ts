import { type FileHandle, open } from 'node:fs/promises'
import { isCover } from '../../../media-info.js'
import { makeBox, makeFullBox } from '../../../probe/movie/box.js'
import { fileBoxes, type MovieBox, tableBody } from '../../../probe/movie/movie-boxes.js'
import { WRAPPING_TAGS } from '../mux-losses.js'
import type { MuxPlan } from '../mux-plan.js'
import { oldFactTags } from '../old-fact-tags.js'

/** Names for which Apple's list of tags (ilst) has an item of its own. */
const LIST_NAMES = new Set([
  ...['title', 'artist', 'album_artist', 'composer', 'album', 'date', 'comment', 'genre', 'copyright', 'grouping'],
  ...['lyrics', 'description', 'synopsis', 'show', 'episode_id', 'network', 'keywords', 'episode_sort'],
  ...['season_number', 'media_type', 'hd_video', 'gapless_playback', 'compilation', 'track', 'disc', 'location'],
  ...['sort_name', 'sort_artist', 'sort_album', 'sort_album_artist', 'sort_composer', 'sort_show'],
])
/** Muxers that write this list. */
const WITH_LIST: ReadonlySet<string> = new Set(['mp4', 'ipod'])
/** Names that phones and cameras write as keys (mdta). */
const CAMERA_KEY = /^com\.(apple\.quicktime|android)\./i
/** An argument of a command holds 128 KiB. */
const MOST_BYTES = 100_000
/** Bytes of an item of text without the text: its head, the head of its value, type and locale. */
const TEXT_ITEM_BYTES = 24
/** Type of UTF-8, in the flags of a value. */
const TEXT = 1
const LOCALE = Buffer.alloc(4)

/** The facts of a plan on which the tags depend. */
type TaggedOutput = Pick<MuxPlan, 'media' | 'profile' | 'streams'>

/**
 * Options for tags without an item of their own in Apple's list. ffmpeg has only keys (mdta) for them, which replace the
 * whole list. Title, artist and cover would be gone for players. voxmux writes them into the list as free-form items.
 * The room for them is made of spaces behind the comment, so that nothing in the file moves.
 */
export function freeTagOptions(output: TaggedOutput): readonly string[] {
  if (isKeyed(output)) return ['-movflags', '+use_metadata_tags']
  const items = freeItems(output)
  return items.length > 0 ? ['-metadata', `comment=${commentWithRoom(output, items)}`] : []
}

/** Writes the free-form items into the room that {@link freeTagOptions} made. */
export async function writeFreeTags(output: TaggedOutput, partPath: string): Promise<void> {
  const items = isKeyed(output) ? Buffer.alloc(0) : freeItems(output)
  if (items.length === 0) return
  const comment = commentOf(output)
  const room = textItem(commentWithRoom(output, items))
  await using file = await open(partPath, 'r+')
  const tags = await userData(file)
  const at = tags ? (await tableBody(file, tags)).indexOf(room) : -1
  if (!tags || at < 0) return
  const made = comment === '' ? items : Buffer.concat([textItem(comment), items])
  await file.write(made, 0, made.length, tags.bodyAt + at)
}

/** True if all tags become keys: in QuickTime, and those of a camera unless a cover needs the list. */
function isKeyed({ media, profile, streams }: TaggedOutput): boolean {
  const names = freeNames({ media, streams })
  if (names.length === 0 || !WITH_LIST.has(profile.muxer)) return names.length > 0
  const hasCover = streams.some(({ fate, input }) => fate !== 'dropped' && isCover(input))
  return !hasCover && names.some((name) => CAMERA_KEY.test(name))
}

function freeNames({ media, streams }: Pick<MuxPlan, 'media' | 'streams'>): readonly string[] {
  const stale = oldFactTags(media, streams)
  return Object.keys(media.tags).filter((name) => {
    const lower = name.toLowerCase()
    return !LIST_NAMES.has(lower) && !WRAPPING_TAGS.has(lower) && !stale.includes(name)
  })
}

/** As many items as one argument has room for. The others are losses of the plan. */
function freeItems({ media, streams }: TaggedOutput): Buffer {
  let made = Buffer.alloc(0)
  for (const name of freeNames({ media, streams })) {
    const parts = [
      makeFullBox('mean', 0, 0, Buffer.from('com.apple.iTunes')),
      makeFullBox('name', 0, 0, Buffer.from(name)),
      textValue(media.tags[name] ?? ''),
    ]
    const more = Buffer.concat([made, makeBox('----', Buffer.concat(parts))])
    if (more.length <= MOST_BYTES) made = more
  }
  return made
}

function commentOf({ media }: TaggedOutput): string {
  return Object.entries(media.tags).find(([name]) => name.toLowerCase() === 'comment')?.[1] ?? ''
}

function commentWithRoom(output: TaggedOutput, items: Buffer): string {
  const comment = commentOf(output)
  return comment + ' '.repeat(comment === '' ? items.length - TEXT_ITEM_BYTES : items.length)
}

function textItem(text: string): Buffer {
  return makeBox('\xa9cmt', textValue(text))
}

function textValue(text: string): Buffer {
  return makeFullBox('data', 0, TEXT, Buffer.concat([LOCALE, Buffer.from(text)]))
}

async function userData(file: FileHandle): Promise<MovieBox | undefined> {
  const { size } = await file.stat()
  for await (const top of fileBoxes(file, size)) {
    if (top.type !== 'moov') continue
    for await (const inner of fileBoxes(file, top.endAt, top.bodyAt)) if (inner.type === 'udta') return inner
  }
  return undefined
}
