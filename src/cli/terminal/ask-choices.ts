import { basename, extname, resolve } from 'node:path'
import type { Recipe } from '../../config/preset-schema.js'
import { audioStreams, containerProfile, decodePcm, measureLoudness, probe } from '../../media/index.js'
import { type AudioStreamInfo, isUndescribed, type MediaInfo, pictureOf } from '../../media/media-info.js'
import type { JobSettings } from '../../pipeline/plan/job-settings.js'
import { namesFolder } from '../../pipeline/plan/output-path.js'
import type { PlanRequest } from '../../pipeline/plan/plan-job.js'
import { isWebAddress } from '../../pipeline/web-address.js'
import { type ChannelsChoice, describeTracks, type Limits, subjectTrack } from '../../precheck/index.js'
import type { Choice, Questions } from './questions.js'

/** Answers for the files whose tracks or channels would be refused, and whose picture would be lost. */
interface AskOptions {
  readonly limits: Limits
  readonly signal: AbortSignal
  /** The output goes to stdout, so its format is settled. */
  readonly toStdout?: boolean
  /** Opens the conversation, only if there is something to ask. */
  readonly open: () => Questions
}

const CHANNEL_CHOICES: readonly (Choice & { readonly value: ChannelsChoice })[] = [
  { value: 'center', meaning: 'only the dialogue channel; all others keep their sound' },
  { value: 'each', meaning: 'every channel, as a file of its own' },
  { value: 'downmix', meaning: 'a stereo downmix' },
]

/** So much of a track tells a dialogue from an empty track, within seconds. */
const HEARD_SEC = 10

/** The request after questions about its picture, several tracks, and more than two channels. */
export async function askChoices(request: PlanRequest, options: AskOptions): Promise<PlanRequest> {
  const { input, cwd, settings } = request
  // The job reports an unreadable file.
  const media = isWebAddress(input)
    ? null
    : await probe(resolve(cwd, input), { signal: options.signal }).catch(() => null)
  if (media === null) return request
  const output = options.toStdout ? request.output : await askPicture(media, request, options)
  return { ...request, output, settings: await askSound(media, settings, options) }
}

/** The output of a film that is named like a sound file. */
async function askPicture(media: MediaInfo, { output, cwd }: PlanRequest, { open }: AskOptions) {
  if (output === undefined || !pictureOf(media) || (await namesFolder(output, cwd))) return output
  const [kind, own] = [extname(output), extname(media.path)]
  if (containerProfile(kind.slice(1).toLowerCase())?.videoCodecs?.length !== 0) return output
  const film = `${output.slice(0, -kind.length)}${own}`
  const isInput = resolve(cwd, film) === media.path
  const filmName = isInput ? `${basename(film, own)}.regen${own}` : basename(film)
  const question = `${basename(media.path)} has a picture, and ${kind} files hold only sound. Keep the picture?`
  const answer = await open().choice(question, [
    { value: 'no', meaning: `only the sound, as ${basename(output)}` },
    { value: 'yes', meaning: `picture and sound, as ${filmName}` },
  ])
  if (answer === 'no') return output
  return isInput ? undefined : film
}

async function askSound(media: MediaInfo, settings: JobSettings, options: AskOptions): Promise<JobSettings> {
  const { limits, open } = options
  const { track, channels } = settings.recipe
  const sounds = offeredSounds(media)
  const tracks = sounds.map(subjectTrack)
  const isOpen = track === 'only' && tracks.length > 1
  const chosenTrack = isOpen ? await askTrack(media, sounds, options) : track
  const heard = tracks.filter(({ audioIndex, isDefault }) =>
    chosenTrack === 'default' ? isDefault : chosenTrack === audioIndex || ['only', 'all'].includes(String(chosenTrack)),
  )
  const isWide = channels === 'auto' && heard.some((each) => each.channels > (limits.maxChannels ?? 2))
  if (!isWide) return { ...settings, recipe: { ...settings.recipe, track: chosenTrack } }
  const answer = await open().choice(`${basename(media.path)}: which channels?`, CHANNEL_CHOICES)
  const chosen = CHANNEL_CHOICES.find(({ value }) => value === answer)?.value ?? channels
  return { ...settings, recipe: { ...settings.recipe, track: chosenTrack, channels: chosen } }
}

/** The tracks of a file without those that were announced and never sent, as a plan takes them. */
function offeredSounds(media: MediaInfo): readonly AudioStreamInfo[] {
  return audioStreams(media).filter((stream) => !isUndescribed(stream))
}

async function askTrack(
  media: MediaInfo,
  sounds: readonly AudioStreamInfo[],
  { signal, open }: AskOptions,
): Promise<Recipe['track']> {
  const rows = await Promise.all(
    sounds.map(async (stream) => ({
      value: String(stream.audioIndex),
      meaning: `${describeTracks([subjectTrack(stream)]).replace(/^\d+ /, '')}${await loudnessWords(media, stream, signal)}`,
    })),
  )
  const all = { value: 'all', meaning: 'every track' }
  const answer = await open().choice(`${basename(media.path)}: which audio track?`, [...rows, all])
  return answer === 'all' ? 'all' : Number(answer)
}

/** The loudness of some seconds in the middle. Empty for a track that cannot be decoded, which the job reports. */
async function loudnessWords(
  media: MediaInfo,
  { audioIndex, sampleRate }: AudioStreamInfo,
  signal: AbortSignal,
): Promise<string> {
  const durationSec = media.durationSec ?? HEARD_SEC
  const startSec = Math.max(0, (durationSec - HEARD_SEC) / 2)
  const [startSample, endSample] = [startSec, Math.min(durationSec, startSec + HEARD_SEC)].map((sec) =>
    Math.round(sec * sampleRate),
  ) as [number, number]
  const pcm = decodePcm(media, { audioIndex, range: { startSample, endSample }, startsLate: true, signal })
  const loudness = await measureLoudness(pcm).catch(() => undefined)
  if (loudness === undefined) return ''
  return loudness.integratedLufs === null ? ', silence' : `, ${loudness.integratedLufs.toFixed(1)} LUFS`
}
