import { constants } from 'node:fs'
import { copyFile, lstat, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { PrecheckError, UsageError, type VoxmuxError } from '../../src/core/errors.js'
import { fileSha256 } from '../../src/core/file-identity.js'
import type { Logger } from '../../src/core/logger.js'
import { makeFolder } from '../../src/core/make-folder.js'
import { makeProcessFolder } from '../../src/core/process-folder.js'
import { readPlainFile } from '../../src/core/read-plain-file.js'
import { syncFile, syncFolder } from '../../src/core/sync-folder.js'
import type { JobRequestFile } from '../../src/pipeline/queue/job-request.js'
import { runRequests } from '../../src/runtime/run-requests.js'
import { ADDED_FOLDER, renditionsToAdd, withAddedRenditions, writeAddedRenditions } from './added-renditions.js'
import { PackageFolder } from './package-folder.js'
import { programmeVoices, type RegenerateWave } from './programme-voices.js'
import { type HlsPackage, type Rendition, readPackage } from './read-package.js'
import { type AcceptSound, acceptedBy, requireSound } from './require-accepted.js'
import { requireReplaceable } from './require-replaceable.js'
import { requireSpace } from './require-space.js'
import { rewriteMaster } from './rewrite-master.js'
import { type RewriteOptions, type RewrittenRendition, rewriteRendition } from './rewrite-rendition.js'
import { soundBytes } from './sound-run.js'

export interface RegenerateHlsOptions {
  /** Settings of each rendition's job besides its files: a preset, channels of a 5.1 rendition, … */
  readonly job?: Omit<JobRequestFile, 'input' | 'output' | 'outputType' | 'keepOriginal' | 'addTrack'> | undefined
  /** Keeps every rendition, and adds the regenerated ones beside them. */
  readonly addTrack?: boolean | undefined
  readonly signal?: AbortSignal | undefined
  /** Receives notes for people; by default they are dropped. */
  readonly logger?: Logger | undefined
  /** Regenerates a WAV into another of the same length; default a job of its own. */
  readonly regenerate?: RegenerateWave | undefined
}

/** Result of a file of the package. */
export interface HlsFile {
  /** Relative to the package. */
  readonly path: string
  readonly fate: 'copied' | 'regenerated' | 'rewritten' | 'added'
  readonly sha256: string
}

export interface HlsResult {
  /** The new master playlist, absolute. */
  readonly master: string
  readonly receipt: string
  readonly renditions: readonly (Pick<Rendition, 'path' | 'name' | 'language'> &
    Pick<RewrittenRendition, 'frameCount' | 'durationSec' | 'isShared'> & { readonly segmentCount: number })[]
  readonly files: readonly HlsFile[]
}

/**
 * Regenerates the voice in an HLS package for video on demand. Each programme of sound is regenerated once, at any
 * number of bit rates, and its segments keep their boundaries. Segments without a voice, and every other file that a
 * playlist names, are copied byte for byte; files that none names are left out. The new package appears whole, or not at all.
 *
 * @param masterPath the master playlist
 * @param outFolder folder of the new package: one that is not there yet, or an empty one
 * @throws UsageError ERR_INPUT_MISSING, ERR_OUTPUT_EXISTS; PrecheckError ERR_HLS_…; TransientError ERR_DISK_FULL;
 *   JobFailedError ERR_INPUT_CHANGED; and what the regeneration throws
 */
export async function regenerateHls(
  masterPath: string,
  outFolder: string,
  options: RegenerateHlsOptions = {},
): Promise<HlsResult> {
  const { signal, addTrack = false, regenerate = jobWith(options) } = options
  const { folder, master } = await PackageFolder.around(masterPath)
  const out = resolve(outFolder)
  await requireFree(out)
  const source = await readPackage(folder, master)
  refuseShared(source, folder)
  makeFolder(dirname(out))
  const part = await makeProcessFolder(dirname(out), `.${basename(out)}.voxmux-`)
  try {
    const [target, workFolder] = [join(part, 'package'), join(part, 'work')]
    const newSound = addTrack ? join(target, ADDED_FOLDER) : target
    const renditions = addTrack ? renditionsToAdd(source) : source.renditions
    const accept = options.regenerate ? acceptAll : acceptedBy(options.job ?? {})
    await requireReplaceable(source, folder, signal)
    const programmes = await programmesOf(renditions, folder)
    await requireSpace(source, folder, dirname(out), programmes)
    await requireSound(renditions, folder, { workFolder, accept, signal })
    const rewritten = await rewriteAll(programmes, regenerate, { folder, target: newSound, workFolder, signal })
    rewritten.sort((a, b) => source.renditions.indexOf(a.rendition) - source.renditions.indexOf(b.rendition))
    const files = await writeRest(source, folder, target, rewritten, { addTrack, signal })
    const result = resultOf(source, rewritten, files, out)
    const receipt = join(part, 'receipt.json')
    await writeFile(
      receipt,
      `${JSON.stringify({ schemaVersion: 1, source: join(folder.root, master), ...result }, null, 2)}\n`,
    )
    await syncFile(receipt)
    await folder.requireSame()
    await publishPackage({ target, receipt }, out)
    return result
  } finally {
    await rm(part, { recursive: true, force: true })
  }
}

/** @throws the error of a part without a voice if no part has one: a copy must not be published as regenerated */
async function rewriteAll(
  programmes: readonly (readonly Rendition[])[],
  regenerate: RegenerateWave,
  { workFolder, ...options }: Omit<RewriteOptions, 'voiceOf' | 'onVoiceless'>,
): Promise<RewrittenRendition[]> {
  const rewritten: RewrittenRendition[] = []
  const voiceless: VoxmuxError[] = []
  const onVoiceless = (error: VoxmuxError) => void voiceless.push(error)
  for (const programme of programmes) {
    const voiceOf = programmeVoices(regenerate, options.signal)
    for (const [place, rendition] of programme.entries()) {
      const work = join(workFolder, String(place))
      makeFolder(work)
      rewritten.push(await rewriteRendition(rendition, { ...options, workFolder: work, voiceOf, onVoiceless }))
    }
    await rm(workFolder, { recursive: true })
  }
  if (voiceless[0] && rewritten.every(({ files }) => files.length === 0)) throw voiceless[0]
  return rewritten
}

/** A function of the caller's own has no limits that are known here. */
const acceptAll: AcceptSound = async () => {}

function jobWith({ job, signal, logger }: RegenerateHlsOptions): RegenerateWave {
  return async (input, output) => {
    const [outcome] = await runRequests([{ ...job, input, output }], { signal, logger })
    if (outcome?.error) throw outcome.error
  }
}

/** The renditions by programme, of each the one with the most bytes first: its voice serves the others. */
async function programmesOf(
  renditions: readonly Rendition[],
  folder: PackageFolder,
): Promise<readonly (readonly Rendition[])[]> {
  const programmes = new Map<string, { rendition: Rendition; bytes: number }[]>()
  for (const rendition of renditions) {
    const measured = { rendition, bytes: await soundBytes(folder, rendition) }
    programmes.set(rendition.programme, [...(programmes.get(rendition.programme) ?? []), measured])
  }
  return [...programmes.values()].map((members) =>
    members.sort((a, b) => b.bytes - a.bytes).map(({ rendition }) => rendition),
  )
}

/** Copies what stays, writes the playlists, and hashes all of it. */
async function writeRest(
  source: HlsPackage,
  folder: PackageFolder,
  target: string,
  rewritten: readonly RewrittenRendition[],
  { addTrack, signal }: { readonly addTrack: boolean; readonly signal: AbortSignal | undefined },
): Promise<readonly HlsFile[]> {
  const replaced = addTrack ? [] : rewritten
  // A copy of a rendition without a voice must not be offered as clear dialogue.
  const added = addTrack ? rewritten.filter((item) => item.files.length > 0) : []
  const lines = new Map(replaced.map((item) => [item.rendition.path, item.lines]))
  const locate = (uri: string) => folder.locate(uri, source.master)
  const master = rewriteMaster(source, rewritten, locate)
  lines.set(source.master, withAddedRenditions(master, source, added, locate))
  const regenerated = new Set(replaced.flatMap((item) => item.files))
  const files: HlsFile[] = []
  for (const path of [...source.playlists, ...source.media.keys()]) {
    signal?.throwIfAborted()
    const to = join(target, path)
    makeFolder(dirname(to))
    const text = lines.get(path)
    // Line endings are kept, so that an unchanged playlist equals the old one to the byte.
    if (text) await writeFile(to, text.join((await folder.text(path)).includes('\r\n') ? '\r\n' : '\n'), { flag: 'wx' })
    else if (!regenerated.has(path)) await copyFile(await folder.file(path), to, constants.COPYFILE_FICLONE)
    const fate = text ? 'rewritten' : regenerated.has(path) ? 'regenerated' : 'copied'
    // The call for folders, because a copy of a read-only file cannot be opened for writing.
    await syncFolder(to)
    files.push({ path, fate, sha256: await fileSha256(to, signal) })
  }
  for (const path of await writeAddedRenditions(source, folder, target, added)) {
    await syncFolder(join(target, path))
    files.push({ path, fate: 'added', sha256: await fileSha256(join(target, path), signal) })
  }
  return files
}

function resultOf(
  source: HlsPackage,
  rewritten: readonly RewrittenRendition[],
  files: readonly HlsFile[],
  out: string,
): HlsResult {
  return {
    master: join(out, source.master),
    receipt: receiptOf(out),
    renditions: rewritten.map(
      ({ rendition: { path, name, language, playlist }, frameCount, durationSec, isShared }) => ({
        ...{ path, name, language, segmentCount: playlist.segments.length },
        ...{ frameCount, durationSec, isShared },
      }),
    ),
    files,
  }
}

/** The receipt comes first: without its folder, it does not keep the next run from this place. */
async function publishPackage(made: { readonly target: string; readonly receipt: string }, out: string): Promise<void> {
  const receipt = receiptOf(out)
  // Another program or run may have put something there meanwhile, which stays.
  await requireFree(out)
  const earlier = `${made.receipt}.earlier`
  const hadReceipt = await rename(receipt, earlier).then(
    () => true,
    () => false,
  )
  try {
    await rename(made.receipt, receipt)
    // An empty folder makes room; one that got something meanwhile does not.
    await rmdir(out).catch(() => {})
    await rename(made.target, out)
  } catch (cause) {
    // Another run may be done first, and then its receipt stood there.
    await (hadReceipt ? rename(earlier, receipt) : rm(receipt, { force: true }))
    throw TAKEN.has(String((cause as NodeJS.ErrnoException).code)) ? taken(out) : cause
  }
  await syncFolder(dirname(out))
}

async function requireFree(out: string): Promise<void> {
  const names = await readdir(out).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error.code === 'ENOTDIR' ? taken(out) : error
  })
  if (names.length > 0) throw taken(out)
  const receipt = receiptOf(out)
  const there = await lstat(receipt).catch(() => undefined)
  if (!there || (await isOwnReceipt(receipt))) return
  throw new UsageError('ERR_OUTPUT_EXISTS', `${receipt}, the place of the receipt, holds something else.`, {
    remedies: ['Move it away, or name another folder.'],
  })
}

