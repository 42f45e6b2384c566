import { basename, resolve } from 'node:path'
import type { Recipe } from '../../config/preset-schema.js'
import { audioStreams, probe } from '../../media/index.js'
import { isWebAddress } from '../../pipeline/plan/expand-inputs.js'
import type { JobSettings } from '../../pipeline/plan/job-settings.js'
import { type ChannelsChoice, describeTracks, type Limits, subjectTrack } from '../../precheck/index.js'
import type { Choice, Questions } from './questions.js'

/** Answers for the files whose tracks or channels would be refused. */
interface AskOptions {
  readonly cwd: string
  readonly limits: Limits
  readonly signal: AbortSignal
  /** Opens the conversation, only if there is something to ask. */
  readonly open: () => Questions
}

const CHANNEL_CHOICES: readonly (Choice & { readonly value: ChannelsChoice })[] = [
  { value: 'center', meaning: 'only the dialogue channel; all others keep their sound' },
  { value: 'each', meaning: 'every channel, as a file of its own' },
  { value: 'downmix', meaning: 'a stereo downmix' },
]

/** The settings of a file, after questions about several tracks or more than two channels. */
export async function askChoices(input: string, settings: JobSettings, options: AskOptions): Promise<JobSettings> {
  const { cwd, limits, signal, open } = options
  const { track, channels } = settings.recipe
  if (isWebAddress(input) || (track !== 'only' && channels !== 'auto')) return settings
  // The job reports an unreadable file.
  const media = await probe(resolve(cwd, input), { signal }).catch(() => null)
  const tracks = media === null ? [] : audioStreams(media).map(subjectTrack)
  const isOpen = track === 'only' && tracks.length > 1
  const chosenTrack = isOpen ? await askTrack(input, tracks, open()) : track
  const heard = tracks.filter(({ audioIndex, isDefault }) =>
    chosenTrack === 'default' ? isDefault : chosenTrack === audioIndex || ['only', 'all'].includes(String(chosenTrack)),
  )
  const isWide = channels === 'auto' && heard.some((each) => each.channels > (limits.maxChannels ?? 2))
  if (!isWide) return { ...settings, recipe: { ...settings.recipe, track: chosenTrack } }
  const answer = await open().choice(`${basename(input)}: which channels?`, CHANNEL_CHOICES)
  const chosen = CHANNEL_CHOICES.find(({ value }) => value === answer)?.value ?? channels
  return { ...settings, recipe: { ...settings.recipe, track: chosenTrack, channels: chosen } }
}

async function askTrack(
  input: string,
  tracks: readonly ReturnType<typeof subjectTrack>[],
  questions: Questions,
): Promise<Recipe['track']> {
  const rows = tracks.map((each) => ({
    value: String(each.audioIndex),
    meaning: describeTracks([each]).replace(/^\d+ /, ''),
  }))
  const all = { value: 'all', meaning: 'every track' }
  const answer = await questions.choice(`${basename(input)}: which audio track?`, [...rows, all])
  return answer === 'all' ? 'all' : Number(answer)
}
