import { readdir, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { fileSha256, valueSha256 } from '../../src/core/file-identity.js'
import { voxmuxVersion } from '../../src/core/package-folder.js'
import { readPlainFile } from '../../src/core/read-plain-file.js'
import { syncFolder } from '../../src/core/sync-folder.js'
import { receiptPath } from '../../src/pipeline/plan/output-path.js'
import { hiddenPart } from './hidden-part.js'

/** `<timeline>.voxmux.json`: the cut that a timeline was made of, its content, and the new media that it plays. */
const timelineReceiptSchema = z.object({
  schemaVersion: z.literal(1),
  kind: z.literal('timeline'),
  voxmux: z.string(),
  input: z.object({ path: z.string() }),
  output: z.object({ path: z.string(), sha256: z.string() }),
  media: z.array(z.string()).default([]),
})

type TimelineReceipt = z.infer<typeof timelineReceiptSchema>

/**
 * Writes the receipt of a new timeline atomically.
 *
 * @param media absolute paths of the new files, each with a receipt of its own
 * @returns its path
 */
export async function writeTimelineReceipt(cut: string, timeline: string, media: readonly string[]): Promise<string> {
  const path = receiptPath(timeline)
  const receipt: TimelineReceipt = {
    schemaVersion: 1,
    kind: 'timeline',
    voxmux: voxmuxVersion(),
    input: { path: cut },
    output: { path: timeline, sha256: await contentSha256(timeline) },
    media: [...media],
  }
  await hiddenPart(path, async (part) => {
    await writeFile(part, `${JSON.stringify(receipt, null, 2)}\n`, { flag: 'wx', flush: true })
    await rename(part, path)
    await syncFolder(dirname(path))
  })
  return path
}

/** True if a timeline was made of an earlier state of this cut, and nobody has changed it since. */
export async function isEarlierTimeline(cut: string, timeline: string): Promise<boolean> {
  const receipt = await readTimelineReceipt(timeline)
  return receipt?.input.path === cut && receipt.output.sha256 === (await contentSha256(timeline))
}

/** The new media that a timeline of voxmux plays, as absolute paths; undefined for any other file. */
export async function mediaOfTimeline(timeline: string): Promise<readonly string[] | undefined> {
  return (await readTimelineReceipt(timeline))?.media
}

async function readTimelineReceipt(timeline: string): Promise<TimelineReceipt | undefined> {
  try {
    return timelineReceiptSchema.parse(JSON.parse((await readPlainFile(receiptPath(timeline))).toString()))
  } catch {
    return undefined
  }
}

/** SHA-256 of a file, or of all files of a bundle with their names. */
async function contentSha256(path: string): Promise<string> {
  if ((await stat(path)).isFile()) return fileSha256(path)
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
  const hashes = await Promise.all(files.sort().map(async (file) => [file.slice(path.length), await fileSha256(file)]))
  return valueSha256(hashes)
}
