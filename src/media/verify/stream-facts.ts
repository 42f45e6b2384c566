import type { ColourInfo, StreamInfo, VideoStreamInfo } from '../media-info.js'
import { WRAPPING_TAGS } from '../write/remux/mux-losses.js'
import type { MuxPlan, PlannedStream } from '../write/remux/mux-plan.js'
import { STATISTICS } from '../write/remux/mux-tags.js'
import { isNewStream } from '../write/remux/plan-streams.js'
import { staleReason } from '../write/stale-facts.js'
import { staleTagNames } from './stale-tag-names.js'

/** Containers in which ffmpeg writes every tag of a stream. */
const WITH_STREAM_TAGS = new Set(['mkv', 'mka', 'webm'])
/** Containers in which ffmpeg writes the colour and HDR metadata of a picture. */
const WITH_COLOUR = new Set(['mp4', 'm4v', 'mov', 'mkv', 'webm'])
/** Picture side data that these containers carry. */
const PICTURE_SIDE_DATA = [
  'Mastering display metadata',
  'Content light level metadata',
  'DOVI configuration record',
  'Spherical Mapping',
  'Stereo 3D',
]

/** Lists the facts of a stream that its copy in the output lacks, if the container can carry them. */
export function streamFactDifferences(plan: MuxPlan, stream: PlannedStream, made: StreamInfo): readonly string[] {
  const { input } = stream
  const facts = [...titleDifferences(stream, made), ...tagDifferences(plan, stream, made)]
  if (stream.fate !== 'copied') return facts
  if (input.kind === 'attachment' && made.extradataHash !== input.extradataHash) facts.push('the content')
  if (input.kind !== 'video' || made.kind !== 'video' || input.isCover) return facts
  return WITH_COLOUR.has(plan.container) ? [...facts, ...pictureDifferences(input, made)] : facts
}

function titleDifferences(stream: PlannedStream, made: StreamInfo): string[] {
  const wanted = (stream.fate === 'dropped' ? null : stream.title) ?? stream.input.title
  return wanted === null || made.title === null || made.title === wanted ? [] : ['the title']
}

function tagDifferences(plan: MuxPlan, stream: PlannedStream, made: StreamInfo): readonly string[] {
  if (!WITH_STREAM_TAGS.has(plan.container)) return []
  const stale = isNewStream(stream) ? staleTagNames(plan) : new Set()
  const lower = new Map(Object.entries(made.tags).map(([name, value]) => [name.toLowerCase(), value]))
  return Object.entries(stream.input.tags).flatMap(([name, value]) => {
    const key = name.toLowerCase()
    const isOwn =
      WRAPPING_TAGS.has(key) ||
      STATISTICS.test(name) ||
      stale.has(key) ||
      staleReason(name) !== null ||
      key === 'language' ||
      key === 'title'
    return isOwn || lower.get(key) === value ? [] : [`the tag ${name}`]
  })
}

function pictureDifferences(input: VideoStreamInfo, made: VideoStreamInfo): readonly string[] {
  const names: readonly (keyof ColourInfo)[] = ['range', 'space', 'transfer', 'primaries']
  const colour = names.filter((name) => input.colour[name] !== null && input.colour[name] !== made.colour[name])
  const sideData = PICTURE_SIDE_DATA.filter(
    (type) => input.sideDataValues[type] !== undefined && input.sideDataValues[type] !== made.sideDataValues[type],
  )
  return [
    ...colour.map((name) => `the colour ${name}`),
    ...(input.sampleAspect === made.sampleAspect ? [] : ['the pixel shape']),
    ...sideData.map((type) => `the ${type}`),
  ]
}
