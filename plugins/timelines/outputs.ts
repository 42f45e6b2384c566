import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path'
import { UsageError } from '../../src/core/errors.js'
import { isSameFile } from '../../src/core/file-identity.js'
import { namesFolder } from '../../src/pipeline/plan/output-path.js'
import { type Bundle, isInBundle } from './bundles/bundle.js'
import type { TimelineFile } from './read-timeline.js'
import type { TimelineRequest } from './timeline-plan.js'

/** Paths of all outputs. */
export interface TimelineOutputs {
  /** Absolute path of the new timeline. */
  readonly timeline: string
  /** Output of each file's job: undefined beside the file, or a folder with a separator at its end. */
  readonly mediaOutput: (mediaPath: string) => string | undefined
  /** Folder for the new media of a bundle, and for what is unpacked of it. */
  readonly bundleFolder: string
}

/** Lays out the outputs: beside the originals, or all in the folder that `-o` names. */
export async function outputsOf(
  { output, cwd }: TimelineRequest,
  { path, extension }: TimelineFile,
): Promise<TimelineOutputs> {
  const name = `${basename(path, extname(path))}.regen${extname(path)}`
  const wanted = output === undefined ? undefined : resolve(cwd, output)
  if (output === undefined || wanted === undefined) return laidOut(join(dirname(path), name), () => undefined)
  if (extname(wanted).toLowerCase() === extension && !(await namesFolder(output, cwd))) {
    if (wanted === path || (await isSameFile(wanted, path))) {
      throw new UsageError('ERR_OUTPUT_IS_INPUT', `The output would replace the timeline ${path}.`, {
        input: path,
        remedies: ['Name another file with --output: the timeline is only ever read.'],
      })
    }
    return laidOut(wanted, () => undefined)
  }
  const folderOf = distinctFolders(wanted)
  return laidOut(join(wanted, name), (mediaPath) => `${folderOf(mediaPath)}${sep}`)
}

function laidOut(timeline: string, mediaOutput: TimelineOutputs['mediaOutput']): TimelineOutputs {
  const bundleFolder = join(dirname(timeline), `${basename(timeline, extname(timeline))}.media`)
  return { timeline, mediaOutput, bundleFolder }
}

/** The same outputs, but the new media of a bundle's own files lie in their folder as the old ones in the bundle. */
export function withBundle(outputs: TimelineOutputs, bundle: Bundle | null): TimelineOutputs {
  const mediaOutput = (mediaPath: string) =>
    isInBundle(bundle, mediaPath)
      ? `${join(outputs.bundleFolder, relative(bundle.folder, dirname(mediaPath)))}${sep}`
      : outputs.mediaOutput(mediaPath)
  return { ...outputs, mediaOutput }
}

/** Two files of one name from two folders must not meet in one: the second goes into a folder called like its own. */
function distinctFolders(folder: string): (mediaPath: string) => string {
  const taken = new Map<string, string>()
  return (mediaPath) => {
    const name = basename(mediaPath).toLowerCase()
    const below = basename(dirname(mediaPath)) || 'media'
    const candidates = [
      folder,
      join(folder, below),
      ...[2, 3, 4, 5, 6, 7, 8, 9].map((n) => join(folder, `${below}-${n}`)),
    ]
    const free = candidates.find((candidate) => (taken.get(join(candidate, name)) ?? mediaPath) === mediaPath) ?? folder
    taken.set(join(free, name), mediaPath)
    return free
  }
}
