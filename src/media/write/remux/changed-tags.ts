import { join } from 'node:path'
import { TransientError } from '../../../core/errors.js'
import { runFfmpeg } from '../../ffmpeg/ffmpeg.js'
import { fileUrl, safeInputOptions } from '../../ffmpeg/input-safety.js'
import { temporaryFolder } from '../../ffmpeg/temporary-folder.js'
import { probe } from '../../probe/probe.js'
import { encoderOptions, silence } from '../encode/encoder-priming.js'
import { staleReason } from '../stale-facts.js'
import { writeFreeTags } from './mend/free-tags.js'
import { namelessOptions, newStreams } from './mux-command.js'
import { type MuxLoss, WRAPPING_TAGS } from './mux-losses.js'
import type { MuxPlan } from './mux-plan.js'
import { fileMetadata, mp4FamilyOptions } from './mux-tags.js'

/** Tags that some containers hold as numbers. */
const NUMBERS: ReadonlySet<string> = new Set(['track', 'disc'])

type Tags = Readonly<Record<string, string>>

/** Names of the tags, in small letters, that are missing in the output or have another value there; stale ones aside. */
export function changedTags(before: Tags, after: Tags): readonly string[] {
  const lower = (tags: Tags) => new Map(Object.entries(tags).map(([name, value]) => [name.toLowerCase(), value]))
  const made = lower(after)
  return [...lower(before)]
    .filter(([name, value]) => !WRAPPING_TAGS.has(name) && staleReason(name) === null && !isSame(name, value, made))
    .map(([name]) => name)
}

/** True if the output has the tag. Apple's list has numbers of tracks: 02/10 becomes 2/10, and 0 none at all. */
function isSame(name: string, value: string, made: ReadonlyMap<string, string>): boolean {
  const found = made.get(name)
  if (!NUMBERS.has(name)) return found === value
  return (found ?? '0') === value.replace(/\b0+(?=\d)/g, '') || found === value
}

/**
 * The tags that ffmpeg does not write as they were, found before anything is paid. ffmpeg copies them to 0.3 s of
 * silence. A place such as `+035.880/`, for example, becomes `+35.879990/` beside free tags.
 */
export async function tagLosses(plan: MuxPlan, signal: AbortSignal | undefined): Promise<readonly MuxLoss[]> {
  const { media, container, profile } = plan
  const [voice] = newStreams(plan)
  const isKnown = plan.losses.some(({ what }) => what.startsWith('tags'))
  if (!voice || isKnown || changedTags(media.tags, {}).length === 0) return []
  await using folder = await temporaryFolder('voxmux-tags-')
  try {
    const path = join(folder.path, `silence.${container}`)
    const options = [
      ...['-map', '1:a', ...fileMetadata(plan), '-map_chapters', '-1', ...encoderOptions(voice.encoding, voice.input)],
      ...[...mp4FamilyOptions(plan, false), ...profile.options, ...namelessOptions(plan), '-f', profile.muxer],
    ]
    const inputs = [{ url: fileUrl(media.path), options: safeInputOptions(media) }, silence(voice.input)]
    await runFfmpeg({ inputs, outputs: [{ url: fileUrl(path), options }] }, { signal, input: media.path })
    await writeFreeTags(plan, path)
    const names = changedTags(media.tags, (await probe(path, { signal })).tags)
    if (names.length === 0) return []
    const reason = `ffmpeg does not write them into .${container} as they are`
    return [{ what: `tags (${names.join(', ')})`, stream: null, reason }]
  } catch (error) {
    if (signal?.aborted || error instanceof TransientError) throw error
    // The steps that follow say what this encoder and container refuse.
    return []
  }
}