/** Codes of a rename onto a folder that holds something, or onto a file. */
const TAKEN: ReadonlySet<string> = new Set(['ENOTEMPTY', 'EEXIST', 'ENOTDIR'])

function receiptOf(out: string): string {
  return `${out}.voxmux.json`
}

/** True for the receipt of an earlier package, whose folder is gone. */
async function isOwnReceipt(path: string): Promise<boolean> {
  try {
    const { schemaVersion, master } = JSON.parse((await readPlainFile(path)).toString()) as Record<string, unknown>
    return schemaVersion === 1 && typeof master === 'string'
  } catch {
    return false
  }
}

function taken(out: string): UsageError {
  return new UsageError('ERR_OUTPUT_EXISTS', `${out} exists and is not empty.`, {
    remedies: ['Name a folder that is not there yet.'],
  })
}

/** Segments of sound that another playlist names as well would change under it. */
function refuseShared({ renditions, media }: HlsPackage, folder: PackageFolder): void {
  for (const { path, playlist } of renditions) {
    for (const { uri } of playlist.segments) {
      const others = [...(media.get(folder.locate(uri, path)) ?? [])].filter((name) => name !== path)
      if (others.length === 0) continue
      throw new PrecheckError('ERR_HLS_PLAYLIST', `${uri} belongs to ${path} and to ${others.join(', ')}.`, {
        input: path,
        remedies: ['Package each rendition of sound into files of its own.'],
      })
    }
  }
}
