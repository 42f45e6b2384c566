import { open } from 'node:fs/promises'
import { isCover, type StreamInfo } from '../../../media-info.js'
import { makeBox } from '../../../probe/movie/box.js'
import { movieTables, tableBody } from '../../../probe/movie/movie-boxes.js'

const KIND = Buffer.from('\0\0\0\0urn:mpeg:dash:role:2011\0enhanced-audio-intelligibility\0', 'latin1')
const CHARACTERISTIC = Buffer.from('public.accessibility.enhances-speech-intelligibility', 'latin1')

/**
 * Marks of clear dialogue: in MP4 the track kind with a role of DASH, in QuickTime a tag. The muxer of ffmpeg would mark
 * the sound of an .mp4 as a caption.
 */
const MARKS: Readonly<Record<string, Buffer>> = { mp4: makeBox('kind', KIND), mov: makeBox('tagc', CHARACTERISTIC) }

/** True if {@link writeTrackMarks} marks the added tracks of a container. */
export function hasTrackMark(container: string): boolean {
  return Object.hasOwn(MARKS, container)
}

/** The title of an added track, with spaces in the place of the mark. */
export function titleWithRoom(title: string, container: string): string {
  return title.padEnd(title.length + (MARKS[container]?.length ?? 0))
}

/** The facts of a plan that the marks need. */
interface MarkedOutput {
  readonly container: string
  readonly streams: readonly { readonly fate: string; readonly input: StreamInfo; readonly title?: string | null }[]
}

/** Writes the marks of added tracks into the room behind their titles, so that nothing in the file moves. */
export async function writeTrackMarks({ streams, container }: MarkedOutput, partPath: string): Promise<void> {
  const mark = MARKS[container]
  if (!mark || streams.every(({ fate }) => fate !== 'added')) return
  const tracks = streams.filter(({ fate, input }) => fate !== 'dropped' && !isCover(input))
  await using file = await open(partPath, 'r+')
  for await (const { box: table, track } of movieTables(file, (await file.stat()).size)) {
    const stream = tracks[track]
    if (table.type !== 'udta' || stream?.fate !== 'added' || !stream.title) continue
    const body = await tableBody(file, table)
    const at = body.indexOf(makeBox('name', Buffer.from(titleWithRoom(stream.title, container))))
    if (at < 0) continue
    const marked = Buffer.concat([makeBox('name', Buffer.from(stream.title)), mark])
    await file.write(marked, 0, marked.length, table.bodyAt + at)
  }
}
