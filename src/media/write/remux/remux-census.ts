import { open } from 'node:fs/promises'
import type { MediaInfo } from '../../media-info.js'
import { isMatroska } from '../../probe/container-kind.js'
import { type Census, type CensusEntry, lost, rewritten, SIGNS_OLD_BYTES } from '../census.js'
import { isMovieProfile } from '../container-profile.js'
import { asfObjects } from '../structure/asf-objects.js'
import { withAviLists } from '../structure/avi-lists.js'
import { flvTags } from '../structure/flv-tags.js'
import { CREDENTIALS_BOX } from '../structure/iso-boxes.js'
import { withMatroskaLists } from '../structure/matroska-lists.js'
import { outlineOf } from '../structure/outline.js'
import { programPackets, programStream } from '../structure/program-packets.js'
import type { Structure } from '../structure/structure.js'
import { transportPids } from '../structure/transport-pids.js'
import type { MuxLoss } from './mux-losses.js'
import type { MuxPlan } from './mux-plan.js'

/** Structures that ffmpeg writes for a new file, or whose content its streams, tags and chapters carry; by family. */
const CARRIED: readonly RegExp[] = [
  // ISO base media and QuickTime
  /^(ftyp|styp|sidx|mdat|free|skip|wide|mfra(\/.*)?|moof(\/(mfhd|traf(\/(tfhd|tfdt|trun|sbgp|sgpd|saiz|saio|senc))?))?)$/,
  /^moov(\/(mvhd|iods|mvex(\/\w+)?|meta|udta(\/(end|meta|\xa9...|titl|auth|perf|gnre|cprt|loci|chpl))?))?$/,
  /^moov\/trak(\/(tkhd|edts(\/elst)?|tref(\/\w+)?|udta(\/(end|name|titl|\xa9nam))?|mdia(\/(mdhd|hdlr|minf(\/\w+)?))?))?$/,
  /^moov\/trak\/mdia\/minf\/(dinf\/.*|gmhd\/.*|stbl\/(stsd|stts|ctts|stss|stsc|stsz|stz2|stco|co64|sbgp|sgpd))$/,
  // chunks
  /^RIFF\/AVIX?(\/(LIST|RIFF|idx1|JUNK))?$/,
  /^RIFF\/AVI\/hdrl(\/(avih|JUNK|junk|odml(\/dmlh)?|strl(\/(strh|strf|strn|indx|vprp|JUNK|junk))?))?$/,
  // The plan compares the tags with those that ffmpeg writes.
  /^RIFF\/AVI\/INFO(\/(?!ISFT$)|$)/,
  /^(RIFF|RF64|BW64)\/WAVE(\/(fmt|fact|data|ds64|LIST|JUNK|junk|PAD|FLLR))?$/,
  /^W64(\/(fmt|fact|data))?$/,
  /^FORM\/AIF[FC](\/(COMM|FVER|SSND|NAME|AUTH|\(c\)|ANNO|ID3))?$/,
  /^caff(\/(desc|data|pakt|kuki|chan|info|free))?$/,
  /^AU(\/data)?$/,
  // MXF: essence, its index, its system items, and the sets that every file has
  /^(partition|fill|index|random index|primer|essence\/\w+|set\/060e2b3402..01010d010301[01]4\w+|set\/060e2b340253..010d0101010101\w+)$/,
  // Matroska
  /^(EBML|Segment(\/(SeekHead|Info|Tracks|Cluster|Cues|Tags|Chapters|Attachments|Void|CRC-32))?)$/,
  // ASF
  /^(Header|Data|Simple Index)$/,
  /^Header\/(File Properties|Stream Properties|Codec List|Marker|Error Correction|Content Description|Padding)$/,
  /^Header\/(Extended Content Description|Stream Bitrate Properties|Header Extension)$/,
  /^Header\/Header Extension\/(Extended Stream Properties|Language List|Metadata|Metadata Library|Padding)$/,
  /^Header\/Header Extension\/(Index Parameters|Index Placeholder|Compatibility)$/,
  // FLV and transport streams
  /^(FLV|audio|video|script\/onMetaData)$/,
  /^PID \d+ \((PAT|SDT|PMT|padding|clock|stream)\)$/,
  // MPEG program streams
  /^(pack|packs of .*|system header|padding|zeros between packets|packets 0x[0-9a-f]+ \(stream\))$/,
]

