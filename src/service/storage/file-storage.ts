import type { Readable } from 'node:stream'

/** A signed, time-limited address. */
export interface SignedLink {
  readonly url: string
  /** Unix timestamp of the expiry, in seconds. */
  readonly expirySec: number
}

/** Storage of inputs and outputs: a local folder or a cloud's blob store. File ids are the service's own UUIDs. */
export interface FileStorage {
  /** A link that accepts the input in one PUT. */
  uploadLink(fileId: string): Promise<SignedLink>
  /** A link that serves the output. `name` is the file name for browsers. */
  downloadLink(fileId: string, extension: string, name: string): Promise<SignedLink>
  /** Size of the input in bytes; undefined if it does not exist. A broken upload does not count. */
  inputSize(fileId: string): Promise<number | undefined>
  /** Protects the input against replacement from now on. Safe to repeat. */
  sealInput(fileId: string): Promise<void>
  /** Stores an input that the service downloaded, completely or not at all. */
  putInput(fileId: string, source: Readable, signal: AbortSignal): Promise<void>
  /** Creates a folder for one worker's output until it is stored. */
  workFolder(fileId: string): Promise<string>
  /** The input as a local file: in place, or downloaded into the work folder. */
  takeInput(fileId: string, workFolder: string, signal: AbortSignal): Promise<string>
  leaveWorkFolder(workFolder: string): Promise<void>
  /** Stores a finished output and removes it from `path`. */
  putOutput(fileId: string, extension: string, path: string, signal: AbortSignal): Promise<void>
  deleteInput(fileId: string): Promise<void>
  deleteOutput(fileId: string, extension: string): Promise<void>
  /** Removes leftovers of broken uploads and dead processes, and files without a record. */
  sweep(known: (fileIds: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void>
  close(): Promise<void>
}

/**
 * Media types of the outputs by extension; other extensions are plain bytes. They are registered with IANA, or the
 * usual `x-` names of formats that were never registered.
 */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  wav: 'audio/wav',
  w64: 'audio/x-w64',
  mp3: 'audio/mpeg',
  mp2: 'audio/mpeg',
  flac: 'audio/flac',
  aiff: 'audio/aiff',
  caf: 'audio/x-caf',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  ac3: 'audio/ac3',
  eac3: 'audio/eac3',
  m4a: 'audio/mp4',
  mka: 'audio/x-matroska',
  wma: 'audio/x-ms-wma',
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  mov: 'video/quicktime',
  '3gp': 'video/3gpp',
  '3g2': 'video/3gpp2',
  mkv: 'video/x-matroska',
  webm: 'video/webm',
  avi: 'video/x-msvideo',
  flv: 'video/x-flv',
  mpg: 'video/mpeg',
  ts: 'video/mp2t',
  m2ts: 'video/mp2t',
  mxf: 'application/mxf',
  wmv: 'video/x-ms-wmv',
}

/** @param extension without a dot */
export function mediaTypeOf(extension: string): string {
  return MEDIA_TYPES[extension] ?? 'application/octet-stream'
}

/** Longest name of a download in bytes of UTF-8: file systems allow 255, and URLs and headers are limited too. */
const MAX_NAME_BYTES = 200

/** Cuts a client's file name so that it fits into a URL and a header. */
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

/**
 * Builds a header that makes a browser save the file under that name (RFC 6266). The name cannot contain a path.
 * Programs that do not read `filename*` find an ASCII name first, without `%` and quotes (RFC 6266, appendix D).
 */
export function contentDisposition(name: string, extension: string): string {
  const safe = `${name}.${extension}`.replace(/\p{Surrogate}/gu, '\ufffd').replace(/[/\\\p{Cc}]/gu, '_')
  const encoded = encodeURIComponent(safe).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  const plain = safe.replace(/[^\x20-\x7e]|["%]/gu, '_')
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
