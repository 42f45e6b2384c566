import type { Readable } from 'node:stream'

/** A signed, time-limited address. */
export interface SignedLink {
  readonly url: string
  /** Unix timestamp, in seconds, at which it ends. */
  readonly expirySec: number
}

/** Where inputs and outputs lie: a local folder or a cloud's blob store. File ids are the service's own UUIDs. */
export interface FileStorage {
  /** A link to which one PUT brings the input. */
  uploadLink(fileId: string): Promise<SignedLink>
  /** A link from which the output is read; `name` is what a browser calls it. */
  downloadLink(fileId: string, extension: string, name: string): Promise<SignedLink>
  /** Size of the input in bytes; undefined while there is none. A broken upload is none. */
  inputSize(fileId: string): Promise<number | undefined>
  /** From now on the input cannot be replaced. Done again, it changes nothing. */
  sealInput(fileId: string): Promise<void>
  /** Stores an input that the service fetched itself. All of it or nothing. */
  putInput(fileId: string, source: Readable, signal: AbortSignal): Promise<void>
  /** A new folder, of nobody else, in which an output may be made before it is stored. */
  workFolder(fileId: string): Promise<string>
  /** The input as a local file: where it lies, or fetched into the work folder. */
  takeInput(fileId: string, workFolder: string, signal: AbortSignal): Promise<string>
  /** Removes a work folder with all that is in it. */
  leaveWorkFolder(workFolder: string): Promise<void>
  /** Takes over a finished output, which is gone from `path` afterwards. */
  putOutput(fileId: string, extension: string, path: string, signal: AbortSignal): Promise<void>
  deleteInput(fileId: string): Promise<void>
  deleteOutput(fileId: string, extension: string): Promise<void>
  /** Removes what broken uploads and dead processes left behind, and what belongs to no file any more. */
  sweep(known: (fileIds: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void>
  close(): Promise<void>
}

/** Media types of the outputs by extension; anything else is bytes. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  flac: 'audio/flac',
  aiff: 'audio/aiff',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  m4a: 'audio/mp4',
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  mov: 'video/quicktime',
  mkv: 'video/x-matroska',
  webm: 'video/webm',
}

/** @param extension without a dot */
export function mediaTypeOf(extension: string): string {
  return MEDIA_TYPES[extension] ?? 'application/octet-stream'
}

/** Longest name of a download in bytes of UTF-8: file systems take 255, and addresses and headers are not endless. */
const MAX_NAME_BYTES = 200

/** A file's name, cut so that it can stand in an address and in a header, whatever its client called it. */
export function downloadName(name: string): string {
  let bytes = 0
  let cut = ''
  for (const character of name) {
    bytes += Buffer.byteLength(character)
    if (bytes > MAX_NAME_BYTES) break
    cut += character
  }
  return cut
}

/** A header that makes a browser save the file under that name (RFC 6266); no part of it can be a path. */
export function contentDisposition(name: string, extension: string): string {
  const safe = `${name}.${extension}`.replace(/\p{Surrogate}/gu, '\ufffd').replace(/[/\\\p{Cc}]/gu, '_')
  const encoded = encodeURIComponent(safe).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename*=UTF-8''${encoded}`
}