/** Structures that ffmpeg replaces by others, with the reason why that is a loss. */
const REPLACED: ReadonlyMap<string, string> = new Map([
  [
    'RIFF/AVI/hdrl/strl/strh (iavs)',
    'ffmpeg writes the sound beside the DV frames (type 2); the old one stays in them',
  ],
])
/** The division of a film into fragments. */
const FRAGMENTS = 'moof'
/** Packs of a disc or of MPEG-1, in a file that stays a program stream. */
const OTHER_PACKS = /^packs of /
const PROGRAM_STREAM = 'mpg'

/** Containers whose structures voxmux lists. */
const LISTED: ReadonlySet<string> = new Set([
  ...['mp4', 'mov', 'm4a', 'm4v', '3gp', '3g2', 'mxf', 'mkv', 'webm', 'avi', 'wav', 'w64', 'aiff', 'caf', 'au'],
  ...['ts', 'm2ts', 'wmv', 'wma', 'flv', PROGRAM_STREAM],
])

/**
 * The fate of every structure if ffmpeg writes a new file: rewritten if the new file states its facts, else lost. Null
 * for a family whose structures voxmux does not list, and for a file that does not follow its family's rules.
 */
export async function remuxCensus(plan: MuxPlan, signal?: AbortSignal): Promise<Census | null> {
  const { media, container, streams } = plan
  const structures = await structuresOf(media, signal)
  if (!structures) return null
  // voxmux copies the other chunks of a WAV after ffmpeg.
  const isWave = media.container === 'wav' && container === 'wav'
  const dropped = new Map(
    streams.flatMap(({ fate, input: { id }, reason }) => {
      if (fate !== 'dropped' || typeof id !== 'number') return []
      return [`PID ${id} (stream)`, programStream(id)].map((path): [string, string] => [path, reason])
    }),
  )
  const fateOf = ({ path, start, length }: Structure): CensusEntry => {
    const reason = dropped.get(path)
    if (reason) return lost(path, start, length, reason)
    const why = replacement(path, plan)
    if (why !== undefined) return lost(path, start, length, why)
    const isCarried = isWave ? !/\/(C2PA|MD5|PEAK|levl|LGWV)$/.test(path) : CARRIED.some((known) => known.test(path))
    if (isCarried) return rewritten(path, start, length, 'ffmpeg writes a new file')
    if (isSignature(path)) return lost(path, start, length, SIGNS_OLD_BYTES)
    return lost(path, start, length, `ffmpeg does not carry it into .${container}`)
  }
  return {
    *[Symbol.iterator]() {
      for (const structure of structures) yield fateOf(structure)
    },
  }
}

/** The reason why another structure in the place of this one is a loss; undefined if it is none. */
function replacement(path: string, { container, profile }: MuxPlan): string | undefined {
  if (path === FRAGMENTS && isMovieProfile(profile)) return 'ffmpeg writes one index for the whole film'
  if (OTHER_PACKS.test(path) && container === PROGRAM_STREAM) return 'ffmpeg writes MPEG-2 packs of 2048 bytes'
  return REPLACED.get(path)
}

function isSignature(path: string): boolean {
  return path === CREDENTIALS_BOX || path === 'jumb' || path.endsWith('/C2PA')
}

/**
 * Structures that the output lacks, each name once. Streams are losses of their own. A file without a census because it
 * does not follow its family's rules may lose any of its structures.
 */
export function censusLosses(census: Census | null, { container }: MediaInfo): readonly MuxLoss[] {
  if (census === null) return LISTED.has(container) ? [UNKNOWN_LOSS] : []
  const reasons = new Map<string, string>()
  for (const { fate, path, reason } of census) {
    if (fate === 'lost' && !path.endsWith(' (stream)')) reasons.set(path, reason ?? '')
  }
  return [...reasons].map(([what, reason]) => ({ what, stream: null, reason }))
}

const UNKNOWN_LOSS: MuxLoss = {
  what: 'structures that ffmpeg does not know',
  stream: null,
  reason: 'the file does not follow the rules of its container, so voxmux cannot list them',
}

async function structuresOf(media: MediaInfo, signal?: AbortSignal): Promise<Iterable<Structure> | undefined> {
  await using file = await open(media.path, 'r')
  switch (media.container) {
    case 'ts':
    case 'm2ts':
      return await transportPids(file, media)
    case 'wmv':
    case 'wma':
      return await asfObjects(file, media.sizeBytes)
    case PROGRAM_STREAM:
      return await programPackets(file, media, signal)
    case 'flv':
      return await flvTags(file, media.sizeBytes)
    default: {
      const structures = (await outlineOf(file, media))?.structures
      if (structures && media.container === 'avi') return await withAviLists(file, structures)
      return structures && isMatroska(media) ? await withMatroskaLists(file, structures) : structures
    }
  }
}
