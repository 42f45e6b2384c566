import { isFilm, type MediaInfo, type StreamInfo } from '../media-info.js'
import { isMatroska } from '../probe/container-kind.js'
import { isOgg } from '../probe/file-tags.js'
import { isLossless } from '../probe/media-info-of.js'
import { changedTags } from '../write/remux/changed-tags.js'
import { sameLanguage } from '../write/remux/mend/languages.js'
import { writtenStreams } from '../write/remux/mux-command.js'
import { CHAPTER_TOLERANCE_SEC, LATE_CHAPTER } from '../write/remux/mux-losses.js'
import type { MuxPlan } from '../write/remux/mux-plan.js'
import type { WrittenStream } from '../write/remux/plan-streams.js'
import { matchStreams, plannedCodec } from './match-streams.js'
import { staleTagNames } from './stale-tag-names.js'
import { streamFactDifferences } from './stream-facts.js'

/** Containers that count in ms round timestamps; two of them can differ by two ticks. */
const START_TOLERANCE_SEC = 0.0021
/** Containers begin sound with its priming or behind it, and some of them with a whole packet. */
const OTHER_CONTAINER_SEC = 0.1
/** Priming of AAC has 2112 samples, at 44.1 kHz. */
const MOST_PRIMING_SEC = 0.048
/** A duration may end on a whole frame of a lossy codec or of the video. */
const DURATION_TOLERANCE_SEC = 0.25

/** The facts in the output's tables that differ from the plan. @param voiceSec lengths on the file's clock */
export function tableDifferences(plan: MuxPlan, output: MediaInfo, voiceSec: readonly number[]): readonly string[] {
  const written = writtenStreams(plan)
  if (output.streams.length < written.length) {
    return [`the number of streams (${output.streams.length} instead of ${written.length})`]
  }
  return [
    ...written.flatMap((stream) => streamDifferences(plan, stream, output)),
    ...chapterDifferences(plan, output),
    ...tagDifferences(plan, output),
    ...durationDifferences(plan, output, voiceSec),
  ]
}

function streamDifferences(plan: MuxPlan, stream: WrittenStream, output: MediaInfo): readonly string[] {
  const made = matchStreams(plan, output).get(stream)
  const name = `${stream.input.kind} stream ${stream.input.index}`
  if (!made) return [name]
  const wrong: string[] = []
  if (made.codec !== plannedCodec(stream)) wrong.push(`the codec of ${name} (${made.codec ?? 'none'})`)
  const moved = startMoved(plan, stream, output) ? [`the start of ${name}`] : []
  if (plan.media.container !== plan.container) return [...wrong, ...moved]
  if (!sameLanguage(made, stream.input)) wrong.push(`the language of ${name}`)
  wrong.push(...streamFactDifferences(plan, stream, made).map((fact) => `${fact} of ${name}`))
  const lost = stream.dispositions.filter((disposition) => !made.dispositions.includes(disposition))
  if (lost.length > 0 && plan.profile.chapters) wrong.push(`the disposition ${lost.join(', ')} of ${name}`)
  if (stream.fate !== 'copied') return wrong
  if (made.kind === 'video' && stream.input.kind === 'video' && made.rotationDeg !== stream.input.rotationDeg) {
    wrong.push(`the rotation of ${name}`)
  }
  return [...wrong, ...moved]
}

/** True if a copied stream moved in time against the first copied video or audio stream. */
function startMoved(plan: MuxPlan, stream: WrittenStream, output: MediaInfo): boolean {
  const { input, fate } = stream
  const anchor = anchorShiftSec(plan, output)
  const made = matchStreams(plan, output).get(stream)
  if (anchor === null || made?.startSec == null || input.startSec === null || fate !== 'copied') return false
  if (input.kind !== 'audio' && !isFilm(input)) return false
  const movedSec = made.startSec - input.startSec - anchor
  const { earlySec, lateSec } = startTolerance(plan, input)
  return movedSec < -earlySec || movedSec > lateSec
}

