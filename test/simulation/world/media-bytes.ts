import { createHash } from 'node:crypto'

/** What a simulated media file holds, in a line of JSON between two marks. */
export type MediaBytes =
  /** A person's film: a picture and the voice that belongs to it. */
  | { readonly kind: 'film'; readonly picture: string; readonly voice: string; readonly sec: number }
  /** The voice that was cut. */
  | { readonly kind: 'voice'; readonly voice: string; readonly sec: number }
  /** What the service makes of it. */
  | { readonly kind: 'regenerated'; readonly voice: string; readonly sec: number; readonly options: string }
  /** An output of voxmux. */
  | {
      readonly kind: 'output'
      readonly picture: string
      readonly voice: string
      readonly sec: number
      readonly options: string
    }

/** With a byte that no text has, as in every real format. */
const BEGIN = 'SIMULATED\0'
const REGENERATED = 'regenerated '
const END = '\nEND\n'

export function writeMedia(media: MediaBytes, fillBytes = 0): Buffer {
  return Buffer.from(`${BEGIN}${JSON.stringify(media)}\n${'.'.repeat(fillBytes)}${END}`)
}

/** Media that were read before. Nobody changes the bytes of a buffer. */
const known = new WeakMap<Buffer, { readonly media: MediaBytes | undefined }>()

/** Undefined for what is not media, or breaks off. */
export function readMedia(bytes: Buffer): MediaBytes | undefined {
  const before = known.get(bytes)
  if (before) return before.media
  const media = parse(bytes)
  known.set(bytes, { media })
  return media
}

function parse(bytes: Buffer): MediaBytes | undefined {
  const text = bytes.toString('latin1')
  if (!text.startsWith(BEGIN) || !text.endsWith(END)) return undefined
  try {
    return JSON.parse(text.slice(BEGIN.length, text.indexOf('\n'))) as MediaBytes
  } catch {
    return undefined
  }
}

export function sha256(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex')
}

/** The voice that is heard in a file: that of an output is not the voice that was recorded. */
export function voiceOf(media: MediaBytes): string {
  return media.kind === 'output' ? `${REGENERATED}${media.voice}` : media.voice
}

/** True for a voice that was regenerated before: nobody wants to pay for it again. */
export function isRegenerated(voice: string): boolean {
  return voice.startsWith(REGENERATED)
}
