/** Ids of the elements that voxmux reads (RFC 8794 and RFC 9559), under their names there. */
export const ID = {
  EBML: 0x1a45dfa3,
  DocTypeVersion: 0x4287,
  Void: 0xec,
  Crc32: 0xbf,
  Segment: 0x18538067,
  SeekHead: 0x114d9b74,
  Seek: 0x4dbb,
  SeekPosition: 0x53ac,
  Info: 0x1549a966,
  TimestampScale: 0x2ad7b1,
  Duration: 0x4489,
  Cluster: 0x1f43b675,
  Timestamp: 0xe7,
  SilentTracks: 0x5854,
  Position: 0xa7,
  PrevSize: 0xab,
  SimpleBlock: 0xa3,
  BlockGroup: 0xa0,
  Block: 0xa1,
  BlockAdditions: 0x75a1,
  BlockDuration: 0x9b,
  CodecState: 0xa4,
  DiscardPadding: 0x75a2,
  EncryptedBlock: 0xaf,
  Tracks: 0x1654ae6b,
  TrackEntry: 0xae,
  TrackNumber: 0xd7,
  TrackUID: 0x73c5,
  TrackType: 0x83,
  DefaultDuration: 0x23e383,
  DefaultDecodedFieldDuration: 0x234e7a,
  TrackTimestampScale: 0x23314f,
  CodecID: 0x86,
  CodecPrivate: 0x63a2,
  CodecName: 0x258688,
  CodecDelay: 0x56aa,
  SeekPreRoll: 0x56bb,
  Audio: 0xe1,
  SamplingFrequency: 0xb5,
  OutputSamplingFrequency: 0x78b5,
  Channels: 0x9f,
  ChannelPositions: 0x7d7b,
  BitDepth: 0x6264,
  TrackOperation: 0xe2,
  ContentEncodings: 0x6d80,
  ContentEncoding: 0x6240,
  ContentEncodingType: 0x5033,
  Cues: 0x1c53bb6b,
  CuePoint: 0xbb,
  CueTime: 0xb3,
  CueTrackPositions: 0xb7,
  CueTrack: 0xf7,
  CueClusterPosition: 0xf1,
  CueRelativePosition: 0xf0,
  CueDuration: 0xb2,
  CueBlockNumber: 0x5378,
  CueCodecState: 0xea,
  CueReference: 0xdb,
  Attachments: 0x1941a469,
  Chapters: 0x1043a770,
  Tags: 0x1254c367,
  Tag: 0x7373,
  Targets: 0x63c0,
  TagTrackUID: 0x63c5,
  TagEditionUID: 0x63c9,
  TagChapterUID: 0x63c4,
  TagAttachmentUID: 0x63c6,
  SimpleTag: 0x67c8,
  TagName: 0x45a3,
  TagString: 0x4487,
} as const

const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(ID).map(([name, id]) => [id, name]))

/** Name of an element in a census; its id in hexadecimal if it is not known. No element has the id 0. */
export function nameOfId(id: number): string {
  if (id === 0) return 'incomplete element'
  return NAMES.get(id)?.replace('Crc32', 'CRC-32') ?? `0x${id.toString(16)}`
}

/** True for an element that {@link ID} names. */
export function isKnownId(id: number): boolean {
  return NAMES.has(id)
}

/** Elements whose children voxmux reads. */
export const MASTERS: ReadonlySet<number> = new Set([
  ...[ID.EBML, ID.SeekHead, ID.Seek, ID.Info, ID.Tracks, ID.TrackEntry, ID.Audio, ID.ContentEncodings],
  ...[ID.ContentEncoding, ID.Cues, ID.CuePoint, ID.CueTrackPositions, ID.Tags, ID.Tag, ID.Targets, ID.SimpleTag],
])

/** Elements that end a cluster of unknown size. */
export const ENDS_CLUSTER: ReadonlySet<number> = new Set<number>([
  ...[ID.EBML, ID.Segment, ID.SeekHead, ID.Info, ID.Cluster, ID.Tracks, ID.Cues, ID.Attachments, ID.Chapters, ID.Tags],
])