/** Seconds by which the stated start of a stream may differ, although its packets play in their place. */
function startTolerance({ media, container }: MuxPlan, { kind, codec }: StreamInfo) {
  if (media.container !== container) return { earlySec: OTHER_CONTAINER_SEC, lateSec: OTHER_CONTAINER_SEC }
  // Behind an empty edit, ffmpeg states the start of sound with or without its priming.
  const primingSec = kind === 'audio' && !isLossless(codec) ? MOST_PRIMING_SEC : 0
  return { earlySec: START_TOLERANCE_SEC + primingSec, lateSec: START_TOLERANCE_SEC }
}

/** Seconds by which the output is later, by its first copied video, else audio; null if none was copied. */
export function anchorShiftSec(plan: MuxPlan, output: MediaInfo): number | null {
  const copied = plan.streams.filter(({ fate }) => fate === 'copied')
  const film = copied.find(({ input }) => isFilm(input))
  const anchor = film ?? copied.find(({ input }) => input.kind === 'audio' && statesStart(plan, input))
  const made = anchor && matchStreams(plan, output).get(anchor)
  return anchor?.input.startSec == null || made?.startSec == null ? null : made.startSec - anchor.input.startSec
}

/** Containers begin Opus and Vorbis with their priming, or behind it. */
function statesStart({ media, container }: MuxPlan, { codec }: StreamInfo): boolean {
  return media.container === container || (codec !== 'opus' && codec !== 'vorbis')
}

function chapterDifferences(plan: MuxPlan, output: MediaInfo): readonly string[] {
  const before = plan.media.chapters
  if (!plan.profile.chapters || before.length === 0) return []
  const isFirstMoved = plan.losses.some(({ what }) => what === LATE_CHAPTER)
  const same =
    output.chapters.length === before.length &&
    before.every((chapter, place) => {
      const made = output.chapters[place]
      return (
        // ID3 names every chapter, and readers take the name for a missing title.
        (made?.title === chapter.title || (plan.profile.muxer === 'mp3' && chapter.title === null)) &&
        made !== undefined &&
        ((place === 0 && isFirstMoved) ||
          Math.abs(made.startSec - chapter.startSec - (anchorShiftSec(plan, output) ?? 0)) < CHAPTER_TOLERANCE_SEC)
      )
    })
  return same ? [] : ['the chapters']
}

function tagDifferences(plan: MuxPlan, output: MediaInfo): readonly string[] {
  if (plan.losses.some(({ what }) => what.startsWith('tags'))) return []
  const stale = staleTagNames(plan)
  // In Ogg, only streams have tags, and a kept original has a title of its own.
  const first = isOgg(output.container) ? output.streams[0]?.tags : undefined
  const lost = changedTags(plan.media.tags, { ...first, ...output.tags }).filter((name) => !stale.has(name))
  return lost.length === 0 ? [] : [`the tags ${lost.join(', ')}`]
}

/** Seconds before the first packet, which mkvmerge leaves out of a duration and ffmpeg counts. */
function lateStartSec({ media }: MuxPlan): number {
  return isMatroska(media) ? Math.max(0, media.startSec) : 0
}

/** Headers can be wrong: the output may be as long as its input claims, as its audio is, or as its chapters are. */
function durationDifferences(plan: MuxPlan, output: MediaInfo, voiceSec: readonly number[]): readonly string[] {
  const [before, after] = [plan.media.durationSec, output.durationSec]
  // ffprobe only guesses the duration of a raw stream, from its bit rate.
  if (before === null || after === null || ['aac', 'mp2', 'ac3', 'eac3'].includes(plan.container)) return []
  const most = Math.max(before + lateStartSec(plan), ...voiceSec) + DURATION_TOLERANCE_SEC
  // The same is true of a single sound that is shorter than its file claims. Its new bit rate gives another guess.
  const isGuess = plan.media.streams.length === 1 && most > Math.max(...voiceSec) + 2 * DURATION_TOLERANCE_SEC
  const hasLaterChapters = plan.profile.chapters && plan.media.chapters.some(({ startSec }) => startSec > most)
  const isRight =
    after >= Math.min(before, ...voiceSec) - DURATION_TOLERANCE_SEC && (after <= most || isGuess || hasLaterChapters)
  return isRight ? [] : [`the duration (${after} s instead of ${before} s)`]
}
