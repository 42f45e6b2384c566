import { open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { syncFolder } from '../core/sync-folder.js'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const count = z.int().min(0)

const fileSchema = z.object({
  path: z.string().meta({ description: 'Absolute path at the time.' }),
  sizeBytes: count,
  sha256,
})

const streamFateSchema = z.object({
  index: count.nullable().meta({ description: 'Index in the input; null for a stream that was added.' }),
  outputIndex: count.nullable().meta({ description: 'Index in the output; null for a stream that was dropped.' }),
  kind: z.enum(['video', 'audio', 'subtitle', 'data', 'attachment', 'unknown']),
  codec: z.string().nullable(),
  fate: z.enum(['copied', 'replaced', 'converted', 'dropped', 'added']),
  packetHash: z
    .object({ input: z.string(), output: z.string().nullable() })
    .nullable()
    .meta({ description: 'Hash over all packets of a copied stream, before and after; output null with verify fast.' }),
  reason: z.string().nullable().meta({ description: 'Why a stream was dropped or converted.' }),
})
export type StreamFate = z.infer<typeof streamFateSchema>

const lossSchema = z.object({
  what: z.string().meta({ description: 'What the output cannot carry, in words.' }),
  stream: count.nullable(),
  reason: z.string(),
})

const loudnessSchema = z.object({
  integratedLufs: z.number().nullable().meta({ description: 'EBU R128; null for silence.' }),
  rangeLu: z.number().nullable(),
  truePeakDbtp: z.number().nullable(),
})
export type LoudnessFigures = z.infer<typeof loudnessSchema>

const syncPlaceSchema = z.object({
  at: z.enum(['start', 'middle', 'end']),
  atSample: count,
  offsetSamples: z
    .number()
    .nullable()
    .meta({ description: 'Sound against the original, in samples; positive is late; null where all is silence.' }),
})

const voiceSchema = z.object({
  audioIndex: count,
  channel: count.nullable().meta({ description: 'The single channel that was sent; null for all of them.' }),
  startSample: count,
  endSample: count,
  sampleRate: count,
  voiceHash: z.string().meta({ description: 'Hash of the sound that was sent.' }),
  fileId: z.string().nullable().meta({ description: "The service's id; null where the cache answered." }),
  cached: z.boolean(),
  paidSec: z.number(),
  lagSamples: z.int().meta({ description: 'How late the answer was; taken out.' }),
  match: z.number().meta({ description: 'How well it lined up, 0 to 1.' }),
  timesMs: z.record(z.string(), z.number()).meta({
    description: "Unix milliseconds of the service's answers: registered, uploaded, started, ended, downloaded.",
  }),
})
export type VoiceRecord = z.infer<typeof voiceSchema>

const trackSchema = z.object({
  audioIndex: count,
  sampleRate: count,
  sync: z.array(syncPlaceSchema),
  loudness: z.object({ before: loudnessSchema, after: loudnessSchema }),
})
export type TrackRecord = z.infer<typeof trackSchema>

/** `<output>.voxmux.json`: what was done to a file, and the proof that nothing else was. */
export const receiptSchema = z.object({
  schemaVersion: z.literal(1),
  voxmux: z.string().meta({ description: 'Version of voxmux.' }),
  job: z.string(),
  createdAt: z.iso.datetime(),
  input: fileSchema.extend({ mtimeMs: z.number() }).or(
    z.object({
      path: z.string().meta({ description: 'Address, without its query, that the service fetched by itself.' }),
      sizeBytes: z.null(),
      sha256: z.null(),
      mtimeMs: z.null(),
    }),
  ),
  output: fileSchema.extend({ container: z.string() }),
  preset: z.string(),
  recipeHash: sha256,
  segments: z
    .array(z.object({ startSec: z.number(), endSec: z.number() }))
    .meta({ description: 'What was regenerated, in seconds from the start of the file.' }),
  streams: z.array(streamFateSchema),
  chapters: count.meta({ description: 'Chapters of the output.' }),
  losses: z.array(lossSchema),
  notes: z.array(z.string()).meta({ description: 'What a person should know and that is no loss.' }),
  tracks: z.array(trackSchema),
  voices: z.array(voiceSchema),
  service: z.object({ identity: z.string(), address: z.string(), model: z.string() }),
  verification: z.object({ level: z.enum(['full', 'fast']), passed: z.literal(true), checks: z.array(z.string()) }),
  report: z
    .string()
    .nullable()
    .default(null)
    .meta({ description: 'Page beside the output that compares before and after; null where none was asked for.' }),
  publish: z.enum(['link', 'rename', 'replace']).nullable(),
  ffmpeg: z.object({ version: z.string(), runs: z.array(z.array(z.string())) }),
})
export type Receipt = z.infer<typeof receiptSchema>

/**
 * Writes a receipt whole or not at all, and to the disk: its job is recorded as done next.
 *
 * @param part hidden file beside it in which it is built
 */
export async function writeReceipt(path: string, receipt: Receipt, part: string): Promise<void> {
  const handle = await open(part, 'w')
  try {
    await handle.writeFile(`${JSON.stringify(receiptSchema.parse(receipt), null, 2)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(part, path)
  await syncFolder(dirname(path))
}

/** Reads the receipt beside an output; undefined where there is none that can be read. */
export async function readReceipt(path: string): Promise<Receipt | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  try {
    return receiptSchema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
