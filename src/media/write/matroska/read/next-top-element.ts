import { ID } from '../../../probe/matroska/ids.js'
import type { FileWindow } from '../../file-window.js'

export const ID_BYTES = 4
/** A file may consist of damage, so each search reads little. */
const SCANNED_BYTES = 1024
/** Longer than a cluster. A recorder may have reserved any number of zeros. */
const MOST_BYTES = 64 * 1024 ** 2

/** Elements of a segment by which ffmpeg finds its way behind damaged bytes. */
const TOP_IDS: readonly Buffer[] = [
  ...[ID.SeekHead, ID.Info, ID.Tracks, ID.Cluster, ID.Cues, ID.Attachments, ID.Chapters, ID.Tags],
].map((id) => Buffer.from(id.toString(16), 'hex'))

/** Finds the next element of the segment behind damaged bytes; `end` if none is near. */
export async function nextTopElement(window: FileWindow, from: number, end: number): Promise<number> {
  for (let at = from; at + ID_BYTES <= end && at < from + MOST_BYTES; ) {
    await window.bring(at)
    const bytes = window.peek(at, Math.min(SCANNED_BYTES, end - at))
    const places = TOP_IDS.map((id) => bytes.indexOf(id)).filter((place) => place >= 0)
    if (places.length > 0) return at + Math.min(...places)
    if (bytes.length < ID_BYTES) break
    at += bytes.length - ID_BYTES + 1
  }
  return end
}
