import { basename, join } from 'node:path'
import { type FfmpegCommand, type FfmpegRunOptions, runFfmpeg } from '../../ffmpeg/ffmpeg.js'
import { fileUrl, safeInputOptions } from '../../ffmpeg/input-safety.js'
import { isCover } from '../../media-info.js'
import type { MuxPlan, PlannedStream } from './mux-plan.js'

/** Place of attached files between extraction and attaching. */
interface AttachedFolder {
  readonly folder: string
  readonly partPath: string
}

/** MIME type and name of a cover whose container states none. Matroska requires both. */
const COVER_TAGS: Readonly<Record<string, readonly [mimetype: string, filename: string]>> = {
  mjpeg: ['image/jpeg', 'cover.jpg'],
  png: ['image/png', 'cover.png'],
  bmp: ['image/bmp', 'cover.bmp'],
  gif: ['image/gif', 'cover.gif'],
  webp: ['image/webp', 'cover.webp'],
  tiff: ['image/tiff', 'cover.tif'],
}

/**
 * Streams that are added as files (`-attach`). These are covers, because ffmpeg writes a copied cover as a video of one
 * picture. They are also the attachments after the first cover, so that the order stays.
 */
export function attachedStreams({ profile, streams }: MuxPlan): readonly PlannedStream[] {
  if (profile.covers !== 'attached') return []
  const copied = streams.filter(({ fate }) => fate === 'copied')
  const first = copied.findIndex(({ input }) => isCover(input))
  return first < 0 ? [] : copied.slice(first).filter(({ input }) => isCover(input) || input.kind === 'attachment')
}

function attachedPath({ input }: PlannedStream, { folder, partPath }: AttachedFolder): string {
  return join(folder, `${basename(partPath)}.attached${input.index}`)
}

/** Options that attach the files; they follow every mapped stream. */
export function attachOptions(plan: MuxPlan, place: AttachedFolder): readonly string[] {
  return attachedStreams(plan).flatMap((stream) => ['-attach', fileUrl(attachedPath(stream, place))])
}

/** MIME type and name of an attached file; ffmpeg would name it after the temporary file. */
export function attachedTags(plan: MuxPlan, stream: PlannedStream): readonly string[] {
  if (!attachedStreams(plan).includes(stream)) return []
  const target = `-metadata:s:${stream.outputIndex}`
  const [kind, name] = COVER_TAGS[stream.input.codec ?? ''] ?? ['application/octet-stream', 'attachment.bin']
  const { mimetype = kind, filename = name } = stream.input.tags
  return [target, `mimetype=${mimetype}`, target, `filename=${filename}`]
}

/** Extracts the attached files from the container's header. Returns their paths; empty if nothing is attached. */
export async function extractAttached(
  plan: MuxPlan,
  place: AttachedFolder,
  options: Pick<FfmpegRunOptions, 'signal'>,
): Promise<readonly string[]> {
  const streams = attachedStreams(plan)
  if (streams.length === 0) return []
  await runFfmpeg(extractCommand(plan, streams, place), { ...options, input: plan.media.path })
  return streams.map((stream) => attachedPath(stream, place))
}

function extractCommand({ media }: MuxPlan, streams: readonly PlannedStream[], place: AttachedFolder): FfmpegCommand {
  const dumps = streams
    .filter(({ input }) => !isCover(input))
    .flatMap((stream) => [`-dump_attachment:${stream.input.index}`, fileUrl(attachedPath(stream, place))])
  return {
    inputs: [{ url: fileUrl(media.path), options: [...safeInputOptions(media), ...dumps] }],
    outputs: streams
      .filter(({ input }) => isCover(input))
      .map((stream) => ({
        url: fileUrl(attachedPath(stream, place)),
        options: ['-map', `0:${stream.input.index}`, '-c', 'copy', '-frames:v', '1', '-f', 'data'],
      })),
  }
}
