/** Builders of the XML of Premiere Pro projects, with the objects and names that Premiere Pro 25 saves. */

/** Ticks of a sample at 48 kHz. */
export const SAMPLE = 5_292_000n
/** Ticks of a frame at 24000/1001. */
export const FRAME = 10_594_584_000n

export interface PremiereClip {
  readonly name: string
  /** Place on the track, in ticks. */
  readonly at: readonly [bigint, bigint]
  /** Range of the source, in ticks. */
  readonly source: readonly [bigint, bigint]
  /** `ObjectUID` of a media file or of a sequence. */
  readonly plays: string
  /** More elements of the clip, and of its place on the track. */
  readonly clipMore?: string
  readonly itemMore?: string
}

export interface PremiereTrack {
  readonly clips: readonly PremiereClip[]
  /** Places of transitions, in ticks. */
  readonly transitions?: readonly (readonly [bigint, bigint])[]
  readonly more?: string
}

export interface PremiereSequence {
  readonly uid: string
  readonly audio: readonly PremiereTrack[]
  readonly video?: readonly PremiereTrack[]
}

export interface PremiereMedia {
  readonly uid: string
  readonly path: string
  readonly relative?: string
}

/** The XML of a project. Clips play the sequences whose ids begin with `sequence`, and media otherwise. */
export function premiereProject(sequences: readonly PremiereSequence[], media: readonly PremiereMedia[]): string {
  let next = 100
  const objects: string[] = []
  const object = (name: string, body: string) => {
    objects.push(
      `\t<${name} ObjectID="${++next}" ClassID="b8830d03-de02-41ee-84ec-fe566dc70cd9" Version="8">${body}\n\t</${name}>`,
    )
    return next
  }
  const refs = (ids: readonly number[]) =>
    `<TrackItems Version="1">${ids.map((id, index) => `<TrackItem Index="${index}" ObjectRef="${id}"/>`).join('')}</TrackItems>`
  const place = ([start, end]: readonly [bigint, bigint]) =>
    `<TrackItem Version="4">${start === 0n ? '' : `<Start>${start}</Start>`}<End>${end}</End></TrackItem>`
  const clip = (kind: string, { name, at, source, plays, clipMore = '', itemMore = '' }: PremiereClip) => {
    const isNested = plays.startsWith('sequence')
    const origin = isNested
      ? object(
          `${kind}SequenceSource`,
          `<SequenceSource Version="4"><Content Version="10"/><Sequence ObjectURef="${plays}"/></SequenceSource>`,
        )
      : object(
          `${kind}MediaSource`,
          `<MediaSource Version="4"><Content Version="10"/><Media ObjectURef="${plays}"/></MediaSource>`,
        )
    const [first, last] = source
    const own = object(
      `${kind}Clip`,
      `<Clip Version="18"><Source ObjectRef="${origin}"/>${clipMore}<InPoint>${first}</InPoint><OutPoint>${last}</OutPoint></Clip>`,
    )
    const subclip = object('SubClip', `<Clip ObjectRef="${own}"/><Name>${name}</Name>`)
    return object(
      `${kind}ClipTrackItem`,
      `<ClipTrackItem Version="8">${place(at)}<SubClip ObjectRef="${subclip}"/>${itemMore}</ClipTrackItem>`,
    )
  }
  const group = (kind: string, uid: string, tracks: readonly PremiereTrack[]) => {
    const uids = tracks.map(({ clips, transitions = [], more = '' }, index) => {
      const own = `${uid}-${kind}-${index}`
      const items = refs(clips.map((one) => clip(kind, one)))
      const over = transitions.map((at) =>
        object(`${kind}TransitionTrackItem`, `<TransitionTrackItem Version="4">${place(at)}</TransitionTrackItem>`),
      )
      objects.push(`\t<${kind}ClipTrack ObjectUID="${own}" Version="7"><ClipTrack Version="2"><Track Version="4">${more}</Track>
\t\t<ClipItems Version="3">${items}</ClipItems><TransitionItems Version="3">${refs(over)}</TransitionItems></ClipTrack></${kind}ClipTrack>`)
      return `<Track Index="${index}" ObjectURef="${own}"/>`
    })
    return object(
      `${kind}TrackGroup`,
      `<TrackGroup Version="1"><Tracks Version="1">${uids.join('')}</Tracks></TrackGroup>`,
    )
  }
  for (const { uid, audio, video = [] } of sequences) {
    const groups = [group('Video', uid, video), group('Audio', uid, audio)]
    const list = groups.map(
      (id, index) => `<TrackGroup Version="1" Index="${index}"><Second ObjectRef="${id}"/></TrackGroup>`,
    )
    objects.push(
      `\t<Sequence ObjectUID="${uid}" Version="11"><TrackGroups Version="1">${list.join('')}</TrackGroups><Name>${uid}</Name></Sequence>`,
    )
  }
  for (const { uid, path, relative } of media) {
    const cache = '/Cache/Media Cache Files/sound 48000'
    const stream = object(
      'AudioStream',
      `\n\t\t<ConformedAudioPath>${cache}.cfa</ConformedAudioPath>\n\t\t<PeakFilePath>${cache}.pek</PeakFilePath>`,
    )
    const written = relative === undefined ? '' : `\n\t\t<RelativePath>${relative}</RelativePath>`
    objects.push(`\t<Media ObjectUID="${uid}" ClassID="7a5c103e-f3ac-4391-b6b4-7cc3d2f9a7ff" Version="30">
\t\t<AudioStream ObjectRef="${stream}"/>${written}
\t\t<FileKey>33333333-3333-3333-3333-333333333333</FileKey>
\t\t<ActualMediaFilePath>${path}</ActualMediaFilePath>
\t\t<FilePath>${path}</FilePath>
\t\t<Title>Sound &amp; room</Title>
\t</Media>`)
  }
  return `<?xml version="1.0" encoding="UTF-8" ?>\n<PremiereData Version="3">\n\t<Project ObjectRef="1"/>\n${objects.join('\n')}\n</PremiereData>\n`
}
