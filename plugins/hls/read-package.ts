import { PrecheckError } from '../../src/core/errors.js'
import type { PackageFolder } from './package-folder.js'
import {
  isMaster,
  type MasterEntry,
  type MasterPlaylist,
  type MediaPlaylist,
  parseMaster,
  parseMedia,
  urisOf,
} from './playlist.js'

/** One playlist of sound; several names of the master may lead to it. */
export interface Rendition {
  /** Path of its playlist in the package. */
  readonly path: string
  /** Its name for people: the first NAME in the master, else its path. */
  readonly name: string
  readonly language: string | null
  /** The same for renditions that may be one programme at several bit rates: of one language and kind. */
  readonly programme: string
  /** Members of one group are never the same programme (RFC 8216, 4.3.4.1); null for a variant of sound alone. */
  readonly group: string | null
  readonly playlist: MediaPlaylist
}

/** A package as it was read. */
export interface HlsPackage {
  /** Path of the master playlist. */
  readonly master: string
  readonly masterPlaylist: MasterPlaylist
  readonly renditions: readonly Rendition[]
  /** Every playlist, the master among them. */
  readonly playlists: readonly string[]
  /** Every file that is not a playlist, and the playlists that name it. */
  readonly media: ReadonlyMap<string, ReadonlySet<string>>
}

/** Codecs of pictures, as CODECS names them. */
const PICTURE_CODEC = /^(avc|hvc|hev|dvh|vp0?[89]|av01|mp4v|jpeg)/i

/**
 * Reads all playlists of a package and finds its sound.
 *
 * @throws PrecheckError ERR_HLS_MUXED_AUDIO, ERR_HLS_PLAYLIST, ERR_HLS_ENCRYPTED, ERR_HLS_NOT_FINISHED,
 *   ERR_HLS_OUTSIDE, ERR_HLS_FILE_MISSING
 */
export async function readPackage(folder: PackageFolder, master: string): Promise<HlsPackage> {
  const text = await folder.text(master)
  if (!isMaster(text)) {
    throw new PrecheckError('ERR_HLS_PLAYLIST', `${master} names no variants, so it is not a master playlist.`, {
      input: master,
      remedies: ['Name the playlist that names the others, often master.m3u8.'],
    })
  }
  const masterPlaylist = parseMaster(text, master)
  const sounds = soundEntries(masterPlaylist, master)
  const renditions = new Map<string, Rendition>()
  for (const { uri, tag, attributes } of sounds) {
    const path = folder.locate(uri, master)
    if (renditions.has(path)) continue
    const playlist = parseMedia(await folder.text(path), path)
    renditions.set(path, {
      path,
      name: attributes.get('NAME') ?? path,
      language: attributes.get('LANGUAGE') ?? null,
      programme: programmeOf(tag, attributes),
      group: attributes.get('GROUP-ID') ?? null,
      playlist,
    })
  }
  const playlists = new Set([master])
  const media = new Map<string, Set<string>>()
  const addMedia = (path: string, playlist: string) => media.set(path, (media.get(path) ?? new Set()).add(playlist))
  for (const uri of urisOf(text, master)) {
    const path = folder.locate(uri, master)
    if (/\.m3u8?$/i.test(path) || renditions.has(path)) playlists.add(path)
    else addMedia(path, master)
  }
  for (const path of playlists) {
    if (path === master) continue
    for (const uri of urisOf(await folder.text(path), path)) addMedia(folder.locate(uri, path), path)
  }
  return { master, masterPlaylist, renditions: [...renditions.values()], playlists: [...playlists], media }
}

/** Properties that encodings of one programme have in common. Their names should be, but packagers number them. */
const OF_PROGRAMME = ['LANGUAGE', 'ASSOC-LANGUAGE', 'CHARACTERISTICS']

function programmeOf(tag: string, attributes: MasterEntry['attributes']): string {
  return JSON.stringify([tag, ...OF_PROGRAMME.map((name) => attributes.get(name) ?? null)])
}

/** The entries of a master that are sound in segments of its own. */
function soundEntries({ entries }: MasterPlaylist, master: string): readonly (MasterEntry & { uri: string })[] {
  const media = entries.filter(({ tag, attributes }) => tag === 'EXT-X-MEDIA' && attributes.get('TYPE') === 'AUDIO')
  const sounds: (MasterEntry & { uri: string })[] = []
  for (const entry of media) {
    if (entry.uri === null) throw muxed(master, `the rendition ${entry.attributes.get('NAME') ?? ''}`)
    sounds.push({ ...entry, uri: entry.uri })
  }
  for (const entry of entries.filter(({ tag }) => tag === 'EXT-X-STREAM-INF')) {
    const codecs = (entry.attributes.get('CODECS') ?? '').split(',').map((codec) => codec.trim())
    const hasPicture =
      codecs[0] === '' || codecs.some((codec) => PICTURE_CODEC.test(codec)) || entry.attributes.has('RESOLUTION')
    const uri = entry.uri as string
    if (!hasPicture) sounds.push({ ...entry, uri })
    else if (!entry.attributes.has('AUDIO') && codecs.some((codec) => codec === '' || !isSilent(codec))) {
      throw muxed(master, `the variant ${uri}`)
    }
  }
  if (sounds.length === 0) throw muxed(master, 'every variant')
  return sounds
}

/** A picture, or subtitles. */
function isSilent(codec: string): boolean {
  return PICTURE_CODEC.test(codec) || /^(stpp|wvtt)/i.test(codec)
}

function muxed(master: string, where: string): PrecheckError {
  return new PrecheckError(
    'ERR_HLS_MUXED_AUDIO',
    `In ${master} ${where} carries sound and picture in the same segments.`,
    {
      input: master,
      remedies: [
        'Package the sound as a rendition of its own (EXT-X-MEDIA with a URI): then the picture need not be touched.',
        'Or regenerate the film before it is packaged.',
      ],
    },
  )
}
