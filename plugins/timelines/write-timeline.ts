import { constants } from 'node:fs'
import { copyFile, cp, rename, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { UsageError } from '../../src/core/errors.js'
import { makeFolder } from '../../src/core/make-folder.js'
import { requireFreeNames } from '../../src/pipeline/output/files-beside.js'
import { publish } from '../../src/pipeline/output/publish.js'
import { holdsFiles } from './bundles/holds-files.js'
import { type PackedFile, rewriteZip } from './bundles/rewrite-zip.js'
import { hiddenPart } from './hidden-part.js'
import { OTIO_TEXT, packedBytes, timelineBytes } from './packing.js'
import type { TimelineFile } from './read-timeline.js'
import type { Relocation } from './relocate-addresses.js'
import { isEarlierTimeline } from './timeline-receipt.js'
import { encodeText } from './timeline-text.js'

/** A timeline that is about to be written. */
export interface NewTimeline {
  /** The one that it was made from. */
  readonly file: TimelineFile
  readonly output: string
  readonly text: string
  /** The person said `--force`. */
  readonly replace: boolean
  /** New media that go into a bundle. */
  readonly added: readonly PackedFile[]
  /** See `Bundle`; null for a timeline without media of its own. */
  readonly requireSame: (() => Promise<void>) | null
}

/** The state of the new timeline's place: nothing is there, the same timeline, or one that may be replaced. */
type TimelineTarget = 'free' | 'same' | 'replaceable'

/**
 * Examines the place of a new timeline. It may replace what voxmux made of an earlier state of the same cut, if nobody
 * has changed that since.
 *
 * @throws {UsageError} `ERR_OUTPUT_EXISTS` if another is there, or in the place of its receipt, and may not be replaced
 */
export async function timelineTarget(made: NewTimeline): Promise<TimelineTarget> {
  const { file, output, replace } = made
  if (!replace) await requireFreeNames(output, { report: false, sidecar: false })
  if ((await stat(output).catch(() => undefined)) === undefined) return 'free'
  if (await isSame(made)) return 'same'
  if (replace || (await isEarlierTimeline(file.path, output))) return 'replaceable'
  throw new UsageError('ERR_OUTPUT_EXISTS', `${output} exists already and is not replaced.`, {
    input: output,
    remedies: ['Choose another folder with --output, or replace it with --force.'],
  })
}

async function isSame({ file, output, text, added }: NewTimeline): Promise<boolean> {
  const standing = await timelineBytes(textPathOf(file, output), file.extension).catch(() => undefined)
  return !!standing?.equals(encodeText(text, file.encoding)) && holdsFiles(output, added)
}

/**
 * Writes a timeline whole or not at all: into a hidden file beside it first. Copies the rest of a bundle.
 *
 * @throws {UsageError} `ERR_OUTPUT_EXISTS` if another has taken its place since the plan
 * @throws {JobFailedError} `ERR_INPUT_CHANGED` if the bundle was exported again since
 */
export async function writeTimeline(made: NewTimeline): Promise<void> {
  const { file, output, text } = made
  makeFolder(dirname(output))
  const replace = (await timelineTarget(made)) !== 'free'
  if (isBundle(file)) {
    await writeBundle({ ...made, replace })
    return
  }
  const content = encodeText(text, file.encoding)
  await hiddenPart(output, async (part) => {
    if (file.extension === '.otioz') await rewriteZip(file.path, part, { name: OTIO_TEXT, content, added: made.added })
    else await writeFile(part, packedBytes(content, file.extension), { flag: 'wx' })
    await made.requireSame?.()
    await publish(part, output, { replace })
  })
}

async function writeBundle({ file, output, text, replace, added, requireSame }: NewTimeline): Promise<void> {
  await hiddenPart(output, async (part) => {
    await cp(file.path, part, { recursive: true, errorOnExist: true, force: false })
    await writeFile(textPathOf(file, part), encodeText(text, file.encoding))
    for (const { name, path } of added) {
      makeFolder(dirname(join(part, name)))
      await copyFile(path, join(part, name), constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    }
    await requireSame?.()
    // A folder cannot be renamed onto one that holds anything: nothing is lost to a race.
    if (replace) await replaceFolder(part, output)
    else await rename(part, output)
  })
}

/** Gives a folder the name of another one, which is removed only then. It may be gone already. */
async function replaceFolder(part: string, output: string): Promise<void> {
  await hiddenPart(output, async (old) => {
    const stood = await rename(output, old).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return false
        throw error
      },
    )
    try {
      await rename(part, output)
    } catch (error) {
      if (stood) await rename(old, output)
      throw error
    }
  })
}

/** From where the relative addresses of a timeline count when it is written to `output`. */
export function relocationOf(file: TimelineFile, output: string): Relocation {
  return { from: dirname(file.textPath), to: dirname(textPathOf(file, output)), isBundle: isBundle(file) }
}

function isBundle({ path, textPath }: TimelineFile): boolean {
  return path !== textPath
}

function textPathOf(file: TimelineFile, output: string): string {
  return isBundle(file) ? join(output, basename(file.textPath)) : output
}
